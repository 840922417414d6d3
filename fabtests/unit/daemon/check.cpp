// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/check.h"

#include "dpdkx/base/cpus.h"
#include "dpdkx/daemon/status_json.h"

#include <cerrno>
#include <cstdlib>

#include "unit/daemon/example.h"
#include "unit/daemon/text.h"
#include "unit/net/sysfs_tree.h"

using namespace dpdkx;
using namespace dpdkx::daemon;

namespace {

constexpr const char *all_capabilities = "000001ffffffffff";

// One that this test may use, whatever its number; here it is one of node 0.
const char *processor() {
  static const std::string number = std::to_string(std::atoi(allowed_cpus().c_str()));
  return number.c_str();
}

// A host that lacks nothing, until a test takes something away.
class Host {
public:
  Host() {
    privileges(all_capabilities, "unlimited");
    tree.file("proc/mounts", "hugetlbfs /dev/hugepages hugetlbfs rw 0 0");
    pages("sys/kernel/mm/hugepages", 512, 400);
    for (const char *node : {"0", "1"}) {
      const std::string folder = std::string("sys/devices/system/node/node") + node;
      pages(folder + "/hugepages", 256, 200);
      tree.file(folder + "/cpulist", *node == '0' ? "0-3" : "4-7");
    }
    tree.folder(std::string("sys/devices/system/cpu/cpu") + processor() + "/node0");
    tree.folder("sys/kernel/iommu_groups/17");
    host_.root = tree.root();
    host_.describe = [](const DeviceConfig &, net::DeviceDescription &out, std::string &) {
      out.address = {net::Ip(net::Ipv4{0x0a000001}), 24};
      return 0;
    };
    host_.is_taken = [](const net::DeviceSpec &) { return false; };
    host_.find_module = [](std::string &) { return std::string("/lib/libdpdkx-ethdev.so"); };
    host_.ask = [](const std::string &, std::string &, std::string &) { return -ECONNREFUSED; };
  }

  // One that vfio-pci has, with its group.
  std::string vfio_device() const {
    const auto device = tree.pci("0000:3b:00.0", "vfio-pci", 0);
    tree.link(device + "/iommu_group", "sys/kernel/iommu_groups/17");
    tree.file("dev/vfio/17", "");
    return device;
  }

  void privileges(const char *effective, const char *locked) const {
    tree.file("proc/self/status", std::string("Name:\tdpdkxd\nCapPrm:\t0\nCapEff:\t") + effective);
    tree.file("proc/self/limits",
              std::string("Limit  Soft Limit  Hard Limit  Units\nMax locked memory         ") +
                  locked + "              unlimited            bytes");
  }

  void pages(const std::string &folder, int all, int free) const {
    tree.file(folder + "/hugepages-2048kB/nr_hugepages", std::to_string(all));
    tree.file(folder + "/hugepages-2048kB/free_hugepages", std::to_string(free));
  }

  CheckedHost &operator*() { return host_; }

  std::vector<Finding> run(std::vector<std::pair<const char *, const char *>> pairs) const {
    std::vector<Given> given;
    for (const auto &[option, value] : pairs)
      given.push_back({option, value, option});
    Options options;
    std::string error;
    if (!read_options(given, {}, options, error))
      fail_msg("%s", error.c_str());
    return daemon::check(options, host_);
  }

  net::SysfsTree tree;

private:
  CheckedHost host_;
};

void expect_fine(const std::vector<Finding> &findings) {
  for (const Finding &one : findings)
    if (one.verdict != Verdict::fine)
      fail_msg("%s", findings_text(findings).c_str());
}

// One finding of that kind, and no other that isn't fine.
void expect_only(const std::vector<Finding> &findings, Verdict verdict, const char *about,
                 std::initializer_list<const char *> text,
                 std::initializer_list<const char *> mend) {
  const Finding *found = nullptr;
  for (const Finding &one : findings) {
    if (one.verdict == Verdict::fine)
      continue;
    if (found || one.verdict != verdict)
      fail_msg("%s", findings_text(findings).c_str());
    found = &one;
  }
  assert_non_null(found);
  expect_equal(found->about, about);
  expect_parts(found->text, text);
  expect_parts(found->mend, mend);
  assert_int_equal(would_start(findings), verdict != Verdict::missing);
}

} // namespace

