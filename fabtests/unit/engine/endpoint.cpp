// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "lab.h"

using namespace lab;

namespace {

template <class F> auto locked(Node &n, F &&f) {
  const std::lock_guard lock(n.endpoint->mutex());
  return f(*n.endpoint);
}

void send__to_no_address_of_the_book(void **) {
  World w;
  Node &a = w.start();
  Call c(pattern(10));
  assert_int_equal(a.try_send(c, 1), -FI_EINVAL);
  assert_int_equal(a.try_send(c, FI_ADDR_NOTAVAIL), -FI_EINVAL);
  assert_int_equal(a.try_send(c, FI_ADDR_UNSPEC), -FI_EINVAL);
  assert_true(c.open());
}

void send__beyond_the_limit_comes_again(void **) {
  World w;
  w.options.config.tx_size = 4;
  Node &a = w.start(), &b = w.start();
  std::vector<Call *> sends;
  for (unsigned i = 0; i < 4; ++i)
    sends.push_back(&a.send(1, pattern(10, i)));
  Call more(pattern(10, 4));
  assert_int_equal(a.try_send(more, 1), -FI_EAGAIN);
  w.run_for(1ms);
  assert_int_equal(a.try_send(more, 1), 0);
  assert_true(w.finish({&more}, 1ms));
  for (unsigned i = 0; i < 5; ++i)
    assert_true(b.receive(10).holds(pattern(10, i)));
}

// A receive that meets a rendezvous answers it there and then, without a turn.
void receive__sends_what_it_sets_off(void **) {
  for (const On on : {On::device, On::host}) {
    World w;
    Node &a = w.start(on), &b = w.start(on);
    w.exchange(0, 1);
    Call &s = a.send(1, pattern(100000));
    w.run_for(1ms);
    b.computes = true;
    w.seen.clear();
    Call &r = b.receive(100000);
    w.run_for(1us);
    if (on == On::device)
      assert_int_equal(w.count(PacketType::data), 1); // cts
    else
      assert_true(r.ok()); // read from the sender's memory
    b.computes = false;
    assert_true(w.finish({&s, &r}, 1s));
    assert_true(s.ok() && r.holds(pattern(100000)));
  }
}

void cancel__of_receives_and_of_sends_that_wait(void **) {
  World w;
  Node &a = w.start(), &b = w.start();
  Call &r = b.receive(10);
  assert_int_equal(locked(b, [&](auto &e) { return e.cancel(&r); }), 0);
  assert_int_equal(locked(b, [&](auto &e) { return e.cancel(&r); }), -FI_ENOENT);
  b.queues.reap();
  assert_int_equal(r.error(), FI_ECANCELED);
  Call &s = a.send(1, pattern(10)), &next = a.send(1, pattern(20)); // before the session is up
  assert_int_equal(locked(a, [&](auto &e) { return e.cancel(&s); }), 0);
  a.queues.reap();
  assert_int_equal(s.error(), FI_ECANCELED);
  assert_true(w.finish({&next}, 1s));
  assert_true(b.receive(20).ok());
  assert_int_equal(locked(a, [&](auto &e) { return e.cancel(&next); }), -FI_ENOENT);
}

// --- Changes of the book

void address_added__gives_waiting_messages_their_source(void **) {
  World w;
  Node &a = w.start(), &b = w.start();
  w.book.remove(0);
  Call &s = a.send(1, pattern(10));
  assert_true(w.finish({&s}, 1s));
  Call &any = b.receive(10, {.flags = FI_PEEK});
  assert_int_equal(any.done[0].src, FI_ADDR_NOTAVAIL);
  w.book.replace(0, a.address);
  locked(b, [&](auto &e) {
    e.address_added(0, a.address);
    e.address_added(7, address(77)); // of nobody that is known
    return 0;
  });
  Call &r = b.receive(10, {.src = 0});
  assert_true(r.ok());
  assert_int_equal(r.done[0].src, 0);
}

// The index may name another soon: who had it is a stranger until it is back.
void address_removed__makes_a_stranger(void **) {
  World w;
  Node &a = w.start(), &b = w.start(), &c = w.start();
  w.exchange(0, 1);
  a.send(1, pattern(10));
  w.run_for(1ms);
  w.book.replace(0, c.address);
  w.book.replace(2, address(77));
  locked(b, [](auto &e) {
    e.address_removed(0);
    e.address_removed(0);
    e.address_removed(55);
    return 0;
  });
  assert_int_equal(b.receive(10, {.flags = FI_PEEK}).done[0].src, FI_ADDR_NOTAVAIL);
  // Its new owner.
  Call &r = b.receive(20, {.src = 0});
  Call &reply = c.receive(5);
  Call &back = b.send(0, pattern(5));
  Call &s = c.send(1, pattern(20));
  assert_true(w.finish({&s, &r, &back, &reply}, 1s));
  assert_true(r.holds(pattern(20)) && reply.ok());
  assert_int_equal(r.done[0].src, 0);
  // The stranger's session still serves.
  Call &any = b.receive(10), &next = b.receive(10);
  a.send(1, pattern(3));
  assert_true(w.finish({&any, &next}, 1ms));
  assert_int_equal(next.done[0].src, FI_ADDR_NOTAVAIL);
  assert_int_equal(next.done[0].len, 3);
}

// --- The rest

void min_multi_recv__is_what_was_set(void **) {
  World w;
  Node &b = (w.start(), w.start());
  locked(b, [](auto &e) {
    e.set_min_multi_recv(500);
    return 0;
  });
  assert_int_equal(locked(b, [](auto &e) { return e.min_multi_recv(); }), 500);
  Call &r = b.receive(1000, {.flags = FI_MULTI_RECV});
  w.node(0).send(1, pattern(501));
  assert_true(w.finish({&r}, 1s));
  assert_true(r.done[0].flags & FI_MULTI_RECV);
}

void wait_fds__are_the_ports(void **) {
  World w;
  Node &device = w.start(), &host = w.start(On::host);
  for (Node *n : {&device, &host}) { // simulated ports can't block
    assert_int_equal(n->endpoint->host_wait_fd(), -1);
    assert_int_equal(n->endpoint->device_wait_fd(), -1);
    assert_true(n->endpoint->self() == n->address);
  }
}

void statistics__count_what_goes_by(void **) {
  World w;
  Node &a = w.start(), &b = w.start();
  w.exchange(0, 1, 10);
  w.exchange(0, 1, 100000);
  a.send(1, pattern(10));
  w.run_for(1ms);
  const auto s = a.statistics(), r = b.statistics();
  assert_int_equal(s.messages_sent, 3);
  assert_int_equal(r.messages_received, 3);
  assert_int_equal(s.rendezvous, 1);
  assert_int_equal(r.rendezvous, 1);
  assert_int_equal(r.unexpected, 1);
  assert_int_equal(s.unexpected, 0);
  std::uint64_t to_b = 0, data_from_a = 0;
  for (const Seen &seen : w.seen) {
    to_b += seen.to == b.address;
    data_from_a += seen.from == a.address && seen.type == PacketType::data;
  }
  assert_int_equal(r.rx_packets, to_b);
  assert_int_equal(s.tx_packets, data_from_a);
  assert_int_equal(s.malformed + s.bad_checksum + s.unknown_token + s.resets, 0);
  assert_int_equal(s.resent + r.resent, 0);
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(send__to_no_address_of_the_book),
    cmocka_unit_test(send__beyond_the_limit_comes_again),
    cmocka_unit_test(receive__sends_what_it_sets_off),
    cmocka_unit_test(cancel__of_receives_and_of_sends_that_wait),
    cmocka_unit_test(address_added__gives_waiting_messages_their_source),
    cmocka_unit_test(address_removed__makes_a_stranger),
    cmocka_unit_test(min_multi_recv__is_what_was_set),
    cmocka_unit_test(wait_fds__are_the_ports),
    cmocka_unit_test(statistics__count_what_goes_by),
};
static const unit::Group group{"endpoint", cases};
