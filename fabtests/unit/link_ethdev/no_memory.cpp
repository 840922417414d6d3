// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Running out of memory: an answer of open_path(), and nothing to what goes on.
#include "dpdkx/base/log.h"
#include "unit/link_ethdev/hosts.h"
#include "unit/op/allocations.h"

#include <cerrno>

#include "unit/unit.h"

using namespace hosts;
using namespace std::chrono_literals;

namespace {

// Somebody who wants to be told: what isn't told needs no memory.
std::size_t told = 0;
void listen() {
  set_log_sink([](LogLevel, std::string_view) { ++told; });
}

constexpr std::size_t all = 1u << 20; // allocations: every one that there will be

} // namespace

static void open_path__answers_that_there_is_no_memory_and_works_afterwards(void **) {
  run_each({}, [](Host &host) {
    auto device = open(request(host.interface()));
    bool enough = false;
    for (std::uint16_t number = 0; !enough; ++number) {
      // Nothing has room yet, and nobody has asked for the neighbour.
      End end(device, static_cast<std::uint16_t>(5000 + number));
      const auto peer = at(Host::ip_of(20 + number, host.v6()), 5000);
      link::PathId path{};
      int rc;
      {
        const allocations::Shortage shortage(number, 1);
        const allocations::Watch watch;
        rc = end.port().open_path(peer, path);
        enough = allocations::Shortage::counted() <= number;
      }
      CHECK(rc == (enough ? 0 : -ENOMEM));
      if (rc != 0)
        path = end.open_path(peer);
      CHECK(end.port().peer_address(path) == peer);
    }
    CHECK(statistic(*device, "neighbours") == 0); // all given back
    host.meet();
  });
}

static void poll_events__tells_of_a_peer_that_is_not_there(void **) {
  run_each({}, [](Host &host) {
    listen();
    auto device = open(request(host.interface()), {.resolve_timeout = 300ms});
    End end(device, 5000);
    auto path = end.open_path(at(Host::ip_of(98, host.v6()), 5000));
    const auto &clock = SystemClock::instance();
    told = 0;
    link::PathEvent event{};
    for (unsigned n = 0; n == 0;) {
      const allocations::Shortage shortage(0, all);
      const allocations::Watch watch;
      n = end.port().poll_events(&event, 1, clock.now());
    }
    CHECK(event.kind == link::PathEventKind::failed && event.path == path);
    CHECK(told == 1);
    host.meet();
  });
}

static void poll__takes_no_memory(void **) {
  run_each({}, [](Host &host) {
    listen();
    auto device = open(request(host.interface()));
    End end(device, 5000);
    auto path = end.connect(at(host.peer_ip(), 5000));
    end.meet(host);
    const auto fd = end.port().wait_fd();
    CHECK(fd >= 0);
    // The kernel may drop a datagram: each sends until the other has had one.
    auto &had = host.word(host.rank()), &peer_had = host.word(1 - host.rank());
    for (auto stop = std::chrono::steady_clock::now() + 10s; had == 0 || peer_had == 0;) {
      CHECK(std::chrono::steady_clock::now() < stop);
      if (peer_had == 0)
        end.send(path, pattern(100, 1));
      const allocations::Shortage shortage(0, all);
      const allocations::Watch watch;
      link::RxDatagram datagram;
      for (unsigned polls = 0; polls < 1000; ++polls) {
        end.port().arm(); // from its first time on with a filter
        end.port().disarm();
        const auto n = end.port().poll(&datagram, 1);
        end.port().release(&datagram, n);
        had += n;
      }
      CHECK(allocations::Shortage::counted() == 0);
    }
    end.meet(host);
  });
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(open_path__answers_that_there_is_no_memory_and_works_afterwards),
    cmocka_unit_test(poll_events__tells_of_a_peer_that_is_not_there),
    cmocka_unit_test(poll__takes_no_memory),
};
static const unit::Group group{"ethdev_no_memory", cases};
