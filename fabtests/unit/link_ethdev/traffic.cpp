// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Two processes, two namespaces, af_packet on the veth between them.
#include "dpdkx/base/log.h"
#include "unit/link_ethdev/hosts.h"

#include <cerrno>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "unit/unit.h"

using namespace hosts;
using namespace std::chrono_literals;

namespace {

Address address(const char *text) {
  net::Ip ip;
  CHECK(net::parse_ip(text, ip));
  return ip.with_port(5000);
}

} // namespace

static void traffic__every_size_arrives_intact(void **) {
  run_each({}, [](Host &host) {
    auto device = open(request(host.interface()));
    CHECK(device->info().mtu == 1500);
    CHECK(device->info().address.address == host.ip());
    CHECK(device->info().driver == "af_packet");
    std::vector<std::size_t> sizes;
    for (std::size_t n = 0; n < 70; ++n)
      sizes.push_back(n);
    for (std::size_t n : {100, 255, 256, 511, 512, 1000, 1024})
      sizes.push_back(n);
    for (std::size_t less : {2, 1, 0})
      sizes.push_back(host.max_datagram(1500) - less);
    echo_sizes(host, sizes, device);
  });
}

// Each can be the other's peer.
static void traffic__through_dpdks_driver(void **) {
  for (const bool both : {true, false})
    run_each({}, [both](Host &host) {
      const std::string name = host.interface();
      const bool dpdk = both || host.rank() == 0;
      auto device =
          open(dpdk ? request("net_af_packet0,iface=" + name, host.setting()) : request(name));
      CHECK(device->info().driver == (dpdk ? "net_af_packet" : "af_packet"));
      echo_sizes(host, {0, 8, 1000, host.max_datagram(1500)}, device);
    });
}

static void traffic__jumbo_frames_where_the_interface_has_them(void **) {
  run_each({.mtu = 9000}, [](Host &host) {
    auto device = open(request(host.interface()));
    CHECK(device->info().mtu == 9000);
    {
      End end(device, 4000);
      CHECK(end.port().traits().max_datagram == host.max_datagram(9000));
    }
    auto most = host.max_datagram(9000);
    echo_sizes(host, {0, 1472, 1473, 2048, 4096, most - 1, most}, device);
  });
}

static void traffic__mtu_setting_limits_datagrams(void **) {
  run_each({.mtu = 9000}, [](Host &host) {
    auto device = open(request(host.interface()), {.mtu = 2000});
    End end(device, 5000);
    auto most = static_cast<std::uint32_t>(host.max_datagram(2000));
    CHECK(end.port().traits().max_datagram == most);
    auto path = end.connect(at(host.peer_ip(), 5000));
    CHECK(end.port().reserve(path, most + 1).data == nullptr);
    end.meet(host);
    end.send(path, pattern(most, 1));
    CHECK(end.receive().bytes == pattern(most, 1));
    end.meet(host);
  });
}

