// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Devices with several receive queues. Those of af_packet are sockets, over which the kernel
// spreads packets by their addresses and ports.
#include "unit/link_ethdev/fake_rules.h"
#include "unit/link_ethdev/hosts.h"

#include "dpdkx/link/ethdev/nic.h"

#include <algorithm>
#include <map>
#include <poll.h>

#include "unit/unit.h"

using namespace hosts;
using namespace std::chrono_literals;

namespace {

constexpr std::uint16_t first_end = 6000;
constexpr unsigned ends = 24; // that all come by one queue has a chance of 2^-23

std::vector<std::uint64_t> taken(link::Device &device) {
  std::vector<std::uint64_t> all;
  for (const link::DeviceQueue &queue : device.queues())
    all.push_back(queue.packets);
  return all;
}

std::uint64_t sum(const std::vector<std::uint64_t> &of) {
  std::uint64_t all = 0;
  for (const auto one : of)
    all += one;
  return all;
}

// Of one host, each with a path to a port of the other's.
struct Senders {
  std::vector<End> all;
  std::vector<link::PathId> paths;

  Senders(const std::shared_ptr<link::Device> &device, const Address &to) {
    for (unsigned i = 0; i < ends; ++i) {
      all.emplace_back(device, static_cast<std::uint16_t>(first_end + i));
      paths.push_back(all.back().connect(to));
    }
  }
};

} // namespace

static void queues__fanout_brings_everything_in_order_of_each_sender(void **) {
  constexpr unsigned each = 20;
  for (const std::uint32_t queues : {2u, 4u})
    run_each({}, [queues](Host &host) {
      auto device = open(request(host.interface()), {.rx_queues = queues});
      CHECK(device->info().steering == "fanout over " + std::to_string(queues) + " queues");
      CHECK(taken(*device).size() == queues);
      if (host.rank() == 0) {
        End neighbour(device, 5000); // whose address is to be found
        host.meet();
        Senders senders(device, at(host.peer_ip(), 5000));
        for (unsigned k = 0; k < each; ++k)
          for (unsigned i = 0; i < ends; ++i)
            senders.all[i].send(senders.paths[i], pattern(100 + i, k));
        neighbour.meet(host);
        return;
      }
      End end(device, 5000);
      host.meet();
      std::map<std::uint16_t, unsigned> got;
      for (unsigned n = 0; n < each * ends; ++n) {
        const auto one = end.receive();
        const unsigned i = one.source.port - first_end;
        CHECK(one.bytes == pattern(100 + i, got[one.source.port]++));
      }
      CHECK(end.quiet(20ms)); // none twice
      const auto by_queue = taken(*device);
      CHECK(sum(by_queue) >= each * ends);
      CHECK(std::ranges::count_if(by_queue, [](auto n) { return n != 0; }) > 1);
      end.meet(host);
    });
}

static void queues__a_sleeper_wakes_for_each(void **) {
  run_each({}, [](Host &host) {
    auto device = open(request(host.interface()), {.rx_queues = 4});
    if (host.rank() == 0) {
      host.meet();
      Senders senders(device, at(host.peer_ip(), 5000));
      for (unsigned i = 0; i < ends; ++i) {
        senders.all[i].send(senders.paths[i], pattern(30, i));
        CHECK(senders.all[i].receive().bytes == pattern(40, i));
      }
      host.meet();
      return;
    }
    End end(device, 5000);
    host.meet();
    pollfd waiter{end.port().wait_fd(), POLLIN, 0};
    CHECK(waiter.fd >= 0);
    for (unsigned i = 0; i < ends;) {
      if (end.port().arm())
        CHECK(poll(&waiter, 1, 10000) == 1);
      end.port().disarm();
      link::RxDatagram datagram;
      while (end.port().poll(&datagram, 1) == 1) {
        end.port().reply(datagram, pattern(40, i++));
        end.port().release(&datagram, 1);
      }
      end.port().poll_events(nullptr, 0, SystemClock::instance().now());
    }
    host.meet();
  });
}

// What isn't ours doesn't come in by any of them.
static void queues__are_all_filtered(void **) {
  run_each({}, [](Host &host) {
    auto device = open(request(host.interface()), {.rx_queues = 4});
    if (host.rank() == 0) {
      host.meet();
      Senders senders(device, at(host.peer_ip(), 5999));
      host.meet(); // it filters
      for (unsigned i = 0; i < ends; ++i)
        senders.all[i].send(senders.paths[i], pattern(30, i));
      host.meet();
      host.meet();
      return;
    }
    End end(device, 5000);
    CHECK(end.port().wait_fd() >= 0);
    end.port().arm();
    end.port().disarm();
    host.meet();
    host.meet();
    host.meet();
    CHECK(end.quiet(20ms));
    CHECK(statistic(*device, "dropped_other_port") == 0);
    host.meet();
  });
}

// In the device's own arguments they count as well, or most packets would be lost.
static void queues__of_a_vdevs_own_arguments(void **) {
  run_both({}, [](Host &host) {
    const auto name = std::string("net_af_packet7,iface=") + host.interface() + ",qpairs=3";
    auto device = open(request(name, host.setting()));
    CHECK(device->info().steering == "fanout over 3 queues");
    echo_sizes(host, {0, 8, 1000}, device);
    for (const std::uint16_t port : {6001, 6002, 6003, 6004, 6005}) { // other queues
      End end(device, port);
      const auto path = end.connect(at(host.peer_ip(), port));
      end.meet(host);
      end.send(path, pattern(50, port));
      CHECK(end.receive().bytes == pattern(50, port));
      end.meet(host);
    }
  });
}

