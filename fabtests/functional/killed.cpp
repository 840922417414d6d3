// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Every process is killed, at a moment that the seed chooses: while it opens its endpoint, while it
// sends and receives, or long after its peers. None sees what nobody sent.
#include "common/case.h"
#include "common/endpoint.h"
#include "common/settings.h"

#include <array>
#include <csignal>
#include <ctime>

#include <sched.h>

namespace fabtest {

namespace {

constexpr int ranks = 10;
constexpr std::uint64_t latest_ms = 600;
constexpr std::size_t slots = 16, largest = 60'000;

// By the kernel, whatever the process does then.
void die_within(random_source &random) {
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGKILL;
  timer_t timer;
  itimerspec when{};
  when.it_value.tv_nsec = static_cast<long>(1 + random.below(latest_ms * 1'000'000));
  CHECK_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
  CHECK_EQ(timer_settime(timer, 0, &when, nullptr), 0);
}

struct slot {
  op o;
  std::vector<std::byte> bytes;
  bool busy = false;
};

class talker {
public:
  talker(team &t, endpoint &e, random_source &random) : t_(t), e_(e), random_(random) {
    for (slot &s : in_)
      s.bytes.resize(largest);
  }

  void turn() {
    for (slot &s : in_)
      if (!s.busy)
        s.busy = fi_trecv(e_.ep(), s.bytes.data(), s.bytes.size(), nullptr, FI_ADDR_UNSPEC, 0,
                          ~0ull, &s.o) == 0;
    for (slot &s : out_)
      if (!s.busy)
        send(s);
    while (auto c = e_.rx().poll())
      take(*c);
  }

private:
  void send(slot &s) {
    const auto to = static_cast<int>(random_.below(static_cast<std::uint64_t>(t_.size())));
    if (to == t_.rank() || e_.name_at(to).empty())
      return;
    const std::uint64_t id = random_.next();
    s.bytes = payload(random_.one_in(4) ? random_.below(largest) : random_.below(2'000), id);
    s.busy = fi_tsend(e_.ep(), s.bytes.data(), s.bytes.size(), nullptr, e_.at(to), id, &s.o) == 0;
  }

  // An error tells of a peer that is dead already.
  void take(const completion &c) {
    for (slot &s : out_)
      if (c.is(s.o))
        s.busy = false;
    for (slot &s : in_)
      if (c.is(s.o)) {
        if (c.err == 0)
          verify(std::span(s.bytes).first(c.len), c.tag);
        s.busy = false;
      }
  }

  team &t_;
  endpoint &e_;
  random_source &random_;
  std::array<slot, slots> in_, out_;
};

} // namespace

CASE(at_random_moments, .ranks = ranks, .seconds = 60, .may_die = (1u << ranks) - 1) {
  random_source random(config().seed * 31 + static_cast<std::uint64_t>(t.rank()));
  die_within(random);
  endpoint e;
  e.meet(t);
  for (talker talks(t, e, random);;) {
    talks.turn();
    sched_yield();
  }
}

} // namespace fabtest
