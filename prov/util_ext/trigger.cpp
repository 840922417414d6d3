// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/trigger.h"

#include "util_ext/cntr.h"

#include <algorithm>
#include <sched.h>
#include <utility>

namespace util_ext {

Work::Work(bool ends_later) : ends_later_(ends_later) {}

Work::~Work() = default;

FiringWorks::~FiringWorks() {
  while (Work *const w = first_) {
    remove(*w);
    delete w;
  }
}

void FiringWorks::add(Work &w) noexcept {
  w.prev_ = nullptr;
  w.next_ = first_;
  if (first_)
    first_->prev_ = &w;
  first_ = &w;
}

void FiringWorks::remove(Work &w) noexcept {
  (w.prev_ ? w.prev_->next_ : first_) = w.next_;
  if (w.next_)
    w.next_->prev_ = w.prev_;
}

WorkQueue &Triggers::queue_of(const Work &work) noexcept { return work.trigger_->queue_; }

// ---- queuing

int Triggers::queue(const Order &order, std::unique_ptr<Work> work) {
  return put(order, std::move(work), nullptr);
}

// What is ready already, with nothing before it, fires without being listed first.
int Triggers::queue_and_run(const Order &order, std::unique_ptr<Work> work) {
  Work *at_once = nullptr;
  if (const int rc = put(order, std::move(work), &at_once))
    return rc;
  if (at_once) {
    fire(*at_once);
    stop_running();
  }
  run(false);
  return 0;
}

// `at_once`: if given, a work that may fire now, by the caller, who runs then.
int Triggers::put(const Order &order, std::unique_ptr<Work> work, Work **at_once) {
  Work &w = *work;
  w.trigger_ = Hold(order.trigger);
  if (order.completion)
    w.completion_ = Hold(*order.completion);
  Works::node_type node; // if it comes to nothing, gone when no lock is held any more

  // Under the counter's lock no change comes between the look at it and the queuing.
  const Lock value_lock(order.trigger.mutex_);
  const Lock lock(mutex_);
  node = make_node(order.threshold, std::move(work));
  if (queued_.load(std::memory_order_relaxed) >= limit)
    return -FI_ENOSPC;
  if (order.handle && find(*order.handle))
    shadowed_ = true;
  take_slot(w, order.handle);
  WorkQueue &q = order.trigger.queue_;
  if (order.trigger.level() < order.threshold) {
    // Most come in the order of their thresholds, and go to the end.
    w.at_ = q.waiting_.insert(q.waiting_.end(), std::move(node));
    q.update();
  } else if (at_once && due_list_.empty() && !q.listed_ && start_running()) {
    node.key() = ready_count_++;
    w.waiting_ = false;
    begin_firing(std::move(node));
    *at_once = &w;
    return 0;
  } else {
    make_ready(q, std::move(node));
    update_flags();
  }
  queued_.fetch_add(1, std::memory_order_relaxed);
  return 0;
}

Works::node_type Triggers::make_node(std::uint64_t threshold, std::unique_ptr<Work> work) {
  if (spare_) {
    spare_.key() = threshold;
    spare_.mapped() = std::move(work);
    return std::move(spare_);
  }
  Works made;
  made.emplace(threshold, std::move(work));
  return made.extract(made.begin());
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
  while (due() && start_running()) {
    while (Work *w = take())
      did |= fire(*w);
    stop_running();
  }
  return did;
}

bool Triggers::start_running() noexcept {
  if (mutex_.enabled())
    return !running_.exchange(true);
  const bool free = !running_.load(std::memory_order_relaxed);
  running_.store(true, std::memory_order_relaxed);
  return free;
}

void Triggers::stop_running() noexcept {
  if (mutex_.enabled())
    running_.exchange(false);
  else
    running_.store(false, std::memory_order_relaxed);
}

Work *Triggers::take() noexcept {
  const Lock lock(mutex_);
  if (due_list_.empty())
    return nullptr;
  WorkQueue &q = *due_list_.front();
  Work &w = begin_firing(q.ready_.extract(q.ready_.begin()));
  queued_.fetch_sub(1, std::memory_order_relaxed);
  if (q.ready_.empty())
    unlist(q);
  else // counters take turns
    due_list_.splice(due_list_.end(), due_list_, due_list_.begin());
  update_flags();
  return &w;
}

Work &Triggers::begin_firing(Works::node_type node) noexcept {
  Work &w = *node.mapped().release();
  w.place_ = std::move(node);
  firing_.add(w);
  w.in_fire_ = true;
  slots_[w.slot_] = nullptr; // can't be cancelled any more
  return w;
}

bool Triggers::fire(Work &w) noexcept {
  const int rc = w.fire();
  if (rc == -FI_EAGAIN) {
    put_back(w);
    return false;
  }
  if (rc != 0 || !w.ends_later_)
    ended(w, -rc);
  std::unique_ptr<Work> gone;
  const Lock lock(mutex_);
  give_slot(w.slot_);
  w.in_fire_ = false;
  if (w.gone_)
    gone = take_out(w);
  return true;
}

void Triggers::put_back(Work &w) noexcept {
  std::unique_ptr<Work> gone;
  const Lock lock(mutex_);
  w.in_fire_ = false;
  if (w.dropped_) {
    give_slot(w.slot_);
    gone = take_out(w);
    return;
  }
  firing_.remove(w);
  Works::node_type node = std::move(w.place_);
  node.mapped().reset(&w);
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
  const std::unique_ptr<Work> gone = [&] {
    const Lock lock(mutex_);
    return remove_fired(w);
  }();
}

// Null: fire() still goes on, and will do it.
std::unique_ptr<Work> Triggers::remove_fired(Work &w) noexcept {
  if (!w.in_fire_)
    return take_out(w);
  w.gone_ = true;
  return nullptr;
}

std::unique_ptr<Work> Triggers::take_out(Work &fired) noexcept {
  firing_.remove(fired);
  if (!spare_)
    spare_ = std::move(fired.place_);
  return std::unique_ptr<Work>(&fired);
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
  for (Work *w = firing_.front(); w; w = FiringWorks::next(*w))
    if (w->trigger_ && chosen(*w)) // it may yet be put back
      w->dropped_ = true;
}

void Triggers::abandon(const void *user) noexcept {
  FiringWorks gone;
  const Lock lock(mutex_);
  for (Work *w = firing_.front(), *next; w; w = next) {
    next = FiringWorks::next(*w);
    if (w->user() != user)
      continue;
    if (std::unique_ptr<Work> removed = remove_fired(*w))
      gone.add(*removed.release());
  }
}

} // namespace util_ext
