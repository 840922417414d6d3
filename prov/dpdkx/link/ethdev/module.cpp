// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/ethdev/module.h"

#include "dpdkx/link/ethdev/device.h"
#include "dpdkx/link/ethdev/eal.h"

#include <cerrno>
#include <condition_variable>
#include <map>
#include <mutex>
#include <rte_version.h>

namespace dpdkx::link {

namespace {

std::mutex mutex_;
std::condition_variable closed_;

// Those that are open, or are being closed: then the pointer has expired already.
// Never destroyed: at exit the kernel takes everything back, in whatever order.
std::map<std::string, std::weak_ptr<EthdevDevice>> &devices() {
  static auto *all = new std::map<std::string, std::weak_ptr<EthdevDevice>>;
  return *all;
}

// null: not open, nor being closed any more.
std::shared_ptr<EthdevDevice> find_open(std::unique_lock<std::mutex> &lock,
                                        const std::string &identity) {
  std::shared_ptr<EthdevDevice> device;
  closed_.wait(lock, [&] {
    auto found = devices().find(identity);
    return found == devices().end() || (device = found->second.lock()) != nullptr;
  });
  return device;
}

// How the last owner's reference ends a device.
struct Close {
  std::string identity;

  void operator()(EthdevDevice *device) const {
    if (eal_is_parents())
      return; // the parent's: nothing here may touch it
    std::lock_guard lock(mutex_);
    delete device;
    auto found = devices().find(identity);
    if (found != devices().end() && found->second.expired())
      devices().erase(found);
    closed_.notify_all();
  }
};

int open_device_locked(const DeviceRequest &request, const DeviceOptions &options,
                       std::shared_ptr<Device> &out, std::string &error) {
  const auto identity = request.spec.identity();
  // Declared before the lock: a device that fails to open is closed after it.
  std::shared_ptr<EthdevDevice> device;
  std::unique_lock lock(mutex_);
  if (eal_is_parents()) {
    error = "FI_DPDKX_DEVICE: '" + request.spec.text +
            "': DPDK was started before fork(), and can't be used in the child; allowed: open "
            "the domain in the child only";
    return -EPERM;
  }
  if ((device = find_open(lock, identity))) {
    if (!device->matches(request, options)) {
      error = "FI_DPDKX_DEVICE: '" + request.spec.text +
              "' is open in this process with another FI_DPDKX_ADDR or FI_DPDKX_MTU, or by its "
              "address of the other IP version; allowed: the same for all domains";
      return -EBUSY;
    }
    out = std::move(device);
    return 0;
  }
  device.reset(new EthdevDevice(options.collected), Close{identity});
  if (int rc = device->describe(request, options, error))
    return rc;
  if (int rc = start_eal(options, request.spec, error))
    return rc;
  if (int rc = device->open(error))
    return rc;
  devices()[identity] = device;
  out = std::move(device);
  return 0;
}

void set_log(void (*sink)(LogLevel, std::string_view), bool (*filter)(LogLevel)) {
  set_log_sink(sink);
  set_log_filter(filter);
}

bool is_open(const net::DeviceSpec &spec) {
  std::shared_ptr<EthdevDevice> device; // let go after the lock
  std::unique_lock lock(mutex_);
  device = find_open(lock, spec.identity());
  return device != nullptr;
}

int open_device(const DeviceRequest &request, const DeviceOptions &options,
                std::shared_ptr<Device> &out, std::string &error) {
  try {
    return open_device_locked(request, options, out, error);
  } catch (const std::bad_alloc &) {
    error = "FI_DPDKX_DEVICE: '" + request.spec.text + "': out of memory";
    return -ENOMEM;
  } catch (const std::exception &fault) {
    error = "FI_DPDKX_DEVICE: '" + request.spec.text + "': " + fault.what();
    return -EIO;
  }
}

} // namespace

} // namespace dpdkx::link

extern "C" __attribute__((visibility("default"))) const dpdkx::link::EthdevModule *
dpdkx_ethdev_module() {
  using namespace dpdkx::link;
  static const EthdevModule module = {EthdevModule::current_abi, rte_version(), &set_log,
                                      &open_device, &is_open};
  return &module;
}
