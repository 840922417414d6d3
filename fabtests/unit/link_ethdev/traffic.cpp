// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Two processes, two namespaces, af_packet on the veth between them.
#include "unit/link_ethdev/hosts.h"

#include <cerrno>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "unit/unit.h"

using namespace hosts;
using namespace std::chrono_literals;

namespace {

Address at(net::Ipv4 ip, std::uint16_t port) { return Address::v4(ip.value, port); }

std::uint64_t statistic(link::Device &device, const std::string &name) {
  for (const auto &[key, value] : device.statistics())
    if (key == name)
      return value;
  throw std::runtime_error("no statistic " + name);
}

// Each size there and back, with its contents.
void echo_sizes(Host &host, const std::vector<std::size_t> &sizes,
                const std::shared_ptr<link::Device> &device) {
  End end(device, 5000);
  auto path = end.connect(at(host.peer_ip(), 5000));
  end.meet(host);
  unsigned seed = 0;
  for (auto size : sizes) {
    ++seed;
    if (host.rank() == 0)
      end.send(path, pattern(size, seed));
    auto got = end.receive();
    CHECK(got.bytes == pattern(size, seed));
    CHECK(got.source == at(host.peer_ip(), 5000));
    CHECK(got.path == path);
    if (host.rank() == 1)
      end.send(path, got.bytes);
  }
  end.meet(host);
}

void run_both(const Setup &setup, const Part &part) { run(setup, {part, part}); }

} // namespace

static void traffic__every_size_arrives_intact(void **) {
  run_both({}, [](Host &host) {
    auto device = open(request(host.interface()));
    CHECK(device->info().mtu == 1500);
    CHECK(device->info().address.address == host.ip());
    CHECK(device->info().driver == "net_af_packet");
    std::vector<std::size_t> sizes;
    for (std::size_t n = 0; n < 70; ++n)
      sizes.push_back(n);
    for (std::size_t n : {100, 255, 256, 511, 512, 1000, 1024, 1470, 1471, 1472})
      sizes.push_back(n);
    echo_sizes(host, sizes, device);
  });
}

static void traffic__jumbo_frames_where_the_interface_has_them(void **) {
  run_both({.mtu = 9000}, [](Host &host) {
    auto device = open(request(host.interface()));
    CHECK(device->info().mtu == 9000);
    {
      End end(device, 4000);
      CHECK(end.port().traits().max_datagram == 8972);
    }
    echo_sizes(host, {0, 1472, 1473, 2048, 4096, 8971, 8972}, device);
  });
}

static void traffic__mtu_setting_limits_datagrams(void **) {
  run_both({.mtu = 9000}, [](Host &host) {
    auto device = open(request(host.interface()), {.mtu = 2000});
    End end(device, 5000);
    CHECK(end.port().traits().max_datagram == 1972);
    auto path = end.connect(at(host.peer_ip(), 5000));
    CHECK(end.port().reserve(path, 1973).data == nullptr);
    end.meet(host);
    end.send(path, pattern(1972, 1));
    CHECK(end.receive().bytes == pattern(1972, 1));
    end.meet(host);
  });
}

static void traffic__bursts_arrive_whole_and_in_order(void **) {
  constexpr unsigned rounds = 200, burst = 50;
  run_both({}, [](Host &host) {
    auto device = open(request(host.interface()));
    End end(device, 5000);
    auto path = end.connect(at(host.peer_ip(), 5000));
    end.meet(host);
    for (unsigned round = 0; round < rounds; ++round) {
      if (host.rank() == 0)
        for (unsigned i = 0; i < burst; ++i)
          end.send(path, pattern(200 + i, round * burst + i));
      else
        for (unsigned i = 0; i < burst; ++i)
          CHECK(end.receive().bytes == pattern(200 + i, round * burst + i));
      end.meet(host);
    }
    if (host.rank() == 0)
      CHECK(end.port().counters().tx_datagrams == rounds * burst);
    else
      CHECK(end.port().counters().rx_datagrams == rounds * burst);
  });
}

