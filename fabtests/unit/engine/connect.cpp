// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "lab.h"

#include <algorithm>

using namespace lab;

namespace {

// --- On first use

void connect__on_first_use(void **) {
  World w;
  Node &a = w.start(), &b = w.start();
  w.run_for(1ms);
  assert_true(w.seen.empty()); // nobody has anything to say
  Call &r = b.receive(10);
  Call &s = a.send(1, pattern(10));
  assert_true(w.finish({&s, &r}, 1ms));
  assert_true(s.ok() && r.ok());
  assert_int_equal(r.done[0].src, 0);
  const PacketType order[] = {PacketType::hello, PacketType::challenge, PacketType::confirm,
                              PacketType::welcome};
  for (std::size_t i = 0; i < std::size(order); ++i) {
    assert_true(w.seen[i].type == order[i]);
    assert_true(w.seen[i].from == (i % 2 ? b : a).address);
  }
  // The session stays: no more handshakes, either way.
  w.exchange(1, 0);
  w.run_for(1s);
  w.exchange(0, 1);
  for (const PacketType t : order)
    assert_int_equal(w.count(t), 1);
}

void connect__at_the_same_time(void **) {
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    World w({}, seed);
    Node &a = w.start(), &b = w.start();
    Call &ra = a.receive(3000), &rb = b.receive(3000);
    Call &sa = a.send(1, pattern(3000, 1));
    w.run_for(Duration(1000 * seed)); // a little later, so that others cross
    Call &sb = b.send(0, pattern(3000, 2));
    assert_true(w.finish({&ra, &rb, &sa, &sb}, 100ms));
    assert_true(ra.holds(pattern(3000, 2)) && rb.holds(pattern(3000, 1)));
    w.exchange(0, 1);
    w.exchange(1, 0);
    assert_int_equal(a.statistics().messages_received, 2);
    assert_int_equal(b.statistics().messages_received, 2);
    assert_int_equal(w.count(PacketType::reset), 0);
    assert_int_equal(a.queues.sends_failed() + b.queues.sends_failed(), 0);
  }
}

void connect__on_the_host_link(void **) {
  World w;
  Node &a = w.start(On::host), &b = w.start(On::host);
  Call &ra = a.receive(3000), &rb = b.receive(3000);
  Call &sa = a.send(1, pattern(3000, 1)); // both dial
  Call &sb = b.send(0, pattern(3000, 2));
  assert_true(w.finish({&ra, &rb, &sa, &sb}, 10ms));
  assert_true(ra.ok() && rb.ok() && sa.ok() && sb.ok());
  assert_int_equal(ra.done[0].src, 1);
  assert_int_equal(rb.done[0].src, 0);
  for (int i = 0; i < 3; ++i) {
    w.exchange(0, 1, 50000);
    w.exchange(1, 0, 50000);
  }
  assert_true(w.seen.empty());
}

void connect__to_oneself(void **) {
  for (const On on : {On::device, On::host}) {
    World w;
    w.start(on);
    w.exchange(0, 0, 10);
    w.exchange(0, 0, 100000);
  }
}

// --- Handshakes that are lost, doubled, old

constexpr PacketType handshake[] = {PacketType::hello, PacketType::challenge, PacketType::confirm,
                                    PacketType::welcome};

void handshake__survives_the_loss_of_any_packet(void **) {
  for (const PacketType lost : handshake)
    for (unsigned times = 1; times <= 4; ++times)
      for (const bool both : {false, true}) {
        World w;
        Node &a = w.start(), &b = w.start();
        unsigned left = times;
        w.hook = [&](const Departure &, PacketType t) {
          return Verdict{.drop = t == lost && left != 0 && left-- != 0};
        };
        Call &r = b.receive(10);
        Call &s = a.send(1, pattern(10));
        if (both) {
          Call &ra = a.receive(10);
          Call &sb = b.send(0, pattern(10));
          assert_true(w.finish({&ra, &sb}, 1s));
          assert_true(ra.ok() && sb.ok());
        }
        assert_true(w.finish({&s, &r}, 1s));
        assert_true(s.ok() && r.ok());
        assert_int_equal(b.statistics().messages_received, 1);
      }
}

