// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Messages without tags.
#include "transfer.h"

namespace fabtest {

CASE(every_size) { transfer_every_size(t, kind::msg); }
CASE(every_form) { transfer_every_form(t, kind::msg); }
CASE(scattered) { transfer_scattered(t, kind::msg); }
CASE(to_oneself, .ranks = 1) { transfer_to_oneself(t, kind::msg); }
CASE(empty_with_data) { transfer_empty_with_data(t, kind::msg); }
CASE(inject_reuses_buffer) { transfer_inject_reuses_buffer(t, kind::msg); }
CASE(many_in_flight) { transfer_many_in_flight(t, kind::msg); }
CASE(both_directions) { transfer_both_directions(t, kind::msg); }
CASE(huge, .seconds = 600, .huge = true) { transfer_huge(t, kind::msg); }

// Messages and tagged messages don't match each other's receives.
CASE(apart_from_tagged) {
  endpoint e;
  e.meet(t);
  const auto a = payload(100, 1), b = payload(200, 2);
  op first, second;
  if (t.first()) {
    e.tsend(1, b, 5, first);
    e.send(1, a, second);
    e.tx().wait_ok(first, "tagged send");
    e.tx().wait_ok(second, "send");
  } else {
    guarded_buffer plain(300), tagged(300);
    e.recv(plain.span(), first);
    e.trecv(tagged.span(), 0, second, ~0ull);
    CHECK_EQ(e.rx().wait_ok(first, "receive").len, 100u);
    CHECK_EQ(e.rx().wait_ok(second, "tagged receive").len, 200u);
    verify(plain.first(100), 1);
    verify(tagged.first(200), 2);
  }
  t.barrier();
}

// Directed receives take only their peer's messages, whatever the order of arrival.
CASE(directed, .ranks = 3) {
  endpoint e({.caps = FI_MSG | FI_TAGGED | FI_DIRECTED_RECV}, "FI_DIRECTED_RECV");
  e.meet(t);
  const auto id = [](int rank) { return static_cast<std::uint64_t>(40 + rank); };
  if (!t.first()) {
    op o;
    const auto mine = payload(1000, id(t.rank()));
    if (t.rank() == 2)
      t.barrier(); // rank 1's message was sent before
    e.send(0, mine, o);
    e.tx().wait_ok(o, "send");
    if (t.rank() == 1)
      t.barrier();
  } else {
    guarded_buffer from2(1000), from1(1000);
    op o2, o1;
    e.recv(from2.span(), o2, e.at(2));
    e.recv(from1.span(), o1, e.at(1));
    t.barrier();
    e.rx().wait_ok(o1, "directed receive from rank 1");
    e.rx().wait_ok(o2, "directed receive from rank 2");
    verify(from1.span(), id(1));
    verify(from2.span(), id(2));
  }
  t.barrier();
}

// A directed receive that was posted first waits; an undirected one behind it takes the message.
CASE(directed_in_front_of_any, .ranks = 3) {
  endpoint e({.caps = FI_MSG | FI_TAGGED | FI_DIRECTED_RECV}, "FI_DIRECTED_RECV");
  e.meet(t);
  if (t.first()) {
    guarded_buffer directed(64), any(64);
    op d, a;
    e.recv(directed.span(), d, e.at(2));
    e.recv(any.span(), a);
    t.barrier();
    e.rx().wait_ok(a, "receive from anybody");
    verify(any.span(), 1);
    t.barrier();
    e.rx().wait_ok(d, "directed receive");
    verify(directed.span(), 2);
  } else {
    const auto mine = payload(64, static_cast<std::uint64_t>(t.rank()));
    op o;
    for (int turn = 1; turn <= 2; ++turn) {
      t.barrier();
      if (turn == t.rank()) {
        e.send(0, mine, o);
        e.tx().wait_ok(o, "send");
      }
    }
  }
  t.barrier();
}

} // namespace fabtest
