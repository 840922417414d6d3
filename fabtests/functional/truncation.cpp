// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A message longer than its receive: FI_ETRUNC at the receiver with the missing part counted, not a
// byte behind the buffer, success at the sender, and an endpoint that lives on.
//
// fi_cq(3): len is what was placed into the buffer, olen what didn't fit, err is positive. In 1.17
// ofi_rxm reports the whole length and no olen, shm a negative err, ofi_rxd no error at all.
#include "common/case.h"
#include "common/forms.h"

namespace fabtest {

namespace {

struct shape {
  std::size_t sent, room;
};

constexpr shape shapes[] = {
    {1, 0},           {2, 1},          {64, 63},         {300, 10},    {4096, 4095},
    {9'000, 100},     {20'000, 1'500}, {70'000, 69'999}, {300'000, 1}, {2'000'000, 1'000'000},
    {3'000'000, 200},
};

void check_truncated(const completion &c, kind k, const shape &s, std::uint64_t tag) {
  CHECK_EQ(c.err, FI_ETRUNC);
  CHECK_EQ(c.olen, s.sent - s.room);
  CHECK_EQ(c.len, s.room);
  CHECK((c.flags & FI_RECV) != 0);
  if (k == kind::tagged)
    CHECK_EQ(c.tag, tag);
}

// The message after the truncated one must arrive whole.
void receive_next(endpoint &e, kind k, std::uint64_t tag) {
  guarded_buffer next(500);
  op o;
  post_recv(e, k, recv_form::plain, next.span(), {.tag = tag}, o);
  CHECK_EQ(e.rx().wait_ok(o, "message behind a truncated one").len, next.size());
  verify(next.span(), tag);
}

void truncated(team &t, kind k, bool unexpected) {
  endpoint e;
  e.meet(t);
  std::uint64_t tag = 10;
  for (const shape &s : shapes) {
    const std::uint64_t mine = tag++, following = tag++;
    op o, next;
    if (t.first()) {
      const auto bytes = payload(s.sent, mine), after = payload(500, following);
      if (!unexpected)
        t.barrier();
      post_send(e, k, send_form::plain, 1, bytes, {.tag = mine}, o);
      post_send(e, k, send_form::plain, 1, after, {.tag = following}, next);
      if (unexpected)
        t.barrier();
      e.tx().wait_ok(o, fmt::format("send of {} bytes", s.sent));
      e.tx().wait_ok(next, "send behind it");
      continue;
    }
    guarded_buffer into(s.room);
    if (unexpected)
      t.barrier();
    post_recv(e, k, recv_form::plain, into.span(), {.tag = mine}, o);
    if (!unexpected)
      t.barrier();
    const auto what = fmt::format("{} bytes into {}", s.sent, s.room);
    check_truncated(e.rx().wait(o, what), k, s, mine);
    into.check_guards(s.room);
    receive_next(e, k, following);
  }
  t.barrier();
}

} // namespace

CASE(msg_posted) { truncated(t, kind::msg, false); }
CASE(msg_unexpected) { truncated(t, kind::msg, true); }
CASE(tagged_posted) { truncated(t, kind::tagged, false); }
CASE(tagged_unexpected) { truncated(t, kind::tagged, true); }

// Over several pieces of buffer, and with CQ data.
CASE(scattered_with_data) {
  endpoint e;
  e.meet(t);
  const bool with_data = e.info().domain_attr->cq_data_size >= 4;
  constexpr std::size_t sent = 50'000, room = 30'000;
  op o;
  if (t.first()) {
    const auto bytes = payload(sent, 1);
    post_send(e, kind::tagged, with_data ? send_form::data : send_form::plain, 1, bytes,
              {.tag = 5, .data = 77}, o);
    e.tx().wait_ok(o, "send");
  } else {
    random_source random(3);
    guarded_buffer into(room);
    const auto iov = cut(into.span(), e.info().rx_attr->iov_limit, random);
    post_recvmsg(e, kind::tagged, iov, {.tag = 5}, o, FI_COMPLETION);
    const completion c = e.rx().wait(o, "truncated receive");
    check_truncated(c, kind::tagged, {sent, room}, 5);
    into.check_guards(room);
    if (with_data) {
      CHECK((c.flags & FI_REMOTE_CQ_DATA) != 0);
      CHECK_EQ(c.data, 77u);
    }
  }
  t.barrier();
}

CASE(to_oneself, .ranks = 1) {
  endpoint e;
  e.meet(t);
  for (const shape &s : shapes) {
    op sent, received;
    guarded_buffer into(s.room);
    const auto bytes = payload(s.sent, 1);
    e.tsend(0, bytes, 1, sent);
    e.trecv(into.span(), 1, received);
    check_truncated(e.rx().wait(received, "truncated receive"), kind::tagged, s, 1);
    e.tx().wait_ok(sent, "send");
    into.check_guards(s.room);
  }
}

} // namespace fabtest