void handshake__of_which_everything_is_doubled(void **) {
  link::sim::Faults faults;
  faults.duplicate = 1;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    World w({}, seed);
    Node &a = w.start(), &b = w.start();
    w.device.set_faults(faults);
    Call &r = b.receive(10), &ra = a.receive(10);
    Call &s = a.send(1, pattern(10)), &sb = b.send(0, pattern(10));
    assert_true(w.finish({&s, &r, &sb, &ra}, 1s));
    w.run_for(100ms);
    for (const Node *n : {&a, &b}) {
      const engine::Statistics st = n->endpoint->statistics();
      assert_int_equal(st.messages_received, 1);
      assert_true(st.duplicates > 0);
      assert_int_equal(st.resets, 0);
    }
    w.device.set_faults({});
    w.exchange(0, 1);
    w.exchange(1, 0);
  }
}

// All that was ever said comes once more, in any order, at once or much later.
void handshake__that_is_old_changes_nothing(void **) {
  for (const Duration later : {Duration(0), Duration(5s), Duration(30s)})
    for (const bool backwards : {false, true}) {
      World w;
      Node &a = w.start(), &b = w.start();
      w.exchange(0, 1);
      w.exchange(1, 0);
      auto old = w.seen;
      if (backwards)
        std::ranges::reverse(old);
      w.run_for(later);
      for (const Seen &s : old) {
        w.replay(s);
        w.run_for(1ms);
      }
      w.exchange(0, 1);
      w.exchange(1, 0);
      assert_int_equal(a.statistics().messages_received, 2);
      assert_int_equal(b.statistics().messages_received, 2);
      assert_int_equal(a.queues.sends_failed() + b.queues.sends_failed(), 0);
      assert_int_equal(a.statistics().unknown_token + b.statistics().unknown_token, 0);
    }
}

// --- Those that can't be talked to

void connect__with_another_version_fails(void **) {
  World w;
  const Log log;
  Node &a = w.start();
  w.start();
  w.hook = [](const Departure &d, PacketType t) {
    if (t == PacketType::challenge)
      rewrite<wire::Challenge>(d, [](auto &c) { c.version_min = c.version_max = 2; });
    return Verdict{};
  };
  Call &s = a.send(1, pattern(10)), &silent = a.send(1, pattern(10), {.silent = true});
  assert_true(w.finish({&s, &silent}, 1s));
  assert_int_equal(s.error(), EPROTONOSUPPORT);
  assert_int_equal(silent.error(), EPROTONOSUPPORT);
  assert_true(log.has("10.0.0.2:4000 speaks another protocol version"));
  // It may have been upgraded since.
  w.hook = {};
  w.exchange(0, 1);
}

void connect__by_another_version_is_refused(void **) {
  World w;
  const Log log;
  Node &a = w.start(), &b = w.start();
  w.hook = [](const Departure &d, PacketType t) {
    if (t == PacketType::hello || t == PacketType::confirm)
      rewrite<wire::Hello>(d, [](auto &h) { h.version_min = h.version_max = 2; });
    return Verdict{};
  };
  Call &r = b.receive(10);
  Call &s = a.send(1, pattern(10));
  assert_true(w.finish({&s}, 20s));
  assert_int_equal(s.error(), ETIMEDOUT); // it took a challenge that was for it
  assert_true(r.open());
  assert_true(log.has("10.0.0.1:4000 is refused"));
}

void connect__with_another_key_fails(void **) {
  World w;
  Node &a = w.start();
  w.options.config.session.key.fill(std::byte{7});
  Node &b = w.start(), &c = w.start();
  Call &s = a.send(1, pattern(10)), &back = b.send(0, pattern(10));
  assert_true(w.finish({&s, &back}, 1s));
  assert_int_equal(s.error(), EKEYREJECTED);
  assert_int_equal(back.error(), EKEYREJECTED);
  w.exchange(1, 2); // of one job
  assert_int_equal(c.queues.receives_ok(), 1);
}

// A peer's name is where its packets come from.
void confirm__in_anothers_name_is_ignored(void **) {
  World w;
  Node &a = w.start(), &b = w.start();
  w.hook = [&](const Departure &d, PacketType t) {
    if (t == PacketType::hello || t == PacketType::confirm)
      rewrite<wire::Hello>(d, [](auto &h) { h.address = address(9); });
    return Verdict{};
  };
  Call &r = b.receive(10);
  Call &s = a.send(1, pattern(10));
  w.run_for(1s);
  assert_true(r.open() && s.open());
  assert_int_equal(w.count(PacketType::welcome), 0);
}

// --- Nobody there

void connect__where_nobody_is(void **) {
  World w;
  Node &a = w.start();
  w.book.add(address(2));
  Call &s = a.send(1, pattern(10));
  assert_true(w.finish({&s}, 12s));
  assert_int_equal(s.error(), ETIMEDOUT);
  assert_true(w.now() - VirtualClock::start >= 10s);
}

