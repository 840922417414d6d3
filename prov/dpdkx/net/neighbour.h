// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Who has which Ethernet address: what address resolution (RFC 826) and neighbour
// discovery (RFC 4861) have in common, as a state machine on a clock that is passed in.
//
// A neighbour is unknown until somebody needs it; then it is asked for, at
// growing intervals, until it answers or resolve_timeout has passed. A resolved
// one stays usable for as long as it is needed. It counts as confirmed while
// frames come from it; when frames go to it and none came for `reachable`, it is
// asked again, first directly, later all are asked, and the old address stays in
// use meanwhile: whether a peer is dead is for the session to say.
//
// Threads: calls on the table under its owner's lock; those on a Neighbour from
// any thread.
#pragma once

#include "dpdkx/base/clock.h"
#include "dpdkx/net/flat_map.h"
#include "dpdkx/net/ip.h"
#include "dpdkx/net/mac.h"

#include <atomic>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace dpdkx::net {

class Neighbour {
public:
  bool resolved() const { return word_.load(std::memory_order_acquire) & resolved_bit; }
  bool failed() const { return word_.load(std::memory_order_acquire) & failed_bit; }
  Mac mac() const { return Mac::from_word(word_.load(std::memory_order_acquire)); }
  const Ip &ip() const { return ip_; }

  // A frame goes to it; one came from the address `from` in its name.
  void note_used() { set(used_); }
  void note_heard(const Mac &from) {
    auto known = word_.load(std::memory_order_relaxed) & mac_bits;
    set(known == from.word() ? heard_ : strange_);
  }

private:
  friend class NeighbourTable;
  static constexpr std::uint64_t mac_bits = (std::uint64_t{1} << 48) - 1;
  static constexpr std::uint64_t resolved_bit = std::uint64_t{1} << 48;
  static constexpr std::uint64_t failed_bit = std::uint64_t{1} << 49;

  static void set(std::atomic<bool> &flag) {
    if (!flag.load(std::memory_order_relaxed)) // keeps the line shared
      flag.store(true, std::memory_order_relaxed);
  }

  std::atomic<std::uint64_t> word_{0};
  Ip ip_;
  std::uint32_t users_ = 0;
  Time since_{}; // asked since; when resolved and not asked: last confirmed
  Time next_ask_{};
  std::uint8_t asked_ = 0;
  bool asking_ = false; // wants to be asked for
  bool listed_ = false; // stands in the table's list of those, or still does
  bool fixed_ = false, in_use_ = false;
  std::atomic<bool> used_{false}, heard_{false}, strange_{false};
};

class NeighbourTable {
public:
  struct Settings {
    Duration resolve_timeout = std::chrono::seconds(10);  // then the neighbour has failed
    Duration first_retry = std::chrono::milliseconds(20); // doubled with each
    Duration max_retry = std::chrono::seconds(1);
    Duration reachable = std::chrono::seconds(30);
    Duration sweep = std::chrono::seconds(1); // how often use and silence are looked at
    std::size_t max_unasked = 1024;           // neighbours kept that nobody has asked for
    unsigned burst = 32;                      // requests at most, then pauses for burst_gap
    Duration burst_gap = std::chrono::milliseconds(1);
  };

  struct Request {
    Ip ip;
    Mac to; // the address last known, or broadcast: whoever may have the address
  };

  // These three may throw std::bad_alloc, the others never do: what they need is there before.
  explicit NeighbourTable(const Settings &settings);
  // The neighbour stays valid until as many release() calls. The asking starts
  // with the next tick.
  Neighbour &acquire(const Ip &);
  void add_fixed(const Ip &, const Mac &); // never asked for, never changed

  void release(Neighbour &);

  // The neighbour said so. `new_too`: it was a question to us, and who asks us is likely to
  // be asked for; else only addresses that somebody has asked for are of interest. A new one
  // that there is no memory for is forgotten.
  void learn(const Ip &, const Mac &, Time now, bool new_too);
  // The same, but it takes no other address's place: it is looked into. A `mac` of zero: the
  // neighbour is there, and where hasn't changed.
  void learn_weakly(const Ip &, const Mac &, Time now);

  // What to send now; valid until the next tick.
  std::span<const Request> tick(Time now);
  Time next_tick() const { return next_tick_; }

  // Counts each change to resolved or failed, so that waiters look only after one.
  std::uint32_t changes() const { return changes_.load(std::memory_order_acquire); }
  std::size_t size() const { return index_.size(); }
  bool asking() const { return !asking_.empty(); }

private:
  Neighbour &find_or_add(const Ip &); // may throw std::bad_alloc
  bool add_unasked(const Ip &);       // false: there are too many, or no memory
  void ask(Neighbour &, Time from);
  void ask_due(Time now);
  Request question(Neighbour &, Time now);
  bool give_up(Neighbour &, Time now);
  void look_at_use(Time now);
  void look_at_use(Neighbour &, Time now);
  void remove(Neighbour &);
  void changed() { changes_.fetch_add(1, std::memory_order_release); }

  const Settings settings_;
  std::deque<Neighbour> all_; // never shrinks: neighbours don't move
  FlatMapOf<Ip> index_;       // address to position in all_
  // With room for all neighbours:
  std::vector<std::uint32_t> unused_;
  std::vector<Neighbour *> asking_;
  std::vector<Request> requests_; // with room for a burst
  Time next_tick_ = Time::min(), next_sweep_ = Time::min();
  std::atomic<std::uint32_t> changes_{0};
};

} // namespace dpdkx::net
