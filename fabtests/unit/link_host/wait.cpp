// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Sleeping and being woken.
#include "unit/link_host/harness.h"

#include "dpdkx/link/host/ordering.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <poll.h>
#include <random>
#include <sched.h>
#include <thread>

using namespace link_host;
namespace host = dpdkx::link::host;

namespace {

bool readable(Port &port, int timeout_ms = 0) {
  pollfd fd{port.wait_fd(), POLLIN, 0};
  return ::poll(&fd, 1, timeout_ms) == 1;
}

// Looks until sockets have settled: what was said so far has been heard.
void settle(Port &port) {
  PathEvent event;
  port.poll_events(&event, 1, now() + std::chrono::milliseconds(5));
}

// Passes a number to and fro, asleep between turns; false if a wake was lost.
struct Sleeper {
  Port &port;
  PathId path;
  std::uint32_t rounds;
  bool first;
  std::uint32_t spin_up_to; // turns of polling before it sleeps, at random
  std::uint32_t slept = 0;

  bool run() {
    std::mt19937 random(first);
    std::uint32_t expected = 0;
    if (first && !send(port, path, &expected, sizeof(expected)))
      return false;
    while (expected < rounds) {
      RxDatagram datagram;
      if (!poll_some(datagram, spin_up_to == 0 ? 1 : 1 + random() % spin_up_to)) {
        if (port.arm()) {
          ++slept;
          if (!readable(port, patience_ms))
            return false;
        }
        port.disarm();
        continue;
      }
      std::uint32_t value;
      std::memcpy(&value, datagram.data, sizeof(value));
      port.release(&datagram, 1);
      if (value != expected)
        return false;
      ++expected;
      const std::uint32_t next = first ? expected : value;
      if (!(first && expected == rounds) && !send(port, path, &next, sizeof(next)))
        return false;
    }
    return true;
  }

  bool poll_some(RxDatagram &datagram, std::uint32_t turns) {
    for (; turns != 0; --turns)
      if (port.poll(&datagram, 1) == 1)
        return true;
    return false;
  }
};

void pass_to_and_fro(Pair &pair, std::uint32_t rounds, std::uint32_t spin_a, std::uint32_t spin_b) {
  Sleeper a{*pair.opener, pair.out, rounds, true, spin_a};
  Sleeper b{*pair.acceptor, pair.in, rounds, false, spin_b};
  bool b_done = false;
  std::thread other([&] { b_done = b.run(); });
  const bool a_done = a.run();
  other.join();
  assert_true(a_done && b_done);
}

} // namespace

static void arm__refuses_when_something_is_there(void **) {
  Pair pair;
  assert_true(send(*pair.opener, pair.out, "there"));
  settle(*pair.acceptor);
  assert_false(fall_asleep(*pair.acceptor));
  receive(*pair.acceptor);
  assert_true(fall_asleep(*pair.acceptor));
  pair.acceptor->disarm();
}

static void arm__refuses_when_an_event_is_due(void **) {
  const auto opener = open_port(), acceptor = open_port();
  PathId path;
  assert_int_equal(opener->open_path(acceptor->address(), path), 0);
  assert_false(opener->arm());   // up
  assert_false(acceptor->arm()); // accepted
  await_event(*opener, PathEventKind::up);
  await_event(*acceptor, PathEventKind::accepted);
  assert_true(fall_asleep(*acceptor));
  acceptor->disarm();
}

static void sleep__ends_with_a_datagram(void **) {
  Pair pair;
  settle(*pair.opener);
  assert_true(fall_asleep(*pair.acceptor));
  assert_false(readable(*pair.acceptor));
  assert_true(send(*pair.opener, pair.out, "wake up"));
  assert_true(readable(*pair.acceptor, patience_ms));
  pair.acceptor->disarm();
  assert_string_equal(receive(*pair.acceptor).c_str(), "wake up");
}

static void sleep__ends_with_a_word(void **) {
  Pair pair;
  settle(*pair.opener);
  assert_true(fall_asleep(*pair.acceptor));
  pair.opener->tell(pair.out, 1);
  pair.opener->flush();
  assert_true(readable(*pair.acceptor, patience_ms));
  pair.acceptor->disarm();
  assert_int_equal(pair.acceptor->told(pair.in), 1);
}

