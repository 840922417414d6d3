// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Datagrams to a port of ours don't get as far as the kernel's IP; all others do.
#include "unit/link_ethdev/hosts.h"

#include <algorithm>
#include <arpa/inet.h>
#include <chrono>
#include <cstdio>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "unit/unit.h"

using namespace hosts;

namespace {

constexpr std::uint16_t ours = 5001;
constexpr long some = 100;

void need_tcx() {
  utsname name{};
  int major = 0, minor = 0;
  uname(&name);
  std::sscanf(name.release, "%d.%d", &major, &minor);
  if (major < 6 || (major == 6 && minor < 6))
    throw Skip("needs Linux 6.6");
}

// By the kernel's own means.
void send_datagrams(const net::Ip &to, std::uint16_t port) {
  const Address address = at(to, port);
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_port = htons(port);
  sockaddr_in6 in6{};
  in6.sin6_family = AF_INET6;
  in6.sin6_port = htons(port);
  const bool v4 = address.is_v4();
  if (v4)
    in.sin_addr.s_addr = htonl(address.v4_host_order());
  else
    std::copy(address.ip.begin(), address.ip.end(), in6.sin6_addr.s6_addr);
  const auto *name =
      v4 ? reinterpret_cast<const sockaddr *>(&in) : reinterpret_cast<const sockaddr *>(&in6);
  const int fd = socket(name->sa_family, SOCK_DGRAM, 0);
  CHECK(fd >= 0);
  for (long i = 0; i < some; ++i)
    CHECK(sendto(fd, "x", 1, 0, name, v4 ? sizeof in : sizeof in6) == 1);
  close(fd);
}

} // namespace

static void datagrams_to_a_port__end_before_the_kernels_ip(void **) {
  run_each({}, [](Host &host) {
    need_tcx();
    const auto device = open(request(host.interface()));
    End end(device, ours);
    end.meet(host);
    const long arrivals = kernel_arrivals(host), without_port = kernel_without_port(host);
    end.meet(host);
    if (host.rank() == 1) {
      send_datagrams(host.peer_ip(), ours);
      send_datagrams(host.peer_ip(), ours + 1);
    } else {
      for (long i = 0; i < some; ++i)
        CHECK(end.receive().bytes.size() == 1);
      // Those that were sent later have come later.
      const auto end_of_patience = std::chrono::steady_clock::now() + std::chrono::seconds(10);
      while (kernel_without_port(host) - without_port < some)
        CHECK(std::chrono::steady_clock::now() < end_of_patience);
      CHECK(kernel_arrivals(host) - arrivals < 2 * some);
    }
    end.meet(host);
  });
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(datagrams_to_a_port__end_before_the_kernels_ip)};
static const unit::Group group{"ingress_drop", cases};