static void traffic__whoever_polls_hands_on_to_the_other_port(void **) {
  run_both({}, [](Host &host) {
    auto device = open(request(host.interface()));
    End one(device, 5001), two(device, 5002);
    auto from_one = one.connect(at(host.peer_ip(), 5002));
    auto from_two = two.connect(at(host.peer_ip(), 5001));
    one.meet(host);
    one.send(from_one, pattern(10, 1));
    two.send(from_two, pattern(20, 2));
    host.meet();
    // Only one of them polls until both have been taken from the device.
    CHECK(one.receive().bytes == pattern(20, 2));
    CHECK(one.quiet(50ms));
    CHECK(two.receive().bytes == pattern(10, 1));
    one.meet(host);
  });
}

static void traffic__one_that_never_polls_loses_only_its_own(void **) {
  constexpr unsigned many = 2000;
  run_both({}, [](Host &host) {
    auto device = open(request(host.interface()));
    End busy(device, 5001), idle(device, 5002);
    auto to_busy = busy.connect(at(host.peer_ip(), 5001));
    auto to_idle = idle.connect(at(host.peer_ip(), 5002));
    host.meet();
    for (unsigned i = 0; i < many; ++i) {
      if (host.rank() == 0) {
        idle.send(to_idle, pattern(64, i));
        busy.send(to_busy, pattern(64, i));
        busy.receive();
      } else {
        CHECK(busy.receive().bytes == pattern(64, i));
        busy.send(to_busy, pattern(8, i));
      }
    }
    if (host.rank() == 1) {
      CHECK(idle.port().counters().rx_dropped > 0);
      CHECK(statistic(*device, "dropped_inbox_full") == idle.port().counters().rx_dropped);
      CHECK(idle.receive().bytes == pattern(64, 0));
    }
    host.meet();
  });
}

static void traffic__reply_without_a_path(void **) {
  run_both({}, [](Host &host) {
    auto device = open(request(host.interface()));
    End end(device, 5000);
    if (host.rank() == 0) {
      auto path = end.connect(at(host.peer_ip(), 5000));
      host.meet();
      end.send(path, pattern(30, 1));
      auto got = end.receive();
      CHECK(got.bytes == pattern(40, 2) && got.path == path);
    } else {
      host.meet();
      link::RxDatagram datagram;
      while (end.port().poll(&datagram, 1) == 0)
        sched_yield();
      CHECK(datagram.path == link::PathId::none);
      CHECK(end.port().source(datagram) == at(host.peer_ip(), 5000));
      end.port().reply(datagram, pattern(40, 2));
      end.port().release(&datagram, 1);
    }
    host.meet();
  });
}

static void traffic__several_processes_share_an_interface(void **) {
  auto part = [](std::uint16_t port) {
    return [port](Host &host) {
      auto device = open(request(host.interface()));
      End end(device, port);
      auto path = end.connect(at(host.peer_ip(), port));
      end.meet(host);
      for (unsigned i = 0; i < 500; ++i) {
        if (host.rank() == 0)
          end.send(path, pattern(100, i + port));
        CHECK(end.receive().bytes == pattern(100, i + port));
        if (host.rank() == 1)
          end.send(path, pattern(100, i + port));
      }
      CHECK(end.quiet(20ms));
      end.meet(host);
    };
  };
  run({}, {part(5001), part(5001), part(5002), part(5002)});
}

