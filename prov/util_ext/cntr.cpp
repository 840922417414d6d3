// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/cntr.h"

#include "util_ext/ops.h"

namespace util_ext {

// A change sets its value first and unread_ then: read in the other order, it
// can't be missed.
std::uint64_t Cntr::read(const Value &v) noexcept {
  if (wait_.fd_armed()) [[unlikely]]
    wait_.disarm_fd();
  if (drives_progress_)
    domain_->progress();
  else
    domain_->polled_in_vain(); // as far as is known: what the caller waits for, it doesn't say
  if (pollable_) [[unlikely]]
    unread_.store(false);
  return v.load();
}

int Cntr::try_wait() noexcept {
  if (membership_)
    return membership_.set().try_wait();
  return guard([&] { return wait_.try_wait([&] { return quiet(); }); });
}

void Cntr::drive() {
  if (drives_progress_)
    domain_->progress();
}

// Without a wait object too, though fi_cntr(3) doesn't ask for it: programs do.
int Cntr::wait_for(std::uint64_t threshold, int timeout) {
  if (membership_)
    return -FI_ENOSYS;
  const std::uint64_t errors = errors_.load();
  const Deadline deadline(timeout);
  Wait::Patience patience(wait_, deadline);
  for (bool last = false;;) {
    if (drives_progress_)
      domain_->progress();
    if (value_.load() >= threshold)
      return 0;
    if (errors_.load() != errors)
      return -FI_EAVAIL;
    if (last)
      return -FI_EINTR;
    if (patience.left())
      continue;
    if (deadline.passed())
      return -FI_ETIMEDOUT;
    domain_->poller_sleeps();
    Wait::Sleeper sleeper(wait_);
    if (value_.load() < threshold && errors_.load() == errors)
      last = sleeper.sleep(deadline) == -FI_EINTR;
  }
}

int Cntr::wait(fid_cntr *cntr, std::uint64_t threshold, int timeout) noexcept {
  return guard([&] { return from(&cntr->fid)->wait_for(threshold, timeout); });
}

int Cntr::control(struct fid *f, int command, void *arg) noexcept {
  if (command == FI_GETOPSFLAG || command == FI_SETOPSFLAG) {
    auto *flags = static_cast<std::uint64_t *>(arg);
    if (!flags || (command == FI_SETOPSFLAG && *flags != 0)) // none are defined
      return -FI_EINVAL;
    *flags = 0;
    return 0;
  }
  return guard([&] { return from(f)->wait_.control(command, arg); });
}

std::uint64_t Cntr::replace(Value &v, std::uint64_t n) noexcept {
  std::uint64_t before;
  {
    const std::lock_guard lock(mutex_);
    before = v.load(std::memory_order_relaxed);
    put(v, n);
  }
  changed();
  return before;
}

void Cntr::count_last(Hold<Cntr> hold, int error) noexcept {
  Cntr &self = *hold;
  const std::lock_guard lock(self.mutex_); // see in_use()
  const Hold<Cntr> last = std::move(hold); // let go before the lock is
  Value &v = error ? self.errors_ : self.value_;
  self.put(v, v.load(std::memory_order_relaxed) + 1);
  self.changed();
}

bool Cntr::in_use() noexcept {
  domain_->triggers.settle();
  const std::lock_guard lock(mutex_);
  return Holdable::in_use();
}

// What the C interface has twice: for the value, and for the error value.
template <Cntr::Value Cntr::*Which, Cntr::Value Cntr::*ByHand> struct Cntr::Calls {
  static std::uint64_t read(fid_cntr *c) noexcept {
    Cntr &self = *from(&c->fid);
    return self.read(self.*Which);
  }
  static int add(fid_cntr *c, std::uint64_t n) noexcept {
    Cntr &self = *from(&c->fid);
    (self.*ByHand).fetch_add(n);
    self.change(self.*Which, n);
    self.domain_->triggers.run(false);
    return 0;
  }
  static int set(fid_cntr *c, std::uint64_t n) noexcept {
    Cntr &self = *from(&c->fid);
    const std::uint64_t before = self.replace(self.*Which, n);
    (self.*ByHand).fetch_add(n - before);
    self.domain_->triggers.run(false);
    return 0;
  }
};

int Cntr::start() {
  if (const int rc = wait_.open(domain_->provider(), FI_LOG_CNTR, "counter"); rc != 0)
    return rc;
  return membership_.join(*this, source_);
}

Cntr::Cntr(Domain &domain, const WaitChoice &choice, void *context)
    : Object(domain.locking()), domain_(domain), drives_progress_(!domain.auto_progress()),
      pollable_(choice.set || Wait::is_native(choice.object)),
      source_(drives_progress_ ? &domain.wait_source() : nullptr), mutex_(domain.locking()),
      wait_(choice.make(source_)), membership_(choice.set) {
  static fi_ops_cntr cntr_ops = [] {
    auto t = all_missing<fi_ops_cntr>();
    using Values = Calls<&Cntr::value_, &Cntr::by_hand_>;
    using Errors = Calls<&Cntr::errors_, &Cntr::errors_by_hand_>;
    t.read = Values::read;
    t.readerr = Errors::read;
    t.add = Values::add;
    t.adderr = Errors::add;
    t.set = Values::set;
    t.seterr = Errors::set;
    t.wait = wait;
    return t;
  }();
  fid = {FI_CLASS_CNTR, context, fid_ops()};
  ops = &cntr_ops;
  domain_->open_cntrs.fetch_add(1);
}

Cntr::~Cntr() {
  domain_->exported.remove_all(*this);
  domain_->open_cntrs.fetch_sub(1);
}

int Cntr::open(Domain &domain, const fi_cntr_attr *attr, fid_cntr **out, void *context) noexcept {
  const fi_provider &prov = domain.provider();
  if (!attr || !out)
    return -FI_EINVAL;
  if (raw(attr->events) != FI_CNTR_EVENTS_COMP) {
    FI_WARN(&prov, FI_LOG_CNTR, "counter events %u: only FI_CNTR_EVENTS_COMP is supported\n",
            raw(attr->events));
    return -FI_ENOSYS;
  }
  WaitChoice choice;
  if (const int rc = choice.read(prov, FI_LOG_CNTR, "counter", raw(attr->wait_obj), attr->wait_set);
      rc != 0)
    return rc;
  if (attr->flags) {
    FI_WARN(&prov, FI_LOG_CNTR, "counter flags %#llx: must be 0\n",
            static_cast<unsigned long long>(attr->flags));
    return -FI_EINVAL;
  }

  if (domain.open_cntrs.load() >= domain.limits.cntrs) {
    FI_WARN(&prov, FI_LOG_CNTR, "%zu counters are open, the limit\n", domain.limits.cntrs);
    return -FI_ENOSPC;
  }
  return make(out, domain, choice, context);
}

} // namespace util_ext
