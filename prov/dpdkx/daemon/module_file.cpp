// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/module_file.h"

#include "dpdkx/link/ethdev/loader.h"
#include "dpdkx/net/text.h"

#include <cstdlib>
#include <string_view>
#include <unistd.h>

namespace dpdkx::daemon {

std::string find_module(std::string &error) {
  const char *path = std::getenv("FI_PROVIDER_PATH");
  std::string_view folders = path != nullptr ? path : "";
  std::string looked;
  for (bool last = false; !last;) {
    last = folders.empty();
    const std::string folder(last ? DPDKX_MODULE_DIR : net::cut(folders, ":"));
    const std::string file = folder + "/libdpdkx-ethdev.so";
    if (folder.starts_with('/') && access(file.c_str(), F_OK) == 0)
      return file;
    (looked += looked.empty() ? "" : ", ") += folder;
  }
  error = "devices need the module libdpdkx-ethdev.so, which isn't in " + looked +
          "; allowed: dpdkx built with DPDK and installed, or FI_PROVIDER_PATH with its folder";
  return {};
}

const link::EthdevModule *load_module(std::string &error) {
  const std::string file = find_module(error);
  return file.empty() ? nullptr : link::load_ethdev_module(file, error);
}

} // namespace dpdkx::daemon
