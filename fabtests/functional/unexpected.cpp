// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Messages that arrive before anybody asked for them.
#include "common/case.h"
#include "common/forms.h"
#include "common/settings.h"

#include <memory>

namespace fabtest {

namespace {

constexpr std::size_t kib = 1024;

// A message of each size is there, or announced, before the receive is posted.
void each_size(team &t, kind k) {
  endpoint e;
  e.meet(t);
  std::uint64_t n = 0;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{100}, 2 * kib, 9 * kib,
                                 40 * kib, 300 * kib, 3000 * kib}) {
    const envelope env{.tag = ++n};
    op o;
    if (t.first()) {
      const auto bytes = payload(size, n);
      post_send(e, k, send_form::plain, 1, bytes, env, o);
      t.barrier();
      e.tx().wait_ok(o, fmt::format("send of {} bytes", size));
    } else {
      t.barrier();
      e.rx().expect_empty();
      guarded_buffer into(size);
      post_recv(e, k, recv_form::plain, into.span(), env, o);
      check_recv(e.rx().wait_ok(o, fmt::format("receive of {} bytes", size)), k, size, env, false);
      verify(into.span(), n);
      into.check_guards(size);
    }
  }
  t.barrier();
}

// The receiver does not know the sender until its message is there; then it asks for just that.
void from_stranger(team &t, kind k, std::size_t size) {
  endpoint e({.caps = FI_MSG | FI_TAGGED | FI_DIRECTED_RECV}, "FI_DIRECTED_RECV");
  const auto names = t.allgather(e.name());
  constexpr std::uint64_t tag = 3;
  if (!t.first()) {
    const fi_addr_t receiver = e.add(names[0]);
    const auto bytes = payload(size, static_cast<std::uint64_t>(t.rank()));
    op o;
    POST(e, k == kind::msg ? fi_send(e.ep(), bytes.data(), size, nullptr, receiver, &o)
                           : fi_tsend(e.ep(), bytes.data(), size, nullptr, receiver, tag, &o));
    t.barrier();
    e.tx().wait_ok(o, "send");
    t.barrier();
    return;
  }
  t.barrier(); // makes progress: the messages arrive meanwhile
  e.rx().expect_silence(config().limit(0.05));
  fi_addr_t from[3] = {FI_ADDR_NOTAVAIL, e.add(names[1]), e.add(names[2])};
  for (const int r : {2, 1}) {
    op o;
    guarded_buffer into(size);
    post_recv(e, k, recv_form::plain, into.span(), {.tag = tag, .from = from[r]}, o);
    e.rx().wait_ok(o, fmt::format("directed receive from rank {}", r));
    verify(into.span(), static_cast<std::uint64_t>(r));
  }
  t.barrier();
}

} // namespace

CASE(msg_each_size) { each_size(t, kind::msg); }
CASE(tagged_each_size) { each_size(t, kind::tagged); }

CASE(msg_from_stranger, .ranks = 3) { from_stranger(t, kind::msg, 200); }
CASE(tagged_from_stranger, .ranks = 3) { from_stranger(t, kind::tagged, 200); }
CASE(tagged_large_from_stranger, .ranks = 3) { from_stranger(t, kind::tagged, 200'000); }

// A receive from anybody takes the message of a peer that is not in the AV.
CASE(undirected_from_stranger) {
  endpoint e;
  const auto names = t.allgather(e.name());
  op o;
  const auto bytes = payload(500, 1);
  if (t.first()) {
    guarded_buffer into(500);
    e.trecv(into.span(), 4, o);
    t.barrier();
    e.rx().wait_ok(o, "receive from a peer that is not in the AV");
    verify(into.span(), 1);
  } else {
    const fi_addr_t to = e.add(names[0]);
    t.barrier();
    POST(e, fi_tsend(e.ep(), bytes.data(), bytes.size(), nullptr, to, 4, &o));
    e.tx().wait_ok(o, "send");
  }
  t.barrier();
}

// A slow receiver loses nothing, whatever the sender manages to send meanwhile.
CASE(thousands, .seconds = 60) {
  endpoint e;
  e.meet(t);
  constexpr std::size_t count = 10'000;
  const auto size = [](std::size_t i) { return i % 128; };
  if (t.first()) {
    std::vector<op> ops(64);
    std::vector<std::vector<std::byte>> buffers(64);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t slot = i % 64;
      if (i >= 64)
        e.tx().wait_ok(ops[slot], fmt::format("send {}", i - 64), config().limit(30));
      buffers[slot] = payload(size(i), i);
      e.tsend(1, buffers[slot], i, ops[slot]);
    }
    for (std::size_t i = count; i < count + 64; ++i)
      e.tx().wait_ok(ops[i % 64], "one of the last sends", config().limit(30));
  } else {
    e.rx().expect_silence(config().limit(0.3)); // progress, and not one receive posted
    for (std::size_t i = 0; i < count; ++i)
      receive_payload(e, i, size(i));
  }
  t.barrier();
}

// Unexpected messages of every size, then received in the opposite order.
CASE(newest_first) {
  endpoint e;
  e.meet(t);
  constexpr std::size_t count = 300;
  const auto size = [](std::size_t i) { return i * i % 3000; };
  if (t.first()) {
    std::vector<op> ops(count);
    std::vector<std::vector<std::byte>> buffers;
    for (std::size_t i = 0; i < count; ++i) {
      buffers.push_back(payload(size(i), i));
      e.tsend(1, buffers[i], i, ops[i]);
    }
    t.barrier();
    for (auto &o : ops)
      e.tx().wait_ok(o, "send");
  } else {
    t.barrier();
    for (std::size_t i = count; i-- > 0;)
      receive_payload(e, i, size(i));
  }
  t.barrier();
}

// Unexpected messages that nobody asks for don't keep an endpoint from closing.
CASE(closed_with_messages_waiting) {
  {
    endpoint e;
    e.meet(t);
    if (t.first()) {
      std::vector<op> ops(20);
      const auto bytes = payload(700, 1);
      for (auto &o : ops)
        e.tsend(1, bytes, 1, o);
      t.barrier();
      for (auto &o : ops)
        e.tx().wait_ok(o, "send");
    } else {
      t.barrier();
    }
    t.barrier();
  }
  t.barrier();
}

} // namespace fabtest
