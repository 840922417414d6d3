// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// What is told when something is wrong: the code, and a text that names the
// setting, the value and what is allowed.
#include "dpdkx/link/ethdev/claim.h"
#include "dpdkx/link/ethdev/loader.h"
#include "dpdkx/link/ethdev/nic.h"
#include "unit/link_ethdev/hosts.h"

#include <cerrno>
#include <fstream>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include "unit/unit.h"

using namespace hosts;

namespace {

void check_says(const std::string &error, std::initializer_list<std::string> parts) {
  for (const auto &part : parts)
    if (error.find(part) == std::string::npos)
      throw std::runtime_error("'" + part + "' isn't in '" + error + "'");
}

void check_fault(const link::DeviceRequest &what, int code,
                 std::initializer_list<std::string> parts,
                 const link::DeviceOptions &options = {}) {
  std::string error;
  int rc = fail_to_open(what, options, error);
  if (rc != code)
    throw std::runtime_error("not " + std::to_string(code) + " but " + std::to_string(rc) + ": " +
                             error);
  check_says(error, parts);
}

bool huge_pages_here() {
  std::ifstream file("/proc/sys/vm/nr_hugepages");
  int n = 0;
  return file >> n && n > 0;
}

} // namespace

static void open__faults_of_interfaces(void **) {
  run({}, {[](Host &) {
        check_fault(request("nosuch0"), -ENODEV,
                    {"FI_DPDKX_DEVICE", "'nosuch0'", "allowed: dpx0, a PCI address"});
        check_fault(request("lo"), -ENODEV, {"FI_DPDKX_DEVICE", "'lo'", "Ethernet"});
        CHECK(shell("ip link add dpxd mtu 300 type veth peer name dpxe && ip link set dpxe up"));
        check_fault(request("dpxd"), -ENETDOWN, {"FI_DPDKX_DEVICE", "'dpxd'", "down"});
        CHECK(shell("ip link set dpxd up"));
        check_fault(request("dpxd"), -EADDRNOTAVAIL, {"FI_DPDKX_ADDR", "dpxd", "allowed"});
        check_fault(request("dpxd", "10.5.0.1/24"), -EMSGSIZE,
                    {"FI_DPDKX_DEVICE", "MTU is 300", "allowed"});
        check_fault(request("dpx0"), -EMSGSIZE, {"FI_DPDKX_MTU: 9000", "allowed", "576-1500"},
                    {.mtu = 9000});
      }});
}

static void open__faults_of_virtual_devices(void **) {
  run({}, {[](Host &) {
        check_fault(request("net_nosuch0,a=b", "10.5.0.1/24"), -ENODEV,
                    {"FI_DPDKX_DEVICE", "net_nosuch0", "can't be opened", "allowed"});
        check_fault(request("net_memif0,role=server,bsize=1024,socket=dpx-unit", "10.5.0.1/24"),
                    -EMSGSIZE, {"FI_DPDKX_DEVICE", "bsize=1024", "1500", "allowed: bsize=1514"});
        // What failed leaves nothing behind that would be in the way.
        check_fault(request("net_null0,size=64", "10.5.0.1/24"), -ENOMEM, {"FI_DPDKX_MBUFS"},
                    {.mbufs = 1000000});
        open(request("net_null0,size=64", "10.5.0.1/24"));
      }});
}

static void open__faults_of_pci_devices(void **) {
  run({}, {[](Host &) {
        check_fault(request("ffff:ff:1f.7", "10.5.0.1/24"), -ENODEV,
                    {"FI_DPDKX_DEVICE", "ffff:ff:1f.7", "no such PCI device", "allowed"});
        open(request("dpx0"));
        check_fault(request("ffff:ff:1f.7", "10.5.0.1/24"), -ENODEV, {"no such PCI device"});
      }});
}

static void open__huge_pages_that_are_not_there(void **) {
  if (huge_pages_here()) {
    print_message("skipped: this machine has huge pages\n");
    skip();
  }
  run({}, {[](Host &) {
        check_fault(request("dpx0"), -ENOMEM,
                    {"FI_DPDKX_HUGE_PAGES", "no huge pages", "nr_hugepages"},
                    {.huge_pages = link::HugePages::always});
        // That wasn't DPDK's one chance.
        open(request("dpx0"));
      }});
}