static void paths__peer_that_does_not_exist(void **) {
  run_both({}, [](Host &host) {
    auto device = open(request(host.interface()), {.resolve_timeout = 300ms});
    End end(device, 5000);
    auto path = end.open_path(at({0x0a4d0063}, 5000));
    CHECK(end.port().reserve(path, 8).data == nullptr);
    auto start = std::chrono::steady_clock::now();
    auto event = end.wait_event();
    CHECK(event.kind == link::PathEventKind::failed);
    CHECK(event.error == -EHOSTUNREACH);
    CHECK(event.path == path);
    CHECK(std::chrono::steady_clock::now() - start > 250ms);
    end.port().close_path(path);
    // The next attempt asks anew, and a peer that is there is reached meanwhile.
    end.connect(at(host.peer_ip(), 5000));
    end.open_path(at({0x0a4d0063}, 5000));
    CHECK(end.wait_event().kind == link::PathEventKind::failed);
    host.meet();
  });
}

static void paths__addresses_that_are_refused_at_once(void **) {
  run_both({}, [](Host &host) {
    auto device = open(request(host.interface()));
    End end(device, 5000);
    link::PathId path;
    auto refused = [&](const Address &peer, int error) {
      CHECK(end.port().open_path(peer, path) == error);
    };
    refused(at(host.ip(), 5001), -EHOSTUNREACH); // one's own
    refused(at({0x7f000001}, 5001), -EHOSTUNREACH);
    refused(at({0x0a4d00ff}, 5001), -EHOSTUNREACH); // broadcast
    refused(at({0xe0000001}, 5001), -EHOSTUNREACH); // multicast
    refused(at({0x08080808}, 5001), -EHOSTUNREACH); // no route
    refused(at(host.peer_ip(), 0), -EINVAL);
    Address v6;
    v6.ip[0] = 0xfe, v6.ip[1] = 0x80, v6.port = 5000;
    refused(v6, -EHOSTUNREACH);
    end.connect(at(host.peer_ip(), 5000));
    refused(at(host.peer_ip(), 5000), -EEXIST);
    host.meet();
  });
}

static void paths__are_reused_after_close(void **) {
  run_both({}, [](Host &host) {
    auto device = open(request(host.interface()));
    End end(device, 5000);
    for (unsigned i = 0; i < 50; ++i) {
      auto path = end.connect(at(host.peer_ip(), 6000));
      CHECK(path == link::PathId{0});
      CHECK(end.port().peer_address(path) == at(host.peer_ip(), 6000));
      end.port().close_path(path);
    }
    host.meet();
  });
}

static void paths__through_a_gateway(void **) {
  // Rank 1's kernel is the gateway to a network beyond it, where it has an address too.
  run({}, {[](Host &host) {
             CHECK(shell("ip route add 10.88.0.0/16 via 10.77.0.2"));
             host.meet();
             auto device = open(request(host.interface()));
             End end(device, 5000);
             auto path = end.connect(at({0x0a580001}, 5000));
             host.meet();
             end.send(path, pattern(100, 1));
             auto got = end.receive();
             CHECK(got.bytes == pattern(50, 2) && got.path == path);
             host.meet();
           },
           [](Host &host) {
             CHECK(shell("ip addr add 10.88.0.1/16 dev dpx1"));
             host.meet();
             // The address that isn't the first: the setting picks it. The way back is
             // off-link for it, through rank 0.
             auto device = open(request("dpx1", "10.88.0.1/16"));
             End end(device, 5000);
             host.meet();
             link::RxDatagram datagram;
             while (end.port().poll(&datagram, 1) == 0)
               sched_yield();
             CHECK(datagram.len == 100);
             end.port().reply(datagram, pattern(50, 2));
             end.port().release(&datagram, 1);
             host.meet();
           }});
}

static void paths__fixed_neighbours_need_no_answer(void **) {
  run_both({}, [](Host &host) {
    CHECK(shell(std::string("ip link set arp off dev ") + host.interface()));
    host.meet();
    net::Mac peer{{2, 0, 0, 0, 0x77, static_cast<std::uint8_t>(2 - host.rank())}};
    net::Mac own{{2, 0, 0, 0, 0x77, static_cast<std::uint8_t>(1 + host.rank())}};
    CHECK(shell(std::string("ip link set ") + host.interface() + " address " + to_string(own)));
    auto device = open(request(host.interface()), {.neighbours = {{host.peer_ip(), peer}}});
    CHECK(device->info().mac == own);
    End end(device, 5000);
    auto path = end.connect(at(host.peer_ip(), 5000));
    host.meet();
    end.send(path, pattern(64, 1));
    CHECK(end.receive().bytes == pattern(64, 1));
    host.meet();
  });
}

