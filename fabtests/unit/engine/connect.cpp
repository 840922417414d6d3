// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "harness/forwarding_port.h"
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

// An endpoint without sessions reads the clock now and then only.
void handshake__after_a_long_pause_is_not_said_twice(void **) {
  World w;
  w.start(), w.start();
  w.run_for(20s);
  w.exchange(0, 1);
  assert_int_equal(w.count(PacketType::hello), 1);
  assert_int_equal(w.count(PacketType::challenge), 1);
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

// As a peer does that has no descriptor left for the path.
class Refused final : public harness::ForwardingPort {
public:
  using ForwardingPort::ForwardingPort;

  unsigned poll_events(link::PathEvent *e, unsigned n, Time now) override {
    const unsigned found = ForwardingPort::poll_events(e, n, now);
    for (unsigned i = 0; i < found; ++i)
      if (e[i].kind == link::PathEventKind::peer_gone)
        e[i].error = -EMFILE;
    return found;
  }
};

void path__that_is_refused_says_why(void **) {
  World w;
  w.options.is_own_address = all_own;
  w.options.wrap_host = [](auto port) { return std::make_unique<Refused>(std::move(port)); };
  Node &a = w.start(On::host);
  w.start(On::host);
  w.exchange(0, 1);
  Call &s = a.send(1, pattern(100000)); // waits for a receive
  w.run_for(1ms);
  w.kill(1);
  assert_true(w.finish({&s}, 1s));
  assert_int_equal(s.error(), EMFILE);
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

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(connect__on_first_use),
    cmocka_unit_test(connect__at_the_same_time),
    cmocka_unit_test(connect__on_the_host_link),
    cmocka_unit_test(connect__to_oneself),
    cmocka_unit_test(handshake__survives_the_loss_of_any_packet),
    cmocka_unit_test(handshake__of_which_everything_is_doubled),
    cmocka_unit_test(handshake__that_is_old_changes_nothing),
    cmocka_unit_test(handshake__after_a_long_pause_is_not_said_twice),
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
    cmocka_unit_test(path__that_is_refused_says_why),
    cmocka_unit_test(connect__prefers_the_host_link),
};
static const unit::Group group{"connect", cases};