void connect__where_nobody_can_be(void **) {
  World w;
  Node &a = w.start();
  w.book.add(address(2));
  w.device.set_unresolvable(address(2), true);
  Call &s = a.send(1, pattern(10));
  assert_true(w.finish({&s}, 1ms));
  assert_int_equal(s.error(), EHOSTUNREACH);
}

void connect__without_a_device_names_the_setting(void **) {
  World w;
  const Log log;
  Node &a = w.start(On::host);
  w.book.add(address(2)); // neither this host's, nor is there a device
  Call &s = a.send(1, pattern(10));
  assert_true(w.finish({&s}, 1s));
  assert_int_equal(s.error(), EHOSTUNREACH);
  assert_true(log.has("FI_DPDKX_DEVICE"));
}

bool all_own(const Address &) { return true; }

void connect__waits_for_a_local_peer_to_start(void **) {
  World w;
  w.options.is_own_address = all_own;
  Node &a = w.start(On::both);
  w.book.add(address(2));
  Call &s = a.send(1, pattern(10));
  w.run_for(5s);
  assert_true(s.open());
  Call &r = w.start(On::host).receive(10);
  assert_true(w.finish({&s, &r}, 100ms));
  assert_true(s.ok() && r.ok());
  assert_true(w.seen.empty()); // one's own address never goes to the wire
}

void connect__waits_no_longer_than_it_should(void **) {
  World w;
  w.options.is_own_address = all_own;
  w.options.config.connect_timeout = 3s;
  Node &a = w.start(On::both);
  w.book.add(address(2));
  Call &s = a.send(1, pattern(10));
  assert_true(w.finish({&s}, 4s));
  assert_int_equal(s.error(), ECONNREFUSED);
  assert_true(w.now() - VirtualClock::start >= 3s);
  assert_true(w.seen.empty());
}

// --- Two links

// A job that is stopped while it starts.
void connect__waits_for_a_local_peer_that_was_stopped_too(void **) {
  World w;
  w.options.is_own_address = all_own;
  Node &a = w.start(On::host);
  w.book.add(address(2));
  Call &s = a.send(1, pattern(100));
  w.run_for(1s);
  a.computes = true;
  w.run_for(60s);
  a.computes = false;
  w.run_for(1s);
  assert_true(s.open());
  Node &b = w.start(On::host);
  Call &r = b.receive(100);
  assert_true(w.finish({&s, &r}, 1s));
  assert_true(s.ok() && r.ok());
}

void connect__prefers_the_host_link(void **) {
  World w;
  w.start(On::both), w.start(On::both);
  Node &c = w.start(On::device);
  w.exchange(0, 1);
  assert_true(w.seen.empty());
  w.exchange(0, 2);
  w.exchange(2, 1);
  assert_false(w.seen.empty());
  assert_int_equal(c.queues.receives_ok(), 1);
}

// --- Several names for one peer

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
class Alias : public link::Port {
public:
  Alias(std::unique_ptr<link::Port> p, Address alias, Address real)
      : port_(std::move(p)), alias_(alias), real_(real) {}
  const link::Traits &traits() const override { return port_->traits(); }
  const Address &address() const override { return port_->address(); }
  int open_path(const Address &to, link::PathId &id) override {
    return port_->open_path(to == alias_ ? real_ : to, id);
  }
  void close_path(link::PathId id) override { port_->close_path(id); }
  Address peer_address(link::PathId id) const override { return port_->peer_address(id); }
  link::TxRoom reserve(link::PathId id, std::uint32_t len) override {
    return port_->reserve(id, len);
  }
  void commit(link::PathId id, const link::TxRoom &r, std::uint32_t len) override {
    port_->commit(id, r, len);
  }
  void cancel(link::PathId id, const link::TxRoom &r) override { port_->cancel(id, r); }
  void flush() override { port_->flush(); }
  unsigned poll(link::RxDatagram *d, unsigned n) override { return port_->poll(d, n); }
  void release(link::RxDatagram *d, unsigned n) override { port_->release(d, n); }
  Address source(const link::RxDatagram &d) const override { return port_->source(d); }
  void reply(const link::RxDatagram &d, std::span<const std::byte> b) override {
    port_->reply(d, b);
  }
  unsigned poll_events(link::PathEvent *e, unsigned n, Time now) override {
    return port_->poll_events(e, n, now);
  }
  int pull(link::PathId id, std::span<const iovec> l, std::span<const iovec> r) override {
    return port_->pull(id, l, r);
  }
  bool arm() override { return port_->arm(); }
  link::PortCounters counters() const override { return port_->counters(); }

private:
  std::unique_ptr<link::Port> port_;
  const Address alias_, real_;
};

