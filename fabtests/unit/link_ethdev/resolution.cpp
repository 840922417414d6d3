// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Who answers whom: the device and the kernels on both sides of it, by ARP and by neighbour
// discovery.
#include "dpdkx/link/ethdev/loader.h"
#include "dpdkx/net/frame.h"
#include "unit/link_ethdev/hosts.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "unit/unit.h"

using namespace hosts;
using namespace std::chrono_literals;

namespace {

class Socket {
public:
  Socket(int domain, int type, int protocol = 0) : fd_(socket(domain, type, protocol)) {
    CHECK(fd_ >= 0);
  }
  ~Socket() { close(fd_); }
  Socket(const Socket &) = delete;
  int fd() const { return fd_; }

private:
  int fd_;
};

struct Name {
  sockaddr_storage storage{};
  socklen_t size = 0;

  Name(const net::Ip &ip, std::uint16_t port) {
    if (ip.is_v4()) {
      sockaddr_in in{AF_INET, htons(port), {htonl(ip.v4().value)}, {}};
      size = sizeof(in);
      std::memcpy(&storage, &in, size);
    } else {
      sockaddr_in6 in6{};
      in6.sin6_family = AF_INET6;
      in6.sin6_port = htons(port);
      std::memcpy(&in6.sin6_addr, ip.bytes.data(), ip.bytes.size());
      size = sizeof(in6);
      std::memcpy(&storage, &in6, size);
    }
  }
  const sockaddr *get() const { return reinterpret_cast<const sockaddr *>(&storage); }
};

int family_of(Host &host) { return host.v6() ? AF_INET6 : AF_INET; }

void ask_for(Host &host, const net::Ip &ip) {
  Socket udp(family_of(host), SOCK_DGRAM);
  Name to(ip, 9);
  CHECK(sendto(udp.fd(), "x", 1, 0, to.get(), to.size) == 1);
}

// Answers to one question of the kernel's for rank 0, as they come in on dpx1.
int answers_from_rank_0(Host &host) {
  Socket tap(AF_PACKET, SOCK_DGRAM, htons(host.v6() ? ETH_P_IPV6 : ETH_P_ARP));
  ask_for(host, host.peer_ip());
  int answers = 0;
  pollfd waiter{tap.fd(), POLLIN, 0};
  while (poll(&waiter, 1, answers ? 200 : 5000) == 1) {
    std::uint8_t packet[128] = {};
    sockaddr_ll from{};
    socklen_t size = sizeof(from);
    recvfrom(tap.fd(), packet, sizeof(packet), 0, reinterpret_cast<sockaddr *>(&from), &size);
    bool fits = host.v6() ? packet[6] == 58 && packet[40] == 136 && packet[63] == 1
                          : packet[7] == 2 && packet[17] == 1;
    answers += from.sll_pkttype == PACKET_HOST && fits;
  }
  return answers;
}

// A frame as it is, from dpx1.
void inject(const std::vector<std::byte> &frame) {
  Socket raw(AF_PACKET, SOCK_RAW, 0);
  sockaddr_ll to{};
  to.sll_family = AF_PACKET;
  to.sll_ifindex = static_cast<int>(if_nametoindex("dpx1"));
  CHECK(sendto(raw.fd(), frame.data(), frame.size(), 0, reinterpret_cast<sockaddr *>(&to),
               sizeof(to)) == static_cast<ssize_t>(frame.size()));
}

std::vector<std::byte> answer_of(const net::LocalSide &who, const net::Mac &to,
                                 const net::Ip &asker) {
  std::vector<std::byte> frame(net::max_control_frame);
  frame.resize(net::write_answer(frame.data(), who, to, asker));
  return frame;
}

} // namespace

static void kernel__answers_no_datagram_with_icmp(void **) {
  run_each({}, [](Host &host) {
    auto before = kernel_unreachables(host);
    auto device = open(request(host.interface()));
    echo_sizes(host, std::vector<std::size_t>(200, 64), device);
    CHECK(kernel_unreachables(host) == before);
  });
}

static void kernel__understands_what_we_send(void **) {
  // Its UDP looks at every field and checksum.
  for (bool v6 : {false, true})
    run({.v6 = v6}, {[](Host &host) {
                       auto device = open(request(host.interface()));
                       End end(device, 5000);
                       host.meet();
                       auto path = end.connect(at(host.peer_ip(), 7000));
                       for (unsigned size = 0; size < 300; ++size) {
                         end.send(path, pattern(size, size));
                         auto got = end.receive();
                         CHECK(got.bytes == pattern(size, size) && got.path == path);
                       }
                       host.meet();
                     },
                     [](Host &host) {
                       Socket udp(family_of(host), SOCK_DGRAM);
                       Name own(host.ip(), 7000), peer(host.peer_ip(), 5000);
                       CHECK(bind(udp.fd(), own.get(), own.size) == 0);
                       host.meet();
                       for (unsigned size = 0; size < 300; ++size) {
                         std::vector<std::byte> got(2000);
                         pollfd waiter{udp.fd(), POLLIN, 0};
                         CHECK(poll(&waiter, 1, 10000) == 1);
                         auto n = recv(udp.fd(), got.data(), got.size(), 0);
                         CHECK(n == static_cast<ssize_t>(size));
                         CHECK(sendto(udp.fd(), got.data(), size, 0, peer.get(), peer.size) == n);
                       }
                       host.meet();
                     }});
}