static void open__wrong_eal_arguments(void **) {
  for (const std::string wrong : {"--no-such-option", "-n 1 no-option"})
    run({}, {[&](Host &) {
          for (int attempt = 0; attempt < 2; ++attempt) // DPDK gives one chance only
            check_fault(request("dpx0"), -EINVAL,
                        {"FI_DPDKX_DEVICE", "FI_DPDKX_EAL_ARGS", wrong, "allowed"},
                        {.eal_args = wrong});
        }});
}

static void open__no_memory_for_so_many_packets(void **) {
  run({}, {[](Host &) {
        check_fault(request("dpx0"), -ENOMEM,
                    {"FI_DPDKX_MBUFS: '1000000': no memory for 1000000 packets", "allowed"},
                    {.mbufs = 1000000});
        check_fault(request("net_null0,size=64", "10.5.0.1/24"), -ENOMEM,
                    {"FI_DPDKX_MEMORY: '16MiB': no memory for 66560 packets",
                     "allowed: fewer packets, or FI_DPDKX_MEMORY of some "},
                    {.memory_mb = 16, .rx_descriptors = 32768, .tx_descriptors = 32768});
      }});
}

// One process is told how much it takes, the other has that much: DPDK starts once in each.
static void open__as_much_memory_as_is_told_does(void **) {
  const auto what = request("net_null0,size=64", "10.5.0.1/24");
  run({}, {[&](Host &host) {
             std::string error;
             CHECK(fail_to_open(what, {.memory_mb = 16, .mbufs = 30000}, error) == -ENOMEM);
             const std::string before = "FI_DPDKX_MEMORY of some ";
             const auto at = error.find(before);
             CHECK(at != std::string::npos);
             host.word(0) = std::stoul(error.substr(at + before.size()));
             host.meet();
           },
           [&](Host &host) {
             host.meet();
             const auto told = static_cast<std::uint32_t>(host.word(0).load());
             open(what, {.memory_mb = told, .mbufs = 30000});
           }});
}

static void open__too_few_packets(void **) {
  run({}, {[](Host &) {
        check_fault(request("net_null0,size=64", "10.5.0.1/24"), -EINVAL,
                    {"FI_DPDKX_MBUFS: '2303'", "allowed for 'net_null0", "at least 2304", "or 0"},
                    {.mbufs = 2303});
        check_fault(request("dpx0"), -EINVAL, {"FI_DPDKX_MBUFS: '255'", "at least 256"},
                    {.mbufs = 255});
        open(request("net_null0,size=64", "10.5.0.1/24"), {.mbufs = 2304});
      }});
}

static void descriptors__are_within_what_the_device_takes(void **) {
  rte_eth_desc_lim limit{};
  limit.nb_max = 4096;
  limit.nb_min = 64;
  limit.nb_align = 32;
  const auto told = [&](std::uint32_t wanted) {
    return link::descriptors_fault("FI_DPDKX_RX_DESCRIPTORS", wanted, "01:00.0", limit);
  };
  for (const std::uint32_t right : {0u, 64u, 96u, 4096u})
    assert_string_equal(told(right).c_str(), "");
  for (const std::uint32_t wrong : {32u, 65u, 4128u, 32768u})
    assert_string_equal(told(wrong).c_str(),
                        ("FI_DPDKX_RX_DESCRIPTORS: '" + std::to_string(wrong) +
                         "'; allowed for '01:00.0': 64 to 4096, a multiple of 32, or 0")
                            .c_str());
  limit = {}; // nothing is known
  assert_string_equal(told(32).c_str(), "");
  assert_string_not_equal(told(31).c_str(), "");
  assert_string_not_equal(told(32769).c_str(), "");
}

static void open__another_domain_wants_it_otherwise(void **) {
  run({}, {[](Host &) {
        auto device = open(request("dpx0"));
        CHECK(open(request("dpx0")) == device);
        check_fault(request("dpx0"), -EBUSY, {"FI_DPDKX_DEVICE", "dpx0", "FI_DPDKX_MTU"},
                    {.mtu = 1000});
        check_fault(request("dpx0", "10.5.0.1/24"), -EBUSY, {"FI_DPDKX_ADDR"});
      }});
}

