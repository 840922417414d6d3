// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/trigger.h"

#include "util_ext/cntr.h"

#include <algorithm>
#include <sched.h>
#include <utility>

namespace util_ext {

Work::Work(bool ends_later) : ends_later_(ends_later) {}

Work::~Work() = default;

WorkQueue &Triggers::queue_of(const Work &work) noexcept { return work.trigger_->queue_; }

// ---- queuing

int Triggers::queue(const Order &order, std::unique_ptr<Work> work) {
  Work &w = *work;
  w.trigger_ = Hold(order.trigger);
  if (order.completion)
    w.completion_ = Hold(*order.completion);
  Works made;
  made.emplace(order.threshold, std::move(work));
  Works::node_type node = made.extract(made.begin());

  // Under the counter's lock no change comes between the look at it and the queuing.
  const Lock value_lock(order.trigger.mutex_);
  const Lock lock(mutex_);
  if (queued_.load(std::memory_order_relaxed) >= limit)
    return -FI_ENOSPC;
  if (order.handle && find(*order.handle))
    shadowed_ = true;
  take_slot(w, order.handle);
  WorkQueue &q = order.trigger.queue_;
  if (order.trigger.level() >= order.threshold) {
    make_ready(q, std::move(node));
    update_flags();
  } else {
    // Most come in the order of their thresholds, and go to the end.
    w.at_ = q.waiting_.insert(q.waiting_.end(), std::move(node));
    q.update();
  }
  queued_.fetch_add(1, std::memory_order_relaxed);
  return 0;
}

// Where its handle finds it.
void Triggers::take_slot(Work &work, fi_deferred_work *handle) {
  if (free_slots_.empty()) {
    constexpr std::size_t least = 16;
    const std::size_t before = slots_.size(), after = std::max(least, 2 * before);
    free_slots_.reserve(after); // so that giving one back needs no memory
    handles_.resize(after);
    slots_.resize(after);
    for (std::size_t slot = after; slot-- > before;)
      free_slots_.push_back(static_cast<std::uint32_t>(slot));
  }
  work.slot_ = free_slots_.back();
  free_slots_.pop_back();
  slots_[work.slot_] = &work;
  handles_[work.slot_] = handle;
  if (handle)
    handle->context.internal[0] = reinterpret_cast<void *>(std::uintptr_t{work.slot_});
}

void Triggers::give_slot(std::uint32_t slot) noexcept {
  slots_[slot] = nullptr;
  handles_[slot] = nullptr;
  free_slots_.push_back(slot);
}

// The context is the application's memory, and may hold anything if it was never queued. Of a
// handle that was queued again before it had fired, it leads to the last.
Work *Triggers::find(const fi_deferred_work &handle) const noexcept {
  const auto slot = reinterpret_cast<std::uintptr_t>(handle.context.internal[0]);
  if (slot < slots_.size() && handles_[slot] == &handle && slots_[slot])
    return slots_[slot];
  if (!shadowed_) [[likely]]
    return nullptr;
  for (std::size_t i = slots_.size(); i-- > 0;)
    if (handles_[i] == &handle && slots_[i])
      return slots_[i];
  return nullptr;
}

// ---- becoming ready

void Triggers::reach(WorkQueue &q, std::uint64_t level) noexcept {
  const Lock lock(mutex_);
  while (!q.waiting_.empty() && q.waiting_.begin()->first <= level)
    make_ready(q, q.waiting_.extract(q.waiting_.begin()));
  q.update();
  update_flags();
}

void Triggers::make_ready(WorkQueue &q, Works::node_type node) noexcept {
  Work &w = *node.mapped();
  node.key() = ready_count_++;
  w.waiting_ = false;
  w.at_ = q.ready_.insert(q.ready_.end(), std::move(node));
  if (!q.listed_)
    list(q, due_list_);
}

void Triggers::list(WorkQueue &q, std::list<WorkQueue *> &where) noexcept {
  where.splice(where.end(), q.self_);
  q.listed_ = true;
}

void Triggers::unlist(WorkQueue &q) noexcept {
  for (std::list<WorkQueue *> *l : {&due_list_, &stuck_list_})
    if (const auto at = std::find(l->begin(), l->end(), &q); at != l->end())
      q.self_.splice(q.self_.end(), *l, at);
  q.listed_ = false;
}

void Triggers::update_flags() noexcept {
  due_.store(!due_list_.empty(), std::memory_order_relaxed);
  stuck_.store(!stuck_list_.empty(), std::memory_order_relaxed);
}

// ---- firing

bool Triggers::run(bool again) noexcept {
  if (again && stuck()) {
    const Lock lock(mutex_);
    due_list_.splice(due_list_.end(), stuck_list_);
    update_flags();
  }
  bool did = false;
  // One at a time, or the order would be lost. Who comes meanwhile leaves it to that one, which
  // looks once more when it is through: exchange, so that it then sees what they saw.
  while (due() && !running_.exchange(true)) {
    while (Work *w = take())
      did |= fire(*w);
    running_.exchange(false);
  }
  return did;
}

Work *Triggers::take() noexcept {
  const Lock lock(mutex_);
  if (due_list_.empty())
    return nullptr;
  WorkQueue &q = *due_list_.front();
  Works::node_type node = q.ready_.extract(q.ready_.begin());
  Work &w = *node.mapped();
  w.at_ = firing_.insert(firing_.end(), std::move(node));
  w.in_fire_ = true;
  slots_[w.slot_] = nullptr; // can't be cancelled any more
  queued_.fetch_sub(1, std::memory_order_relaxed);
  if (q.ready_.empty())
    unlist(q);
  else // counters take turns
    due_list_.splice(due_list_.end(), due_list_, due_list_.begin());
  update_flags();
  return &w;
}

bool Triggers::fire(Work &w) noexcept {
  const int rc = w.fire();
  if (rc == -FI_EAGAIN) {
    put_back(w);
    return false;
  }
  if (rc != 0 || !w.ends_later_)
    ended(w, -rc);
  Works::node_type gone;
  const Lock lock(mutex_);
  give_slot(w.slot_);
  w.in_fire_ = false;
  if (w.gone_)
    gone = firing_.extract(w.at_);
  return true;
}

void Triggers::put_back(Work &w) noexcept {
  Works::node_type gone;
  const Lock lock(mutex_);
  Works::node_type node = firing_.extract(w.at_);
  w.in_fire_ = false;
  if (w.dropped_) {
    give_slot(w.slot_);
    gone = std::move(node);
    return;
  }
  WorkQueue &q = queue_of(w);
  slots_[w.slot_] = &w;
  w.at_ = q.ready_.insert(std::move(node)); // before those that have become ready since
  queued_.fetch_add(1, std::memory_order_relaxed);
  if (q.listed_)
    unlist(q);
  list(q, stuck_list_);
  update_flags();
}

// Whoever learns of the end may close the counters at once.
void Triggers::ended(Work &w, int error) noexcept {
  w.trigger_ = {};
  if (w.completion_)
    Cntr::count_last(std::move(w.completion_), error);
  Works::node_type gone;
  const Lock lock(mutex_);
  remove_fired(w.at_, gone);
}

// Into `to`, unless fire() still goes on.
void Triggers::remove_fired(Works::iterator at, Works::node_type &to) noexcept {
  if (at->second->in_fire_)
    at->second->gone_ = true;
  else
    to = firing_.extract(at);
}

void Triggers::settle() noexcept {
  while (running_.load())
    sched_yield();
}

// ---- removal

Works::node_type Triggers::remove(Work &w) noexcept {
  WorkQueue &q = queue_of(w);
  queued_.fetch_sub(1, std::memory_order_relaxed);
  give_slot(w.slot_);
  if (w.waiting_) // the threshold may stay less than it need be
    return q.waiting_.extract(w.at_);
  Works::node_type node = q.ready_.extract(w.at_);
  if (q.ready_.empty()) {
    unlist(q);
    update_flags();
  }
  return node;
}

int Triggers::cancel(const fi_deferred_work &handle) noexcept {
  Works::node_type gone;
  const Lock lock(mutex_);
  Work *const w = find(handle);
  if (!w)
    return -FI_ENOENT;
  gone = remove(*w);
  return 0;
}

int Triggers::withdraw(const void *user, const void *context) noexcept {
  Works::node_type gone;
  {
    const Lock lock(mutex_);
    const auto is = [&](std::size_t slot) {
      const Work *const w = slots_[slot];
      return w && !handles_[slot] && w->user() == user && w->context_of_call() == context;
    };
    for (std::size_t slot = 0; slot < slots_.size() && !gone; ++slot)
      if (is(slot))
        gone = remove(*slots_[slot]);
  }
  if (!gone)
    return -FI_ENOENT;
  gone.mapped()->cancelled();
  return 0;
}

void Triggers::flush(const Cntr *of) noexcept {
  const auto chosen = [of](const Work &w) { return !of || &*w.trigger_ == of; };
  Works gone;
  const Lock lock(mutex_);
  for (std::size_t slot = 0; slot < slots_.size(); ++slot)
    if (Work *const w = slots_[slot]; w && handles_[slot] && chosen(*w))
      gone.insert(gone.end(), remove(*w));
  for (const auto &[when, w] : firing_)
    if (w->trigger_ && chosen(*w)) // it may yet be put back
      w->dropped_ = true;
}

void Triggers::abandon(const void *user) noexcept {
  Works gone;
  const Lock lock(mutex_);
  for (auto at = firing_.begin(); at != firing_.end();) {
    const auto next = std::next(at);
    Works::node_type node;
    if (at->second->user() == user)
      remove_fired(at, node);
    if (node)
      gone.insert(gone.end(), std::move(node));
    at = next;
  }
}

} // namespace util_ext