static void kernel__answers_no_datagram_with_icmp(void **) {
  run_both({}, [](Host &host) {
    auto before = kernel_counter("Icmp", "OutDestUnreachs");
    auto device = open(request(host.interface()));
    echo_sizes(host, std::vector<std::size_t>(200, 64), device);
    CHECK(kernel_counter("Icmp", "OutDestUnreachs") == before);
  });
}

// Answers to one question of the kernel's, as they come in on dpx1.
static int arp_replies_from_rank_0() {
  int tap = socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_ARP));
  int udp = socket(AF_INET, SOCK_DGRAM, 0);
  CHECK(tap >= 0 && udp >= 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(0x0a4d0001);
  to.sin_port = htons(9);
  CHECK(sendto(udp, "x", 1, 0, reinterpret_cast<sockaddr *>(&to), sizeof(to)) == 1);
  int replies = 0;
  pollfd waiter{tap, POLLIN, 0};
  while (poll(&waiter, 1, replies ? 200 : 5000) == 1) {
    std::uint8_t arp[64] = {};
    sockaddr_ll from{};
    socklen_t size = sizeof(from);
    recvfrom(tap, arp, sizeof(arp), 0, reinterpret_cast<sockaddr *>(&from), &size);
    replies += from.sll_pkttype == PACKET_HOST && arp[7] == 2 && arp[17] == 1;
  }
  close(tap);
  close(udp);
  return replies;
}

static void arp__is_answered_once(void **) {
  // With the kernel's address the kernel answers; without, the device does.
  for (bool addresses : {true, false})
    run({.addresses = addresses}, {[](Host &host) {
                                     auto device = open(request("dpx0", "10.77.0.1/24"));
                                     End end(device, 5000);
                                     host.meet();
                                     while (host.word(0) == 0)
                                       end.turn();
                                   },
                                   [=](Host &host) {
                                     if (!addresses)
                                       CHECK(shell("ip addr add 10.77.0.2/24 dev dpx1"));
                                     host.meet();
                                     CHECK(arp_replies_from_rank_0() == 1);
                                     host.word(0) = 1;
                                   }});
}

static void arp__without_kernel_addresses_both_devices_resolve(void **) {
  run_both({.addresses = false}, [](Host &host) {
    auto device = open(request(host.interface(), to_string(host.ip()) + "/24"));
    echo_sizes(host, {0, 8, 1472}, device);
    CHECK(statistic(*device, "neighbours") == 1);
  });
}

static void vlan__tagged_traffic_only(void **) {
  run_both({.addresses = false}, [](Host &host) {
    auto device = open(request(host.interface(), to_string(host.ip()) + "/24,,100"));
    echo_sizes(host, {0, 8, 1000, 1468}, device);
  });
}

static void af_xdp__every_size_arrives_intact(void **) {
  run_both({}, [](Host &host) {
    auto what = request(std::string("xdp:") + host.interface());
    std::shared_ptr<link::Device> device;
    std::string error;
    if (dpdkx_ethdev_module()->open_device(what, {}, device, error) != 0)
      throw Skip(error);
    CHECK(device->info().driver == "net_af_xdp");
    echo_sizes(host, {0, 8, 1000, 1472}, device);
  });
}