static void sleep__costs_its_sender_one_wake(void **) {
  Pair pair;
  assert_true(fall_asleep(*pair.acceptor));
  for (int i = 0; i < 1000; ++i)
    assert_true(send(*pair.opener, pair.out, "wake up"));
  pair.acceptor->disarm();
  // A wake each would have filled the socket beyond what one look empties.
  assert_false(readable(*pair.acceptor));
}

static void sleep__ends_with_a_connection(void **) {
  const auto port = open_port(), peer = open_port();
  assert_true(fall_asleep(*port));
  assert_false(readable(*port));
  PathId path;
  assert_int_equal(peer->open_path(port->address(), path), 0);
  assert_true(readable(*port, patience_ms));
  port->disarm();
  await_event(*port, PathEventKind::accepted);
}

static void sleep__ends_with_a_death(void **) {
  Pair pair;
  settle(*pair.opener);
  assert_true(fall_asleep(*pair.opener));
  assert_false(readable(*pair.opener));
  pair.acceptor.reset();
  assert_true(readable(*pair.opener, patience_ms));
  pair.opener->disarm();
  await_event(*pair.opener, PathEventKind::peer_gone);
  assert_false(readable(*pair.opener)); // told once
}

static void disarm__leaves_nothing_readable(void **) {
  Pair pair;
  settle(*pair.opener);
  settle(*pair.acceptor);
  for (int i = 0; i < 100; ++i) {
    assert_true(fall_asleep(*pair.acceptor));
    assert_true(send(*pair.opener, pair.out, "wake up"));
    assert_true(readable(*pair.acceptor));
    pair.acceptor->disarm();
    assert_false(readable(*pair.acceptor));
    receive(*pair.acceptor);
  }
}

static void awake__is_sent_no_wakes(void **) {
  Pair pair;
  settle(*pair.acceptor);
  assert_true(fall_asleep(*pair.acceptor));
  pair.acceptor->disarm();
  assert_true(send(*pair.opener, pair.out, "no need"));
  assert_false(readable(*pair.acceptor));
}

