// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A peer is lost, or forgotten, at every stage of an operation (peers.cpp).
#include "lab.h"

using namespace lab;

namespace {

constexpr std::size_t parts = 2500, large = 20000, huge = 3u << 20;

// Where an operation can be when a peer goes. Each leaves calls of both sides
// under way.
struct Stage {
  const char *name;
  bool lossless;
  void (*build)(Lab &);
};

void deliver(Lab &l, int n) {
  for (int i = 0; i < n; ++i)
    assert_true(l.deliver(0, 1));
}

void answer(Lab &l) { // rts there, cts back
  deliver(l, 1);
  assert_true(l.deliver(1, 0));
}

Call &claim(Lab &l) {
  Call &c = l.b.calls.emplace_back();
  assert_int_equal(l.b.try_receive(c, {.flags = FI_PEEK | FI_CLAIM}), 0);
  l.b.reap();
  assert_true(c.ok());
  return c;
}

const Stage stages[] = {
    {"nothing", false, [](Lab &) {}},
    {"queued", false,
     [](Lab &l) {
       l.a.room = 0;
       l.a.send(1, pattern(10)), l.a.send(1, pattern(10), {.flags = FI_INJECT});
       l.a.send(1, pattern(large), {.silent = true});
     }},
    {"partial", false,
     [](Lab &l) {
       l.a.room = 2;
       l.a.send(1, pattern(parts)), l.a.send(1, pattern(10));
     }},
    {"partial, opened at the peer", false,
     [](Lab &l) {
       l.b.receive(parts);
       l.a.room = 2;
       l.a.send(1, pattern(parts), {.flags = FI_INJECT});
       deliver(l, 2);
     }},
    {"behind a fence", false,
     [](Lab &l) {
       l.a.send(1, pattern(10)), l.a.send(1, pattern(10), {.flags = FI_FENCE});
       l.a.send(1, pattern(10));
     }},
    {"awaiting an ack", false, [](Lab &l) { l.a.send(1, pattern(10)); }},
    {"received, unknown to the sender", false,
     [](Lab &l) {
       l.b.receive(10);
       l.a.send(1, pattern(10));
       deliver(l, 1);
     }},
    {"awaiting the processed position", true,
     [](Lab &l) { l.a.send(1, pattern(10), {.flags = FI_DELIVERY_COMPLETE}); }},
    {"whole, unexpected", false,
     [](Lab &l) {
       l.a.send(1, pattern(10), {.flags = FI_DELIVERY_COMPLETE});
       deliver(l, 1);
     }},
    {"whole, claimed", false,
     [](Lab &l) {
       l.a.send(1, pattern(10));
       deliver(l, 1);
       claim(l);
     }},
    {"in parts, matched", false,
     [](Lab &l) {
       l.b.receive(parts);
       l.a.send(1, pattern(parts), {.flags = FI_DELIVERY_COMPLETE});
       deliver(l, 2);
     }},
    {"in parts, too long", false,
     [](Lab &l) {
       l.b.receive(100);
       l.a.send(1, pattern(parts));
       deliver(l, 2);
     }},
    {"in parts, unexpected", false,
     [](Lab &l) {
       l.a.send(1, pattern(parts));
       deliver(l, 2);
     }},
    {"in parts, claimed", false,
     [](Lab &l) {
       l.a.send(1, pattern(parts));
       deliver(l, 2);
       claim(l);
     }},
    {"in parts, discarded", false,
     [](Lab &l) {
       l.a.send(1, pattern(parts));
       deliver(l, 2);
       l.b.peek({.flags = FI_DISCARD});
     }},
    {"in parts, met by a receive", false,
     [](Lab &l) {
       l.a.send(1, pattern(parts));
       deliver(l, 2);
       l.b.receive(parts);
     }},
    {"before its turn", false,
     [](Lab &l) {
       l.b.receive(10);
       l.a.send(1, pattern(10)), l.a.send(1, pattern(parts)), l.a.send(1, pattern(large));
       for (int i = 0; i < 4; ++i)
         assert_true(l.deliver(0, 1, 1));
     }},
    {"asked for", false, [](Lab &l) { l.a.send(1, pattern(large)); }},
    {"asked for, unexpected", false,
     [](Lab &l) {
       l.a.send(1, pattern(large));
       deliver(l, 1);
     }},
    {"asked for, claimed", false,
     [](Lab &l) {
       l.a.send(1, pattern(large));
       deliver(l, 1);
       claim(l);
     }},
    {"answered", false,
     [](Lab &l) {
       l.b.receive(large);
       l.a.send(1, pattern(large), {.flags = FI_INJECT});
       deliver(l, 1);
     }},
    {"answer waits for room", false,
     [](Lab &l) {
       l.b.room = 0;
       l.b.receive(large);
       l.a.send(1, pattern(large));
       deliver(l, 1);
     }},
    {"streaming", false,
     [](Lab &l) {
       l.b.receive(large);
       l.a.send(1, pattern(large));
       answer(l);
       l.a.room = 3;
       l.push(0, 1);
       deliver(l, 2);
     }},
    {"streamed", false,
     [](Lab &l) {
       l.b.receive(large);
       l.a.send(1, pattern(large));
       answer(l);
       l.push(0, 1);
     }},
    {"end waits for room", false,
     [](Lab &l) {
       l.b.receive(large);
       l.a.send(1, pattern(large));
       answer(l);
       l.push(0, 1);
       l.b.room = 0;
       l.deliver_all(0, 1);
     }},
    {"ended, not acknowledged", false,
     [](Lab &l) {
       l.b.receive(large);
       l.a.send(1, pattern(large));
       answer(l);
       l.push(0, 1);
       l.deliver_all(0, 1);
       assert_true(l.deliver(1, 0));
     }},
    {"pulling", true,
     [](Lab &l) {
       l.b.receive(huge), l.b.receive(huge);
       l.a.send(1, pattern(huge)), l.a.send(1, pattern(huge));
       deliver(l, 2);
       assert_true(l.b.m->step());
     }},
    {"in a multi-receive", false,
     [](Lab &l) {
       l.b.receive(2 * large, {.flags = FI_MULTI_RECV});
       l.a.send(1, pattern(parts)), l.a.send(1, pattern(large));
       deliver(l, 1);
       assert_true(l.deliver(0, 1, 2));
     }},
    {"in a multi-receive that was cancelled", false,
     [](Lab &l) {
       Call &r = l.b.receive(2 * large, {.flags = FI_MULTI_RECV});
       l.a.send(1, pattern(parts));
       deliver(l, 1);
       assert_int_equal(l.b.m->cancel(&r), 0);
     }},
};

// A lab, and the same one after each end: whatever is not given back adds up.
void end_calls(Lab &l) {
  for (Side *s : {&l.a, &l.b}) {
    s->reap();
    for (Call &c : s->calls) {
      s->m->cancel(&c);
      s->try_receive(c, {.flags = FI_CLAIM | FI_DISCARD}); // if it has claimed
    }
    s->room = SIZE_MAX;
    s->reap();
    s->calls.clear();
  }
  while (l.b.peek({.flags = FI_DISCARD}).ok())
    ;
  l.b.calls.clear();
}

void begin_again(Lab &l) {
  l.open(0, 1);
  l.open(1, 0);
}

bool multi(const Call &c) { return c.memory.size() == 2 * large; }
bool released(const Call &c) { return !c.done.empty() && c.done.back().flags & FI_MULTI_RECV; }

// Every send, and every receive that a message has met, ends once, with that error.
void fail__ends_everything_once(void **) {
  constexpr int error = FI_ETIMEDOUT;
  for (const Stage &stage : stages) {
    print_message("%s\n", stage.name);
    Lab l({.lossless = stage.lossless});
    stage.build(l);
    std::vector<Call *> sends, receives;
    for (Call &c : l.a.calls)
      if (c.open())
        sends.push_back(&c);
    for (Call &c : l.b.calls)
      if (c.open())
        receives.push_back(&c);
    l.a.lose(1, error);
    l.b.lose(0, error);
    for (const Call *c : sends) {
      assert_int_equal(c->error(), error); // also of those that asked for no entry
      assert_int_equal(c->done[0].len, c->memory.size());
      assert_true(c->done[0].flags & FI_SEND);
    }
    assert_int_equal(l.a.queues.sends_failed(), sends.size());
    for (Call *c : receives) {
      const bool stays = c->open() || (multi(*c) && !released(*c)); // it takes more
      assert_int_equal(l.b.m->cancel(c), stays ? 0 : -FI_ENOENT);
      l.b.reap();
      for (std::size_t i = 0; i < c->done.size(); ++i) {
        assert_true(c->done[i].err == error || c->done[i].err == FI_ECANCELED);
        assert_true(c->done[i].len <= c->memory.size());
      }
      assert_true(multi(*c) ? released(*c) : c->done.size() == 1);
    }
    assert_true(l.a.to(1).traffic == nullptr);
    assert_true(l.b.to(0).traffic == nullptr);
    assert_false(l.b.m->stepping());
    // All places of operations are free again.
    begin_again(l);
    l.a.room = 0;
    for (int i = 0; i < 64; ++i)
      l.a.send(1, pattern(1));
    for (int i = 0; i < 64; ++i)
      l.b.receive(1, {.tag = 1});
  }
}

void fail__keeps_nothing(void **) {
  for (const Stage &stage : stages) {
    Lab l({.lossless = stage.lossless});
    const std::size_t kept = allocations::kept_by([&] {
      stage.build(l);
      l.a.lose(1, FI_ECONNRESET);
      l.b.lose(0, FI_ECONNRESET);
      end_calls(l);
      begin_again(l);
    });
    if (kept)
      print_message("%s\n", stage.name);
    assert_int_equal(kept, 0);
  }
}

void abandon__ends_everything_in_silence(void **) {
  for (const Stage &stage : stages) {
    Lab l({.lossless = stage.lossless});
    const std::size_t kept = allocations::kept_by([&] {
      stage.build(l);
      std::size_t before = 0, after = 0;
      for (Side *s : {&l.a, &l.b})
        for (const Call &c : s->calls)
          before += c.done.size();
      for (Side *s : {&l.a, &l.b}) {
        Remote &peer = s->to(s == &l.a ? 1 : 0);
        s->m->abandon(peer);
        peer.out.clear();
        assert_true(peer.traffic == nullptr);
        s->reap();
        for (const Call &c : s->calls)
          after += c.done.size();
      }
      assert_int_equal(after, before);
      end_calls(l);
      begin_again(l);
    });
    if (kept)
      print_message("%s\n", stage.name);
    assert_int_equal(kept, 0);
  }
}

void messenger__destroyed_at_any_stage_keeps_nothing(void **) {
  for (const Stage &stage : stages)
    for (const bool abandoned : {true, false}) {
      const std::size_t kept = allocations::kept_by([&] {
        Lab l({.lossless = stage.lossless});
        stage.build(l);
        if (!abandoned)
          l.b.lose(0, FI_ECONNRESET);
      });
      assert_int_equal(kept, 0);
    }
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(fail__ends_everything_once),
    cmocka_unit_test(fail__keeps_nothing),
    cmocka_unit_test(abandon__ends_everything_in_silence),
    cmocka_unit_test(messenger__destroyed_at_any_stage_keeps_nothing),
};
static const unit::Group group{"fail", cases};