static void wait__fd_is_readable_when_something_arrives(void **) {
  run_both({}, [](Host &host) {
    auto device = open(request(host.interface()));
    End end(device, 5000), other(device, 5001);
    auto path = end.connect(at(host.peer_ip(), 5000));
    int fd = end.port().wait_fd();
    CHECK(fd >= 0);
    while (!end.port().arm())
      end.turn();
    pollfd waiter{fd, POLLIN, 0};
    CHECK(poll(&waiter, 1, 0) == 0);
    end.meet(host);
    for (unsigned i = 0; i < 100; ++i) {
      if (host.rank() == 0) {
        end.send(path, pattern(16, i));
        end.receive();
        continue;
      }
      // Sleeps for each, whatever the other port's thread takes from the device.
      for (bool got = false; !got;) {
        if (end.port().arm())
          CHECK(poll(&waiter, 1, 10000) == 1);
        end.port().disarm();
        if (i % 2)
          other.turn(); // may take it, and then hands it on
        link::RxDatagram datagram;
        if (end.port().poll(&datagram, 1) == 1) {
          got = true;
          end.port().release(&datagram, 1);
        }
      }
      end.send(path, pattern(16, i));
    }
    end.meet(host);
  });
}

static void wait__another_ports_poll_wakes(void **) {
  run({}, {[](Host &host) {
             auto device = open(request(host.interface()));
             End end(device, 5000);
             auto path = end.connect(at(host.peer_ip(), 5000));
             end.meet(host);
             for (unsigned i = 0; i < 200; ++i) {
               end.send(path, pattern(16, i));
               CHECK(end.receive().bytes == pattern(16, i));
             }
             host.meet();
           },
           [](Host &host) {
             auto device = open(request(host.interface()));
             End sleeper(device, 5000), spinner(device, 5001);
             auto path = sleeper.connect(at(host.peer_ip(), 5000));
             sleeper.meet(host);
             std::atomic<bool> stop{false};
             std::thread thread([&] {
               while (!stop)
                 spinner.turn();
             });
             pollfd waiter{sleeper.port().wait_fd(), POLLIN, 0};
             for (unsigned i = 0; i < 200;) {
               if (sleeper.port().arm())
                 CHECK(poll(&waiter, 1, 10000) == 1);
               sleeper.port().disarm();
               link::RxDatagram datagram;
               while (sleeper.port().poll(&datagram, 1) == 1) {
                 sleeper.port().release(&datagram, 1);
                 sleeper.send(path, pattern(16, i++));
               }
             }
             stop = true;
             thread.join();
             host.meet();
           }});
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(traffic__every_size_arrives_intact),
    cmocka_unit_test(traffic__jumbo_frames_where_the_interface_has_them),
    cmocka_unit_test(traffic__mtu_setting_limits_datagrams),
    cmocka_unit_test(traffic__bursts_arrive_whole_and_in_order),
    cmocka_unit_test(traffic__whoever_polls_hands_on_to_the_other_port),
    cmocka_unit_test(traffic__one_that_never_polls_loses_only_its_own),
    cmocka_unit_test(traffic__reply_without_a_path),
    cmocka_unit_test(traffic__several_processes_share_an_interface),
    cmocka_unit_test(paths__peer_that_does_not_exist),
    cmocka_unit_test(paths__addresses_that_are_refused_at_once),
    cmocka_unit_test(paths__are_reused_after_close),
    cmocka_unit_test(paths__through_a_gateway),
    cmocka_unit_test(paths__fixed_neighbours_need_no_answer),
    cmocka_unit_test(kernel__answers_no_datagram_with_icmp),
    cmocka_unit_test(arp__is_answered_once),
    cmocka_unit_test(arp__without_kernel_addresses_both_devices_resolve),
    cmocka_unit_test(vlan__tagged_traffic_only),
    cmocka_unit_test(af_xdp__every_size_arrives_intact),
    cmocka_unit_test(wait__fd_is_readable_when_something_arrives),
    cmocka_unit_test(wait__another_ports_poll_wakes),
};
static const unit::Group group{"ethdev_traffic", cases};
