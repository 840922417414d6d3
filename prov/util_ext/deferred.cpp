// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/deferred.h"

#include "util_ext/cntr.h"

namespace util_ext {

namespace {

// FI_OP_CNTR_ADD, FI_OP_CNTR_SET.
class CntrWork final : public Work {
public:
  using Change = void (Cntr::*)(std::uint64_t) noexcept;
  CntrWork(Cntr &target, Change change, std::uint64_t value)
      : target_(target), change_(change), value_(value) {}
  ~CntrWork() = default;

private:
  int fire() noexcept override {
    ((*target_).*change_)(value_);
    return 0;
  }

  const Hold<Cntr> target_;
  const Change change_;
  const std::uint64_t value_;
};

int refuse(const Domain &domain, const char *what) {
  FI_WARN(&domain.provider(), FI_LOG_DOMAIN, "deferred work: %s\n", what);
  return -FI_EINVAL;
}

int make_cntr_work(Domain &domain, const fi_deferred_work &work, std::unique_ptr<Work> &made) {
  if (work.completion_cntr)
    return refuse(domain, "completion_cntr: must be null for an operation on a counter");
  Cntr *const target = work.op.cntr ? counter_of(domain, work.op.cntr->cntr) : nullptr;
  if (!target)
    return refuse(domain, "op.cntr: must name a counter of the domain");
  const auto change = raw(work.op_type) == FI_OP_CNTR_ADD ? &Cntr::add : &Cntr::set;
  made = std::make_unique<CntrWork>(*target, change, work.op.cntr->value);
  return 0;
}

int queue(Domain &domain, fi_deferred_work *work) {
  if (!work)
    return refuse(domain, "FI_QUEUE_WORK needs an fi_deferred_work");
  Cntr *const trigger = counter_of(domain, work->triggering_cntr);
  if (!trigger)
    return refuse(domain, "triggering_cntr: must be a counter of the domain");
  Cntr *const completion = counter_of(domain, work->completion_cntr);
  if (work->completion_cntr && !completion)
    return refuse(domain, "completion_cntr: must be null, or a counter of the domain");
  std::unique_ptr<Work> made;
  const unsigned type = raw(work->op_type);
  const bool counts = type == FI_OP_CNTR_ADD || type == FI_OP_CNTR_SET;
  if (const int rc = counts ? make_cntr_work(domain, *work, made) : domain.make_work(*work, made))
    return rc;
  return queue_work(domain, {*trigger, work->threshold, completion, work}, std::move(made));
}

int cancel(Domain &domain, const fi_deferred_work *work) {
  return work ? domain.triggers.cancel(*work)
              : refuse(domain, "FI_CANCEL_WORK needs an fi_deferred_work");
}

int flush(Domain &domain, fid_cntr *cntr) {
  Cntr *const only = counter_of(domain, cntr);
  if (cntr && !only)
    return refuse(domain, "FI_FLUSH_WORK: must have null, or a counter of the domain");
  domain.triggers.flush(only);
  return 0;
}

} // namespace

int queue_work(Domain &domain, const Triggers::Order &order, std::unique_ptr<Work> work) {
  if (const int rc = domain.triggers.queue_and_run(order, std::move(work))) {
    const char *const advice = domain.limits.works_advice;
    FI_WARN(&domain.provider(), FI_LOG_DOMAIN,
            "triggered operations: %zu are queued, the limit%s%s\n", domain.triggers.limit,
            advice ? "; " : "", advice ? advice : "");
    return rc;
  }
  return 0;
}

Cntr *counter_of(const Domain &domain, fid_cntr *cntr) {
  if (!cntr || cntr->fid.fclass != FI_CLASS_CNTR)
    return nullptr;
  Cntr *const c = Cntr::from(&cntr->fid);
  return &c->domain() == &domain ? c : nullptr;
}

int control_work(Domain &domain, int command, void *arg) noexcept {
  return guard([&] {
    switch (command) {
    case FI_QUEUE_WORK:
      return queue(domain, static_cast<fi_deferred_work *>(arg));
    case FI_CANCEL_WORK:
      return cancel(domain, static_cast<fi_deferred_work *>(arg));
    case FI_FLUSH_WORK:
      return flush(domain, static_cast<fid_cntr *>(arg));
    default:
      return -FI_ENOSYS;
    }
  });
}

} // namespace util_ext
