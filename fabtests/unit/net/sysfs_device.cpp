// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/net/sysfs_device.h"

#include "unit/net/sysfs_tree.h"
#include "unit/unit.h"

using namespace dpdkx::net;

namespace {

DeviceSpec device(const char *text) {
  std::vector<DeviceSpec> out;
  std::string error;
  assert_true(parse_devices(text, out, error));
  return out.at(0);
}

void expect_of_the_nic(const SysfsDevice &found) {
  assert_true(found.pci == (PciAddress{0, 0x3b, 0, 1}));
  assert_string_equal(found.vendor_id.c_str(), "0x15b3");
  assert_string_equal(found.device_id.c_str(), "0x1017");
  assert_string_equal(found.revision.c_str(), "0x05");
  assert_int_equal(found.numa_node, 1);
}

} // namespace

static void sysfs_device__pci_addresses(void **) {
  assert_true(parse_pci_address("0000:3b:1c.5") == (PciAddress{0, 0x3b, 0x1c, 5}));
  assert_true(parse_pci_address("10000:01:00.0") == (PciAddress{0x10000, 1, 0, 0}));
  for (const char *text :
       {"", "3b:1c.5", "0000:3b:1c", "0000:3b:1c.", "0000:3b:1c.8", "0000:3b:20.0", "0000:3b:1c.5x",
        "virtio2", "pci0000:00", "0000:3b:1c.55", "xxxx:3b:1c.5"})
    assert_false(parse_pci_address(text).has_value());
}

static void sysfs_device__a_nic_that_dpdk_and_the_kernel_share(void **) {
  const SysfsTree tree;
  const auto nic = tree.pci("0000:3b:00.1", "mlx5_core", 1);
  tree.interface("ens1f1", nic);
  tree.rdma("mlx5_1", nic);
  const SysfsDevice found = look_at_device(device("3b:00.1"), tree.sysfs());
  expect_of_the_nic(found);
  assert_string_equal(found.driver.c_str(), "mlx5_core");
  assert_string_equal(found.firmware.c_str(), "16.35.2000");
  assert_string_equal(found.mac.c_str(), "02:00:00:00:00:1f");
  assert_int_equal(found.speed_mbps, 100000);
  assert_true(found.up);
}

static void sysfs_device__a_nic_of_dpdks_own(void **) {
  const SysfsTree tree;
  tree.pci("0000:3b:00.1", "vfio-pci", 1);
  const SysfsDevice found = look_at_device(device("3b:00.1"), tree.sysfs());
  expect_of_the_nic(found);
  assert_string_equal(found.driver.c_str(), "vfio-pci");
  assert_true(found.mac.empty() && found.firmware.empty() && found.speed_mbps == 0 && !found.up);
}

static void sysfs_device__a_kernel_interface_on_pci(void **) {
  const SysfsTree tree;
  tree.interface("ens1f1", tree.pci("0000:3b:00.1", "ixgbe", 1));
  for (const char *text : {"ens1f1", "xdp:ens1f1", "net_af_packet7,iface=ens1f1"}) {
    const SysfsDevice found = look_at_device(device(text), tree.sysfs());
    expect_of_the_nic(found);
    assert_string_equal(found.driver.c_str(), "ixgbe");
  }
}

// virtio's device stands on the PCI device, and has another driver and numbers of its own.
static void sysfs_device__a_kernel_interface_on_a_device_on_pci(void **) {
  const SysfsTree tree;
  const auto virtio = tree.pci("0000:3b:00.1", "virtio-pci", 1) + "/virtio2";
  tree.file(virtio + "/vendor", "0x1af4");
  tree.folder("sys/bus/virtio/drivers/virtio_net");
  tree.link(virtio + "/driver", "sys/bus/virtio/drivers/virtio_net");
  tree.interface("eth0", virtio);
  const SysfsDevice found = look_at_device(device("eth0"), tree.sysfs());
  expect_of_the_nic(found);
  assert_string_equal(found.driver.c_str(), "virtio_net");
}

static void sysfs_device__what_is_not_there_is_unknown(void **) {
  const SysfsTree tree;
  tree.interface("veth0", "");
  for (const char *text : {"veth0", "eth9", "net_memif0,id=0"}) {
    const SysfsDevice found = look_at_device(device(text), tree.sysfs());
    assert_false(found.pci.has_value());
    assert_true(found.vendor_id.empty() && found.driver.empty() && found.numa_node == -1);
  }
  const SysfsDevice absent = look_at_device(device("3b:00.1"), tree.sysfs());
  assert_true(absent.pci == (PciAddress{0, 0x3b, 0, 1}));
  assert_true(absent.vendor_id.empty() && absent.numa_node == -1);
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(sysfs_device__pci_addresses),
    cmocka_unit_test(sysfs_device__a_nic_that_dpdk_and_the_kernel_share),
    cmocka_unit_test(sysfs_device__a_nic_of_dpdks_own),
    cmocka_unit_test(sysfs_device__a_kernel_interface_on_pci),
    cmocka_unit_test(sysfs_device__a_kernel_interface_on_a_device_on_pci),
    cmocka_unit_test(sysfs_device__what_is_not_there_is_unknown),
};
static const unit::Group group{"sysfs_device", cases};
