// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The trigger engine: works that wait for a counter's level, which is its value
// plus its errors, modulo 2^64. It knows nothing of what a work does.
//
// A change of a counter moves the works that it reaches to a list of ready ones,
// in the order of their thresholds, and of equal thresholds in the order of
// their queuing; whatever changes later, they fire. run() fires them with no
// lock held, so that they may change counters, their own too: what that makes
// ready is fired in the same loop, and nothing recurs.
#pragma once

#include "util_ext/lock.h"
#include "util_ext/object.h"

#include <rdma/fi_trigger.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <vector>

namespace util_ext {

class Cntr;
class Triggers;
class WorkQueue;
class Work;

// By threshold, or by when they came; what is equal stays in order. Works go from one to another
// without an allocation.
using Works = std::multimap<std::uint64_t, std::unique_ptr<Work>>;

class Work {
public:
  virtual ~Work();
  Work(const Work &) = delete;

protected:
  explicit Work(bool ends_later = false);

private:
  // Does what it is for; no lock is held. 0, or a negative FI_E*; of these -FI_EAGAIN leaves it
  // ready, to be tried again. One that ends later answers 0 when it has begun: Triggers::ended() is
  // then called once, by any thread, maybe before this returns; the object lives until then.
  virtual int fire() noexcept = 0;
  // What it is done with, for Triggers::abandon() and withdraw().
  virtual const void *user() const noexcept { return nullptr; }
  // Of one without a handle, what the application calls it instead.
  virtual const void *context_of_call() const noexcept { return nullptr; }
  // It has been withdrawn.
  virtual void cancelled() noexcept {}

  friend Triggers;
  friend WorkQueue;
  friend class FiringWorks;
  const bool ends_later_;
  bool dropped_ = false; // flushed while it was being fired
  bool in_fire_ = false; // stays until fire() has returned, even if it ends before
  bool gone_ = false;    // ... and has
  bool waiting_ = true;  // for its counter; else it is ready, or fires
  std::uint32_t slot_ = 0;
  Hold<Cntr> trigger_, completion_;
  Works::iterator at_{};   // until it fires
  Works::node_type place_; // from then on: where it could go back to, itself not in it
  Work *next_ = nullptr, *prev_ = nullptr;
};

// Works that fire, and those that end later, until they have.
class FiringWorks {
public:
  FiringWorks() = default;
  FiringWorks(const FiringWorks &) = delete;
  ~FiringWorks();

  void add(Work &) noexcept; // and own it
  void remove(Work &) noexcept;
  Work *front() const noexcept { return first_; }
  static Work *next(const Work &w) noexcept { return w.next_; }

private:
  Work *first_ = nullptr;
};

// A counter's share: the works that wait for it. Changed under the counter's lock and that of
// Triggers, but for threshold().
class WorkQueue {
public:
  WorkQueue() : self_{this} {}
  WorkQueue(const WorkQueue &) = delete;

  // Levels below reach nothing. May be less than the least threshold.
  std::uint64_t threshold() const noexcept { return threshold_.load(std::memory_order_relaxed); }

private:
  friend Triggers;
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  void update() noexcept {
    threshold_.store(waiting_.empty() ? none : waiting_.begin()->first, std::memory_order_relaxed);
  }

  std::atomic<std::uint64_t> threshold_{none};
  Works waiting_;               // by threshold
  Works ready_;                 // by when they became so
  std::list<WorkQueue *> self_; // its element is here, or in one of the lists of Triggers
  bool listed_ = false;
};

// Those of a domain. Any thread, unless made without locking.
class Triggers {
public:
  explicit Triggers(bool locking) : mutex_(locking) {}
  Triggers(const Triggers &) = delete;

  static constexpr std::size_t unlimited = ~std::size_t{0};
  std::size_t limit = unlimited; // of works that have not fired; set before the first is queued

  struct Order {
    Cntr &trigger;
    std::uint64_t threshold;
    Cntr *completion = nullptr;         // of a work that ends later
    fi_deferred_work *handle = nullptr; // to cancel it by; its context is ours until it has fired
  };
  // 0; -FI_ENOSPC: the limit is reached; or it throws std::bad_alloc. What is ready then is fired
  // by run(). A handle may be queued again before its work has fired: that makes another.
  int queue(const Order &, std::unique_ptr<Work>);
  // The same, and run(false).
  int queue_and_run(const Order &, std::unique_ptr<Work>);
  // Removes a work that has not fired, of several of that handle one: 0; -FI_ENOENT: there is none.
  int cancel(const fi_deferred_work &) noexcept;
  // The same of the oldest work without a handle of that user and context, which is told.
  int withdraw(const void *user, const void *context) noexcept;
  // Removes all with a handle that have not fired, or those of one counter.
  void flush(const Cntr *of = nullptr) noexcept;

  // Fires what is ready. False: there was nothing that could be. Without `again`, works that could
  // not be fired before are left for a call with it: from those who drive transport.
  bool run(bool again) noexcept;
  bool due() const noexcept { return due_.load(std::memory_order_relaxed); }
  // Works that are ready, and could not be fired so far.
  bool stuck() const noexcept { return stuck_.load(std::memory_order_relaxed); }

  // A work that ends later has; `error`: a positive FI_E*, or 0. It is gone then.
  void ended(Work &, int error) noexcept;
  // Works in progress that were done with `user` will never end: they are gone.
  void abandon(const void *user) noexcept;

  // Waits until no other thread fires: what it has fired holds no counter open any more.
  void settle() noexcept;

  std::size_t queued() const noexcept { return queued_.load(std::memory_order_relaxed); }

private:
  friend Cntr;
  // Under the counter's lock: it has come to that level.
  void reach(WorkQueue &, std::uint64_t level) noexcept;

  using Lock = std::lock_guard<OptionalMutex>;
  bool start_running() noexcept; // false: somebody runs already
  void stop_running() noexcept;
  int put(const Order &, std::unique_ptr<Work>, Work **at_once);
  Work &begin_firing(Works::node_type) noexcept;
  Works::node_type make_node(std::uint64_t threshold, std::unique_ptr<Work>);
  void make_ready(WorkQueue &, Works::node_type) noexcept;
  void list(WorkQueue &, std::list<WorkQueue *> &) noexcept;
  void unlist(WorkQueue &) noexcept;
  void update_flags() noexcept;
  Work *take() noexcept;
  bool fire(Work &) noexcept;
  void put_back(Work &) noexcept;
  std::unique_ptr<Work> remove_fired(Work &) noexcept;
  std::unique_ptr<Work> take_out(Work &fired) noexcept;
  Work *find(const fi_deferred_work &) const noexcept;
  void take_slot(Work &, fi_deferred_work *handle);
  void give_slot(std::uint32_t slot) noexcept;
  Works::node_type remove(Work &) noexcept;
  static WorkQueue &queue_of(const Work &) noexcept;

  OptionalMutex mutex_;
  std::list<WorkQueue *> due_list_, stuck_list_;
  std::atomic<bool> due_{false}, stuck_{false}, running_{false};
  std::uint64_t ready_count_ = 0; // works that have become ready so far
  FiringWorks firing_;
  Works::node_type spare_; // of the last that is gone: it spares the next an allocation
  // A handle's context has an index into this.
  std::vector<Work *> slots_;
  std::vector<const fi_deferred_work *> handles_;
  std::vector<std::uint32_t> free_slots_;
  bool shadowed_ = false; // some handle was queued while it was queued
  std::atomic<std::size_t> queued_{0};
};

} // namespace util_ext
