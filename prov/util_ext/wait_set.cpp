// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/wait_set.h"

#include "util_ext/ops.h"

#include <algorithm>

namespace util_ext {

// ---- members

int WaitSet::add(const WaitMember &member, WaitSource *source) {
  {
    const std::lock_guard lock(mutex_);
    members_.reserve(members_.size() + 1);
    if (source)
      if (const int rc = sources_.add(*source); rc != 0)
        return rc;
    members_.push_back(member);
  }
  wait_.notify(); // who waits looks at this one too
  return 0;
}

void WaitSet::remove(const void *object, WaitSource *source) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase_if(members_, [object](const WaitMember &m) { return m.object == object; });
  if (source)
    sources_.remove(*source);
}

int Membership::join(const WaitMember &member, WaitSource *source) {
  if (!set_)
    return 0;
  if (const int rc = set_->add(member, source); rc != 0)
    return rc;
  object_ = member.object;
  source_ = source;
  return 0;
}

Membership::~Membership() {
  if (object_)
    set_->remove(object_, source_);
}

// ---- waiting

void WaitSet::drive() {
  const std::lock_guard lock(mutex_);
  for (const WaitMember &m : members_)
    m.drive(m.object);
}

bool WaitSet::quiet() noexcept {
  const std::lock_guard lock(mutex_);
  return std::all_of(members_.begin(), members_.end(),
                     [](const WaitMember &m) { return m.quiet(m.object); });
}

int WaitSet::wait_for(int timeout) {
  const Deadline deadline(timeout);
  const std::uint64_t mark = wait_.mark();
  if (wait_.fd_armed())
    wait_.disarm_fd();
  for (int rc = 0;;) {
    drive();
    if (!quiet())
      return 0;
    if (wait_.interrupted(mark)) {
      wait_.acknowledge();
      return 0;
    }
    if (rc != 0)
      return rc;
    if (deadline.passed())
      return -FI_ETIMEDOUT;
    Wait::Sleeper sleeper(wait_);
    if (quiet() && !wait_.interrupted(mark))
      rc = sleeper.sleep(deadline);
  }
}

int WaitSet::try_wait() noexcept {
  return guard([&] { return wait_.try_wait([&] { return quiet(); }); });
}

// ---- the C interface

int WaitSet::wait_call(fid_wait *set, int timeout) noexcept {
  return guard([&] { return from(&set->fid)->wait_for(timeout); });
}

int WaitSet::control(struct fid *f, int command, void *arg) noexcept {
  return guard([&] { return from(f)->wait_.control(command, arg); });
}

fi_ops_wait *WaitSet::wait_ops() {
  static fi_ops_wait ops = [] {
    auto t = all_missing<fi_ops_wait>();
    t.wait = wait_call;
    return t;
  }();
  return &ops;
}

WaitSet *WaitSet::of(fid_wait *set) noexcept {
  return set && set->ops == wait_ops() ? from(&set->fid) : nullptr;
}

WaitSet::WaitSet(Fabric &fabric, const fi_wait_attr &attr)
    : fabric_(fabric), wait_(&sources_, attr.wait_obj) {
  fid = {FI_CLASS_WAIT, nullptr, fid_ops()};
  ops = wait_ops();
}

int WaitSet::start() {
  if (const int rc = sources_.open(); rc != 0)
    return rc;
  return wait_.open(fabric_->provider(), FI_LOG_FABRIC, "wait set");
}

int WaitSet::open(Fabric &fabric, const fi_wait_attr *attr, fid_wait **out) noexcept {
  const fi_provider &prov = fabric.provider();
  if (!attr || !out)
    return -FI_EINVAL;
  const unsigned object = raw(attr->wait_obj);
  if (!Wait::defined(object) || object == FI_WAIT_NONE || object == FI_WAIT_SET) {
    FI_WARN(&prov, FI_LOG_FABRIC,
            "wait set of wait object %u; allowed: FI_WAIT_UNSPEC, FD, MUTEX_COND, YIELD, POLLFD\n",
            object);
    return -FI_EINVAL;
  }
  if (attr->flags) {
    FI_WARN(&prov, FI_LOG_FABRIC, "wait set flags %#llx: must be 0\n",
            static_cast<unsigned long long>(attr->flags));
    return -FI_EINVAL;
  }
  return make(out, fabric, *attr);
}

int WaitChoice::read(const fi_provider &prov, fi_log_subsys subsys, const char *owner,
                     unsigned given, fid_wait *wait_set) {
  if (!Wait::defined(given)) {
    FI_WARN(&prov, subsys, "%s wait object %u is not defined; the last is %u\n", owner, given,
            unsigned{FI_WAIT_POLLFD});
    return -FI_EINVAL;
  }
  object = static_cast<fi_wait_obj>(given);
  if (object != FI_WAIT_SET)
    return 0;
  set = WaitSet::of(wait_set);
  if (!set) {
    FI_WARN(&prov, subsys, "%s with FI_WAIT_SET, and wait_set %p: not a set of %s\n", owner,
            static_cast<void *>(wait_set), prov.name);
    return -FI_EINVAL;
  }
  return 0;
}

} // namespace util_ext
