// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Several names for one peer.
#include "harness/forwarding_port.h"
#include "lab.h"

using namespace lab;

namespace {

void alias__of_one_address_in_the_book(void **) {
  World w;
  Node &a = w.start(), &b = w.start();
  const fi_addr_t again = w.book.add(b.address);
  w.exchange(0, 1);
  Call &r = b.receive(10);
  Call &s = a.send(again, pattern(10));
  assert_true(w.finish({&s, &r}, 1ms));
  assert_int_equal(w.count(PacketType::hello), 1); // the same session
  b.send(0, pattern(5));
  Call &back = a.receive(5);
  assert_true(w.finish({&back}, 1ms));
  assert_int_equal(back.done[0].src, 1); // the name that it had first
}

// Reaches what it is given under another address, as 127.0.0.1 does.
class Alias final : public harness::ForwardingPort {
public:
  Alias(std::unique_ptr<link::Port> port, const Address &alias, const Address &real)
      : ForwardingPort(std::move(port)), alias_(alias), real_(real) {}

  int open_path(const Address &to, link::PathId &path) override {
    return ForwardingPort::open_path(to == alias_ ? real_ : to, path);
  }

private:
  const Address alias_, real_;
};

// The second endpoint also answers at 127.0.0.1.
const Address loopback = Address::v4(0x7f000001, 4000);

Options second_has_an_alias() {
  Options o;
  o.is_own_address = all_own;
  o.wrap_host = [](auto port) {
    return std::make_unique<Alias>(std::move(port), loopback, address(2));
  };
  return o;
}

void alias__of_a_local_peer(void **) {
  World w(second_has_an_alias());
  Node &a = w.start(On::host), &b = w.start(On::host);
  const fi_addr_t alias = w.book.add(loopback);
  Call &r = b.receive(10), &back = a.receive(20);
  Call &s = a.send(alias, pattern(10));
  assert_true(w.finish({&s, &r}, 1s));
  Call &s2 = b.send(0, pattern(20));
  assert_true(w.finish({&s2, &back}, 1s));
  assert_true(s.ok() && r.ok() && s2.ok() && back.ok());
  for (const fi_addr_t to : {alias, fi_addr_t{1}}) { // by either name
    Call &r2 = b.receive(30000);
    Call &s3 = a.send(to, pattern(30000));
    assert_true(w.finish({&s3, &r2}, 1s));
    assert_true(s3.ok() && r2.ok());
  }
  w.exchange(1, 0, 30000);
  assert_int_equal(a.queues.sends_failed() + b.queues.sends_failed(), 0);
}

// Two local nodes; the first calls the second by two names.
class TwoNames {
public:
  TwoNames() {
    w.start(On::host), w.start(On::host), w.start(On::host);
    alias = w.book.add(loopback);
    talk(1);
    talk(alias);
  }
  void talk(fi_addr_t to) {
    Call &r = w.node(1).receive(10), &s = w.node(0).send(to, pattern(10));
    assert_true(w.finish({&s, &r}, 1s));
    assert_true(s.ok() && r.ok());
  }
  void remove(fi_addr_t name) {
    w.book.remove(name);
    w.node(0).endpoint->address_removed(name);
  }
  fi_addr_t source() {
    Call &r = w.node(0).receive(10), &s = w.node(1).send(0, pattern(10));
    assert_true(w.finish({&s, &r}, 1s));
    return r.done[0].src;
  }

  World w{second_has_an_alias()};
  fi_addr_t alias;
};

// Its names lead nowhere then, least of all to who takes its place in a table.
void alias__of_a_peer_that_has_gone(void **) {
  TwoNames t;
  t.w.kill(1);
  t.w.run_for(1ms);
  t.w.exchange(0, 2);
  Call &not_meant = t.w.node(2).receive(10);
  Call &by_alias = t.w.node(0).send(t.alias, pattern(10)),
       &by_name = t.w.node(0).send(1, pattern(10));
  assert_true(t.w.finish({&by_alias, &by_name}));
  assert_int_equal(by_alias.error(), ECONNREFUSED);
  assert_int_equal(by_name.error(), ECONNREFUSED);
  assert_true(not_meant.done.empty());
  t.w.restart(1, On::host);
  t.talk(t.alias);
  t.talk(1);
}

void alias__that_is_removed_leaves_the_name(void **) {
  TwoNames t;
  assert_int_equal(t.source(), 1);
  t.remove(t.alias);
  assert_int_equal(t.source(), 1);
  t.talk(1);
}

void alias__serves_once_the_name_is_removed(void **) {
  TwoNames t;
  t.remove(1);
  assert_int_equal(t.source(), t.alias);
  t.talk(t.alias);
  t.remove(t.alias);
  assert_int_equal(t.source(), FI_ADDR_NOTAVAIL);
}

// However their handshakes fall into each other.
void alias__while_the_peer_dials_too(void **) {
  for (unsigned head_start = 0; head_start < 12; ++head_start)
    for (const bool alias_first : {true, false}) {
      World w(second_has_an_alias());
      Node &a = w.start(On::host), &b = w.start(On::host);
      const fi_addr_t alias = w.book.add(loopback);
      Call &r = b.receive(10), &r2 = b.receive(10), &back = a.receive(20);
      Call *s = alias_first ? &a.send(alias, pattern(10)) : nullptr;
      Call *s2 = alias_first ? nullptr : &b.send(0, pattern(20));
      for (unsigned turn = 0; turn < head_start; ++turn)
        (turn % 2 ? a : b).turn();
      (alias_first ? s2 : s) = alias_first ? &b.send(0, pattern(20)) : &a.send(alias, pattern(10));
      Call &s3 = a.send(1, pattern(10)); // by its own name
      assert_true(w.finish({s, s2, &s3, &r, &r2, &back}, 1s));
      assert_true(s->ok() && s2->ok() && s3.ok() && r.ok() && r2.ok() && back.ok());
      w.exchange(0, 1, 30000);
      w.exchange(1, 0, 30000);
      assert_int_equal(a.queues.sends_failed() + b.queues.sends_failed(), 0);
    }
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(alias__of_one_address_in_the_book),
    cmocka_unit_test(alias__of_a_local_peer),
    cmocka_unit_test(alias__of_a_peer_that_has_gone),
    cmocka_unit_test(alias__that_is_removed_leaves_the_name),
    cmocka_unit_test(alias__serves_once_the_name_is_removed),
    cmocka_unit_test(alias__while_the_peer_dials_too),
};
static const unit::Group group{"alias", cases};