// Each falls back to what it can do.
static void queues__of_devices_that_can_do_less(void **) {
  run({}, {[](Host &) {
        auto null = open(request("net_null3", "10.5.0.1/24"), {.rx_queues = 4, .rule_queues = 3});
        CHECK(null->info().steering == "RSS over 4 queues"); // it knows no rules
        auto memif = open(
            request("net_memif0,role=server,socket-abstract=yes,socket=dpx-queues", "10.6.0.1/24"),
            {.rx_queues = 4, .rule_queues = 3});
        CHECK(memif->info().steering == "one queue");
        CHECK(taken(*memif).size() == 1);
        auto one = open(request("dpx0"));
        CHECK(one->info().steering == "one queue");
      }});
}

// Its rules are the kernel's (cls_flower), and found valid also where that has none.
static void queues__tap_has_rules_if_its_kernel_does(void **) {
  run({}, {[](Host &) {
        std::shared_ptr<link::Device> tap;
        std::string error;
        if (dpdkx_ethdev_module()->open_device(request("net_tap3,iface=dpxtap", "10.6.0.1/24"),
                                               {.rx_queues = 2, .rule_queues = 2}, tap, error) != 0)
          throw Skip(error);
        End end(tap, 5000);
        const bool rules = tap->info().steering == "flow rules, 2 + 2 queues";
        CHECK(rules || tap->info().steering == "RSS over 2 queues");
        CHECK(rules == (end.port().bulk_port() != 0));
        CHECK(statistic(*tap, "steering_rules_refused") == 0);
        CHECK(end.quiet(20ms));
      }});
}

// One that is never empty.
static void queues__have_their_turns(void **) {
  run({}, {[](Host &) {
        auto device = open(request("net_null3", "10.5.0.1/24"), {.rx_queues = 4});
        End end(device, 5000);
        for (unsigned i = 0; i < 400; ++i)
          end.turn();
        const auto by_queue = taken(*device);
        CHECK(by_queue.size() == 4 && by_queue[0] >= 100);
        for (const auto n : by_queue)
          CHECK(n == by_queue[0]);
      }});
}

static void queues__for_rules_are_not_looked_at_without_need(void **) {
  run({}, {[](Host &) {
        fake::Nic nic;
        link::make_test_rules = [&nic] { return std::make_unique<fake::Rules>(nic); };
        auto device = open(request("net_null3", "10.5.0.1/24"), {.rx_queues = 2, .rule_queues = 2});
        CHECK(device->info().steering == "flow rules, 2 + 2 queues");
        End end(device, 5000);
        for (unsigned i = 0; i < 60; ++i)
          end.turn();
        const auto by_queue = taken(*device);
        CHECK(nic.rules.at(end.port().bulk_port()) == 2);
        CHECK(by_queue.size() == 4 && by_queue[0] != 0 && by_queue[1] != 0);
        CHECK(by_queue[2] == by_queue[0] + by_queue[1]); // its own
        CHECK(by_queue[3] == 0);                         // nobody's
      }});
}

static void queues__are_collected_for_all_ports(void **) {
  constexpr unsigned each = 100;
  run_each({}, [](Host &host) {
    const bool collected = host.rank() == 1;
    auto device = open(request(host.interface()), {.rx_queues = 2, .collected = collected});
    CHECK(device->collects() == collected);
    if (!collected) {
      host.meet();
      End end(device, first_end);
      const link::PathId to[] = {end.connect(at(host.peer_ip(), 5000)),
                                 end.connect(at(host.peer_ip(), 5001))};
      for (unsigned k = 0; k < each; ++k)
        for (const unsigned i : {0u, 1u})
          end.send(to[i], pattern(30 + i, k));
      host.meet();
      host.meet();
      end.send(to[1], pattern(50, 0));
      host.meet();
      return;
    }
    End all[2] = {End(device, 5000), End(device, 5001)};
    host.meet();
    host.meet();
    for (End &one : all)
      CHECK(one.quiet(5ms));
    CHECK(sum(taken(*device)) == 0); // nobody has collected
    const auto until = SystemClock::instance().now() + 10s;
    while (sum(taken(*device)) < 2 * each && SystemClock::instance().now() < until) {
      const std::uint64_t before = sum(taken(*device));
      device->collect(70);
      CHECK(sum(taken(*device)) - before <= 70);
      for (End &one : all)
        one.turn();
    }
    for (const unsigned i : {0u, 1u})
      for (unsigned k = 0; k < each; ++k)
        CHECK(all[i].receive().bytes == pattern(30 + i, k));
    // One of them waits for all.
    pollfd waiter{all[0].port().wait_fd(), POLLIN, 0};
    const bool armed = all[0].port().arm();
    host.meet();
    link::RxDatagram datagram;
    bool first = armed;
    for (unsigned n = 0; n == 0;) {
      if (std::exchange(first, false) || all[0].port().arm())
        CHECK(poll(&waiter, 1, 10000) == 1);
      all[0].port().disarm();
      device->collect(256);
      n = all[1].port().poll(&datagram, 1);
    }
    CHECK(std::vector(datagram.data, datagram.data + datagram.len) == pattern(50, 0));
    all[1].port().release(&datagram, 1);
    host.meet();
  });
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(queues__fanout_brings_everything_in_order_of_each_sender),
    cmocka_unit_test(queues__a_sleeper_wakes_for_each),
    cmocka_unit_test(queues__are_all_filtered),
    cmocka_unit_test(queues__of_a_vdevs_own_arguments),
    cmocka_unit_test(queues__of_devices_that_can_do_less),
    cmocka_unit_test(queues__tap_has_rules_if_its_kernel_does),
    cmocka_unit_test(queues__have_their_turns),
    cmocka_unit_test(queues__are_collected_for_all_ports),
    cmocka_unit_test(queues__for_rules_are_not_looked_at_without_need),
};
static const unit::Group group{"ethdev_queues", cases};
