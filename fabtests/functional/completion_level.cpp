// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What a send's completion promises (fi_cq(3), "Completion event semantics"), and which operations
// write one at all.
#include "common/case.h"
#include "common/forms.h"
#include "common/settings.h"

#include <algorithm>
#include <functional>

namespace fabtest {

namespace {

constexpr std::size_t sizes[] = {0, 64, 5'000, 50'000, 1'000'000};

std::string_view level_name(std::uint64_t level) {
  return level == FI_INJECT_COMPLETE     ? "FI_INJECT_COMPLETE"
         : level == FI_TRANSMIT_COMPLETE ? "FI_TRANSMIT_COMPLETE"
         : level == FI_DELIVERY_COMPLETE ? "FI_DELIVERY_COMPLETE"
                                         : "FI_MATCH_COMPLETE";
}

void send_with(std::uint64_t level, endpoint &e, op &o, std::span<const std::byte> bytes,
               std::uint64_t tag) {
  const iovec v{const_cast<std::byte *>(bytes.data()), bytes.size()};
  post_sendmsg(e, kind::tagged, {&v, 1}, e.at(1), {.tag = tag}, o, FI_COMPLETION | level);
}

// Every size: rank 0 sends it with `send`, and it arrives.
void send_each_size(
    team &t, endpoint &e,
    const std::function<completion(std::span<const std::byte>, std::uint64_t tag, op &)> &send) {
  std::uint64_t tag = 0;
  for (const std::size_t size : sizes) {
    ++tag;
    if (!t.first()) {
      receive_payload(e, tag, size);
      continue;
    }
    op o;
    const auto bytes = payload(size, tag);
    check_send_flags(send(bytes, tag, o), kind::tagged);
  }
  t.barrier();
}

// With the level as a flag of the call.
void as_call_flag(team &t, std::uint64_t level) {
  endpoint e;
  e.meet(t);
  send_each_size(t, e, [&](std::span<const std::byte> bytes, std::uint64_t tag, op &o) {
    send_with(level, e, o, bytes, tag);
    return e.tx().wait_ok(o, fmt::format("{} of {} bytes", level_name(level), bytes.size()));
  });
}

// The same as the endpoint's default.
void as_default(team &t, std::uint64_t level) {
  endpoint e({.caps = FI_MSG | FI_TAGGED, .tx_op_flags = level}, level_name(level));
  e.meet(t);
  send_each_size(t, e, [&](std::span<const std::byte> bytes, std::uint64_t tag, op &o) {
    e.tsend(1, bytes, tag, o);
    return e.tx().wait_ok(o, fmt::format("send of {} bytes", bytes.size()));
  });
}

} // namespace

CASE(inject_complete_flag) { as_call_flag(t, FI_INJECT_COMPLETE); }
CASE(transmit_complete_flag) { as_call_flag(t, FI_TRANSMIT_COMPLETE); }
CASE(delivery_complete_flag) { as_call_flag(t, FI_DELIVERY_COMPLETE); }
CASE(inject_complete_default) { as_default(t, FI_INJECT_COMPLETE); }
CASE(transmit_complete_default) { as_default(t, FI_TRANSMIT_COMPLETE); }
CASE(delivery_complete_default) { as_default(t, FI_DELIVERY_COMPLETE); }

// The buffer is the caller's again: what is written into it afterwards must not travel.
CASE(inject_complete_frees_the_buffer) {
  endpoint e;
  e.meet(t);
  for (std::uint64_t tag = 0; tag < 40; ++tag) {
    const std::size_t size = tag * tag * 100;
    op o;
    if (t.first()) {
      auto bytes = payload(size, tag);
      send_with(FI_INJECT_COMPLETE, e, o, bytes, tag);
      e.tx().wait_ok(o, "send");
      std::ranges::fill(bytes, std::byte{0xee});
      t.barrier();
    } else {
      guarded_buffer into(size);
      e.trecv(into.span(), tag, o);
      t.barrier();
      e.rx().wait_ok(o, "receive");
      verify(into.span(), tag);
    }
  }
  t.barrier();
}

// With a receive posted, the data are in its buffer when the sender's completion is there. The
// receiver only makes progress and doesn't read its completion before it looks.
CASE(delivered_means_placed) {
  endpoint e;
  e.meet(t);
  std::uint64_t tag = 0;
  for (const std::size_t size : sizes) {
    op o;
    ++tag;
    if (t.first()) {
      const auto bytes = payload(size, tag);
      t.barrier();
      send_with(FI_DELIVERY_COMPLETE, e, o, bytes, tag);
      e.tx().wait_ok(o, "delivery");
      t.barrier();
    } else {
      guarded_buffer into(size);
      e.trecv(into.span(), tag, o);
      t.barrier();
      t.barrier();
      verify(into.span(), tag);
      e.rx().wait_ok(o, "receive");
    }
  }
  t.barrier();
}

// An unexpected message is delivered when the provider has buffered it: no receive is needed.
CASE(delivered_without_receive) {
  endpoint e;
  e.meet(t);
  op o;
  if (t.first()) {
    const auto bytes = payload(200, 1);
    send_with(FI_DELIVERY_COMPLETE, e, o, bytes, 1);
    e.tx().wait_ok(o, "delivery of an unexpected message");
    t.barrier();
  } else {
    t.barrier(); // makes progress, and posts nothing until the sender is done
    receive_payload(e, 1, 200);
  }
  t.barrier();
}

CASE(match_complete) {
  endpoint e;
  e.meet(t);
  op o;
  const auto bytes = payload(200, 1);
  const iovec v{const_cast<std::byte *>(bytes.data()), bytes.size()};
  const fi_msg_tagged m{.msg_iov = &v,
                        .desc = nullptr,
                        .iov_count = 1,
                        .addr = e.at(1),
                        .tag = 1,
                        .ignore = 0,
                        .context = &o,
                        .data = 0};
  if (t.first()) {
    const ssize_t rc = fi_tsendmsg(e.ep(), &m, FI_COMPLETION | FI_MATCH_COMPLETE);
    const bool refused = rc != 0 && rc != -FI_EAGAIN;
    t.exchange(refused);
    if (refused)
      skip(fmt::format("FI_MATCH_COMPLETE is refused: {}", describe(rc)));
    if (rc == -FI_EAGAIN)
      POST(e, fi_tsendmsg(e.ep(), &m, FI_COMPLETION | FI_MATCH_COMPLETE));
    e.tx().expect_silence(config().limit(0.3)); // nothing is posted yet
    t.barrier();
    e.tx().wait_ok(o, "matched send");
  } else {
    if (t.exchange(false)[0])
      skip("FI_MATCH_COMPLETE is refused");
    t.barrier();
    receive_payload(e, 1, 200);
  }
  t.barrier();
}

// With FI_SELECTIVE_COMPLETION only operations with FI_COMPLETION write an entry.
CASE(selective) {
  endpoint e({.caps = FI_MSG | FI_TAGGED, .bind_flags = FI_SELECTIVE_COMPLETION, .counters = true});
  e.meet(t);
  constexpr std::uint64_t count = 20;
  const int limit = static_cast<int>(default_wait().count());
  op quiet, loud;
  auto bytes = payload(100, 1);
  const iovec v{bytes.data(), bytes.size()};
  if (t.first()) {
    for (std::uint64_t i = 0; i < count; ++i) {
      e.tsend(1, bytes, 1, quiet);
      post_sendmsg(e, kind::tagged, {&v, 1}, e.at(1), {.tag = 1}, quiet, 0);
    }
    post_sendmsg(e, kind::tagged, {&v, 1}, e.at(1), {.tag = 2}, loud, FI_COMPLETION);
    CHECK(e.tx().next("the send with FI_COMPLETION").is(loud));
    CHECK_OK(fi_cntr_wait(e.sent(), 2 * count + 1, limit));
  } else {
    for (std::uint64_t i = 0; i < count; ++i) {
      e.trecv(bytes, 1, quiet);
      post_recvmsg(e, kind::tagged, {&v, 1}, {.tag = 1}, quiet, 0);
    }
    post_recvmsg(e, kind::tagged, {&v, 1}, {.tag = 2}, loud, FI_COMPLETION);
    CHECK(e.rx().next("the receive with FI_COMPLETION").is(loud));
    CHECK_OK(fi_cntr_wait(e.received(), 2 * count + 1, limit));
  }
  e.tx().expect_silence(config().limit(0.05));
  t.barrier();
}

// FI_COMPLETION among the default flags: calls without flags write entries after all, and calls
// with flags decide for themselves.
CASE(selective_with_default) {
  request asked{.caps = FI_MSG | FI_TAGGED, .bind_flags = FI_SELECTIVE_COMPLETION};
  asked.tx_op_flags = asked.rx_op_flags = FI_COMPLETION;
  endpoint e(asked);
  e.meet(t);
  op loud, quiet, last;
  auto bytes = payload(100, 1);
  const iovec v{bytes.data(), bytes.size()};
  if (t.first()) {
    e.tsend(1, bytes, 1, loud);
    post_sendmsg(e, kind::tagged, {&v, 1}, e.at(1), {.tag = 2}, quiet, 0);
    e.tsend(1, bytes, 3, last);
  } else {
    e.trecv(bytes, 1, loud);
    post_recvmsg(e, kind::tagged, {&v, 1}, {.tag = 2}, quiet, 0);
    e.trecv(bytes, 3, last);
  }
  e.tx().wait_ok(loud, "operation with the default flags");
  e.tx().wait_ok(last, "last operation");
  e.tx().expect_silence(config().limit(0.05));
  t.barrier();
}

// An operation that fails reports it even where nobody asked for its completion.
CASE(selective_error, .ranks = 1) {
  endpoint e({.caps = FI_MSG | FI_TAGGED, .bind_flags = FI_SELECTIVE_COMPLETION});
  e.meet(t);
  op o, sent;
  guarded_buffer into(10);
  const auto bytes = payload(100, 1);
  e.trecv(into.span(), 1, o);
  e.tsend(0, bytes, 1, sent);
  CHECK_EQ(e.rx().next("error of a receive without FI_COMPLETION").err, FI_ETRUNC);
}

} // namespace fabtest