// As a peer does that has no descriptor left for the path.
class Refused final : public Alias {
public:
  using Alias::Alias;
  unsigned poll_events(link::PathEvent *e, unsigned n, Time now) override {
    const unsigned found = Alias::poll_events(e, n, now);
    for (unsigned i = 0; i < found; ++i)
      if (e[i].kind == link::PathEventKind::peer_gone)
        e[i].error = -EMFILE;
    return found;
  }
};

void path__that_is_refused_says_why(void **) {
  World w;
  w.options.is_own_address = all_own;
  w.options.wrap_host = [](auto port) {
    return std::make_unique<Refused>(std::move(port), address(9), address(9));
  };
  Node &a = w.start(On::host);
  w.start(On::host);
  w.exchange(0, 1);
  Call &s = a.send(1, pattern(100000)); // waits for a receive
  w.run_for(1ms);
  w.kill(1);
  assert_true(w.finish({&s}, 1s));
  assert_int_equal(s.error(), EMFILE);
}

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

// An endpoint without sessions reads the clock now and then only.
void handshake__after_a_long_pause_is_not_said_twice(void **) {
  World w;
  w.start(), w.start();
  w.run_for(20s);
  w.exchange(0, 1);
  assert_int_equal(w.count(PacketType::hello), 1);
  assert_int_equal(w.count(PacketType::challenge), 1);
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

// --- Another life at the same address

void restart__ends_what_was_under_way(void **) {
  for (const On on : {On::device, On::host}) {
    World w;
    w.options.is_own_address = all_own;
    Node &a = w.start(on);
    w.start(on);
    w.exchange(0, 1);
    Call &waits = a.send(1, pattern(100000)), &r = a.receive(10, {.src = 1});
    w.run_for(1ms);
    w.kill(1);
    Node &b = w.restart(1, on);
    Call &hello = b.send(0, pattern(10)); // the new life calls
    assert_true(w.finish({&waits, &hello, &r}, 5s));
    assert_int_equal(waits.error(), ECONNRESET);
    assert_true(hello.ok() && r.ok());
    w.exchange(0, 1);
    w.exchange(1, 0);
  }
}

// Its confirm comes twice in one burst.
void restart__of_a_peer_that_says_all_twice(void **) {
  link::sim::Faults faults;
  faults.duplicate = 1;
  faults.reorder_delay = {};
  World w;
  w.device.set_faults(faults);
  Node &a = w.start();
  w.start();
  w.exchange(0, 1);
  w.kill(1);
  Node &b = w.restart(1);
  Call &r = a.receive(10, {.src = 1});
  Call &s = b.send(0, pattern(10));
  assert_true(w.finish({&s, &r}, 1s));
  assert_true(s.ok() && r.ok());
  w.exchange(0, 1);
  w.exchange(1, 0);
  w.run_for(1s);
  assert_int_equal(b.statistics().unknown_token, 0);
  assert_int_equal(a.queues.sends_failed() + b.queues.sends_failed(), 0);
}

// The one that stayed calls: its packets name a session that nobody knows.
void restart__is_found_out_by_a_reset(void **) {
  World w;
  Node &a = w.start();
  w.start();
  w.exchange(0, 1);
  w.kill(1);
  Node &b = w.restart(1);
  Call &s = a.send(1, pattern(10));
  assert_true(w.finish({&s}, 1s));
  assert_int_equal(s.error(), ECONNRESET);
  assert_true(b.statistics().unknown_token > 0);
  assert_int_equal(b.statistics().messages_received, 0);
  assert_true(w.count(PacketType::reset) > 0);
  w.exchange(0, 1);
}

// Every packet that was ever for the old life, long under way.
void restart__never_sees_old_packets(void **) {
  for (const bool connected : {false, true}) {
    World w;
    w.start(), w.start();
    for (int i = 0; i < 5; ++i)
      w.exchange(0, 1, 3000);
    w.exchange(1, 0);
    const auto old = w.seen;
    w.kill(1);
    Node &b = w.restart(1);
    Call &r = b.receive(10000);
    if (connected) {
      Call &s = w.node(0).send(1, pattern(1));
      assert_true(w.finish({&s}, 5s));
      w.exchange(0, 1);
    }
    const auto before = b.statistics();
    for (const Seen &s : old)
      w.replay(s, Duration(1000));
    w.run_for(1s);
    assert_int_equal(b.statistics().messages_received, before.messages_received);
    assert_true(b.statistics().unknown_token > before.unknown_token);
    assert_true(r.open());
    assert_int_equal(w.node(0).queues.receives_failed(), 0);
  }
}

// --- Resets

void reset__leaves_at_a_bounded_rate(void **) {
  World w;
  Node &a = w.start(), &b = w.start();
  w.exchange(0, 1);
  Seen data = *std::ranges::find(w.seen, PacketType::data, &Seen::type);
  data.bytes[15] ^= std::byte{1}; // a token that nobody has
  wire::seal(data.bytes);
  const auto before = b.statistics().unknown_token;
  for (int i = 0; i < 40; ++i)
    w.replay(data);
  w.run_for(500us);
  assert_int_equal(b.statistics().unknown_token - before, 40);
  assert_int_equal(w.count(PacketType::reset), 16);
  for (int i = 0; i < 40; ++i)
    w.replay(data, 2ms);
  w.run_for(3ms);
  assert_int_equal(w.count(PacketType::reset), 32);
  assert_int_equal(a.statistics().resets, 0); // of a token that it doesn't use
}

// It is asked, not believed.
void reset__that_is_forged_does_no_harm(void **) {
  World w;
  Node &a = w.start(), &b = w.start();
  w.exchange(0, 1);
  const Seen data = *std::ranges::find(w.seen, PacketType::data, &Seen::type);
  std::span<const std::byte> in = data.bytes;
  const auto h = wire::decode_header(in);
  Bytes forged(wire::packet_header_size + wire::reset_size);
  wire::PacketHeader r;
  r.type = PacketType::reset;
  r.flags = wire::packet_flag::checksummed;
  wire::encode(wire::encode(forged.data(), r), wire::Reset{h->token, wire::Incarnation{0x1234567}});
  wire::seal(forged);
  w.device.inject(b.address, a.address, forged, {});
  Call &s = a.send(1, pattern(10));
  Call &recv = b.receive(10);
  assert_true(w.finish({&s, &recv}, 1s));
  assert_true(s.ok() && recv.ok());
  assert_int_equal(a.statistics().resets, 1);
  w.exchange(1, 0);
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(connect__on_first_use),
    cmocka_unit_test(connect__at_the_same_time),
    cmocka_unit_test(connect__on_the_host_link),
    cmocka_unit_test(connect__to_oneself),
    cmocka_unit_test(handshake__survives_the_loss_of_any_packet),
    cmocka_unit_test(handshake__of_which_everything_is_doubled),
    cmocka_unit_test(handshake__that_is_old_changes_nothing),
    cmocka_unit_test(connect__with_another_version_fails),
    cmocka_unit_test(connect__by_another_version_is_refused),
    cmocka_unit_test(connect__with_another_key_fails),
    cmocka_unit_test(confirm__in_anothers_name_is_ignored),
    cmocka_unit_test(connect__where_nobody_is),
    cmocka_unit_test(connect__where_nobody_can_be),
    cmocka_unit_test(connect__without_a_device_names_the_setting),
    cmocka_unit_test(connect__waits_for_a_local_peer_to_start),
    cmocka_unit_test(connect__waits_no_longer_than_it_should),
    cmocka_unit_test(connect__waits_for_a_local_peer_that_was_stopped_too),
    cmocka_unit_test(connect__prefers_the_host_link),
    cmocka_unit_test(alias__of_one_address_in_the_book),
    cmocka_unit_test(path__that_is_refused_says_why),
    cmocka_unit_test(alias__of_a_local_peer),
    cmocka_unit_test(alias__of_a_peer_that_has_gone),
    cmocka_unit_test(alias__that_is_removed_leaves_the_name),
    cmocka_unit_test(alias__serves_once_the_name_is_removed),
    cmocka_unit_test(alias__while_the_peer_dials_too),
    cmocka_unit_test(handshake__after_a_long_pause_is_not_said_twice),
    cmocka_unit_test(restart__ends_what_was_under_way),
    cmocka_unit_test(restart__of_a_peer_that_says_all_twice),
    cmocka_unit_test(restart__is_found_out_by_a_reset),
    cmocka_unit_test(restart__never_sees_old_packets),
    cmocka_unit_test(reset__leaves_at_a_bounded_rate),
    cmocka_unit_test(reset__that_is_forged_does_no_harm),
};
static const unit::Group group{"connect", cases};