static void open__exclusive_devices_go_to_one_process(void **) {
  run({},
      {[](Host &host) {
         auto what = request("net_null0,size=64", "10.5.0.1/24");
         auto device = open(what);
         host.meet();
         host.meet();
         device.reset();
         host.meet();
         host.meet();
       },
       [](Host &host) { // in another namespace: it could have it
         host.meet();
         host.meet();
         host.meet();
         host.meet();
       },
       [](Host &host) {
         auto what = request("net_null0,size=64", "10.5.0.1/24");
         host.meet();
         check_fault(what, -EBUSY, {"FI_DPDKX_DEVICE", "another process"});
         std::vector<link::DeviceRequest> list{what, request("dpx0")};
         CHECK(link::find_free_device(list) == 1);
         std::shared_ptr<link::Device> device;
         std::size_t index = 0;
         std::string error;
         CHECK(link::open_first_free(*dpdkx_ethdev_module(), list, {}, device, index, error) == 0);
         CHECK(index == 1);
         list.pop_back();
         CHECK(link::open_first_free(*dpdkx_ethdev_module(), list, {}, device, index, error) ==
               -EBUSY);
         check_says(error, {"FI_DPDKX_DEVICE", "every device", "allowed"});
         host.meet();
         host.meet(); // now it has been let go
         CHECK(link::find_free_device(list) == 0);
         CHECK(open(what)->info().driver == "net_null");
         host.meet();
       }});
}

static void ports__taken_and_wrong_ones(void **) {
  run({}, {[](Host &host) {
        auto device = open(request("dpx0"));
        std::unique_ptr<link::Port> port;
        std::string error;
        auto at = [&](const net::Ip &ip, std::uint16_t number) {
          return device->open_port(ip.with_port(number), {40000, 40001}, port, error);
        };
        CHECK(at(host.peer_ip(), 5000) == -EADDRNOTAVAIL);
        check_says(error, {"10.77.0.2:5000", "dpx0", "allowed: 10.77.0.1"});
        CHECK(at(host.ip(), 5000) == 0);
        auto first = std::exchange(port, nullptr);
        CHECK(first->address() == host.ip().with_port(5000));
        CHECK(at(host.ip(), 5000) == -EADDRINUSE);
        // From the range: each once, whoever has them.
        CHECK(at(host.ip(), 0) == 0 && port->address().port == 40000);
        auto second = std::exchange(port, nullptr);
        int other = socket(AF_INET, SOCK_DGRAM, 0);
        sockaddr_in name{};
        name.sin_family = AF_INET;
        name.sin_port = htons(40001);
        CHECK(bind(other, reinterpret_cast<sockaddr *>(&name), sizeof(name)) == 0);
        CHECK(at(host.ip(), 0) == -EADDRINUSE);
        check_says(error, {"FI_DPDKX_PORT_RANGE", "40000-40001"});
        close(other);
        CHECK(at(host.ip(), 0) == 0 && port->address().port == 40001);
      }});
}

static void claim__is_seen_and_ends_with_its_owner(void **) {
  const std::string name = "unit-test-" + std::to_string(getpid());
  assert_false(link::Claim::is_taken(name));
  {
    link::Claim claim, second;
    assert_int_equal(link::Claim::take(name, claim), 0);
    assert_true(link::Claim::is_taken(name));
    assert_int_equal(link::Claim::take(name, second), -EBUSY);
  }
  assert_false(link::Claim::is_taken(name));
}

static void load__faults(void **) {
  std::string error;
  assert_null(link::load_ethdev_module("/nonexistent/libdpdkx-ethdev.so", error));
  check_says(error, {"FI_DPDKX_DEVICE", "/nonexistent/libdpdkx-ethdev.so", "cannot open", "DPDK"});
  assert_null(link::load_ethdev_module("libm.so.6", error)); // not a module at all
  check_says(error, {"libm.so.6", "not of this build",
                     "allowed: " + std::to_string(link::EthdevModule::current_abi)});
  assert_null(link::loaded_ethdev_module());
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(open__faults_of_interfaces),
    cmocka_unit_test(open__faults_of_virtual_devices),
    cmocka_unit_test(open__faults_of_pci_devices),
    cmocka_unit_test(open__huge_pages_that_are_not_there),
    cmocka_unit_test(open__wrong_eal_arguments),
    cmocka_unit_test(open__no_memory_for_so_many_packets),
    cmocka_unit_test(open__as_much_memory_as_is_told_does),
    cmocka_unit_test(open__too_few_packets),
    cmocka_unit_test(descriptors__are_within_what_the_device_takes),
    cmocka_unit_test(open__another_domain_wants_it_otherwise),
    cmocka_unit_test(open__exclusive_devices_go_to_one_process),
    cmocka_unit_test(ports__taken_and_wrong_ones),
    cmocka_unit_test(claim__is_seen_and_ends_with_its_owner),
    cmocka_unit_test(load__faults),
};
static const unit::Group group{"ethdev_faults", cases};
