// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/nic.h"

#include "unit/face/face.h"
#include "unit/net/sysfs_tree.h"
#include "unit/unit.h"

#include <cstring>

using namespace dpdkx;
using face::InfoPtr;
using net::SysfsTree;

namespace {

// As fi_getinfo makes it, of an entry of FI_DPDKX_DEVICE.
InfoPtr info_of(const SysfsTree &tree, const char *entry, net::Mac mac = {},
                std::uint64_t speed_mbps = 0) {
  std::vector<net::DeviceSpec> specs;
  std::string error;
  const auto find = [&](const std::string &name) {
    return net::find_rdma_device(name, tree.sysfs());
  };
  if (!net::parse_devices(entry, specs, error, find))
    fail_msg("%s", error.c_str());
  net::DeviceDescription description;
  description.link_name = specs.at(0).interface.empty() ? specs[0].bus_name : specs[0].interface;
  description.mac = mac;
  description.speed_mbps = speed_mbps;
  InfoPtr info(fi_allocinfo());
  info->nic = make_nic(specs[0], description, tree.sysfs());
  return info;
}

std::string text_of(const fid_nic &nic) {
  char text[2000] = "";
  assert_int_equal(nic.fid.ops->tostr(&nic.fid, text, sizeof(text)), 0);
  return text;
}

void expect_says(const std::string &text, std::initializer_list<const char *> parts) {
  for (const char *part : parts)
    if (text.find(part) == std::string::npos)
      fail_msg("'%s' isn't in '%s'", part, text.c_str());
}

void expect_bus(const fid_nic &nic) {
  assert_int_equal(nic.bus_attr->bus_type, FI_BUS_PCI);
  const fi_pci_attr &pci = nic.bus_attr->attr.pci;
  assert_int_equal(pci.domain_id, 0);
  assert_int_equal(pci.bus_id, 0x3b);
  assert_int_equal(pci.device_id, 0);
  assert_int_equal(pci.function_id, 1);
}

} // namespace

// Each attribute, under the name that was given; so has a copy.
static void nic__of_an_rdma_device_is_complete(void **) {
  const SysfsTree tree;
  const auto device = tree.pci("0000:3b:00.1", "mlx5_core", 1);
  tree.interface("ens1f1", device);
  tree.rdma("mlx5_1", device);
  InfoPtr info = info_of(tree, "mlx5_1");
  const InfoPtr copy(fi_dupinfo(info.get()));
  info.reset();
  const fid_nic &nic = *copy->nic;
  assert_string_equal(nic.device_attr->name, "mlx5_1");
  assert_string_equal(nic.device_attr->device_id, "0x1017");
  assert_string_equal(nic.device_attr->device_version, "0x05");
  assert_string_equal(nic.device_attr->vendor_id, "0x15b3");
  assert_string_equal(nic.device_attr->driver, "mlx5_core");
  assert_string_equal(nic.device_attr->firmware, "16.35.2000");
  expect_bus(nic);
  assert_string_equal(nic.link_attr->address, "02:00:00:00:00:1f");
  assert_int_equal(nic.link_attr->mtu, net::default_mtu);
  assert_int_equal(nic.link_attr->speed, 100'000'000'000);
  assert_int_equal(nic.link_attr->state, FI_LINK_UP);
  assert_string_equal(nic.link_attr->network_type, "Ethernet");
  expect_says(text_of(nic), {"name: mlx5_1\n", "device_version: 0x05\n", "firmware: 16.35.2000\n",
                             "bus_id: 59\n", "numa_node: 1\n"});
}

static void nic__of_a_pci_device_has_its_bus(void **) {
  const SysfsTree tree;
  tree.pci("0000:3b:00.1", "vfio-pci", 0);
  const InfoPtr info = info_of(tree, "3b:00.1");
  expect_bus(*info->nic);
  assert_string_equal(info->nic->device_attr->driver, "vfio-pci");
  assert_int_equal(info->nic->link_attr->state, FI_LINK_UNKNOWN);
  assert_null(info->nic->link_attr->address);
  expect_says(text_of(*info->nic), {"numa_node: 0\n"});
}

static void nic__of_a_kernel_interface_has_the_bus_of_its_device(void **) {
  const SysfsTree tree;
  tree.interface("eth0", tree.pci("0000:3b:00.1", "virtio-pci", 1) + "/virtio2");
  const InfoPtr info = info_of(tree, "eth0", net::Mac{{2, 0, 0, 0, 0, 9}}, 25000);
  expect_bus(*info->nic);
  assert_string_equal(info->nic->link_attr->address, "02:00:00:00:00:09"); // as described
  assert_int_equal(info->nic->link_attr->speed, 25'000'000'000);
  expect_says(text_of(*info->nic), {"numa_node: 1\n"});
}

// Attributes are there for whoever looks into them.
static void nic__of_a_virtual_device_knows_little(void **) {
  const SysfsTree tree;
  const InfoPtr info = info_of(tree, "net_memif0,id=0");
  assert_non_null(info->nic->device_attr);
  assert_non_null(info->nic->link_attr);
  assert_int_equal(info->nic->bus_attr->bus_type, FI_BUS_UNKNOWN);
  assert_true(text_of(*info->nic).find("numa_node") == std::string::npos);
}

// fi_pci_attr can't say it.
static void nic__of_a_pci_domain_beyond_16_bits_has_no_bus(void **) {
  const SysfsTree tree;
  tree.interface("eth0", tree.pci("10000:3b:00.1", "ixgbe", 1));
  assert_int_equal(info_of(tree, "eth0")->nic->bus_attr->bus_type, FI_BUS_UNKNOWN);
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(nic__of_an_rdma_device_is_complete),
    cmocka_unit_test(nic__of_a_pci_device_has_its_bus),
    cmocka_unit_test(nic__of_a_kernel_interface_has_the_bus_of_its_device),
    cmocka_unit_test(nic__of_a_virtual_device_knows_little),
    cmocka_unit_test(nic__of_a_pci_domain_beyond_16_bits_has_no_bus),
};
static const unit::Group group{"nic", cases};
