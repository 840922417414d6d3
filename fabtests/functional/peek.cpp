// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// FI_PEEK, FI_CLAIM, FI_DISCARD on tagged receives (fi_tagged(3)).
//
// A peek that finds its message reports length, tag, CQ data and source, also when it discards the
// message. In 1.17 ofi_rxm and ofi_rxd leave out length (FI_DISCARD), data and source, and a
// discarded rendezvous never completes at their sender.
#include "common/case.h"
#include "common/forms.h"
#include "common/settings.h"

#include <chrono>
#include <functional>
#include <sched.h>

namespace fabtest {

namespace {

constexpr std::size_t sizes[] = {0, 8, 700, 12'000, 90'000, 1'500'000};

completion peek(endpoint &e, const envelope &env, op &o, std::uint64_t flags = 0,
                std::span<const iovec> iov = {}) {
  post_recvmsg(e, kind::tagged, iov, env, o, FI_PEEK | FI_COMPLETION | flags);
  return e.rx().wait(o, "peek");
}

// Asks again until the message is there; each miss must say FI_ENOMSG and nothing else.
completion peek_until_found(endpoint &e, const envelope &env, op &o, std::uint64_t flags = 0) {
  const auto end = std::chrono::steady_clock::now() + default_wait();
  for (;;) {
    const completion c = peek(e, env, o, flags);
    if (c.err == 0)
      return c;
    CHECK_EQ(c.err, FI_ENOMSG);
    if (std::chrono::steady_clock::now() > end)
      fail(fmt::format("no message with tag {:#x} is found", env.tag));
    sched_yield();
  }
}

void check_metadata(const completion &c, std::size_t len, std::uint64_t tag) {
  CHECK_EQ(c.err, 0);
  CHECK_EQ(c.len, len);
  CHECK_EQ(c.tag, tag);
  CHECK((c.flags & FI_RECV) != 0);
  CHECK((c.flags & FI_TAGGED) != 0);
}

void send_sizes(endpoint &e) {
  constexpr std::size_t count = std::size(sizes);
  std::vector<op> ops(count);
  std::vector<std::vector<std::byte>> buffers;
  for (std::size_t i = 0; i < count; ++i) {
    buffers.push_back(payload(sizes[i], i));
    e.tsend(1, buffers[i], i, ops[i]);
  }
  for (auto &o : ops)
    e.tx().wait_ok(o, "send");
}

// Rank 0 sends a message of each size, tags 0, 1, 2, …, and waits for the sends to complete, while
// rank 1 looks for them.
void with_sizes(team &t, const std::function<void(endpoint &)> &look) {
  endpoint e;
  e.meet(t);
  if (t.first())
    send_sizes(e);
  else
    look(e);
  t.barrier();
}

void with_each_size(
    team &t, const std::function<void(endpoint &, std::size_t size, std::uint64_t tag)> &look) {
  with_sizes(t, [&](endpoint &e) {
    for (std::size_t i = 0; i < std::size(sizes); ++i)
      look(e, sizes[i], i);
    e.rx().expect_empty();
  });
}

// A receive that takes the message which a claim has set aside.
void receive_claimed(endpoint &e, std::size_t size, std::uint64_t tag, op &claim) {
  guarded_buffer into(size);
  const iovec v{into.data(), into.size()};
  post_recvmsg(e, kind::tagged, {&v, 1}, {.tag = tag}, claim, FI_CLAIM | FI_COMPLETION);
  check_metadata(e.rx().wait_ok(claim, "claimed message"), size, tag);
  verify(into.span(), tag);
  into.check_guards(size);
}

} // namespace

CASE(miss, .ranks = 1) {
  endpoint e;
  e.meet(t);
  for (int i = 0; i < 100; ++i) {
    op o;
    const completion c = peek(e, {.tag = 5}, o);
    CHECK_EQ(c.err, FI_ENOMSG);
  }
  e.rx().expect_empty();
  // A peek that missed left nothing behind that a message could match.
  op sent, received;
  const auto bytes = payload(10, 1);
  guarded_buffer into(10);
  e.trecv(into.span(), 5, received);
  e.tsend(0, bytes, 5, sent);
  e.rx().wait_ok(received, "receive");
  e.tx().wait_ok(sent, "send");
}

CASE(found_and_left) {
  with_each_size(t, [](endpoint &e, std::size_t size, std::uint64_t tag) {
    op o;
    check_metadata(peek_until_found(e, {.tag = tag}, o), size, tag);
    check_metadata(peek(e, {.tag = tag}, o), size, tag); // still there
    receive_payload(e, tag, size);
    CHECK_EQ(peek(e, {.tag = tag}, o).err, FI_ENOMSG);
  });
}

// A buffer smaller than the message is no truncation: nothing is received yet.
CASE(small_buffer) {
  with_each_size(t, [](endpoint &e, std::size_t size, std::uint64_t tag) {
    op o;
    guarded_buffer into(4);
    const iovec v{into.data(), into.size()};
    peek_until_found(e, {.tag = tag}, o);
    const completion c = peek(e, {.tag = tag}, o, 0, {&v, 1});
    check_metadata(c, size, tag);
    into.check_guards(4);
    if (c.buf && size >= 4)
      verify(into.span(), tag);
    receive_payload(e, tag, size);
  });
}

CASE(peek_with_mask_finds_the_oldest) {
  with_sizes(t, [](endpoint &e) {
    op o;
    peek_until_found(e, {.tag = std::size(sizes) - 1}, o); // the last is there
    for (std::size_t i = 0; i < std::size(sizes); ++i) {
      check_metadata(peek(e, {.tag = 0, .ignore = ~0ull}, o), sizes[i], i);
      receive_payload(e, i, sizes[i]);
    }
  });
}

CASE(claim) {
  with_each_size(t, [](endpoint &e, std::size_t size, std::uint64_t tag) {
    op claim, other;
    check_metadata(peek_until_found(e, {.tag = tag}, claim, FI_CLAIM), size, tag);
    // Claimed: neither a peek nor a receive finds it any more.
    CHECK_EQ(peek(e, {.tag = tag}, other).err, FI_ENOMSG);
    receive_claimed(e, size, tag, claim);
  });
}

// Several claims are open at once and are taken in another order.
CASE(claims_out_of_order) {
  with_sizes(t, [](endpoint &e) {
    constexpr std::size_t count = std::size(sizes);
    op claims[count];
    for (std::size_t i = 0; i < count; ++i)
      check_metadata(peek_until_found(e, {.tag = i}, claims[i], FI_CLAIM), sizes[i], i);
    for (std::size_t n = 0; n < count; ++n) {
      const std::size_t i = (n * 5 + 3) % count;
      receive_claimed(e, sizes[i], i, claims[i]);
    }
  });
}

CASE(claim_then_discard) {
  with_each_size(t, [](endpoint &e, std::size_t size, std::uint64_t tag) {
    op claim, other;
    check_metadata(peek_until_found(e, {.tag = tag}, claim, FI_CLAIM), size, tag);
    post_recvmsg(e, kind::tagged, {}, {.tag = tag}, claim, FI_CLAIM | FI_DISCARD | FI_COMPLETION);
    CHECK_EQ(e.rx().wait(claim, "discard of a claimed message").err, 0);
    CHECK_EQ(peek(e, {.tag = tag}, other).err, FI_ENOMSG);
  });
}

// The sender of a discarded message is done with it, large ones too (send_sizes waits for that).
CASE(peek_and_discard) {
  with_each_size(t, [](endpoint &e, std::size_t size, std::uint64_t tag) {
    op o;
    check_metadata(peek_until_found(e, {.tag = tag}, o, FI_DISCARD), size, tag);
    CHECK_EQ(peek(e, {.tag = tag}, o).err, FI_ENOMSG);
  });
}

CASE(data_and_source) {
  endpoint e({.caps = FI_MSG | FI_TAGGED | FI_SOURCE}, "FI_SOURCE");
  e.meet(t);
  const bool with_data = e.info().domain_attr->cq_data_size >= 4;
  op o;
  const auto bytes = payload(300, 1);
  if (t.first()) {
    post_send(e, kind::tagged, with_data ? send_form::data : send_form::plain, 1, bytes,
              {.tag = 1, .data = 4711}, o);
    e.tx().wait_ok(o, "send");
  } else {
    const completion c = peek_until_found(e, {.tag = 1}, o);
    check_metadata(c, 300, 1);
    CHECK_EQ(c.source, e.at(0));
    if (with_data) {
      CHECK((c.flags & FI_REMOTE_CQ_DATA) != 0);
      CHECK_EQ(c.data, 4711u);
    }
    receive_payload(e, 1, 300);
  }
  t.barrier();
}

CASE(directed, .ranks = 3) {
  endpoint e({.caps = FI_MSG | FI_TAGGED | FI_DIRECTED_RECV | FI_SOURCE},
             "FI_DIRECTED_RECV with FI_SOURCE");
  e.meet(t);
  if (t.first()) {
    for (const int from : {2, 1}) {
      op o;
      const completion c = peek_until_found(e, {.tag = 8, .from = e.at(from)}, o);
      check_metadata(c, static_cast<std::size_t>(from) * 100, 8);
      CHECK_EQ(c.source, e.at(from));
    }
    for (const int from : {1, 2}) {
      op o;
      guarded_buffer into(static_cast<std::size_t>(from) * 100);
      e.trecv(into.span(), 8, o, 0, e.at(from));
      e.rx().wait_ok(o, "directed receive");
      verify(into.span(), static_cast<std::uint64_t>(from));
    }
  } else {
    op o;
    const auto mine =
        payload(static_cast<std::size_t>(t.rank()) * 100, static_cast<std::uint64_t>(t.rank()));
    e.tsend(0, mine, 8, o);
    e.tx().wait_ok(o, "send");
  }
  t.barrier();
}

} // namespace fabtest