static void no_wake_is_lost__both_asleep(void **) {
  Pair pair;
  pass_to_and_fro(pair, 50'000, 0, 0);
}

static void no_wake_is_lost__on_the_edge_of_sleep(void **) {
  Pair pair;
  pass_to_and_fro(pair, 50'000, 300, 30);
}

// The first sleep of a receiver whose senders don't fence yet.
static void no_wake_is_lost__first_sleeps(void **) {
  for (int i = 0; i < 500; ++i) {
    Pair pair;
    pass_to_and_fro(pair, 3, static_cast<std::uint32_t>(i), 0);
  }
}

// ... and of one whose senders don't fence any more.
static void no_wake_is_lost__sleeps_after_long_polling(void **) {
  HostOptions soon;
  soon.calm_polls = 2;
  for (std::uint32_t i = 0; i < 200; ++i) {
    Pair pair(soon);
    pass_to_and_fro(pair, 100, 50 + i, 20);
  }
}

static void calm__relieves_senders_until_the_next_sleep(void **) {
  if (!host::has_barrier_everywhere())
    skip();
  HostOptions options;
  options.calm_polls = 10;
  Pair pair(options);
  settle(*pair.opener);
  settle(*pair.acceptor);
  const auto fences = [&] {
    const std::uint64_t before = pair.opener->counters().tx_fences;
    assert_true(send(*pair.opener, pair.out, "there"));
    receive(*pair.acceptor);
    return pair.opener->counters().tx_fences - before;
  };
  const auto poll_often = [&](std::uint32_t times) {
    RxDatagram none;
    for (; times != 0; --times)
      assert_int_equal(pair.acceptor->poll(&none, 1), 0);
  };
  const auto sleep = [&] {
    assert_true(fall_asleep(*pair.acceptor));
    pair.acceptor->disarm();
  };
  assert_int_equal(fences(), 0);
  sleep();
  assert_int_equal(fences(), 1);
  poll_often(20);
  assert_int_equal(fences(), 0);
  sleep();
  assert_int_equal(fences(), 1);
  poll_often(15); // not twice as often as the first time
  assert_int_equal(fences(), 1);
  poll_often(20);
  assert_int_equal(fences(), 0);
}

namespace {

struct alignas(128) Meeting {
  std::uint32_t published = 0;
  std::uint32_t sender_saw = 0;
  alignas(64) std::uint32_t asleep = 0;
  std::uint32_t receiver_saw = 0;
};

// Counts meetings at which a sender published and saw no sleeper, while the
// receiver fell asleep and saw nothing published.
template <class Fence> int missed_each_other(int rounds, Fence receiver_fence) {
  std::vector<Meeting> meetings(64);
  std::atomic<int> arrived{0};
  const auto meet = [&](int round) {
    for (++arrived; arrived.load() < 2 * round;)
      sched_yield();
  };
  std::thread sender([&] {
    for (int round = 1; round <= 2 * rounds; ++round) {
      meet(round);
      if (round % 2 == 0)
        continue; // the receiver counts
      for (Meeting &at : meetings) {
        host::store_release(&at.published, std::uint32_t{1});
        host::compiler_fence();
        at.sender_saw = host::load_relaxed(&at.asleep);
      }
    }
  });
  int missed = 0;
  for (int round = 1; round <= 2 * rounds; ++round) {
    meet(round);
    if (round % 2 == 0) {
      for (Meeting &at : meetings)
        missed += at.sender_saw == 0 && at.receiver_saw == 0;
      std::fill(meetings.begin(), meetings.end(), Meeting{});
      continue;
    }
    for (Meeting &at : meetings) {
      host::store_relaxed(&at.asleep, std::uint32_t{1});
      receiver_fence();
      at.receiver_saw = host::load_relaxed(&at.published);
    }
  }
  sender.join();
  return missed;
}

} // namespace

// The order that flush() relies on when it doesn't fence: the barrier, and a while. How often each
// fails alone depends on the processor, and the system: it is printed.
static void barrier__orders_senders_that_dont_fence(void **) {
  if (!host::has_barrier_everywhere())
    skip();
  constexpr int rounds = 500;
  const auto barrier = [] { assert_true(host::barrier_everywhere()); };
  const auto and_a_while = [&] {
    barrier();
    for (const Time until = now() + std::chrono::microseconds(20); now() < until;) {
    }
  };
  std::printf("missed without: %d\n", missed_each_other(rounds, host::compiler_fence));
  std::printf("missed with the barrier alone: %d\n", missed_each_other(rounds, barrier));
  assert_int_equal(missed_each_other(rounds, and_a_while), 0);
}

// The barrier alone may miss a sender, see HostPort::arm().
static void arm__lets_a_while_pass_after_the_barrier(void **) {
  if (!host::has_barrier_everywhere())
    skip();
  Pair pair;
  settle(*pair.acceptor);
  const Time before = now();
  while (!pair.acceptor->arm()) {
  }
  assert_true(now() - before >= std::chrono::microseconds(20));
  pair.acceptor->disarm();
  assert_true(pair.acceptor->arm()); // now they fence
  pair.acceptor->disarm();
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(arm__refuses_when_something_is_there),
    cmocka_unit_test(arm__refuses_when_an_event_is_due),
    cmocka_unit_test(sleep__ends_with_a_datagram),
    cmocka_unit_test(sleep__ends_with_a_word),
    cmocka_unit_test(sleep__costs_its_sender_one_wake),
    cmocka_unit_test(sleep__ends_with_a_connection),
    cmocka_unit_test(sleep__ends_with_a_death),
    cmocka_unit_test(disarm__leaves_nothing_readable),
    cmocka_unit_test(awake__is_sent_no_wakes),
    cmocka_unit_test(no_wake_is_lost__both_asleep),
    cmocka_unit_test(no_wake_is_lost__on_the_edge_of_sleep),
    cmocka_unit_test(no_wake_is_lost__first_sleeps),
    cmocka_unit_test(no_wake_is_lost__sleeps_after_long_polling),
    cmocka_unit_test(calm__relieves_senders_until_the_next_sleep),
    cmocka_unit_test(arm__lets_a_while_pass_after_the_barrier),
    cmocka_unit_test(barrier__orders_senders_that_dont_fence),
};
static const unit::Group group{"link_host.wait", cases};