static void check__all_is_well(void **) {
  Host host;
  host.vfio_device();
  const auto findings =
      host.run({{"device", "3b:00.0"}, {"address", "10.0.0.1/24"}, {"processor", processor()}});
  expect_fine(findings);
  assert_true(would_start(findings));
  const std::string expected =
      "ok       3b:00.0: PCI device 0000:3b:00.0, bound to vfio-pci, NUMA node 0\n"
      "ok       3b:00.0: address 10.0.0.1/24, as set; MTU 1500\n"
      "ok       3b:00.0: IOMMU group 17\n"
      "ok       3b:00.0: /dev/vfio/17 can be used\n"
      "ok       huge pages: 800MiB in 400 free pages; hugetlbfs is mounted\n"
      "ok       huge pages: 400MiB free on NUMA node 0\n"
      "ok       processor: " +
      std::string(processor()) +
      "\n"
      "ok       3b:00.0: on NUMA node 0, as processor " +
      processor() +
      "\n"
      "ok       max-ranks: 1024, of which 512 are one user's\n"
      "ok       module: /lib/libdpdkx-ethdev.so\n"
      "ok       socket: @dpdkxd, where nobody listens yet\n"
      "dpdkxd would start\n";
  expect_equal(findings_text(findings), expected.c_str());
  expect_fine(host.run({{"device", "eth9"}}));
  expect_fine(host.run({{"device", "net_memif0,id=0"}, {"address", "10.0.0.1/24"}}));
}

static void check__without_a_device(void **) {
  const Host host;
  expect_only(host.run({}), Verdict::missing, "device", {"none is named"}, {"--device"});
}

static void check__devices_that_are_not_there(void **) {
  Host host;
  host.vfio_device();
  expect_only(host.run({{"device", "3b:00.7"}, {"processor", processor()}}), Verdict::missing,
              "3b:00.7",
              {"device: '3b:00.7': no such PCI device; allowed: ", "0000:3b:00.0 (vfio-pci)"},
              {"dpdk-devbind.py --status-dev net"});
  (*host).describe = [](const DeviceConfig &, net::DeviceDescription &, std::string &error) {
    error = "FI_DPDKX_DEVICE: 'eth9': no network interface";
    return -ENODEV;
  };
  expect_only(host.run({{"device", "eth9"}}), Verdict::missing, "eth9",
              {"device: 'eth9': no network interface"}, {"ip link"});
}

static void check__drivers_that_keep_a_device(void **) {
  const Host host;
  host.tree.pci("0000:3b:00.0", "ixgbe", 0);
  expect_only(host.run({{"device", "3b:00.0"}, {"processor", processor()}}), Verdict::missing,
              "3b:00.0", {"bound to 'ixgbe'; allowed: "},
              {"dpdk-devbind.py --bind=vfio-pci 0000:3b:00.0"});
}

static void check__addresses_and_links(void **) {
  Host host;
  int rc = 0;
  (*host).describe = [&](const DeviceConfig &, net::DeviceDescription &, std::string &error) {
    error = "FI_DPDKX_ADDR: wrong";
    return rc;
  };
  rc = -EADDRNOTAVAIL;
  expect_only(host.run({{"device", "eth9"}}), Verdict::missing, "eth9", {"address: wrong"},
              {"ip address add 10.0.0.1/24 dev eth9"});
  expect_only(host.run({{"device", "net_memif0,id=0"}}), Verdict::missing, "net_memif0,id=0", {},
              {"--address 10.0.0.1/24"});
  rc = -ENETDOWN;
  expect_only(host.run({{"device", "xdp:eth9"}}), Verdict::missing, "xdp:eth9", {},
              {"ip link set eth9 up"});
  rc = -EOPNOTSUPP;
  expect_only(host.run({{"device", "xdp:eth9"}}), Verdict::missing, "xdp:eth9", {},
              {"ethtool -L eth9 rx 1"});
  rc = -EMSGSIZE;
  expect_only(host.run({{"device", "eth9"}, {"mtu", "9000"}}), Verdict::missing, "eth9", {},
              {"ip link set eth9 mtu 9000"});
}

static void check__a_device_that_another_process_has(void **) {
  Host host;
  (*host).is_taken = [](const net::DeviceSpec &) { return true; };
  expect_only(host.run({{"device", "net_memif0,id=0"}}), Verdict::missing, "net_memif0,id=0",
              {"another process has it"}, {"end that process"});
}

