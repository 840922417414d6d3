// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Additions to counters of a peer, and what they come after.
#include "allocations.h"
#include "remote.h"
#include "unit/property.h"

#include <algorithm>
#include <cstring>
#include <functional>

using namespace lab;

namespace {

constexpr std::size_t parts = 3000, large = 40000; // bytes: in several parts; by rendezvous
constexpr std::uint64_t cntr_key = 0xfedcba9876543210;

// A counter of the second side.
class Exported {
public:
  explicit Exported(Lab &l, std::uint64_t rights = FI_REMOTE_WRITE) {
    l.b.queues.completers.exported = &domain_.exported;
    fi_cntr_attr attr{};
    assert_int_equal(util_ext::Cntr::open(domain_, &attr, &cntr_, nullptr), 0);
    assert_int_equal(domain_.exported.insert(cntr(), cntr_key, rights), 0);
  }
  ~Exported() { close(); }
  void close() {
    if (cntr_)
      fi_close(&cntr_->fid);
    cntr_ = nullptr;
  }
  util_ext::Cntr &cntr() { return *util_ext::Cntr::from(&cntr_->fid); }
  std::uint64_t value() { return cntr().value(); }

private:
  harness::IdleDomain domain_;
  fid_cntr *cntr_ = nullptr;
};

struct AddHow {
  std::uint64_t flags = FI_COMPLETION;
  std::uint64_t key = cntr_key;
};

ssize_t try_add(Side &s, Call &c, std::uint64_t value, const AddHow &how = {}) {
  return s.m->count(s.to(1), {.dest = 1,
                              .key = how.key,
                              .value = value,
                              .flags = FI_ATOMIC | FI_WRITE | how.flags,
                              .context = &c});
}

Call &add(Lab &l, std::uint64_t value, const AddHow &how = {}) {
  Call &c = l.a.calls.emplace_back();
  assert_int_equal(try_add(l.a, c, value, how), 0);
  l.a.reap();
  return c;
}

// --- One by one

void add__is_applied_once_and_told_of(void **) {
  for (const bool lossless : {false, true}) {
    Lab l({.lossless = lossless});
    Exported e(l);
    const Queues own({});
    l.a.queues.completers.write_cntr = own.completers.tx_cntr;
    Call &a = add(l, 7), &b = add(l, ~std::uint64_t{0} - 1); // takes 2 away
    assert_true(a.open());
    l.deliver_all(0, 1);
    assert_int_equal(e.value(), 5);
    assert_true(a.open() && b.open());
    l.run();
    assert_true(a.ok() && b.ok());
    assert_int_equal(a.done[0].flags, FI_ATOMIC | FI_WRITE);
    assert_int_equal(a.done[0].len, 0);
    assert_int_equal(own.completers.tx_cntr->value(), 2);
    assert_int_equal(e.value(), 5);
    assert_true(l.b.queues.told.empty()); // the target sees the counter only
    assert_int_equal(l.b.queues.receives_ok(), 0);
    l.a.queues.completers.write_cntr = nullptr;
  }
}

void add__without_a_completion(void **) {
  Lab l;
  Exported e(l);
  Call &c = add(l, 3, {.flags = 0});
  assert_true(l.a.m->promised());
  l.run();
  assert_true(c.open());
  assert_false(l.a.m->promised());
  assert_int_equal(e.value(), 3);
}

void add__that_is_not_allowed_fails_and_changes_nothing(void **) {
  struct Case {
    std::uint64_t rights, endpoint, key;
    int error;
  };
  const Case cases[] = {{FI_REMOTE_WRITE, FI_REMOTE_WRITE, cntr_key, 0},
                        {FI_REMOTE_WRITE, FI_REMOTE_WRITE, cntr_key + 1, FI_ENOKEY},
                        {FI_REMOTE_READ, FI_REMOTE_WRITE, cntr_key, FI_EACCES},
                        {FI_REMOTE_WRITE, FI_REMOTE_READ, cntr_key, FI_EACCES}};
  for (const bool lossless : {false, true})
    for (const bool told : {false, true})
      for (const Case &k : cases) {
        Lab l({.lossless = lossless});
        Exported e(l, k.rights);
        l.b.queues.completers.remote_rights = k.endpoint;
        Call &c = add(l, 1, {.flags = told ? FI_COMPLETION : 0, .key = k.key});
        Call &ends = l.a.send(1, pattern(10)), &receive = l.b.receive(10);
        l.run();
        assert_int_equal(c.error(), k.error);
        assert_int_equal(c.done.size(), told || k.error ? 1 : 0); // errors are told in any case
        assert_true(ends.ok() && receive.ok());                   // the session goes on
        assert_int_equal(e.value(), k.error ? 0 : 1);
      }
}

// It is over when it has left; whether it could be done is not told, nor is anything asked for it.
void add__that_is_not_told_of(void **) {
  for (const bool lossless : {false, true})
    for (const std::uint64_t key : {cntr_key, cntr_key + 1}) {
      Lab l({.lossless = lossless});
      Exported e(l);
      const AddHow how{.flags = FI_COMPLETION | FI_TRANSMIT_COMPLETE, .key = key};
      Call &c = add(l, 7, how);
      assert_int_equal(c.ok(), lossless); // else it must be received
      l.deliver_all(0, 1);
      assert_int_equal(e.value(), key == cntr_key ? 7 : 0);
      assert_false(l.b.to(0).owes_processed);
      l.run();
      assert_true(c.ok());
      assert_int_equal(c.done.size(), 1);
      Call &told = add(l, 1, {.flags = how.flags | FI_DELIVERY_COMPLETE, .key = cntr_key + 1});
      l.run();
      assert_int_equal(told.error(), FI_ENOKEY);
    }
}

// One that is told of behind it.
void add__that_is_not_told_of_waits_for_data_too(void **) {
  for (const bool lossless : {false, true}) {
    Lab l({.lossless = lossless});
    Exported e(l);
    Call &receive = l.b.receive(large), &send = l.a.send(1, pattern(large));
    add(l, 1, {.flags = FI_TRANSMIT_COMPLETE});
    Call &told = add(l, 1);
    assert_int_equal(e.value(), 0);
    l.run();
    assert_true(receive.ok() && send.ok() && told.ok());
    assert_int_equal(e.value(), 2);
  }
}

void add__to_a_counter_that_is_closed_meanwhile(void **) {
  Lab l;
  Exported e(l);
  Call &before = add(l, 1);
  l.deliver_all(0, 1);
  Call &after = add(l, 1);
  e.close();
  l.run();
  assert_true(before.ok());
  assert_int_equal(after.error(), FI_ENOKEY);
}

void add__where_nothing_was_ever_exported(void **) {
  Lab l;
  Call &c = add(l, 1);
  l.run();
  assert_int_equal(c.error(), FI_ENOKEY);
}

void add__to_a_peer_that_knows_of_none(void **) {
  Lab l;
  l.a.to(1).counts = false;
  Call &c = add(l, 1), &ends = l.a.send(1, pattern(1));
  assert_int_equal(c.error(), FI_EOPNOTSUPP);
  l.b.receive(1);
  l.run();
  assert_true(ends.ok());
}

void add__waits_for_the_session_and_for_room(void **) {
  Lab l({.open = false});
  Exported e(l);
  Call &c = add(l, 1);
  assert_true(l.a.to(1).out.empty());
  l.open(0, 1), l.open(1, 0);
  l.a.room = 0;
  l.push(0, 1);
  assert_true(l.a.to(1).out.empty());
  l.a.room = SIZE_MAX;
  l.run();
  assert_true(c.ok());
}

void add__is_cancelled_before_it_leaves(void **) {
  Lab l({.open = false});
  Call &c = add(l, 1);
  assert_int_equal(l.a.m->cancel(&c), 0);
  l.a.reap();
  assert_int_equal(c.error(), FI_ECANCELED);
}

void add__is_refused_where_there_is_no_room(void **) {
  Lab l({.open = false});
  for (std::size_t i = 0; i < 64; ++i)
    add(l, 1);
  assert_int_equal(try_add(l.a, l.a.calls.emplace_back(), 1), -FI_EAGAIN);
}

void add__with_a_fence_waits_for_all_before_it(void **) {
  Lab l;
  Exported e(l);
  Registered r(l, 8);
  Call &w = write(l, pattern(8), 0), &c = add(l, 1, {.flags = FI_COMPLETION | FI_FENCE});
  assert_int_equal(l.a.in_flight(1).size(), 1);
  l.run();
  assert_true(w.ok() && c.ok());
}

// --- Order

// A parts-message or -write of which one packet is late; the add has overtaken it.
void add__waits_for_parts(void **) {
  for (const bool to_memory : {true, false})
    for (const bool expected : {true, false})
      for (std::size_t late = 0; late < 4; ++late) {
        Lab l;
        Exported e(l);
        Registered r(l, parts);
        Call *const receive = !to_memory && expected ? &l.b.receive(parts) : nullptr;
        Call &data = to_memory ? write(l, pattern(parts), 0) : l.a.send(1, pattern(parts));
        Call &c = add(l, 1), &second = add(l, 10), &small = write(l, pattern(8, 4), 0);
        auto &out = l.a.to(1).out;
        const std::size_t first = out.size() - 3; // packets of the data
        assert_in_range(first, 4, 4);
        while (out.size() > 1)
          assert_true(l.deliver(0, 1, out.size() > late + 1 ? out.size() - 1 : 0));
        assert_int_equal(e.value(), 0);
        if (late != 0) // what comes behind the add goes on
          assert_true(std::memcmp(r.at(0), small.memory.data(), 8) == 0);
        l.tell(1, 0);
        assert_true(c.open() && second.open());
        assert_true(l.deliver(0, 1));
        assert_int_equal(e.value(), 11);
        if (receive)
          assert_true(receive->ok());
        if (!expected && !to_memory)
          assert_true(l.b.receive(parts).holds(pattern(parts)));
        l.run();
        assert_true(data.ok() && c.ok() && second.ok() && small.ok());
      }
}

void add__waits_for_a_large_write_and_a_met_message(void **) {
  for (const bool to_memory : {true, false})
    for (const bool lossless : {true, false})
      for (const bool pull : {true, false}) {
        Lab l({.lossless = lossless, .can_pull = pull});
        Exported e(l);
        Registered r(l, 3u << 20);
        const std::size_t len = 3u << 20; // more than one turn pulls
        Call *const receive = to_memory ? nullptr : &l.b.receive(len);
        Call &data = to_memory ? write(l, pattern(len), 0) : l.a.send(1, pattern(len));
        Call &c = add(l, 1), &small = write(l, pattern(8, 4), 8);
        assert_int_equal(l.a.to(1).out.size(), 3); // none waits for the other here
        const auto arrived = [&] {
          l.b.reap();
          return receive ? receive->ok()
                         : std::memcmp(data.memory.data() + 16, r.at(16), len - 16) == 0;
        };
        bool waited = false;
        while (c.open()) {
          for (const unsigned from : {0, 1}) {
            l.push(from, 1 - from);
            if (!l.side(from).to(1 - from).out.empty())
              assert_true(l.deliver(from, 1 - from));
          }
          l.b.m->step();
          l.tell(1, 0);
          waited |= !arrived();
          assert_true(e.value() == 0 || arrived());
          assert_true(e.value() == 1 || c.open());
          l.a.reap();
        }
        assert_true(waited && c.ok());
        l.run();
        assert_true(data.ok() && small.ok());
      }
}

void add__does_not_wait_for_a_message_that_nobody_receives(void **) {
  for (const bool lossless : {true, false}) {
    Lab l({.lossless = lossless});
    Exported e(l);
    Call &data = l.a.send(1, pattern(large)), &c = add(l, 1);
    l.run();
    assert_true(data.open() && c.ok());
    assert_int_equal(e.value(), 1);
    l.b.receive(large);
    l.run();
    assert_true(data.ok());
  }
}

// The memory may be changed then: the read has what stood there.
void add__waits_until_a_large_read_has_read(void **) {
  for (const bool lossless : {true, false}) {
    Lab l({.lossless = lossless});
    Exported e(l);
    Registered r(l, large);
    const Bytes there = pattern(large, 9);
    std::copy(there.begin(), there.end(), r.at(0));
    Call &data = read(l, large, 0), &c = add(l, 1);
    l.deliver_all(0, 1);
    assert_int_equal(e.value(), 0);
    l.b.room = 3;
    l.push(1, 0);
    assert_int_equal(e.value(), 0);
    l.b.room = SIZE_MAX;
    l.push(1, 0);
    assert_int_equal(e.value(), 1);
    std::memset(r.at(0), 0, large);
    l.run();
    assert_true(data.ok() && c.ok());
    assert_true(data.holds(there));
  }
}

// ... or has failed.
void add__behind_data_that_fail(void **) {
  for (const std::size_t len : {parts, large}) {
    for (const std::uint64_t direction : {FI_WRITE, FI_READ}) {
      Lab l({.can_pull = false});
      Exported e(l);
      Registered r(l, len);
      Call &data = direction == FI_WRITE ? write(l, pattern(len), 0) : read(l, len, 0);
      Call &c = add(l, 1);
      l.deliver(0, 1);
      r.close(); // the rest of it fails
      l.run();
      assert_int_equal(data.error(), FI_ENOKEY);
      assert_true(c.ok());
      assert_int_equal(e.value(), 1);
    }
  }
}

void add__that_has_waited_and_fails(void **) {
  Lab l;
  Exported e(l);
  Registered r(l, parts);
  Call &data = write(l, pattern(parts), 0), &bad = add(l, 1, {.key = 1}), &good = add(l, 2);
  Call &refused = write(l, pattern(8), parts); // fails while they wait
  Call &last = write(l, pattern(8), 0);
  auto &out = l.a.to(1).out;
  while (out.size() > 1)
    assert_true(l.deliver(0, 1, out.size() - 1)); // all but the first part
  assert_true(l.deliver(0, 1));
  l.run();
  assert_true(data.ok() && good.ok() && last.ok());
  assert_int_equal(bad.error(), FI_ENOKEY);
  assert_int_equal(refused.error(), FI_EACCES);
  assert_int_equal(e.value(), 2);
}

// The processed position goes back to none of them.
void add__that_fails_between_others(void **) {
  Lab l;
  Exported e(l);
  Registered r(l, parts);
  Call &data = write(l, pattern(parts), 0), &bad = add(l, 1, {.key = 1});
  Call &more = write(l, pattern(parts), 0), &good = add(l, 2);
  auto &out = l.a.to(1).out;
  assert_int_equal(out.size(), 4 + 1 + 4 + 1);
  l.deliver(0, 1, 0); // the first part
  while (out.size() > 4)
    l.deliver(0, 1, 3); // the adds, the second write but for its last part
  for (int i = 0; i < 3; ++i)
    l.deliver(0, 1, 0); // the rest of the first
  assert_int_equal(e.value(), 0);
  l.deliver_all(1, 0); // the status
  l.tell(1, 0);
  assert_int_equal(data.done.size(), 1);
  l.run();
  assert_true(data.ok() && more.ok() && good.ok());
  assert_int_equal(bad.error(), FI_ENOKEY);
  assert_int_equal(e.value(), 2);
}

// It waits where the add waits for parts.
void message__comes_after_an_add(void **) {
  for (const bool to_memory : {true, false}) {
    Lab l;
    Exported e(l);
    Registered r(l, parts);
    if (!to_memory)
      l.b.receive(parts);
    Call &receive = l.b.receive(10);
    if (to_memory)
      write(l, pattern(parts), 0);
    else
      l.a.send(1, pattern(parts));
    add(l, 1);
    l.a.send(1, pattern(10));
    auto &out = l.a.to(1).out;
    assert_true(l.deliver(0, 1));
    while (out.size() > 1)
      assert_true(l.deliver(0, 1, out.size() - 1));
    l.b.reap();
    assert_true(receive.open());
    assert_true(l.deliver(0, 1));
    l.b.reap();
    assert_true(receive.ok());
    assert_int_equal(e.value(), 1);
    l.run();
  }
}

void peer__that_is_lost_while_adds_wait(void **) {
  for (unsigned steps = 0; steps < 12; ++steps) {
    Lab l({.can_pull = false});
    Exported e(l);
    Registered r(l, large);
    Call &data = write(l, pattern(large), 0), &c = add(l, 1), &second = add(l, 1);
    for (unsigned i = 0; i < steps; ++i) {
      if (!l.a.to(1).out.empty())
        l.deliver(0, 1);
      if (i % 3 == 2 && !l.b.to(0).out.empty())
        l.deliver(1, 0);
      l.push(0, 1), l.push(1, 0);
    }
    l.a.lose(1, FI_ETIMEDOUT);
    l.b.lose(0, FI_ETIMEDOUT);
    for (const Call *call : {&data, &c, &second})
      assert_int_equal(call->error(), FI_ETIMEDOUT);
    assert_int_equal(e.value(), 0);
    r.close(), e.close(); // wait for nothing
  }
}

void peer__that_is_lost_leaves_nothing(void **) {
  const std::size_t kept = allocations::kept_by([] {
    Lab l({.can_pull = false});
    Exported e(l);
    Registered r(l, large);
    write(l, pattern(large), 0), add(l, 1), add(l, 1);
    l.deliver_all(0, 1);
    l.b.lose(0, FI_ETIMEDOUT);
  });
  assert_int_equal(kept, 0);
}

void adds__that_have_yet_to_leave_are_handed_over(void **) {
  Lab l({.open = false});
  Exported e(l);
  Call &c = add(l, 5);
  Remote other;
  other.addr = 1;
  l.a.m->hand_over(l.a.to(1), other);
  assert_true(l.a.to(1).traffic->idle());
  l.a.m->hand_over(other, l.a.to(1));
  l.open(0, 1), l.open(1, 0);
  l.run();
  assert_true(c.ok());
  assert_int_equal(e.value(), 5);
}

// --- Whatever order packets come in

// Each operation that an add is to follow, and whether its data are there.
struct Before {
  Call *call;
  std::function<bool()> there;
};

void order__holds_whatever_comes_when(void **) {
  const auto property = [] {
    const bool lossless = *rc::gen::arbitrary<bool>();
    Lab l({.lossless = lossless,
           .can_pull = *rc::gen::arbitrary<bool>(),
           .max_frames = 400,
           .queues = {.cq_size = 4096}});
    constexpr std::size_t piece = 20000, most = 30;
    constexpr std::size_t lengths[] = {8, 2000, piece};
    Exported e(l);
    Registered r(l, piece * most);
    std::vector<Before> before;   // of all adds so far
    std::vector<std::size_t> due; // how many of these each add is to follow
    std::vector<Call *> adds, all;
    std::size_t n = 0;
    const auto check_adds = [&] {
      l.a.reap(), l.b.reap();
      const std::uint64_t applied = e.value();
      RC_ASSERT(applied <= adds.size());
      for (std::size_t i = 0; i < adds.size(); ++i)
        RC_ASSERT(i < applied || adds[i]->open());
      if (applied)
        for (std::size_t i = 0; i < due[applied - 1]; ++i)
          RC_ASSERT(before[i].there());
    };
    const auto steps = *rc::gen::container<std::vector<std::uint32_t>>(
        80, rc::gen::inRange<std::uint32_t>(0, 1u << 20));
    for (const std::uint32_t x : steps) {
      const std::size_t len = lengths[x / 16 % 3], at = n * piece;
      if (x % 8 == 0 && n < most) {
        Call &w = write(l, pattern(len, static_cast<unsigned>(n)), at, {.targets = 1 + x / 64 % 3});
        before.push_back(
            {&w, [&r, &w, at] { return std::equal(w.memory.begin(), w.memory.end(), r.at(at)); }});
        all.push_back(&w);
        ++n;
      } else if (x % 8 == 1 && n < most) { // it meets its receive
        Call &to = l.b.receive(len, {.tag = n});
        Call &s = l.a.send(1, pattern(len, static_cast<unsigned>(n)), {.tag = n});
        before.push_back({&s, [&to] { return to.ok(); }});
        all.push_back(&s);
        ++n;
      } else if (x % 8 == 2 && n < most && len > 8) {
        Call &s = l.a.send(1, pattern(len), {.tag = 1000 + n}); // nobody receives it for now
        all.push_back(&s);
        ++n;
      } else if (x % 8 == 3 && adds.size() < most) {
        adds.push_back(&add(l, 1));
        all.push_back(adds.back());
        due.push_back(before.size());
      } else if (x % 8 == 4) {
        l.a.room = l.b.room = x / 8 % 3 ? SIZE_MAX : x / 32 % 3;
      } else if (x % 8 == 5) {
        l.push(0, 1), l.push(1, 0), l.b.m->step(), l.tell(1, 0), l.tell(0, 1);
      } else if (auto &out = l.a.to(1).out; x % 8 == 6 && !out.empty()) {
        RC_ASSERT(l.deliver(0, 1, lossless ? 0 : x / 8 % out.size()));
      } else if (auto &back = l.b.to(0).out; !back.empty()) {
        RC_ASSERT(l.deliver(1, 0, lossless ? 0 : x / 8 % back.size()));
      }
      check_adds();
    }
    l.a.room = l.b.room = SIZE_MAX;
    l.push(0, 1), l.push(1, 0);
    l.run();
    check_adds();
    RC_ASSERT(e.value() == adds.size());
    for (std::size_t i = 0; i < n; ++i)
      l.b.receive(piece, {.tag = 1000 + i});
    l.run();
    for (const Call *c : all)
      RC_ASSERT(c->ok());
  };
  assert_true(unit::holds("order of adds", property));
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(add__is_applied_once_and_told_of),
    cmocka_unit_test(add__without_a_completion),
    cmocka_unit_test(add__that_is_not_allowed_fails_and_changes_nothing),
    cmocka_unit_test(add__that_is_not_told_of),
    cmocka_unit_test(add__that_is_not_told_of_waits_for_data_too),
    cmocka_unit_test(add__to_a_counter_that_is_closed_meanwhile),
    cmocka_unit_test(add__where_nothing_was_ever_exported),
    cmocka_unit_test(add__to_a_peer_that_knows_of_none),
    cmocka_unit_test(add__waits_for_the_session_and_for_room),
    cmocka_unit_test(add__is_cancelled_before_it_leaves),
    cmocka_unit_test(add__is_refused_where_there_is_no_room),
    cmocka_unit_test(add__with_a_fence_waits_for_all_before_it),
    cmocka_unit_test(add__waits_for_parts),
    cmocka_unit_test(add__waits_for_a_large_write_and_a_met_message),
    cmocka_unit_test(add__does_not_wait_for_a_message_that_nobody_receives),
    cmocka_unit_test(add__waits_until_a_large_read_has_read),
    cmocka_unit_test(add__behind_data_that_fail),
    cmocka_unit_test(add__that_has_waited_and_fails),
    cmocka_unit_test(add__that_fails_between_others),
    cmocka_unit_test(message__comes_after_an_add),
    cmocka_unit_test(peer__that_is_lost_while_adds_wait),
    cmocka_unit_test(peer__that_is_lost_leaves_nothing),
    cmocka_unit_test(adds__that_have_yet_to_leave_are_handed_over),
    cmocka_unit_test(order__holds_whatever_comes_when),
};
static const unit::Group group{"counter", cases};
