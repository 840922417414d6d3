// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Random sequences of sends, receives, cancels, moves of packets in any order,
// acks, shortage of room, and the loss of a peer, against what MPI asks of
// matching: messages of one sender don't overtake each other.
#include "lab.h"
#include "unit/property.h"

#include "unit/unit.h" // last: cmocka defines fail

using namespace lab;

namespace {

constexpr std::uint64_t masks[] = {0, 1, ~std::uint64_t{0}};

struct Sent {
  Call *call;
  unsigned from;
  std::uint64_t tag;
  std::uint64_t level;
  int receive = -1; // who got it
};

struct Posted {
  Call *call;
  std::uint64_t tag, ignore;
  fi_addr_t src;
  bool cancelled = false;

  bool takes(const Sent &s) const {
    return ((s.tag ^ tag) & ~ignore) == 0 && (src == FI_ADDR_UNSPEC || src == s.from);
  }
};

// All send to side 1.
class Run {
public:
  explicit Run(bool lossless) : lossless_(lossless), l_(options(lossless), 3) {}

  void act(std::uint32_t what) {
    const std::uint32_t arg = what >> 4, from = arg % 2 ? 2 : 0;
    auto &out = l_.side(from).to(1).out, &back = l_.b.to(from).out;
    switch (what % 16) {
    case 0:
    case 1:
    case 2:
      return send(from, arg / 2);
    case 3:
    case 4:
    case 5:
      return receive(arg);
    case 6:
      return cancel(arg);
    case 7:
      l_.tell(1, from);
      return;
    case 8:
      l_.tell(from, 1);
      return;
    case 9:
      l_.push(from, 1);
      return;
    case 10:
      l_.push(1, from);
      return;
    case 11:
      l_.side(arg % 3).room = arg % 7 ? SIZE_MAX : arg / 7 % 3;
      return;
    case 12:
      l_.b.m->step();
      return;
    case 13:
      if (!back.empty())
        RC_ASSERT(l_.deliver(1, from, lossless_ ? 0 : arg / 2 % back.size()));
      return;
    default:
      if (!out.empty())
        RC_ASSERT(l_.deliver(from, 1, lossless_ ? 0 : arg / 2 % out.size()));
      return;
    }
  }

  void lose() {
    l_.side(0).lose(1, FI_ETIMEDOUT);
    l_.side(2).lose(1, FI_ETIMEDOUT);
    l_.b.lose(0, FI_ETIMEDOUT);
    l_.b.lose(2, FI_ETIMEDOUT);
    lost_ = true;
  }

  void finish() {
    for (unsigned i = 0; i < 3; ++i)
      l_.side(i).room = SIZE_MAX;
    if (!lost_)
      for (const unsigned from : {0, 2})
        l_.push(from, 1), l_.push(1, from);
    l_.run();
    l_.b.reap();
    RC_ASSERT(l_.b.to(0).violation.empty() && l_.b.to(2).violation.empty());
    find_pairs();
    check_order();
    if (lost_)
      check_ended();
    else
      check_complete();
  }

private:
  static Options options(bool lossless) {
    return {.lossless = lossless, .max_frames = 400, .credit = 64, .queues = {.cq_size = 4096}};
  }

  void send(unsigned from, std::uint32_t arg) {
    constexpr std::size_t lengths[] = {0, 1, 300, 385, 1000, 3000, 8192, 8193, 17000};
    constexpr std::uint64_t levels[] = {
        0, FI_INJECT_COMPLETE, FI_DELIVERY_COMPLETE, FI_MATCH_COMPLETE, FI_INJECT, FI_FENCE};
    const std::uint64_t tag = arg % 4, level = levels[arg / 4 % 6];
    const std::size_t len = lengths[arg / 24 % 9];
    Call &c = l_.side(from).calls.emplace_back(pattern(len, static_cast<unsigned>(sent_.size())),
                                               arg / 216 % 8 + 1);
    const ssize_t rc =
        l_.side(from).try_send(c, 1, {.tag = tag, .data = sent_.size(), .flags = level});
    RC_ASSERT(rc == 0 || rc == -FI_EAGAIN);
    if (rc == 0)
      sent_.push_back({&c, from, tag, level});
    if (level == FI_INJECT)
      std::fill(c.memory.begin(), c.memory.end(), std::byte{0xdd});
    l_.side(from).reap();
  }

  void receive(std::uint32_t arg) {
    const std::uint64_t tag = arg % 4, ignore = masks[arg / 4 % 3];
    constexpr fi_addr_t sources[] = {FI_ADDR_UNSPEC, FI_ADDR_UNSPEC, 0, 2};
    const fi_addr_t src = sources[arg / 12 % 4];
    Call &c = l_.b.calls.emplace_back(Bytes(arg / 48 % 5 ? 17000 : 200), arg / 240 % 8 + 1);
    const ssize_t rc = l_.b.try_receive(c, {.tag = tag, .ignore = ignore, .src = src});
    RC_ASSERT(rc == 0 || rc == -FI_EAGAIN);
    if (rc == 0)
      posted_.push_back({&c, tag, ignore, src});
    l_.b.reap();
  }