static void check__iommu(void **) {
  Host host;
  const auto device = host.vfio_device();
  std::filesystem::remove_all(host.tree.root() / "sys/kernel/iommu_groups/17");
  const std::vector<std::pair<const char *, const char *>> options{{"device", "3b:00.0"},
                                                                   {"processor", processor()}};
  expect_only(host.run(options), Verdict::missing, "3b:00.0", {"no IOMMU"},
              {"intel_iommu=on", "enable_unsafe_noiommu_mode"});
  host.tree.file("sys/module/vfio/parameters/enable_unsafe_noiommu_mode", "Y");
  host.tree.file("dev/vfio/noiommu-17", "");
  expect_only(host.run(options), Verdict::note, "3b:00.0", {"can reach all memory"},
              {"intel_iommu=on"});
  std::filesystem::remove(host.tree.root() / device / "iommu_group");
  expect_only(host.run(options), Verdict::missing, "3b:00.0", {"no IOMMU"}, {"intel_iommu=on"});
}

static void check__the_group_of_vfio(void **) {
  const Host host;
  host.vfio_device();
  std::filesystem::remove(host.tree.root() / "dev/vfio/17");
  expect_only(host.run({{"device", "3b:00.0"}, {"processor", processor()}}), Verdict::missing,
              "3b:00.0", {"/dev/vfio/17 can't be read"}, {"chown", "/dev/vfio/17"});
}

// The kernel keeps the device, and there is neither a group nor an IOMMU to look for.
static void check__devices_that_are_shared_need_no_vfio(void **) {
  const Host host;
  host.tree.pci("0000:3b:00.0", "mlx5_core", 0);
  std::filesystem::remove_all(host.tree.root() / "sys/kernel/iommu_groups");
  const auto findings = host.run({{"device", "3b:00.0"}, {"processor", processor()}});
  expect_fine(findings);
  expect_parts(findings_text(findings), {"bound to mlx5_core, which shares it with the kernel",
                                         "privileges: CAP_NET_RAW, CAP_NET_ADMIN, CAP_IPC_LOCK"});
}

static void check__huge_pages(void **) {
  const Host host;
  host.vfio_device();
  const std::vector<std::pair<const char *, const char *>> options{{"device", "3b:00.0"},
                                                                   {"processor", processor()}};
  auto larger = options;
  larger.emplace_back("memory", "1GiB");
  expect_only(host.run(larger), Verdict::missing, "huge pages",
              {"800MiB in 400 free pages, while memory asks for 1024MiB"}, {"--memory"});
  host.pages("sys/devices/system/node/node0/hugepages", 256, 0);
  expect_only(host.run(options), Verdict::note, "huge pages",
              {"none free on NUMA node 0, where a device is"},
              {"echo 512 > /sys/devices/system/node/node0/hugepages/hugepages-2048kB/"});
  host.pages("sys/devices/system/node/node0/hugepages", 256, 1);
  host.pages("sys/kernel/mm/hugepages", 512, 0);
  auto findings = host.run(options);
  assert_false(would_start(findings));
  expect_parts(findings_text(findings), {"missing  huge pages: all 512 are in use; mend: echo 512 "
                                         "> /proc/sys/vm/nr_hugepages\n"});
  host.pages("sys/kernel/mm/hugepages", 0, 0);
  expect_parts(findings_text(host.run(options)), {"huge pages: none are reserved"});
  // An interface needs none, unless it is told to.
  expect_fine(host.run({{"device", "eth9"}}));
  expect_only(host.run({{"device", "eth9"}, {"huge-pages", "always"}}), Verdict::missing,
              "huge pages", {"none are reserved"}, {"nr_hugepages"});
}

// DPDK may have others than are known here.
static void check__a_driver_that_may_be_none(void **) {
  Host host;
  const auto findings = host.run({{"device", "net_foo0"}});
  assert_true(would_start(findings));
  expect_only(findings, Verdict::note, "net_foo0",
              {"a driver that isn't among net_af_packet, ", "net_virtio_user"}, {"another name"});
}