static void question__is_answered_once(void **) {
  // With the kernel's address the kernel answers; without, the device does.
  for (bool v6 : {false, true})
    for (bool addresses : {true, false})
      run({.addresses = addresses, .v6 = v6},
          {[](Host &host) {
             auto device = open(request("dpx0", host.setting()));
             End end(device, 5000);
             host.meet();
             while (host.word(0) == 0)
               end.turn();
           },
           [=](Host &host) {
             if (!addresses)
               CHECK(shell("ip addr add " + host.setting() + (v6 ? " nodad" : "") + " dev dpx1"));
             host.meet();
             CHECK(answers_from_rank_0(host) == 1);
             host.word(0) = 1;
           }});
}

static void question__of_who_wants_our_address_is_answered(void **) {
  // Duplicate address detection: the kernel of rank 1 sees that rank 0 has it.
  run({.addresses = false, .v6 = true}, {[](Host &host) {
                                           auto device = open(request("dpx0", host.setting()));
                                           End end(device, 5000);
                                           host.meet();
                                           while (host.word(0) == 0)
                                             end.turn();
                                         },
                                         [](Host &host) {
                                           host.meet();
                                           CHECK(shell("ip addr add fd00:77::1/64 dev dpx1"));
                                           for (auto end = std::chrono::steady_clock::now() + 10s;
                                                !shell("ip addr show dev dpx1 | grep -q dadfailed");
                                                usleep(1000))
                                             CHECK(std::chrono::steady_clock::now() < end);
                                           host.word(0) = 1;
                                         }});
}

static void devices__without_kernel_addresses_find_each_other(void **) {
  run_each({.addresses = false}, [](Host &host) {
    auto device = open(request(host.interface(), host.setting()));
    echo_sizes(host, {0, 8, host.max_datagram(1500)}, device);
    CHECK(statistic(*device, "neighbours") == 1);
  });
}

static void devices__of_both_families_on_one_interface(void **) {
  // One process has the interface's IPv4 address, another the IPv6 one.
  auto part = [](bool v6) {
    return [v6](Host &host) {
      if (v6)
        CHECK(shell("ip addr add " + to_string(Host::ip_of(host.rank(), true)) + "/64 nodad dev " +
                    host.interface()));
      host.meet();
      auto what = request(host.interface());
      what.family = v6 ? net::Family::v6 : net::Family::v4;
      auto device = open(what);
      CHECK(device->info().address.address == Host::ip_of(host.rank(), v6));
      echo_sizes(host, {0, 100, 1452}, device, Host::ip_of(1 - host.rank(), v6));
      // A process has one of them.
      CHECK(open(what) == device);
      what.family = v6 ? net::Family::v4 : net::Family::v6;
      std::string error;
      CHECK(fail_to_open(what, {}, error) == -EBUSY);
      CHECK(error.find("IP version") != std::string::npos);
      const std::vector<link::DeviceRequest> list{what};
      std::size_t index = 0;
      CHECK(link::open_first_free(*dpdkx_ethdev_module(), list, {}, device, index, error) ==
            -EBUSY);
      CHECK(error.find("IP version") != std::string::npos);
    };
  };
  run({}, {part(false), part(false), part(true), part(true)});
}

static void device__takes_the_family_that_there_is(void **) {
  for (bool v6 : {false, true})
    run({.v6 = v6}, {[=](Host &host) {
          auto what = request(host.interface());
          what.family = v6 ? net::Family::v4 : net::Family::v6;
          auto device = open(what);
          CHECK(device->info().address.address == host.ip());
          what.family = v6 ? net::Family::v6 : net::Family::v4;
          CHECK(open(what) == device);
        }});
}

static void groups__are_joined_where_the_kernel_is_not_in_them(void **) {
  run({.addresses = false, .v6 = true}, {[](Host &host) {
        const std::string joined = "ip maddr show dev dpx0 | grep -q 33:33:ff:00:00:01";
        CHECK(!shell(joined));
        auto device = open(request("dpx0", host.setting()));
        CHECK(shell(joined));
        device.reset();
        CHECK(!shell(joined));
      }});
}

