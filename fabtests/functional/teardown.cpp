// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Endpoints that are closed at once, in the middle, or not at all.
#include "common/case.h"
#include "common/forms.h"
#include "common/settings.h"

#include <array>
#include <chrono>
#include <cstdlib>
#include <optional>

#include <sched.h>
#include <unistd.h>

namespace fabtest {

namespace {

constexpr std::size_t count = 40;

std::size_t mixed(std::size_t i) {
  constexpr std::array sizes{std::size_t{8},    std::size_t{0},  std::size_t{1500},
                             std::size_t{9000}, std::size_t{64}, std::size_t{150'000}};
  return sizes[i % sizes.size()];
}

void receive_numbered(endpoint &e, std::size_t n) {
  std::vector<op> ops(n);
  std::vector<std::vector<std::byte>> buffers;
  for (std::size_t i = 0; i < n; ++i) {
    buffers.emplace_back(mixed(i));
    e.trecv(buffers[i], i, ops[i]);
  }
  for (std::size_t i = 0; i < n; ++i) {
    CHECK_EQ(e.rx().wait_ok(ops[i], fmt::format("message {}", i)).len, mixed(i));
    verify(buffers[i], i);
  }
}

void send_numbered(endpoint &e, std::size_t n) {
  std::vector<op> ops(n);
  std::vector<std::vector<std::byte>> buffers;
  for (std::size_t i = 0; i < n; ++i) {
    buffers.push_back(payload(mixed(i), i));
    e.tsend(1, buffers[i], i, ops[i]);
  }
  for (auto &o : ops)
    e.tx().wait_ok(o, "send");
}

} // namespace

// Every send is reported complete, then the endpoint is closed: the receiver has, or gets, all.
CASE(sent_then_closed) {
  for (int round = 0; round < 5; ++round) {
    std::optional<endpoint> e(std::in_place);
    e->meet(t);
    if (t.first()) {
      send_numbered(*e, count);
      e.reset();
    } else {
      receive_numbered(*e, count);
    }
    t.barrier();
  }
}

// The same, small messages that nobody has asked for yet, and the process ends without closing.
CASE(sent_then_exited) {
  endpoint e;
  e.meet(t);
  if (t.first()) {
    std::vector<op> ops(count);
    std::vector<std::vector<std::byte>> buffers;
    for (std::size_t i = 0; i < count; ++i) {
      buffers.push_back(payload(100, i));
      e.tsend(1, buffers[i], i, ops[i]);
    }
    for (auto &o : ops)
      e.tx().wait_ok(o, "send");
    t.report(true, false, {});
    _exit(0);
  }
  t.barrier(); // until the sender is gone
  for (std::size_t i = 0; i < count; ++i) {
    op o;
    std::array<std::byte, 100> into{};
    e.trecv(into, i, o);
    e.rx().wait_ok(o, fmt::format("message {} of a process that has ended", i));
    verify(into, i);
  }
}

// Both send at once, so that both look for the other. One leaves as soon as it has its message; the
// other looks for its own only then, when there is as much to see of the leaving.
CASE(both_sent_then_closed) {
  for (std::uint64_t round = 0; round < 200; ++round) {
    std::optional<endpoint> e(std::in_place);
    e->meet(t);
    op sent, received;
    std::array<std::byte, 100> into{};
    const auto content = payload(into.size(), round);
    e->trecv(into, round, received);
    e->tsend(t.other(), content, round, sent);
    e->tx().wait_ok(sent, fmt::format("send of round {}", round));
    if (!t.first())
      t.barrier_without_progress();
    e->rx().wait_ok(received, fmt::format("message of round {}", round));
    verify(into, round);
    e.reset();
    if (t.first()) {
      endpoint another;
      another.rx().expect_silence(std::chrono::milliseconds(2)); // until the end has got about
      t.barrier_without_progress();
    }
  }
}

// A counter says that the injects are done; then the endpoint is closed.
CASE(injected_then_closed) {
  for (int round = 0; round < 5; ++round) {
    std::optional<endpoint> e(std::in_place, request{.caps = FI_MSG | FI_TAGGED, .counters = true});
    e->meet(t);
    const std::size_t size = std::min<std::size_t>(64, e->info().tx_attr->inject_size);
    if (t.first()) {
      op unused;
      for (std::size_t i = 0; i < count; ++i) {
        const auto content = payload(size, i);
        post_send(*e, kind::tagged, send_form::inject, 1, content, {.tag = i}, unused);
      }
      CHECK_OK(fi_cntr_wait(e->sent(), count, static_cast<int>(default_wait().count())));
      e.reset();
    } else {
      for (std::size_t i = 0; i < count; ++i) {
        op o;
        std::vector<std::byte> into(size);
        e->trecv(into, i, o);
        e->rx().wait_ok(o, fmt::format("inject {}", i));
        verify(into, i);
      }
    }
    t.barrier();
  }
}

// Both sides are endpoints of one thread, and their first messages are what sets up their
// connection. Closing must drive the other side as well, and not just sit its time out (which would
// take a day here).
CASE(injected_and_closed_within_a_process, .ranks = 1) {
  setenv("FI_DPDKX_LINGER", "1440min", 1);
  for (const fi_progress progress : {FI_PROGRESS_MANUAL, FI_PROGRESS_AUTO}) {
    const request asked{.caps = FI_MSG | FI_TAGGED, .progress = progress, .counters = true};
    std::optional<endpoint> a(std::in_place, asked);
    endpoint b(a->base(), asked), c(a->base(), asked);
    const std::size_t size = std::min<std::size_t>(64, a->info().tx_attr->inject_size);
    for (endpoint *to : {&b, &c}) {
      const fi_addr_t address = a->add(to->name());
      for (std::size_t i = 0; i < count; ++i)
        POST(*a, fi_tinject(a->ep(), payload(size, i).data(), size, address, i));
    }
    a.reset();
    for (endpoint *to : {&c, &b}) {
      for (std::size_t i = 0; i < count; ++i)
        receive_payload(*to, i, size);
      CHECK_EQ(fi_cntr_read(to->received()), count);
    }
  }
}

// Far more than a peer is trusted with at first, all of it before there is any receive: it waits
// there, if the receiver makes progress.
CASE(many_injected_and_closed_within_a_process, .ranks = 1) {
  constexpr std::size_t many = 1150, size = 8;
  setenv("FI_DPDKX_LINGER", "1440min", 1);
  std::optional<endpoint> a(std::in_place);
  endpoint b(a->base(), {});
  const fi_addr_t address = a->add(b.name());
  for (std::size_t i = 0; i < many; ++i) {
    const auto content = payload(size, i);
    POST(*a, fi_tinject(a->ep(), content.data(), size, address, i));
    drive_progress();
  }
  a.reset();
  for (std::size_t i = 0; i < many; ++i)
    receive_payload(b, i, size);
}

// They inject to each other, and are closed one after the other.
CASE(both_injected_and_closed_within_a_process, .ranks = 1) {
  setenv("FI_DPDKX_LINGER", "1440min", 1);
  std::optional<endpoint> a(std::in_place);
  endpoint b(a->base(), {});
  const std::size_t size = std::min<std::size_t>(64, a->info().tx_attr->inject_size);
  const auto content = payload(size, 1);
  const fi_addr_t to_b = a->add(b.name()), to_a = b.add(a->name());
  POST(*a, fi_tinject(a->ep(), content.data(), size, to_b, 1));
  POST(b, fi_tinject(b.ep(), content.data(), size, to_a, 1));
  a.reset();
  receive_payload(b, 1, size);
  b.close_ep();
}

// The one that was sent to is closed first: nobody is there who could take the message.
CASE(injected_to_one_that_is_closed, .ranks = 1) {
  setenv("FI_DPDKX_LINGER", "1440min", 1);
  endpoint a;
  std::optional<endpoint> b(std::in_place, a.base(), request{});
  const fi_addr_t address = a.add(b->name());
  const std::size_t size = std::min<std::size_t>(64, a.info().tx_attr->inject_size);
  POST(a, fi_tinject(a.ep(), payload(size, 1).data(), size, address, 1));
  b.reset();
  a.close_ep();
}

// The other process never calls the library, so nothing can arrive there. Closing gives up.
CASE(injected_to_one_that_is_away) {
  setenv("FI_DPDKX_LINGER", "20ms", 1);
  endpoint e;
  const auto names = t.allgather(e.name());
  if (t.first()) {
    const fi_addr_t address = e.add(names[1]);
    POST(e, fi_tinject(e.ep(), nullptr, 0, address, 1));
    e.close_ep();
  }
  t.barrier_without_progress();
}

// Closing with sends under way discards them (fi_endpoint(3)); nobody hangs, and what arrives is
// whole. The other side's endpoint goes on with others.
CASE(closed_in_the_middle, .ranks = 3) {
  std::optional<endpoint> e(std::in_place);
  e->meet(t);
  constexpr std::size_t size = 500'000;
  if (t.rank() == 1) {
    std::vector<op> ops(8);
    const auto content = payload(size, 1);
    for (auto &o : ops)
      e->tsend(0, content, 1, o);
    e.reset();
    t.barrier();
    t.barrier();
    return;
  }
  if (t.rank() == 2) {
    t.barrier();
    op o;
    const auto content = payload(size, 2);
    e->tsend(0, content, 2, o);
    e->tx().wait_ok(o, "send to a process whose other peer has closed");
    t.barrier();
    return;
  }
  std::vector<op> ops(8);
  std::vector<std::vector<std::byte>> buffers(8, std::vector<std::byte>(size));
  for (std::size_t i = 0; i < ops.size(); ++i)
    e->trecv(buffers[i], 1, ops[i]);
  t.barrier();
  op o;
  std::vector<std::byte> into(size);
  e->trecv(into, 2, o);
  e->rx().wait_ok(o, "message of the third process");
  verify(into, 2);
  while (const auto c = e->rx().poll())
    for (std::size_t i = 0; i < ops.size(); ++i)
      if (c->is(ops[i]) && c->err == 0)
        verify(buffers[i], 1);
  t.barrier();
}

// The receiver closes while a large send waits for it: the sender's operation ends, one way or the
// other.
CASE(receiver_closed) {
  std::optional<endpoint> e(std::in_place);
  e->meet(t);
  const auto limit = config().limit(config().death_limit);
  if (t.first()) {
    op o;
    const auto content = payload(3'000'000, 1);
    e->tsend(1, content, 1, o);
    t.barrier();
    t.barrier();
    const completion c = e->tx().wait(o, "send to an endpoint that was closed", limit);
    CHECK(c.err != 0); // nobody received it
  } else {
    t.barrier();
    e.reset();
    t.barrier();
  }
  t.barrier();
}

// Endpoint after endpoint in one process, each with new traffic from a peer that stays.
CASE(reopened_many_times, .seconds = 60) {
  endpoint keeper;
  for (int round = 0; round < 20; ++round) {
    std::optional<endpoint> fresh;
    endpoint *e = &keeper;
    if (!t.first()) {
      fresh.emplace();
      e = &*fresh;
    }
    const auto names = t.allgather(e->name());
    const fi_addr_t to = e->add(names[static_cast<std::size_t>(t.other())]);
    op sent, received;
    std::array<std::byte, 200> into{};
    const auto content = payload(200, static_cast<std::uint64_t>(round));
    e->trecv(into, 1, received);
    POST(*e, fi_tsend(e->ep(), content.data(), content.size(), nullptr, to, 1, &sent));
    e->rx().wait_ok(received, fmt::format("receive in round {}", round));
    e->tx().wait_ok(sent, fmt::format("send in round {}", round));
    verify(into, static_cast<std::uint64_t>(round));
    t.barrier();
  }
}

// A receive is cancelled while its message may be arriving: exactly one completion, and the message
// is received or still there.
CASE(cancel_races_arrival, .seconds = 60) {
  endpoint e;
  e.meet(t);
  constexpr std::uint64_t rounds = 1500;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    const std::size_t size = i % 10 == 9 ? 100'000 : 64;
    op o;
    if (t.first()) {
      const auto content = payload(size, i);
      e.tsend(1, content, i, o);
      e.tx().wait_ok(o, fmt::format("send {}", i));
      continue;
    }
    std::vector<std::byte> into(size);
    e.trecv(into, i, o);
    for (std::uint64_t spin = 0; spin < i % 40; ++spin)
      drive_progress();
    fi_cancel(&e.ep()->fid, &o);
    const completion c = e.rx().wait(o, fmt::format("receive {}, cancelled or not", i));
    if (c.err != 0) {
      CHECK_EQ(c.err, FI_ECANCELED);
      op again;
      e.trecv(into, i, again);
      e.rx().wait_ok(again, fmt::format("message {} after its receive was cancelled", i));
    }
    verify(into, i);
  }
  e.rx().expect_empty();
  t.barrier();
}

} // namespace fabtest
