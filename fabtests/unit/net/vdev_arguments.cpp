// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/net/vdev_arguments.h"

#include "unit/unit.h"

using namespace dpdkx::net;

namespace {

void expect_fault(const char *device, const char *arguments,
                  std::initializer_list<const char *> parts) {
  const std::string fault = vdev_arguments_fault(device, arguments);
  for (const char *part : parts)
    if (fault.find(part) == std::string::npos)
      fail_msg("'%s' isn't in '%s'", part, fault.c_str());
}

} // namespace

static void vdev_arguments__right_ones_pass(void **) {
  const std::pair<const char *, const char *> right[] = {
      {"net_memif0", ""},
      {"net_memif0", "role=server,id=0,socket-abstract=no,socket=/a/b,bsize=9216,zero-copy=yes"},
      {"net_af_packet1", "iface=eth0,qdisc_bypass=1,framesz=4096"},
      {"eth_af_packet1", "iface=eth0"},
      {"net_virtio_user0", "path=/dev/vhost-net,queues=1,server=0"},
      {"net_tap0", "iface=tap0,mac=fixed"},
      {"net_tap0", "iface=tap0,mac=02:00:00:00:00:01"},
      {"net_unheard_of0", "anything=at all"},
  };
  for (const auto &[device, arguments] : right)
    assert_string_equal(vdev_arguments_fault(device, arguments).c_str(), "");
}

static void vdev_arguments__unknown_keys_are_told_with_those_there_are(void **) {
  expect_fault("net_memif0", "role=server,idd=0",
               {"no argument 'idd'", "allowed: role=server|client, id=#, "});
  for (const char *device :
       {"net_af_packet0", "net_af_xdp0", "net_memif0", "net_null0", "net_pcap0", "net_ring0",
        "net_tap0", "net_tun0", "net_vhost0", "net_virtio_user0", "eth_ring0"})
    expect_fault(device, "nonsense=1", {"no argument 'nonsense'; allowed: "});
}

static void vdev_arguments__values_are_checked(void **) {
  expect_fault("net_memif0", "id=x", {"id is 'x'; allowed: a whole number"});
  expect_fault("net_memif0", "bsize=2048x", {"bsize is '2048x'", "number"});
  expect_fault("net_memif0", "id=", {"id is ''", "number"});
  expect_fault("net_memif0", "role=sever,id=0", {"role is 'sever'; allowed: server|client"});
  expect_fault("net_memif0", "mac=02:00", {"mac is '02:00'; allowed: MAC"});
  expect_fault("net_tap0", "iface=a,mac=any", {"mac is 'any'; allowed: fixed|MAC"});
  expect_fault("net_af_packet0", "iface=a,qdisc_bypass=2", {"qdisc_bypass is '2'", "0|1"});
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(vdev_arguments__right_ones_pass),
    cmocka_unit_test(vdev_arguments__unknown_keys_are_told_with_those_there_are),
    cmocka_unit_test(vdev_arguments__values_are_checked),
};
static const unit::Group group{"vdev_arguments", cases};