  void cancel(std::uint32_t arg) {
    if (posted_.empty())
      return;
    Posted &p = posted_[arg % posted_.size()];
    const bool was_open = p.call->open();
    if (l_.b.m->cancel(p.call) == 0) {
      RC_ASSERT(was_open && !p.cancelled);
      p.cancelled = true;
      l_.b.reap();
      RC_ASSERT(p.call->error() == FI_ECANCELED);
    }
  }

  void find_pairs() {
    for (std::size_t i = 0; i < posted_.size(); ++i) {
      const Posted &p = posted_[i];
      RC_ASSERT(p.call->done.size() <= 1u);
      if (p.call->open() || p.cancelled || p.call->error() == FI_ETIMEDOUT)
        continue;
      const Done &d = p.call->done[0];
      RC_ASSERT(d.data < sent_.size());
      Sent &s = sent_[d.data];
      RC_ASSERT(s.receive == -1); // once
      s.receive = static_cast<int>(i);
      RC_ASSERT(d.tag == s.tag && p.takes(s));
      const std::size_t len = s.call->memory.size();
      Bytes want = pattern(len, static_cast<unsigned>(d.data));
      RC_ASSERT(d.err == (len > p.call->memory.size() ? FI_ETRUNC : 0));
      want.resize(std::min(len, p.call->memory.size()));
      RC_ASSERT(d.len == want.size());
      RC_ASSERT(p.call->starts_with(want));
    }
  }

  // A receive that could have taken an older message of that sender has not
  // taken a newer one.
  void check_order() const {
    for (std::size_t j = 0; j < sent_.size(); ++j)
      for (std::size_t i = 0; i < j; ++i) {
        const Sent &older = sent_[i], &newer = sent_[j];
        if (older.from != newer.from || newer.receive < 0)
          continue;
        if (lost_ && older.receive < 0)
          continue; // a receive that failed may have met it
        const Posted &p = posted_[static_cast<std::size_t>(newer.receive)];
        if (p.takes(older))
          RC_ASSERT(older.receive >= 0 && older.receive < newer.receive);
      }
  }

  void check_complete() const {
    for (const Sent &s : sent_) {
      // What asks to be matched, or asked to be fetched, waits for a receive.
      if (s.receive >= 0 || s.level == FI_INJECT_COMPLETE)
        RC_ASSERT(s.receive < 0 || s.call->ok());
      RC_ASSERT(s.call->done.size() <= 1u);
      if (s.receive >= 0)
        continue;
      if (s.level == FI_MATCH_COMPLETE)
        RC_ASSERT(s.call->open());
      for (const Posted &p : posted_) // they don't wait for each other
        RC_ASSERT(!(p.call->open() && p.takes(s)) || behind_fence(s));
    }
  }

  // Whether a fence holds it back for a message that nobody has received.
  bool behind_fence(const Sent &s) const {
    bool waits = false, fenced = false;
    for (const Sent &other : sent_) {
      if (other.from != s.from)
        continue;
      fenced |= waits && other.level == FI_FENCE;
      if (&other == &s)
        return fenced;
      waits |= other.call->open();
    }
    return false;
  }

  void check_ended() const {
    for (const Sent &s : sent_) {
      RC_ASSERT(s.call->done.size() == 1u);
      RC_ASSERT(s.call->done[0].err == 0 || s.call->done[0].err == FI_ETIMEDOUT);
    }
    for (const Posted &p : posted_)
      if (p.call->open())
        RC_ASSERT(l_.b.m->cancel(p.call) == 0);
  }

  const bool lossless_;
  bool lost_ = false;
  Lab l_;
  std::vector<Sent> sent_;
  std::vector<Posted> posted_;
};

void run(const char *name, bool lossless, bool lose) {
  assert_true(unit::holds(name, [=] {
    const auto actions = *rc::gen::container<std::vector<std::uint32_t>>(
        *rc::gen::inRange<std::size_t>(0, 300), rc::gen::arbitrary<std::uint32_t>());
    Run r(lossless);
    for (const std::uint32_t a : actions)
      r.act(a);
    if (lose)
      r.lose();
    r.finish();
  }));
}

void model__on_a_lossy_link(void **) { run("lossy", false, false); }
void model__on_a_lossless_link(void **) { run("lossless", true, false); }
void model__with_peers_lost(void **) {
  run("lossy, peers lost", false, true);
  run("lossless, peers lost", true, true);
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(model__on_a_lossy_link),
    cmocka_unit_test(model__on_a_lossless_link),
    cmocka_unit_test(model__with_peers_lost),
};
static const unit::Group group{"model", cases};