static void fixed__neighbours_of_the_kernel_are_known(void **) {
  run_each({}, [](Host &host) {
    auto device = open(request(host.interface()));
    const auto mac = device->info().mac;
    device.reset();
    for (int i = 0; i < 6; ++i)
      if (host.rank() == 0)
        host.word(i) = mac.bytes[static_cast<std::size_t>(i)];
    host.meet();
    if (host.rank() == 1) {
      net::Mac peer;
      for (std::size_t i = 0; i < 6; ++i)
        peer.bytes[i] = static_cast<std::uint8_t>(host.word(static_cast<int>(i)));
      CHECK(shell("ip neigh add " + to_string(host.peer_ip()) + " lladdr " + to_string(peer) +
                  " nud permanent dev dpx1"));
      device = open(request("dpx1"));
      End end(device, 5000);
      auto path = end.open_path(at(host.peer_ip(), 5000));
      link::PathEvent event;
      // Rank 0 answers nothing, and the first look finds it up.
      CHECK(end.port().poll_events(&event, 1, SystemClock::instance().now()) == 1);
      CHECK(event.kind == link::PathEventKind::up && event.path == path);
    }
    host.meet();
  });
}

static void tap__kernel_at_the_other_end_is_found(void **) {
  // Its driver takes a list of groups, as those of NICs do.
  for (bool v6 : {false, true})
    run({.addresses = false, .v6 = v6}, {[](Host &host) {
          std::shared_ptr<link::Device> device;
          std::string error;
          const auto what = request("net_tap0,iface=dpxt", host.setting());
          if (dpdkx_ethdev_module()->open_device(what, {}, device, error) != 0)
            throw Skip(error);
          const auto peer = to_string(host.peer_ip()) + (host.v6() ? "/64 nodad" : "/24");
          CHECK(shell("ip link set dpxt up && ip addr add " + peer + " dev dpxt"));
          Socket udp(family_of(host), SOCK_DGRAM);
          Name own(host.peer_ip(), 7000), to(host.ip(), 5000);
          CHECK(bind(udp.fd(), own.get(), own.size) == 0);
          End end(device, 5000);
          // The kernel asks for us before we know it.
          CHECK(sendto(udp.fd(), "x", 1, 0, to.get(), to.size) == 1);
          CHECK(end.receive().source == at(host.peer_ip(), 7000));
          const auto path = end.connect(at(host.peer_ip(), 7000));
          end.send(path, pattern(100, 1));
          std::vector<std::byte> got(100);
          pollfd waiter{udp.fd(), POLLIN, 0};
          CHECK(poll(&waiter, 1, 10000) == 1);
          CHECK(recv(udp.fd(), got.data(), got.size(), 0) == 100 && got == pattern(100, 1));
        }});
}

static void hostile__advertisements_are_counted_and_change_nothing(void **) {
  run({.v6 = true}, {[](Host &host) {
                       auto device = open(request(host.interface()));
                       End end(device, 5000);
                       auto path = end.connect(at(host.peer_ip(), 5000));
                       const auto mac = device->info().mac.word();
                       host.word(0) = mac;
                       host.meet();
                       host.meet();
                       for (auto stop = std::chrono::steady_clock::now() + 10s;
                            statistic(*device, "dropped_nd_fields") < 2; end.turn())
                         CHECK(std::chrono::steady_clock::now() < stop);
                       end.send(path, pattern(64, 1));
                       CHECK(end.receive().bytes == pattern(64, 1));
                       host.meet();
                     },
                     [](Host &host) {
                       auto device = open(request(host.interface()));
                       End end(device, 5000);
                       auto path = end.connect(at(host.peer_ip(), 5000));
                       host.meet();
                       // Rank 1's address is somewhere else, says a frame from beyond a router, and
                       // one whose checksum is wrong.
                       net::LocalSide liar({{2, 0, 0, 0, 0, 0x66}}, host.ip());
                       auto lie =
                           answer_of(liar, net::Mac::from_word(host.word(0)), host.peer_ip());
                       auto far = lie, wrong = lie;
                       far[net::ethernet_size + 7] = std::byte{64};
                       wrong.back() ^= std::byte{1};
                       inject(far);
                       inject(wrong);
                       host.meet();
                       end.send(path, end.receive().bytes);
                       host.meet();
                     }});
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(kernel__answers_no_datagram_with_icmp),
    cmocka_unit_test(kernel__understands_what_we_send),
    cmocka_unit_test(question__is_answered_once),
    cmocka_unit_test(question__of_who_wants_our_address_is_answered),
    cmocka_unit_test(devices__without_kernel_addresses_find_each_other),
    cmocka_unit_test(devices__of_both_families_on_one_interface),
    cmocka_unit_test(device__takes_the_family_that_there_is),
    cmocka_unit_test(groups__are_joined_where_the_kernel_is_not_in_them),
    cmocka_unit_test(fixed__neighbours_of_the_kernel_are_known),
    cmocka_unit_test(tap__kernel_at_the_other_end_is_found),
    cmocka_unit_test(hostile__advertisements_are_counted_and_change_nothing),
};
static const unit::Group group{"ethdev_resolution", cases};
