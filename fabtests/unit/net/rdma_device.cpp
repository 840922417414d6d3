// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/net/rdma_device.h"

#include "dpdkx/net/device_spec.h"

#include "unit/net/sysfs_tree.h"
#include "unit/unit.h"

using namespace dpdkx::net;

namespace {

void two_nics(const SysfsTree &tree) {
  const auto nic = tree.pci("0000:3b:00.0", "mlx5_core", 0);
  tree.rdma("mlx5_0", nic);
  tree.interface("ens1f0", nic);
  tree.rdma("rocep59s0f1-of-a-long-name", tree.pci("0000:3b:00.1", "mlx5_core", 0));
  tree.rdma("rxe0", "");
}

bool parse(const SysfsTree &tree, const char *text, std::vector<DeviceSpec> &out,
           std::string &error) {
  return parse_devices(text, out, error, [&](const std::string &name) {
    return find_rdma_device(name, tree.sysfs());
  });
}

} // namespace

static void rdma_device__names_come_to_pci_addresses(void **) {
  const SysfsTree tree;
  assert_false(find_rdma_device("mlx5_0", tree.sysfs()).has_value());
  assert_string_equal(rdma_device_names(tree.sysfs()).c_str(), "");
  two_nics(tree);
  assert_string_equal(find_rdma_device("mlx5_0", tree.sysfs())->pci.c_str(), "0000:3b:00.0");
  assert_string_equal(find_rdma_device("rxe0", tree.sysfs())->pci.c_str(), "");
  for (const char *name : {"", ".", "..", "mlx5_9", "../infiniband/mlx5_0", "mlx5_0/device"})
    assert_false(find_rdma_device(name, tree.sysfs()).has_value());
  assert_string_equal(rdma_device_names(tree.sysfs()).c_str(),
                      "mlx5_0, rocep59s0f1-of-a-long-name");
}

static void rdma_device__entries_of_the_setting(void **) {
  const SysfsTree tree;
  two_nics(tree);
  std::vector<DeviceSpec> out;
  std::string error;
  assert_true(
      parse(tree, "mlx5_0,dv_flow_en=1;rocep59s0f1-of-a-long-name;ens1f0;xdp:mlx5_0", out, error));
  assert_true(out[0].kind == DeviceKind::pci && out[0].exclusive());
  assert_string_equal(out[0].text.c_str(), "mlx5_0,dv_flow_en=1");
  assert_string_equal(out[0].bus_name.c_str(), "0000:3b:00.0");
  assert_string_equal(out[0].arguments.c_str(), "dv_flow_en=1");
  assert_string_equal(out[0].rdma.c_str(), "mlx5_0");
  assert_string_equal(out[1].bus_name.c_str(), "0000:3b:00.1");
  assert_true(out[2].kind == DeviceKind::af_packet);
  assert_true(out[3].kind == DeviceKind::af_xdp); // of an interface with that name
}

static void rdma_device__faults(void **) {
  const SysfsTree tree;
  two_nics(tree);
  std::vector<DeviceSpec> out;
  std::string error;
  assert_false(parse(tree, "rxe0", out, error));
  assert_non_null(std::strstr(error.c_str(), "'rxe0': an RDMA device that is none on PCI; allowed: "
                                             "a PCI address (0000:01:00.0), an RDMA device"));
  assert_false(parse(tree, "mlx5_0;3b:00.0", out, error));
  assert_non_null(std::strstr(error.c_str(), "'3b:00.0': named twice"));
}

// lo is one everywhere.
static void rdma_device__a_kernel_interface_of_the_name_comes_first(void **) {
  const SysfsTree tree;
  tree.rdma("lo", tree.pci("0000:3b:00.0", "mlx5_core", 0));
  std::vector<DeviceSpec> out;
  std::string error;
  assert_true(parse(tree, "lo", out, error));
  assert_true(out[0].kind == DeviceKind::af_packet && out[0].interface == "lo");
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(rdma_device__names_come_to_pci_addresses),
    cmocka_unit_test(rdma_device__entries_of_the_setting),
    cmocka_unit_test(rdma_device__faults),
    cmocka_unit_test(rdma_device__a_kernel_interface_of_the_name_comes_first),
};
static const unit::Group group{"rdma_device", cases};