static void check__privileges(void **) {
  const Host host;
  host.privileges("0000000000002000", "65536"); // CAP_NET_RAW
  expect_fine(host.run({{"device", "eth9"}}));
  host.privileges("0000000000002000", "unlimited");
  expect_only(host.run({{"device", "eth9,qdisc_bypass=0"}}), Verdict::missing,
              "eth9,qdisc_bypass=0", {"this process lacks CAP_NET_ADMIN"},
              {"root", "AmbientCapabilities=CAP_NET_ADMIN"});
  host.privileges("0000000000000000", "unlimited");
  expect_only(host.run({{"device", "eth9"}}), Verdict::missing, "eth9",
              {"this process lacks CAP_NET_RAW"}, {"root", "AmbientCapabilities=CAP_NET_RAW"});
  expect_only(host.run({{"device", "xdp:eth9"}}), Verdict::missing, "xdp:eth9",
              {"lacks CAP_NET_RAW, CAP_NET_ADMIN, CAP_SYS_ADMIN"},
              {"AmbientCapabilities=CAP_NET_RAW CAP_NET_ADMIN CAP_SYS_ADMIN"}); // systemd's list
  expect_fine(host.run({{"device", "net_memif0,id=0"}}));
  expect_only(host.run({{"device", "net_tap0,iface=dtap0"}}), Verdict::missing,
              "net_tap0,iface=dtap0", {"lacks CAP_NET_ADMIN"}, {});
  host.tree.pci("0000:3b:00.0", "uio_pci_generic", 0);
  expect_only(host.run({{"device", "3b:00.0"}, {"processor", processor()}}), Verdict::missing,
              "3b:00.0", {"lacks CAP_SYS_ADMIN, CAP_SYS_RAWIO"}, {});
}

static void check__memory_that_may_be_locked(void **) {
  const Host host;
  const char *const by_dpdk = "eth9,qdisc_bypass=0";
  host.privileges("0000000000003000", "65536"); // CAP_NET_ADMIN, CAP_NET_RAW
  expect_only(host.run({{"device", by_dpdk}}), Verdict::missing, by_dpdk, {"64KiB", "locked"},
              {"ulimit -l unlimited", "LimitMEMLOCK=infinity"});
  host.privileges("0000000000007000", "65536"); // CAP_IPC_LOCK
  expect_fine(host.run({{"device", by_dpdk}}));
}

static void check__the_node_of_device_and_processor(void **) {
  const Host host;
  host.tree.pci("0000:3b:00.0", "mlx5_core", 1);
  expect_only(host.run({{"device", "3b:00.0"}, {"processor", processor()}}), Verdict::note,
              "3b:00.0", {"on NUMA node 1, and processor ", " isn't"},
              {"--processor N, one of 4-7"});
  expect_only(host.run({{"device", "3b:00.0"}}), Verdict::note, "3b:00.0",
              {"on NUMA node 1, and dpdkxd on any processor"}, {"one of 4-7"});
}

static void check__the_share_of_a_user(void **) {
  const Host host;
  expect_only(host.run({{"device", "eth9"}, {"max-ranks", "8"}, {"max-ranks-per-user", "8"}}),
              Verdict::note, "max-ranks-per-user",
              {"8, with which one user can take all of max-ranks, 8"}, {"fewer"});
  expect_fine(host.run({{"device", "eth9"}, {"max-ranks", "8"}, {"max-ranks-per-user", "7"}}));
}

static void check__the_module(void **) {
  Host host;
  (*host).find_module = [](std::string &error) {
    error = "not there";
    return std::string();
  };
  expect_only(host.run({{"device", "eth9"}}), Verdict::missing, "module", {"not there"},
              {"make install"});
}

static void check__another_daemon(void **) {
  Host host;
  (*host).ask = [](const std::string &socket, std::string &json, std::string &) {
    json = socket == "@a" ? status_to_json(example_status()) : "who?";
    return 0;
  };
  expect_only(host.run({{"device", "eth9"}, {"socket", "@a"}}), Verdict::missing, "socket",
              {"dpdkxd 0.1.0, pid 99, listens at @a already"}, {"--socket"});
  expect_only(host.run({{"device", "eth9"}, {"socket", "@b"}}), Verdict::missing, "socket",
              {"somebody listens at @b already"}, {"--socket"});
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(check__all_is_well),
    cmocka_unit_test(check__without_a_device),
    cmocka_unit_test(check__devices_that_are_not_there),
    cmocka_unit_test(check__drivers_that_keep_a_device),
    cmocka_unit_test(check__addresses_and_links),
    cmocka_unit_test(check__a_device_that_another_process_has),
    cmocka_unit_test(check__iommu),
    cmocka_unit_test(check__the_group_of_vfio),
    cmocka_unit_test(check__devices_that_are_shared_need_no_vfio),
    cmocka_unit_test(check__huge_pages),
    cmocka_unit_test(check__a_driver_that_may_be_none),
    cmocka_unit_test(check__privileges),
    cmocka_unit_test(check__memory_that_may_be_locked),
    cmocka_unit_test(check__the_node_of_device_and_processor),
    cmocka_unit_test(check__the_share_of_a_user),
    cmocka_unit_test(check__the_module),
    cmocka_unit_test(check__another_daemon),
};
static const unit::Group group{"check", cases};
