// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Counters: fi_cntr(3). 64-bit success and error values. Works may wait for their
// sum (trigger.h): every change looks whether it has reached one.
#pragma once

#include "util_ext/domain.h"
#include "util_ext/wait_set.h"

namespace util_ext {

class Cntr final : public Object<Cntr, fid_cntr> {
public:
  static int open(Domain &, const fi_cntr_attr *, fid_cntr **, void *context) noexcept;

  // Any thread. Modulo 2^64.
  void add(std::uint64_t n) noexcept { change(value_, n); }
  void add_error(std::uint64_t n) noexcept { change(errors_, n); }
  void set(std::uint64_t n) noexcept { replace(value_, n); }
  // One more, or one more error, as the last thing that is done with the counter: whoever sees it
  // may close it.
  static void count_last(Hold<Cntr>, int error) noexcept;
  // Without making progress.
  std::uint64_t value() const noexcept { return value_.load(); }
  std::uint64_t errors() const noexcept { return errors_.load(); }

  // What all but the application's fi_cntr_add, fi_cntr_set and their like have
  // added, modulo 2^64: whether it has changed is what a poll set asks.
  std::uint64_t provider_value() const noexcept { return value_.load() - by_hand_.load(); }
  std::uint64_t provider_errors() const noexcept { return errors_.load() - errors_by_hand_.load(); }

  const Domain &domain() const { return *domain_; }
  CntrTable &table() const { return domain_->exported; } // of who may add to it from afar

  // fi_trywait.
  int try_wait() noexcept;

  using Value = std::atomic<std::uint64_t>;

private:
  friend Object;
  friend Triggers;
  friend WaitMember;
  Cntr(Domain &, const WaitChoice &, void *context);
  ~Cntr(); // revokes its exports
  int start();
  static int control(struct fid *, int command, void *arg) noexcept;
  static int wait(fid_cntr *, std::uint64_t threshold, int timeout) noexcept;
  template <Value Cntr::*Which, Value Cntr::*ByHand> struct Calls;
  void drive();
  bool quiet() noexcept { return !unread_.load(); } // not changed since it was read

  void change(Value &v, std::uint64_t n) noexcept {
    {
      const std::lock_guard lock(mutex_);
      put(v, v.load(std::memory_order_relaxed) + n);
    }
    changed();
  }
  std::uint64_t replace(Value &, std::uint64_t n) noexcept; // the value before
  // Under the lock.
  void put(Value &v, std::uint64_t n) noexcept {
    v.store(n, std::memory_order_release);
    if (const std::uint64_t l = level(); l >= queue_.threshold()) [[unlikely]]
      domain_->triggers.reach(queue_, l);
  }
  std::uint64_t level() const noexcept {
    return value_.load(std::memory_order_relaxed) + errors_.load(std::memory_order_relaxed);
  }
  void changed() noexcept {
    if (pollable_) [[unlikely]] // who waits by itself looks at it from another thread
      unread_.store(true, mutex_.enabled() ? std::memory_order_seq_cst : std::memory_order_relaxed);
    wait_.notify();
  }
  bool in_use() noexcept; // hides Holdable's: also when something has just let go of it
  std::uint64_t read(const Value &) noexcept;
  int wait_for(std::uint64_t threshold, int timeout);

  const Hold<Domain> domain_;
  const bool drives_progress_, pollable_;
  WaitSource *const source_; // of what progress would find
  OptionalMutex mutex_;      // of changes
  Value value_{0}, errors_{0};
  Value by_hand_{0}, errors_by_hand_{0}; // of these, by the application
  WorkQueue queue_;
  std::atomic<bool> unread_{false}; // changed since it was last read; where pollable_
  Wait wait_;
  Membership membership_;
};

} // namespace util_ext
