// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/domain.h"

#include "dpdkx/cntr_ops.h"
#include "dpdkx/ep.h"
#include "dpdkx/provider.h"
#include "dpdkx/srx.h"
#include "util_ext/av.h"
#include "util_ext/cntr.h"
#include "util_ext/cq.h"
#include "util_ext/deferred.h"
#include "util_ext/mr.h"
#include "util_ext/ops.h"
#include "util_ext/poll_set.h"

#include <algorithm>
#include <poll.h>
#include <unistd.h>

namespace dpdkx {

namespace {

int open_cq(fid_domain *domain, fi_cq_attr *attr, fid_cq **cq, void *context) {
  return util_ext::Cq::open(Domain::from(domain), attr, cq, context);
}

int open_cntr(fid_domain *domain, fi_cntr_attr *attr, fid_cntr **cntr, void *context) {
  return util_ext::Cntr::open(Domain::from(domain), attr, cntr, context);
}

int open_av(fid_domain *domain, fi_av_attr *attr, fid_av **av, void *context) {
  return util_ext::Av::open(Domain::from(domain), attr, av, context);
}

int open_poll_set(fid_domain *domain, fi_poll_attr *attr, fid_poll **set) {
  return util_ext::PollSet::open(Domain::from(domain), attr, set);
}

int open_endpoint(fid_domain *domain, fi_info *info, fid_ep **ep, void *context) {
  return util_ext::guard([&] { return Endpoint::open(Domain::from(domain), info, ep, context); });
}

int open_endpoint2(fid_domain *domain, fi_info *info, fid_ep **ep, std::uint64_t flags,
                   void *context) {
  return flags ? -FI_EINVAL : open_endpoint(domain, info, ep, context); // no peer transfers
}

int open_srx(fid_domain *domain, fi_rx_attr *attr, fid_ep **srx, void *context) {
  return util_ext::guard([&] { return SharedRx::open(Domain::from(domain), attr, srx, context); });
}

int control_domain(struct fid *f, int command, void *arg) {
  switch (command) {
  case FI_MAP_RAW_MR:
    if (!arg)
      return -FI_EINVAL;
    return util_ext::map_raw_key(*static_cast<const struct fi_mr_map_raw *>(arg));
  case FI_UNMAP_KEY:
    return 0;
  default:
    return util_ext::control_work(Domain::from(f), command, arg);
  }
}

int refuse_attr(const char *name, unsigned value, unsigned last, const char *last_name) {
  FI_WARN(&provider, FI_LOG_DOMAIN, "domain_attr->%s %u; allowed: 0 to %u (%s)\n", name, value,
          last, last_name);
  return -FI_EINVAL;
}

// What an application has changed in an fi_info, or filled in by itself.
int check_attr(const fi_domain_attr &a) {
  if (const unsigned v = util_ext::raw(a.threading); v > FI_THREAD_ENDPOINT)
    return refuse_attr("threading", v, FI_THREAD_ENDPOINT, "FI_THREAD_ENDPOINT");
  if (const unsigned v = util_ext::raw(a.data_progress); v > FI_PROGRESS_MANUAL)
    return refuse_attr("data_progress", v, FI_PROGRESS_MANUAL, "FI_PROGRESS_MANUAL");
  // One more since libfabric 2.0.
  if (const unsigned v = util_ext::raw(a.control_progress); v > FI_PROGRESS_MANUAL + 1)
    return refuse_attr("control_progress", v, FI_PROGRESS_MANUAL + 1, "that of calls, unified");
  if (const unsigned v = util_ext::raw(a.resource_mgmt); v > FI_RM_ENABLED)
    return refuse_attr("resource_mgmt", v, FI_RM_ENABLED, "FI_RM_ENABLED");
  if (const unsigned v = util_ext::raw(a.av_type); v > FI_AV_TABLE)
    return refuse_attr("av_type", v, FI_AV_TABLE, "FI_AV_TABLE");
  constexpr int all_modes = (FI_MR_COLLECTIVE << 1) - 1;
  if (a.mr_mode & ~all_modes) {
    FI_WARN(&provider, FI_LOG_DOMAIN, "domain_attr->mr_mode %#x; allowed: bits of %#x\n",
            static_cast<unsigned>(a.mr_mode), static_cast<unsigned>(all_modes));
    return -FI_EINVAL;
  }
  return 0;
}

// Whoever reads an event queue drives connected endpoints, and event queues are not the domain's.
fi_threading threading_of(const fi_info &info) {
  const bool connected = info.ep_attr && info.ep_attr->type == FI_EP_MSG;
  return connected ? FI_THREAD_SAFE : info.domain_attr->threading;
}

} // namespace

Domain::Domain(Fabric &fabric, const fi_info &info, std::shared_ptr<link::Device> device,
               void *context)
    : util_ext::Domain(dpdkx::provider, threading_of(info), info.domain_attr->data_progress,
                       fabric.api_version(), info.addr_format),
      handle_{{}, *this}, fabric_(fabric), device_(std::move(device)),
      traffic_class_(info.domain_attr->tclass), owner_(getpid()), wait_(endpoints_),
      idle_(fabric.settings().engine.yield_after),
      pollers_idle_(fabric.settings().engine.yield_after),
      service_(endpoints_, fabric.settings().service_tick) {
  static fi_ops fid_ops = [] {
    auto t = util_ext::all_missing<fi_ops>();
    t.close = close;
    t.bind = bind;
    t.control = control_domain;
    t.ops_open = open_domain_ops;
    return t;
  }();
  static fi_ops_domain domain_ops = [] {
    auto t = util_ext::all_missing<fi_ops_domain>();
    t.query_atomic = query_atomic;
    t.av_open = open_av;
    t.cq_open = open_cq;
    t.cntr_open = open_cntr;
    t.poll_open = open_poll_set;
    t.endpoint = open_endpoint;
    t.endpoint2 = open_endpoint2;
    t.srx_ctx = open_srx;
    return t;
  }();
  handle_.fid = {FI_CLASS_DOMAIN, context, &fid_ops};
  handle_.ops = &domain_ops;
  handle_.mr = util_ext::Mr::ops<Domain>();
  limits.av_type = info.domain_attr->av_type;
  limits.cq_size = settings().cq_size;
  limits.cq_overrun = settings().cq_overrun;
  limits.mr_mode = info.domain_attr->mr_mode;
  limits.mr_iov_limit = op::max_iov;
  limits.cq_overrun_advice = "set FI_DPDKX_CQ_OVERRUN higher";
  limits.works_advice = "FI_DPDKX_MAX_TRIGGERED_OPS sets it";
  if (settings().max_triggered_ops)
    triggers.limit = settings().max_triggered_ops;
  if (settings().max_cntrs)
    limits.cntrs = settings().max_cntrs;
  fabric_.acquire();
}

Domain::~Domain() {
  stop_threads();
  if (eq_)
    eq_->forget(&handle_.fid);
  fabric_.release();
}

int Domain::open(Fabric &fabric, const fi_info *info, fid_domain **out, void *context) {
  if (!info || !info->domain_attr || !out)
    return -FI_EINVAL;
  if (const int rc = check_attr(*info->domain_attr))
    return rc;
  std::shared_ptr<link::Device> device;
  if (const int rc = open_device_of(fabric.settings(), *info, device))
    return rc;
  auto *domain = new Domain(fabric, *info, std::move(device), context);
  if (const int rc = domain->start_threads()) {
    delete domain;
    return rc;
  }
  *out = &domain->handle_;
  return 0;
}

int Domain::close(struct fid *f) {
  Domain &self = from(f);
  if (self.in_use()) {
    FI_WARN(&self.provider(), FI_LOG_DOMAIN,
            "fi_close: the domain has endpoints, queues, counters, address vectors or memory "
            "regions that are open\n");
    return -FI_EBUSY;
  }
  if (!self.inherited()) // else what it has is the parent's, its device above all
    delete &self;
  return 0;
}

int Domain::bind(struct fid *f, struct fid *other, std::uint64_t flags) {
  Domain &self = from(f);
  if (!other || other->fclass != FI_CLASS_EQ || self.eq_)
    return -FI_EINVAL;
  if (flags) {
    FI_WARN(&dpdkx::provider, FI_LOG_DOMAIN, "registration of memory is never asynchronous\n");
    return -FI_EOPNOTSUPP;
  }
  self.eq_ = util_ext::Hold(*util_ext::Eq::from(other));
  return 0;
}

bool Domain::inherited() const { return getpid() != owner_; }

// ---- driving the endpoints

bool Domain::turn_all() {
  unsigned done = 0;
  endpoints_.for_each(locking(), [&done](engine::Endpoint &endpoint) {
    // Whoever holds it drives it, or posts to it: no need to wait for that.
    if (const std::unique_lock lock(endpoint.mutex(), std::try_to_lock); lock)
      done += endpoint.turn();
  });
  const bool fired = (triggers.due() || triggers.stuck()) && triggers.run(true);
  return done != 0 || fired;
}

void Domain::progress() { idle_.after_turn(turn_all()); }

// A caller who polls drives as well as the thread could, and sooner: two that do so would wait for
// each other's locks, cache lines and, where there are no more of them, processors.
void Domain::polled_in_vain() {
  pollers_idle_.after_turn(turn_all());
  caller_drove_.store(SystemClock::instance().now().time_since_epoch().count(),
                      std::memory_order_relaxed);
}

void Domain::poller_sleeps() noexcept {
  caller_drove_.store(0, std::memory_order_relaxed);
  if (aside_.load())
    recall_.set();
}

bool Domain::callers_drive() const {
  constexpr Duration lately = std::chrono::microseconds(50);
  const Time drove{Duration(caller_drove_.load(std::memory_order_relaxed))};
  return SystemClock::instance().now() - drove < lately;
}

// Until a while after they have last driven; a caller who goes to sleep says so.
void Domain::stand_aside() {
  constexpr timespec a_while{0, 100'000};
  pollfd recalled{recall_.fd(), POLLIN, 0};
  recall_.clear();
  aside_.store(true);
  if (callers_drive() && !stopping_.load())
    ppoll(&recalled, 1, &a_while, nullptr);
  aside_.store(false);
}

void Domain::start(engine::Endpoint &endpoint) {
  endpoints_.add(endpoint);
  wait_.attach(endpoint);
}

void Domain::stop(engine::Endpoint &endpoint) {
  endpoints_.remove(endpoint);
  wait_.detach(endpoint);
}

bool Domain::linger(engine::Endpoint &endpoint) {
  const auto drained = [&endpoint] {
    const std::lock_guard lock(endpoint.mutex());
    return endpoint.drained();
  };
  const Clock &clock = SystemClock::instance();
  const Time until = clock.now() + settings().engine.linger;
  while (!drained()) {
    if (clock.now() >= until)
      return false;
    progress();
  }
  return true;
}

// ---- threads

int Domain::start_threads() {
  if (!auto_progress())
    return device_ ? service_.start() : 0;
  if (const int rc = recall_.open())
    return rc;
  std::string error;
  const int rc = progress_thread_.start(
      "dpdkx-progress", settings().progress_cpu, [this] { run_progress(); }, error);
  if (rc)
    FI_WARN(&dpdkx::provider, FI_LOG_DOMAIN, "%s\n", error.c_str());
  return rc;
}

void Domain::stop_threads() {
  stopping_.store(true);
  wait_.kick();
  poller_sleeps();
  progress_thread_.join();
  service_.stop();
}

// Polls for a while after the last thing happened, then sleeps. The while grows
// when sleep turns out to have been short, and shrinks when it was long.
void Domain::run_progress() {
  constexpr unsigned shortest = 64, longest = 16384;
  constexpr Duration short_sleep = std::chrono::microseconds(100);
  unsigned patience = 1024;
  for (unsigned idle = 0; !stopping_.load();) {
    if (callers_drive()) {
      stand_aside();
      continue;
    }
    const bool did = turn_all();
    idle_.after_turn(did);
    if (did) {
      idle = 0;
    } else if (++idle >= patience) {
      const Time before = SystemClock::instance().now();
      sleep_until_something();
      const bool was_short = SystemClock::instance().now() - before < short_sleep;
      patience = was_short ? std::min(patience * 2, longest) : std::max(patience / 2, shortest);
      idle = 0;
    }
  }
}

void Domain::sleep_until_something() {
  pollfd readable{wait_.fd(), POLLIN, 0};
  if (readable.fd < 0)
    return; // polls on
  // What ready works wait for may be a queue that the application reads, which tells nobody.
  constexpr int retry_ms = 1;
  // stopping_ is set before the kick, which arm() may take: so look once more.
  if (wait_.arm() && !stopping_.load() && !triggers.due())
    poll(&readable, 1, triggers.stuck() ? retry_ms : -1);
  wait_.disarm();
}

} // namespace dpdkx
