// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What MPI promises of persistent collectives: started in any order, any number of times, many at
// once, in several groups, by several threads.
#include "common/case.h"
#include "common/sanitized.h"
#include "common/settings.h"
#include "functional/persistent_scene.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <thread>

#include <rdma/fi_errno.h>

namespace fabtest {

namespace {

using requests = std::deque<persistent_request>;

const form barrier{.kind = COLLC_RT_BARRIER};

form sum_of(std::uint64_t bytes) { return {.kind = COLLC_RT_ALLREDUCE, .bytes = bytes}; }

// One of each collective, of that size; reductions of whole elements.
std::vector<form> each_of(std::uint64_t bytes, bool in_place) {
  std::vector<form> all;
  for (int k = COLLC_RT_BROADCAST; k <= COLLC_RT_ALLREDUCE; ++k)
    all.push_back({.kind = static_cast<collc_rt_kind>(k),
                   .bytes = k >= COLLC_RT_REDUCE ? bytes / 8 * 8 : bytes,
                   .in_place = in_place});
  return all;
}

void sizes(team &t, collc_rt_mode mode) {
  persistent_group g(t, mode);
  for (const std::uint64_t bytes : {0, 1, 8, 8143, 8144, 8145, 70'001, 1'000'003})
    for (const bool in_place : {false, true})
      for (form f : each_of(bytes, in_place)) {
        if (f.kind >= COLLC_RT_REDUCE && f.bytes > 80'000)
          f.bytes = 80'000; // by atomics of some bytes each
        if (f.kind != COLLC_RT_ALLGATHER && f.kind != COLLC_RT_ALLTOALL &&
            f.kind != COLLC_RT_ALLREDUCE)
          f.root = t.size() - 1;
        persistent_request r(g, f);
        for (int e = 0; e < 3; ++e)
          r.run();
      }
  g.leave();
}

void init_without_start(team &t, collc_rt_mode mode) {
  persistent_group g(t, mode);
  for (const form &f : each_of(64, false))
    persistent_request(g, f).free();
  persistent_request(g, barrier).run();
  g.leave();
}

void opposite_orders(team &t, collc_rt_mode mode) {
  persistent_group g(t, mode);
  requests all;
  for (const form &f : each_of(200, false))
    all.emplace_back(g, f);
  all.emplace_back(g, barrier);
  for (int e = 0; e < 50; ++e) {
    if (t.rank() % 2 == 0)
      std::for_each(all.begin(), all.end(), [](auto &r) { r.start(); });
    else
      std::for_each(all.rbegin(), all.rend(), [](auto &r) { r.start(); });
    if (t.rank() < 2)
      std::for_each(all.begin(), all.end(), [](auto &r) { r.wait(); });
    else
      std::for_each(all.rbegin(), all.rend(), [](auto &r) { r.wait(); });
    for (const auto &r : all)
      r.verify();
  }
  all.clear();
  g.leave();
}

void inactive(team &t, collc_rt_mode mode) {
  persistent_group g(t, mode);
  persistent_request r(g, barrier);
  for (int i = 0; i < 3; ++i) {
    int done = 0;
    COLLC_OK(collc_rt_wait(r.get(), -1));
    COLLC_OK(collc_rt_wait(r.get(), 0));
    COLLC_OK(collc_rt_test(r.get(), &done));
    CHECK_EQ(done, 1);
    r.run();
  }
  r.free();
  g.leave();
}

// Rank 0 looks at what it has started while the others are late.
void tested(team &t, collc_rt_mode mode) {
  persistent_group g(t, mode);
  persistent_request r(g, sum_of(8));
  for (int e = 0; e < 20; ++e) {
    if (!t.first())
      t.barrier();
    r.start();
    int done = 0;
    if (t.first()) {
      COLLC_OK(collc_rt_test(r.get(), &done));
      CHECK_EQ(done, 0);
      CHECK_CODE(-FI_ETIMEDOUT, collc_rt_wait(r.get(), 5));
      CHECK_CODE(-FI_EBUSY, collc_rt_start(r.get()));
      CHECK_CODE(-FI_EBUSY, collc_rt_free(r.get()));
      CHECK_EQ(g.query().active, 1u);
      t.barrier();
    }
    while (done == 0)
      COLLC_OK(collc_rt_test(r.get(), &done));
    r.verify();
  }
  CHECK_CODE(-FI_EBUSY, collc_rt_group_destroy(g.get(), 0));
  r.free();
  g.leave();
}

// All are alive, and active at once.
void thousand(team &t, collc_rt_mode mode) {
  persistent_group g(t, mode);
  requests all;
  for (int i = 0; i < (sanitized ? 200 : 1000); ++i)
    all.emplace_back(g, i % 3 == 0 ? barrier : sum_of(8 * (1 + static_cast<std::uint64_t>(i % 5))));
  random_source random(config().seed + static_cast<std::uint64_t>(t.rank()));
  std::vector<persistent_request *> order;
  for (auto &r : all)
    order.push_back(&r);
  const auto shuffle = [&] {
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[random.below(i)]);
  };
  for (int e = 0; e < 3; ++e) {
    shuffle();
    for (auto *r : order)
      r->start();
    CHECK_EQ(g.query().requests, order.size());
    shuffle();
    for (auto *r : order)
      r->wait();
    for (auto *r : order)
      r->verify();
  }
  all.clear();
  g.leave();
}

void many_starts(team &t, collc_rt_mode mode) {
  persistent_group g(t, mode);
  persistent_request b(g, barrier), s(g, sum_of(16));
  for (int i = 0; i < (sanitized ? 1000 : 10'000); ++i) {
    COLLC_OK(collc_rt_start(b.get()));
    s.start();
    s.wait();
    b.wait();
    s.verify();
  }
  b.free();
  s.free();
  g.leave();
}

// Each waits in a group for what another owes it there, while that one waits in the other group.
void groups_crossed(team &t, collc_rt_mode mode) {
  persistent_group one(t, mode), other(t, mode);
  {
    persistent_request a(one, sum_of(800)), b(other, sum_of(800));
    for (int e = 0; e < 200; ++e) {
      a.start();
      b.start();
      persistent_request &first = t.rank() % 2 == 0 ? a : b, &last = t.rank() % 2 == 0 ? b : a;
      first.wait();
      last.wait();
      a.verify();
      b.verify();
    }
  }
  one.leave();
  other.leave();
}

// Rank 0 makes another request, which is collective, before it completes the one that it has
// started; the others come to that only when they have completed the first.
void init_meanwhile(team &t, collc_rt_mode mode) {
  persistent_group g(t, mode);
  persistent_request a(g, sum_of(40'000));
  requests more;
  for (int e = 0; e < 20; ++e) {
    a.start();
    if (!t.first())
      a.wait();
    more.emplace_back(g, barrier);
    a.wait();
    a.verify();
    more.back().run();
  }
  more.clear();
  a.free();
  g.leave();
}

// Several threads with requests of one group, and one with a group of its own.
void threads(team &t, collc_rt_mode mode) {
  persistent_group shared(t, mode), own(t, mode);
  requests all;
  for (int i = 0; i < 3; ++i)
    all.emplace_back(i == 0 ? own : shared, sum_of(808));
  std::atomic<int> failed{0};
  std::vector<std::thread> running;
  for (auto &r : all)
    running.emplace_back([&r, &failed] {
      try {
        for (int e = 0; e < (sanitized ? 50 : 300); ++e)
          r.run();
      } catch (const std::exception &e) {
        fail_later(e.what());
        ++failed;
      }
    });
  for (auto &thread : running)
    thread.join();
  CHECK_EQ(failed.load(), 0);
  all.clear();
  shared.leave();
  own.leave();
}

// The middle of a chain makes no call while data pass through it.
void without_calls(team &t) {
  collc_rt_settings s = settings_for(COLLC_RT_OFFLOAD);
  s.automatic = 1;
  persistent_group g(t, s);
  for (const std::uint64_t bytes : {8, 50'000}) {
    persistent_request r(
        g, {.kind = COLLC_RT_BROADCAST, .bytes = bytes, .algorithm = "broadcast:chain"});
    for (int e = 0; e < 20; ++e) {
      r.start();
      if (t.rank() != 1)
        r.wait();
      t.barrier_without_progress();
      r.wait();
      r.verify();
    }
  }
  g.leave();
}

// Whoever sends small data is ahead of the others by as many epochs as there is memory for, and
// waits for them then.
void ahead(team &t, collc_rt_mode mode) {
  constexpr int most = 2;
  collc_rt_settings s = settings_for(mode);
  s.automatic =
      mode == COLLC_RT_OFFLOAD ? 1 : 0; // else some that send wait for calls of the others
  persistent_group g(t, s);
  for (const form &f : {form{.kind = COLLC_RT_BROADCAST, .bytes = 8},
                        form{.kind = COLLC_RT_SCATTER, .bytes = 100, .root = 1},
                        form{.kind = COLLC_RT_GATHER, .bytes = 100, .root = 1}}) {
    const bool sends = (t.rank() == f.root) != (f.kind == COLLC_RT_GATHER);
    persistent_request r(g, f);
    for (int e = 0; e < most; ++e)
      if (sends)
        r.run();
    if (sends) {
      r.start();
      CHECK_CODE(-FI_ETIMEDOUT, collc_rt_wait(r.get(), 20));
    }
    t.barrier();
    if (sends) {
      r.wait();
      r.verify();
    } else {
      for (int e = 0; e < most + 1; ++e)
        r.run();
    }
    for (int e = 0; e < 20; ++e)
      r.run();
  }
  g.leave();
}

// Others have not yet come to an epoch that a rank has completed when it frees the request: what
// they then tell of epochs that never come concerns nobody.
void freed_early(team &t, collc_rt_mode mode) {
  persistent_group g(t, mode);
  random_source random(config().seed + static_cast<std::uint64_t>(t.rank()));
  for (int i = 0; i < 40; ++i) {
    const bool late = t.rank() != i % t.size();
    {
      persistent_request r(g, {.kind = COLLC_RT_BROADCAST, .bytes = 40, .root = i % t.size()});
      if (late)
        std::this_thread::sleep_for(std::chrono::microseconds(random.below(2000)));
      for (int e = 0; e < i % 5; ++e)
        r.run();
    }
    if (i % 8 == 0)
      persistent_request(g, barrier).run();
  }
  CHECK_EQ(g.query().error, 0);
  g.leave();
}

// Works beyond the most that may be queued come when others have gone.
void few_works(team &t) {
  collc_rt_settings s = settings_for(COLLC_RT_OFFLOAD);
  s.most_works = 3;
  persistent_group g(t, s);
  for (const char *algorithm : {"broadcast:chain", "broadcast:trinaryx3"}) {
    persistent_request r(g, {.kind = COLLC_RT_BROADCAST, .bytes = 9000, .algorithm = algorithm});
    for (int e = 0; e < 50; ++e)
      r.run();
  }
  persistent_request r(g, sum_of(8000));
  for (int e = 0; e < 10; ++e)
    r.run();
  r.free();
  g.leave();
}

} // namespace

CASE_IN_BOTH_MODES(sizes, .ranks = 3, .seconds = 120)
CASE_IN_BOTH_MODES(init_without_start, .ranks = 3, .seconds = 120)
CASE_IN_BOTH_MODES(opposite_orders, .ranks = 4, .seconds = 120)
CASE_IN_BOTH_MODES(inactive, .ranks = 2, .seconds = 120)
CASE_IN_BOTH_MODES(tested, .ranks = 3, .seconds = 120)
CASE_IN_BOTH_MODES(thousand, .ranks = 4, .seconds = 120)
CASE_IN_BOTH_MODES(many_starts, .ranks = 2, .seconds = 120)
CASE_IN_BOTH_MODES(groups_crossed, .ranks = 4, .seconds = 120)
CASE_IN_BOTH_MODES(init_meanwhile, .ranks = 3, .seconds = 120)
CASE_IN_BOTH_MODES(threads, .ranks = 2, .seconds = 120)

CASE_IN_BOTH_MODES(ahead, .ranks = 3, .seconds = 60)
CASE_IN_BOTH_MODES(freed_early, .ranks = 3, .seconds = 60)

CASE(without_calls_offload, .ranks = 3, .seconds = 60) { without_calls(t); }
CASE(few_works_offload, .ranks = 4, .seconds = 60) { few_works(t); }

} // namespace fabtest