static void traffic__bursts_arrive_whole_and_in_order(void **) {
  constexpr unsigned rounds = 200, burst = 50;
  run_each({}, [](Host &host) {
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
  run_each({}, [](Host &host) {
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

static void traffic__that_an_interface_has_gone_is_told_once(void **) {
  run_both({}, [](Host &host) {
    const std::string name = host.interface();
    auto device = open(request(name));
    End end(device, 5000);
    const link::PathId path = end.connect(at(host.peer_ip(), 5000));
    end.meet(host);
    static std::string logged;
    set_log_sink([](LogLevel, std::string_view text) { logged += text; });
    host.meet();
    if (host.rank() == 0)
      CHECK(shell("ip link del " + name)); // the other end goes with it
    host.meet();
    for (unsigned i = 0; i < 3; ++i)
      end.send(path, pattern(100, i));
    const std::string wanted = name + ": what it is given to send is lost";
    const std::size_t found = logged.find(wanted);
    CHECK(found != std::string::npos);
    CHECK(logged.find(wanted, found + 1) == std::string::npos);
    CHECK(statistic(*device, "tx_errors") == 3);
  });
}

static void traffic__reply_without_a_path(void **) {
  run_each({}, [](Host &host) {
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
  run_each({}, [](Host &host) {
    auto device = open(request(host.interface()), {.resolve_timeout = 300ms});
    End end(device, 5000);
    auto path = end.open_path(at(Host::ip_of(98, host.v6()), 5000));
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
    end.open_path(at(Host::ip_of(98, host.v6()), 5000));
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
    refused(at(net::Ipv4{0x7f000001}, 5001), -EHOSTUNREACH);
    refused(at(net::Ipv4{0x0a4d00ff}, 5001), -EHOSTUNREACH); // broadcast
    refused(at(net::Ipv4{0xe0000001}, 5001), -EHOSTUNREACH); // multicast
    refused(at(net::Ipv4{0x08080808}, 5001), -EHOSTUNREACH); // no route
    refused(at(host.peer_ip(), 0), -EINVAL);
    refused(address("fd00:77::2"), -EHOSTUNREACH); // of the other family
    end.connect(at(host.peer_ip(), 5000));
    refused(at(host.peer_ip(), 5000), -EEXIST);
    host.meet();
  });
}

static void paths__ipv6_addresses_that_are_refused_at_once(void **) {
  run_both({.v6 = true}, [](Host &host) {
    auto device = open(request(host.interface()));
    End end(device, 5000);
    link::PathId path;
    auto refused = [&](const Address &peer, int error) {
      CHECK(end.port().open_path(peer, path) == error);
    };
    refused(at(host.ip(), 5001), -EHOSTUNREACH); // one's own
    for (const char *text : {"::1", "fd00:77::", "ff02::1", "2001:db8::1", "fe80::2", "10.77.0.2"})
      refused(address(text), -EHOSTUNREACH);
    refused(at(host.peer_ip(), 0), -EINVAL);
    end.connect(at(host.peer_ip(), 5000));
    refused(at(host.peer_ip(), 5000), -EEXIST);
    host.meet();
  });
}

static void paths__are_reused_after_close(void **) {
  run_each({}, [](Host &host) {
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
             auto path = end.connect(at(net::Ipv4{0x0a580001}, 5000));
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

static void paths__through_an_ipv6_gateway(void **) {
  // The gateway is known by its link-local address, as those of IPv6 are.
  run({.v6 = true}, {[](Host &host) {
                       host.meet();
                       CHECK(shell("ip route add fd00:88::/32 via fe80::9 dev dpx0"));
                       auto device = open(request(host.interface()));
                       End end(device, 5000);
                       auto path = end.connect(address("fd00:88::1"));
                       host.meet();
                       end.send(path, pattern(100, 1));
                       auto got = end.receive();
                       CHECK(got.bytes == pattern(50, 2) && got.path == path);
                       host.meet();
                     },
                     [](Host &host) {
                       CHECK(shell("ip addr add fd00:88::1/32 dev dpx1 nodad && "
                                   "ip addr add fe80::9/64 dev dpx1 nodad"));
                       host.meet();
                       auto device = open(request("dpx1", "fd00:88::1/32"));
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
  run_each({}, [](Host &host) {
    CHECK(shell(std::string("ip link set arp off dev ") + host.interface())); // no ND either
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

static void vlan__tagged_traffic_only(void **) {
  run_each({.addresses = false}, [](Host &host) {
    auto device = open(request(host.interface(), host.setting() + ",,100"));
    echo_sizes(host, {0, 8, 1000, host.max_datagram(1496)}, device);
  });
}

static void af_xdp__every_size_arrives_intact(void **) {
  run_each({}, [](Host &host) {
    auto what = request(std::string("xdp:") + host.interface());
    std::shared_ptr<link::Device> device;
    std::string error;
    if (dpdkx_ethdev_module()->open_device(what, {}, device, error) != 0)
      throw Skip(error);
    CHECK(device->info().driver == "net_af_xdp");
    echo_sizes(host, {0, 8, 1000, host.max_datagram(1500)}, device);
  });
}

// A ping-pong of which one side sleeps.
static void sleep_for_each(Host &host, const std::shared_ptr<link::Device> &device) {
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
}

static void wait__fd_is_readable_when_something_arrives(void **) {
  run_each({}, [](Host &host) { sleep_for_each(host, open(request(host.interface()))); });
}

static void wait__fd_of_af_xdp_is_readable_when_something_arrives(void **) {
  run_each({}, [](Host &host) {
    std::shared_ptr<link::Device> device;
    std::string error;
    const auto what = request(std::string("xdp:") + host.interface());
    if (dpdkx_ethdev_module()->open_device(what, {}, device, error) != 0)
      throw Skip(error);
    sleep_for_each(host, device);
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
    cmocka_unit_test(traffic__through_dpdks_driver),
    cmocka_unit_test(traffic__jumbo_frames_where_the_interface_has_them),
    cmocka_unit_test(traffic__mtu_setting_limits_datagrams),
    cmocka_unit_test(traffic__bursts_arrive_whole_and_in_order),
    cmocka_unit_test(traffic__whoever_polls_hands_on_to_the_other_port),
    cmocka_unit_test(traffic__one_that_never_polls_loses_only_its_own),
    cmocka_unit_test(traffic__that_an_interface_has_gone_is_told_once),
    cmocka_unit_test(traffic__reply_without_a_path),
    cmocka_unit_test(traffic__several_processes_share_an_interface),
    cmocka_unit_test(paths__peer_that_does_not_exist),
    cmocka_unit_test(paths__addresses_that_are_refused_at_once),
    cmocka_unit_test(paths__ipv6_addresses_that_are_refused_at_once),
    cmocka_unit_test(paths__are_reused_after_close),
    cmocka_unit_test(paths__through_a_gateway),
    cmocka_unit_test(paths__through_an_ipv6_gateway),
    cmocka_unit_test(paths__fixed_neighbours_need_no_answer),
    cmocka_unit_test(vlan__tagged_traffic_only),
    cmocka_unit_test(af_xdp__every_size_arrives_intact),
    cmocka_unit_test(wait__fd_is_readable_when_something_arrives),
    cmocka_unit_test(wait__fd_of_af_xdp_is_readable_when_something_arrives),
    cmocka_unit_test(wait__another_ports_poll_wakes),
};
static const unit::Group group{"ethdev_traffic", cases};
