// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Which differentiated services code point packets carry: looked at on the wire.
#include "unit/link_ethdev/hosts.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "unit/unit.h"

using namespace hosts;

namespace {

// Sees what comes in at an interface, and what goes out, from the network layer on.
class Tap {
public:
  // All protocols: what asks for one of them sees what the kernel hands to that, and it may not.
  explicit Tap(const char *interface) : fd_(socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_ALL))) {
    CHECK(fd_ >= 0);
    sockaddr_ll at{};
    at.sll_family = AF_PACKET;
    at.sll_protocol = htons(ETH_P_ALL);
    at.sll_ifindex = static_cast<int>(if_nametoindex(interface));
    CHECK(bind(fd_, reinterpret_cast<const sockaddr *>(&at), sizeof at) == 0);
    const timeval limit{10, 0};
    CHECK(setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
  }
  ~Tap() { close(fd_); }
  Tap(const Tap &) = delete;

  // Of the next datagram from a UDP port.
  unsigned dscp_from(std::uint16_t port) const {
    for (;;) {
      struct {
        iphdr ip;
        udphdr udp;
      } packet;
      CHECK(recv(fd_, &packet, sizeof packet, MSG_TRUNC) > 0);
      if (packet.ip.version == 4 && packet.ip.protocol == IPPROTO_UDP && packet.ip.ihl == 5 &&
          ntohs(packet.udp.source) == port)
        return packet.ip.tos >> 2;
    }
  }

private:
  int fd_;
};

} // namespace

static void dscp__is_the_ports_or_the_devices(void **) {
  const Part part = [](Host &host) {
    const auto device = open(request(host.interface()), {.dscp = 8});
    End plain(device, 5001), marked(device, 5002, {.dscp = 46}),
        unmarked(device, 5003, {.dscp = 0});
    if (host.rank() == 1) {
      const Tap tap(host.interface());
      plain.meet(host);
      CHECK(tap.dscp_from(5001) == 8);
      CHECK(tap.dscp_from(5002) == 46);
      CHECK(tap.dscp_from(5003) == 0);
    } else {
      const Address to = at(host.peer_ip(), 5001);
      const auto a = plain.connect(to), b = marked.connect(to), c = unmarked.connect(to);
      plain.meet(host);
      plain.send(a, pattern(10, 1));
      marked.send(b, pattern(10, 2));
      unmarked.send(c, pattern(10, 3));
    }
    plain.meet(host);
  };
  run({}, {part, part});
}

static const CMUnitTest cases[] = {cmocka_unit_test(dscp__is_the_ports_or_the_devices)};
static const unit::Group group{"dscp", cases};
