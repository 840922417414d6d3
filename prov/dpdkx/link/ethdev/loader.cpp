// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/ethdev/loader.h"

#include "dpdkx/link/ethdev/claim.h"

#include <atomic>
#include <cerrno>
#include <dlfcn.h>
#include <mutex>
#include <unistd.h>

namespace dpdkx::link {

namespace {

constexpr const char *module_file = "libdpdkx-ethdev.so";

std::mutex load_mutex_;
std::atomic<const EthdevModule *> module_{nullptr};

// Beside whatever library or program this function lies in.
std::string default_path() {
  Dl_info where;
  std::string file;
  if (dladdr(reinterpret_cast<void *>(&default_path), &where) && where.dli_fname != nullptr)
    file = where.dli_fname;
  auto slash = file.rfind('/');
  return slash == std::string::npos ? module_file : file.substr(0, slash + 1) + module_file;
}

const EthdevModule *load(const std::string &path, std::string &error) {
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    error = "FI_DPDKX_DEVICE needs the module " + path + ", which can't be loaded: " + dlerror() +
            " (is DPDK installed, and the dpdkx module for its version?)";
    return nullptr;
  }
  auto *entry =
      reinterpret_cast<decltype(&dpdkx_ethdev_module)>(dlsym(handle, EthdevModule::symbol));
  const auto *module = entry != nullptr ? entry() : nullptr;
  if (module == nullptr || module->abi != EthdevModule::current_abi) {
    error = path + " is not of this build of dpdkx: its interface is " +
            (module != nullptr ? std::to_string(module->abi) : "unknown") +
            ", allowed: " + std::to_string(EthdevModule::current_abi) +
            "; install both files together";
    dlclose(handle);
    return nullptr;
  }
  module->set_log(&log, &log_enabled);
  return module;
}

} // namespace

const EthdevModule *load_ethdev_module(const std::string &path, std::string &error) {
  std::lock_guard lock(load_mutex_);
  if (module_ == nullptr)
    module_ = load(path.empty() ? default_path() : path, error);
  return module_;
}

bool ethdev_module_exists(std::string &error) {
  const std::string path = default_path();
  if (loaded_ethdev_module() != nullptr || access(path.c_str(), F_OK) == 0)
    return true;
  error = "devices need the module " + path +
          ", which isn't there; allowed: FI_DPDKX_DEVICE not set (processes of one host), or dpdkx "
          "built with DPDK";
  return false;
}

const EthdevModule *loaded_ethdev_module() { return module_; }

std::size_t find_free_device(std::span<const DeviceRequest> requests) {
  const auto *module = loaded_ethdev_module();
  for (std::size_t i = 0; module != nullptr && i < requests.size(); ++i)
    if (module->is_open(requests[i].spec))
      return i;
  for (std::size_t i = 0; i < requests.size(); ++i)
    if (!requests[i].spec.exclusive() || !Claim::is_taken(requests[i].spec.identity()))
      return i;
  return requests.size();
}

int open_first_free(const EthdevModule &module, std::span<const DeviceRequest> requests,
                    const DeviceOptions &options, std::shared_ptr<Device> &device,
                    std::size_t &index, std::string &error) {
  // What this process has open comes before what is free.
  auto first = find_free_device(requests);
  for (std::size_t i = first; i < requests.size(); ++i) {
    int rc = module.open_device(requests[i], options, device, error);
    // Open in this process in another way: it has no other device.
    if (rc != -EBUSY || module.is_open(requests[i].spec)) {
      index = i;
      return rc;
    }
  }
  error = "FI_DPDKX_DEVICE: every device of the list is used by another process; allowed: one "
          "device for each process of the host (kernel interfaces by af_packet are shared)";
  return -EBUSY;
}

} // namespace dpdkx::link
