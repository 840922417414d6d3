// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// A folder made here stands for the kernel's.
#include "dpdkx/net/pci_device.h"

#include <cerrno>
#include <fstream>
#include <unistd.h>

#include "unit/unit.h"

using namespace dpdkx::net;

namespace {

class Sysfs {
public:
  Sysfs() : path_(std::filesystem::temp_directory_path() / ("pci" + std::to_string(getpid()))) {
    std::filesystem::create_directory(path_);
  }
  ~Sysfs() { std::filesystem::remove_all(path_); }
  Sysfs(const Sysfs &) = delete;

  void add(const char *address, const char *device_class, const char *driver) const {
    std::filesystem::create_directory(path_ / address);
    std::ofstream(path_ / address / "class") << device_class << '\n';
    if (driver)
      std::filesystem::create_symlink(std::string("../../drivers/") + driver,
                                      path_ / address / "driver");
  }
  const std::filesystem::path &path() const { return path_; }

private:
  std::filesystem::path path_;
};

DeviceSpec pci(const char *text) {
  std::vector<DeviceSpec> out;
  std::string error;
  assert_true(parse_devices(text, out, error));
  return out.at(0);
}

void expect_fault(const Sysfs &sysfs, const char *device,
                  std::initializer_list<const char *> parts) {
  std::string error;
  assert_int_equal(check_pci_device(pci(device), error, sysfs.path()), -ENODEV);
  for (const char *part : parts)
    if (error.find(part) == std::string::npos)
      fail_msg("'%s' isn't in '%s'", part, error.c_str());
}

} // namespace

static void pci_device__absent_ones_are_told_with_those_there_are(void **) {
  const Sysfs sysfs;
  expect_fault(sysfs, "01:00.0",
               {"FI_DPDKX_DEVICE: '01:00.0'", "no such PCI device", "allowed: ", "none on PCI"});
  sysfs.add("0000:00:00.0", "0x060000", nullptr); // a bridge
  sysfs.add("0000:3b:02.0", "0x020000", "vfio-pci");
  sysfs.add("0000:3b:02.1", "0x020000", nullptr);
  expect_fault(sysfs, "01:00.0",
               {"no such PCI device", "host: 0000:3b:02.0 (vfio-pci), 0000:3b:02.1 (no driver)"});
}

static void pci_device__a_driver_that_keeps_it_is_told(void **) {
  const Sysfs sysfs;
  sysfs.add("0000:01:00.0", "0x020000", "ixgbe");
  sysfs.add("0000:01:00.1", "0x020000", nullptr);
  expect_fault(sysfs, "01:00.0",
               {"FI_DPDKX_DEVICE: '01:00.0': bound to 'ixgbe'; allowed: ", "vfio-pci",
                "--bind=vfio-pci 0000:01:00.0", "mlx5_core"});
  expect_fault(sysfs, "0000:01:00.1", {"bound to no kernel driver; allowed: ", "vfio-pci"});
}

static void pci_device__drivers_that_dpdk_can_use(void **) {
  const Sysfs sysfs;
  unsigned n = 0;
  for (const char *driver : {"vfio-pci", "uio_pci_generic", "igb_uio", "mlx5_core", "mlx4_core"}) {
    const std::string address = "0000:02:00." + std::to_string(n++);
    sysfs.add(address.c_str(), "0x020000", driver);
    std::string error;
    assert_int_equal(check_pci_device(pci(address.c_str()), error, sysfs.path()), 0);
  }
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(pci_device__absent_ones_are_told_with_those_there_are),
    cmocka_unit_test(pci_device__a_driver_that_keeps_it_is_told),
    cmocka_unit_test(pci_device__drivers_that_dpdk_can_use),
};
static const unit::Group group{"pci_device", cases};
