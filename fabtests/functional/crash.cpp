// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Peers that are killed: survivors get errors within the limit, serve each other as before, and a
// process that takes the dead one's address works at once.
#include "common/address.h"
#include "common/case.h"
#include "common/forms.h"
#include "common/settings.h"

#include <array>
#include <chrono>
#include <csignal>
#include <memory>
#include <optional>

#include <sched.h>

namespace fabtest {

namespace {

using clock = std::chrono::steady_clock;

std::chrono::milliseconds death_limit() { return config().limit(config().death_limit); }

[[noreturn]] void die() {
  raise(SIGKILL);
  fail("still alive");
}

// An operation towards a dead peer: refused when posted, or completed with an error in time.
void expect_failure(endpoint &e, std::string_view what, op &o, const endpoint::posting &attempt) {
  const auto end = clock::now() + death_limit();
  ssize_t rc = 0;
  while ((rc = attempt()) == -FI_EAGAIN && clock::now() < end) {
    drive_progress();
    sched_yield();
  }
  if (rc == -FI_EAGAIN)
    fail(fmt::format("{} to a dead peer is -FI_EAGAIN for ever", what));
  if (rc != 0)
    return;
  const completion c = e.tx().wait(o, fmt::format("{} to a dead peer", what), death_limit());
  if (c.err == 0)
    fail(fmt::format("{} to a dead peer succeeded", what));
}

void expect_send_failure(endpoint &e, int to, std::size_t size) {
  op o;
  const auto content = payload(size, 1);
  const iovec v{const_cast<std::byte *>(content.data()), size};
  const fi_msg_tagged m{.msg_iov = &v,
                        .desc = nullptr,
                        .iov_count = 1,
                        .addr = e.at(to),
                        .tag = 1,
                        .ignore = 0,
                        .context = &o,
                        .data = 0};
  expect_failure(e, fmt::format("send of {} bytes", size), o,
                 [&] { return fi_tsendmsg(e.ep(), &m, FI_COMPLETION | FI_DELIVERY_COMPLETE); });
}

// Everybody with everybody, small and large.
void all_to_all(team &t, endpoint &e, const std::vector<int> &ranks, std::uint64_t round) {
  constexpr std::size_t sizes[] = {100, 200'000};
  struct exchange_op {
    op sent, received;
    std::vector<std::byte> in, out;
    std::uint64_t id = 0;
  };
  std::vector<std::unique_ptr<exchange_op>> all;
  const auto id = [&](int from, int to, std::size_t size) {
    return round << 40 | static_cast<std::uint64_t>(from) << 36 |
           static_cast<std::uint64_t>(to) << 32 | size;
  };
  for (const int r : ranks) {
    if (r == t.rank())
      continue;
    for (const std::size_t size : sizes) {
      auto x = std::make_unique<exchange_op>();
      x->in.resize(size);
      x->id = id(r, t.rank(), size);
      x->out = payload(size, id(t.rank(), r, size));
      e.trecv(x->in, x->id, x->received);
      e.tsend(r, x->out, id(t.rank(), r, size), x->sent);
      all.push_back(std::move(x));
    }
  }
  for (auto &x : all) {
    e.rx().wait_ok(x->received, "receive among survivors");
    e.tx().wait_ok(x->sent, "send among survivors");
    verify(x->in, x->id);
  }
}

} // namespace

CASE(idle_peer, .seconds = 90, .may_die = 0b010) {
  endpoint e;
  e.meet(t);
  all_to_all(t, e, {0, 1}, 1);
  t.barrier();
  if (!t.first())
    die();
  t.barrier(); // complete when the other is gone
  expect_send_failure(e, 1, 8);
  expect_send_failure(e, 1, 1'000'000);
}

CASE(never_contacted_peer, .seconds = 90, .may_die = 0b010) {
  endpoint e;
  e.meet(t);
  if (!t.first())
    die();
  t.barrier();
  expect_send_failure(e, 1, 8);
}

// A caller that finds each completion at once, and so never polls in vain, notices it all the same.
CASE(small_sends_one_by_one, .seconds = 90, .may_die = 0b010) {
  endpoint e;
  e.meet(t);
  all_to_all(t, e, {0, 1}, 1);
  t.barrier();
  if (!t.first())
    die();
  t.barrier_without_progress();
  const auto content = payload(8, 1);
  const auto begin = clock::now();
  for (auto pace = begin;; pace += std::chrono::milliseconds(10)) {
    while (clock::now() < pace)
      sched_yield();
    op o;
    POST(e, fi_tsend(e.ep(), content.data(), content.size(), nullptr, e.at(1), 1, &o));
    if (e.tx().wait(o, "send to a dead peer", death_limit()).err != 0)
      return;
    if (clock::now() - begin > config().limit(0.5))
      fail("sends to a peer that has been dead for half a second succeed");
  }
}

// The large send is announced and waits for a receive that will never be posted.
CASE(receiver_of_rendezvous, .seconds = 90, .may_die = 0b010) {
  endpoint e;
  e.meet(t);
  if (!t.first()) {
    t.barrier(); // with progress, so that the announcement is here
    die();
  }
  op o;
  const auto content = payload(4 << 20, 1);
  e.tsend(1, content, 1, o);
  t.barrier();
  t.barrier();
  CHECK(e.tx().wait(o, "send to a dead peer", death_limit()).err != 0);
}

// The receive has matched; the data may be there already, or never come.
CASE(sender_of_rendezvous, .seconds = 90, .may_die = 0b010) {
  endpoint e;
  e.meet(t);
  all_to_all(t, e, {0, 1}, 1); // so that the announcement leaves at once
  const auto pids = t.pids();
  constexpr std::size_t size = 16 << 20;
  op o;
  if (!t.first()) {
    const auto content = payload(size, 1);
    e.tsend(0, content, 1, o);
    t.barrier();
    t.barrier_without_progress(); // never completes: killed in it
    return;
  }
  t.barrier();
  std::vector<std::byte> into(size);
  e.trecv(into, 1, o);
  for (int i = 0; i < 100; ++i)
    drive_progress();
  kill(pids[1], SIGKILL);
  t.barrier();
  const completion c = e.rx().wait(o, "receive from a dead peer", death_limit());
  if (c.err == 0)
    verify(into, 1);
}

// Two survivors talk on while the third is killed with operations open in both directions.
CASE(others_unaffected, .ranks = 3, .seconds = 90, .may_die = 0b010) {
  endpoint e;
  e.meet(t);
  all_to_all(t, e, {0, 1, 2}, 1);
  op pending_send, pending_receive;
  const auto content = payload(1 << 20, 1);
  std::vector<std::byte> into(100);
  if (t.rank() == 1) {
    t.barrier();
    die();
  }
  e.tsend(1, content, 99, pending_send);
  e.trecv(into, 77, pending_receive, 0);
  t.barrier();
  for (std::uint64_t round = 2; round < 30; ++round)
    all_to_all(t, e, {0, 2}, round);
  CHECK(e.tx().wait(pending_send, "send to the dead peer", death_limit()).err != 0);
  for (std::uint64_t round = 30; round < 60; ++round)
    all_to_all(t, e, {0, 2}, round);
  t.barrier();
}

// Half of the processes go in the middle of an all-to-all.
CASE(half_of_six, .ranks = 6, .seconds = 120, .may_die = 0b101010) {
  endpoint e;
  e.meet(t);
  all_to_all(t, e, {0, 1, 2, 3, 4, 5}, 1);
  t.barrier();
  if (t.rank() % 2 == 1) {
    const auto content = payload(300'000, 1);
    std::vector<op> ops(6);
    for (int r = 0; r < 6; r += 2)
      e.tsend(r, content, 5, ops[static_cast<std::size_t>(r)]);
    die();
  }
  for (std::uint64_t round = 2; round < 20; ++round)
    all_to_all(t, e, {0, 2, 4}, round);
  t.barrier();
  for (const int dead : {1, 3, 5})
    expect_send_failure(e, dead, 400'000);
  all_to_all(t, e, {0, 2, 4}, 20);
  t.barrier();
}

// What arrived whole before the sender was killed can still be received.
CASE(messages_of_the_dead, .seconds = 90, .may_die = 0b001) {
  endpoint e;
  e.meet(t);
  constexpr std::size_t count = 50;
  if (t.first()) {
    std::vector<op> ops(count);
    std::vector<std::vector<std::byte>> buffers;
    for (std::size_t i = 0; i < count; ++i) {
      buffers.push_back(payload(200, i));
      e.tsend(1, buffers[i], i, ops[i]);
    }
    for (auto &o : ops)
      e.tx().wait_ok(o, "send");
    t.barrier();
    die();
  }
  t.barrier();
  t.barrier();
  for (std::size_t i = 0; i < count; ++i) {
    op o;
    std::array<std::byte, 200> into{};
    e.trecv(into, i, o);
    e.rx().wait_ok(o, fmt::format("message {} of a dead peer", i));
    verify(into, i);
  }
}

// Rank 2 takes the address of rank 1 after that was killed. It must reach others at once, be
// reached by them, and never see what was meant for its predecessor.
CASE(restart_on_the_same_address, .ranks = 3, .seconds = 120, .may_die = 0b010) {
  constexpr std::uint64_t old_tag = 1, new_tag = 2;
  std::optional<endpoint> e;
  if (t.rank() < 2)
    e.emplace();
  const auto names = t.allgather(e ? e->name() : bytes{});
  if (!is_socket_format(find_info({})->addr_format))
    skip("addresses are not socket addresses");
  const auto port = std::to_string(port_of(names[1]));

  // They meet first: who has never answered has no successor, there is just who answers.
  op met;
  std::array<std::byte, 8> greeting{};
  if (t.rank() == 1) {
    e->add(names[0]);
    e->trecv(greeting, old_tag, met);
    e->rx().wait_ok(met, "greeting");
    t.barrier();
    die();
  }
  if (t.first()) {
    const fi_addr_t to = e->add(names[1]);
    POST(*e, fi_tsend(e->ep(), greeting.data(), greeting.size(), nullptr, to, old_tag, &met));
    e->tx().wait_ok(met, "greeting");
    std::vector<op> ops(32);
    const auto content = payload(100, old_tag);
    for (auto &o : ops)
      POST(*e, fi_tsend(e->ep(), content.data(), content.size(), nullptr, to, old_tag, &o));
    op large;
    const auto much = payload(1 << 20, old_tag);
    POST(*e, fi_tsend(e->ep(), much.data(), much.size(), nullptr, to, old_tag, &large));
    t.barrier();
    t.barrier(); // rank 1 is dead, rank 2 is here
    op received;
    std::array<std::byte, 100> into{};
    e->trecv(into, new_tag, received);
    e->rx().wait_ok(received, "message of the successor", death_limit());
    verify(into, new_tag);
    const auto end = clock::now() + death_limit();
    for (bool sent = false; !sent;) { // the first attempts may still meet the dead one's session
      op o;
      const auto fresh = payload(100, new_tag);
      POST(*e, fi_tsend(e->ep(), fresh.data(), fresh.size(), nullptr, to, new_tag, &o));
      sent = e->tx().wait(o, "send to the successor", death_limit()).err == 0;
      CHECK(clock::now() < end);
    }
    t.barrier();
    return;
  }
  t.barrier();
  t.barrier();
  e.emplace(request{.service = port});
  CHECK(e->name() == names[1]);
  const fi_addr_t to = e->add(names[0]);
  op received, sent;
  std::vector<std::byte> into(2 << 20);
  e->trecv(into, 0, received, ~0ull);
  const auto content = payload(100, new_tag);
  POST(*e, fi_tsend(e->ep(), content.data(), content.size(), nullptr, to, new_tag, &sent));
  e->tx().wait_ok(sent, "first send of the successor", death_limit());
  const completion c = e->rx().wait_ok(received, "answer to the successor", death_limit());
  CHECK_EQ(c.tag, new_tag);
  verify(std::span(into).first(100), new_tag);
  t.barrier();
}

} // namespace fabtest
