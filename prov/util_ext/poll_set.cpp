// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/poll_set.h"

#include "util_ext/cntr.h"
#include "util_ext/cq.h"
#include "util_ext/ops.h"

#include <algorithm>

namespace util_ext {

namespace {

Domain const *domain_of(struct fid *f) {
  return f->fclass == FI_CLASS_CQ ? &Cq::from(f)->domain() : &Cntr::from(f)->domain();
}

void hold(struct fid *f) {
  f->fclass == FI_CLASS_CQ ? Cq::from(f)->acquire() : Cntr::from(f)->acquire();
}

void let_go(struct fid *f) {
  f->fclass == FI_CLASS_CQ ? Cq::from(f)->release() : Cntr::from(f)->release();
}

} // namespace

// ---- members

std::vector<PollSet::Member>::iterator PollSet::find(const struct fid *f) {
  return std::find_if(members_.begin(), members_.end(),
                      [f](const Member &m) { return m.object == f; });
}

int PollSet::check(const struct fid *f, std::uint64_t flags) const {
  const auto refuse = [this](const char *why, unsigned long long value) {
    FI_WARN(&domain_->provider(), FI_LOG_DOMAIN, "poll set: %s %llu\n", why, value);
    return -FI_EINVAL;
  };
  if (flags)
    return refuse("flags must be 0, and are", flags);
  if (!f)
    return -FI_EINVAL;
  if (f->fclass != FI_CLASS_CQ && f->fclass != FI_CLASS_CNTR)
    return refuse("only completion queues and counters are in it, not objects of class", f->fclass);
  return 0;
}

int PollSet::add(fid_poll *set, struct fid *f, std::uint64_t flags) noexcept {
  return guard([&] {
    PollSet &self = *from(&set->fid);
    if (const int rc = self.check(f, flags); rc != 0)
      return rc;
    if (domain_of(f) != &*self.domain_) {
      FI_WARN(&self.domain_->provider(), FI_LOG_DOMAIN,
              "poll set: the object is of another domain; allowed: the set's own\n");
      return -FI_EINVAL;
    }
    const std::lock_guard lock(self.mutex_);
    if (self.find(f) != self.members_.end())
      return -FI_EALREADY;
    self.members_.push_back({f});
    hold(f);
    self.acquire(); // fi_poll(3): a set with something in it can't be closed
    return 0;
  });
}

int PollSet::remove(fid_poll *set, struct fid *f, std::uint64_t flags) noexcept {
  return guard([&] {
    PollSet &self = *from(&set->fid);
    if (const int rc = self.check(f, flags); rc != 0)
      return rc;
    const std::lock_guard lock(self.mutex_);
    const auto found = self.find(f);
    if (found == self.members_.end())
      return -FI_EINVAL;
    self.members_.erase(found);
    let_go(f);
    self.release();
    return 0;
  });
}

// ---- polling

bool PollSet::has_news(Member &m) {
  if (m.object->fclass == FI_CLASS_CQ)
    return !Cq::from(m.object)->quiet();
  const Cntr &cntr = *Cntr::from(m.object);
  const std::uint64_t value = cntr.provider_value(), errors = cntr.provider_errors();
  const bool news = value != m.value || errors != m.errors;
  m.value = value;
  m.errors = errors;
  return news;
}

int PollSet::gather(void **context, std::size_t count) {
  const std::lock_guard lock(mutex_);
  const std::size_t all = members_.size(), first = next_;
  std::size_t found = 0;
  for (std::size_t i = 0; i < all && found < count; ++i) {
    const std::size_t at = (first + i) % all;
    if (has_news(members_[at])) {
      context[found++] = members_[at].object->context;
      next_ = at + 1;
    }
  }
  return static_cast<int>(found);
}

int PollSet::poll(fid_poll *set, void **context, int count) noexcept {
  return guard([&] {
    PollSet &self = *from(&set->fid);
    if (count < 0 || (count && !context))
      return -FI_EINVAL;
    if (!self.domain_->auto_progress())
      self.domain_->progress();
    const int found = self.gather(context, static_cast<std::size_t>(count));
    if (found == 0 && self.domain_->auto_progress())
      self.domain_->polled_in_vain();
    return found;
  });
}

// ---- life

PollSet::PollSet(Domain &domain, const fi_poll_attr &) : domain_(domain), mutex_(domain.locking()) {
  static fi_ops_poll poll_ops = [] {
    auto t = all_missing<fi_ops_poll>();
    t.poll = poll;
    t.poll_add = add;
    t.poll_del = remove;
    return t;
  }();
  fid = {FI_CLASS_POLL, nullptr, fid_ops()};
  ops = &poll_ops;
}

int PollSet::open(Domain &domain, const fi_poll_attr *attr, fid_poll **out) noexcept {
  if (!out)
    return -FI_EINVAL;
  const fi_poll_attr given = attr ? *attr : fi_poll_attr{};
  if (given.flags) {
    FI_WARN(&domain.provider(), FI_LOG_DOMAIN, "poll set flags %#llx: must be 0\n",
            static_cast<unsigned long long>(given.flags));
    return -FI_EINVAL;
  }
  return make(out, domain, given);
}

} // namespace util_ext
