// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/check.h"

#include "dpdkx/daemon/check_parts.h"
#include "dpdkx/daemon/module_file.h"
#include "dpdkx/daemon/status_json.h"
#include "dpdkx/link/ethdev/claim.h"

#include <fstream>

namespace dpdkx::daemon {

namespace {

void check_module(const CheckedHost &host, Findings &out) {
  std::string error;
  if (const auto file = host.find_module(error); !file.empty())
    out.fine("module", file);
  else
    out.missing("module", error, "make install, of a build with DPDK");
}

void check_socket_of(const Config &config, const CheckedHost &host, Findings &out) {
  std::string json, error;
  Status status;
  if (host.ask(config.socket, json, error) != 0) {
    out.fine("socket", config.socket + ", where nobody listens yet");
    return;
  }
  std::string who = "somebody";
  if (status_from_json(json, status, error))
    who = "dpdkxd " + status.version + ", pid " + std::to_string(status.pid) + ",";
  out.missing("socket", who + " listens at " + config.socket + " already",
              "systemctl stop dpdkxd, or another --socket");
}

// What one user can take from the others.
void check_shares(const Config &config, Findings &out) {
  const std::string share = std::to_string(config.share_of_user());
  const std::string all = std::to_string(config.max_ranks);
  if (config.share_of_user() < config.max_ranks)
    out.fine("max-ranks", all + ", of which " + share + " are one user's");
  else
    out.note("max-ranks-per-user",
             share + ", with which one user can take all of max-ranks, " + all, "fewer of them");
}

} // namespace

std::string kernel_word(const std::filesystem::path &file) {
  std::string word;
  std::ifstream(file) >> word;
  return word;
}

std::optional<std::uint64_t> kernel_number(const std::filesystem::path &file) {
  std::uint64_t number = 0;
  if (std::ifstream(file) >> number)
    return number;
  return std::nullopt;
}

std::string kernel_field(const std::filesystem::path &file, std::string_view name) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(name)) {
      const auto at = line.find_first_not_of(" \t:", name.size());
      return at == std::string::npos ? std::string() : line.substr(at);
    }
  return {};
}

CheckedHost this_host(const AskStatus &ask) {
  CheckedHost host;
  host.describe = [](const DeviceConfig &device, net::DeviceDescription &out, std::string &error) {
    return net::describe_device(device.request.spec, device.request.address, device.request.family,
                                device.options.mtu, out, error);
  };
  host.is_taken = [](const net::DeviceSpec &spec) {
    return spec.exclusive() && link::Claim::is_taken(spec.identity());
  };
  host.find_module = find_module;
  host.ask = ask;
  return host;
}

std::vector<Finding> check(const Options &options, const CheckedHost &host) {
  Findings out;
  const Config &config = options.config;
  if (config.devices.empty())
    out.missing("device", "none is named", "--device, or device = ... in the configuration file");
  for (const DeviceConfig &device : config.devices) {
    check_device(device, host, out);
    check_iommu(device, host, out);
  }
  check_huge_pages(config, host, out);
  check_privileges(config, host, out);
  check_processor(config, host, out);
  check_shares(config, out);
  check_module(host, out);
  check_socket_of(config, host, out);
  return out.take();
}

bool would_start(const std::vector<Finding> &findings) {
  for (const Finding &one : findings)
    if (one.verdict == Verdict::missing)
      return false;
  return true;
}

std::string findings_text(const std::vector<Finding> &findings) {
  std::string out;
  for (const Finding &one : findings) {
    out += one.verdict == Verdict::fine   ? "ok       "
           : one.verdict == Verdict::note ? "note     "
                                          : "missing  ";
    out += one.about + ": " + one.text;
    if (!one.mend.empty())
      out += (one.verdict == Verdict::note ? "; better: " : "; mend: ") + one.mend;
    out += '\n';
  }
  return out + (would_start(findings) ? "dpdkxd would start\n" : "dpdkxd would not start\n");
}

} // namespace dpdkx::daemon
