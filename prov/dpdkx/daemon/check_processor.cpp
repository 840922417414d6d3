// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/check_parts.h"

namespace dpdkx::daemon {

namespace {

namespace fs = std::filesystem;

void check_node(const DeviceConfig &device, int processor, const CheckedHost &host, Findings &out) {
  const int node = node_of(device, host);
  if (node < 0)
    return;
  const auto name = "node" + std::to_string(node);
  const auto near = kernel_word(host.root / "sys/devices/system/node" / name / "cpulist");
  const auto mend = "--processor N, one of " + near;
  std::error_code none;
  const std::string &about = device.request.spec.text;
  if (near.empty())
    return;
  if (processor < 0)
    out.note(about, "on NUMA node " + std::to_string(node) + ", and dpdkxd on any processor", mend);
  else if (fs::exists(host.root / "sys/devices/system/cpu" / ("cpu" + std::to_string(processor)) /
                          name,
                      none))
    out.fine(about, "on NUMA node " + std::to_string(node) + ", as processor " +
                        std::to_string(processor));
  else
    out.note(about,
             "on NUMA node " + std::to_string(node) + ", and processor " +
                 std::to_string(processor) + " isn't",
             mend);
}

} // namespace

void check_processor(const Config &config, const CheckedHost &host, Findings &out) {
  if (config.processor >= 0)
    out.fine("processor", std::to_string(config.processor));
  for (const DeviceConfig &device : config.devices)
    check_node(device, config.processor, host, out);
}

} // namespace dpdkx::daemon
