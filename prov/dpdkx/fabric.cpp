// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/fabric.h"

#include "dpdkx/domain.h"
#include "dpdkx/listener.h"
#include "dpdkx/passive_endpoint.h"
#include "dpdkx/provider.h"
#include "util_ext/eq.h"
#include "util_ext/ops.h"
#include "util_ext/wait_set.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace dpdkx {

namespace {

int open_domain(fid_fabric *fabric, fi_info *info, fid_domain **domain, void *context) {
  return util_ext::guard([&] { return Domain::open(Fabric::from(fabric), info, domain, context); });
}

int open_domain2(fid_fabric *fabric, fi_info *info, fid_domain **domain, std::uint64_t flags,
                 void *context) {
  return flags ? -FI_EINVAL : open_domain(fabric, info, domain, context); // no peer transfers
}

int open_eq(fid_fabric *fabric, fi_eq_attr *attr, fid_eq **eq, void *context) {
  return util_ext::Eq::open(Fabric::from(fabric), attr, eq, context);
}

int open_wait_set(fid_fabric *fabric, fi_wait_attr *attr, fid_wait **set) {
  return util_ext::WaitSet::open(Fabric::from(fabric), attr, set);
}

int open_passive(fid_fabric *fabric, fi_info *info, fid_pep **pep, void *context) {
  return util_ext::guard(
      [&] { return PassiveEndpoint::open(Fabric::from(fabric), info, pep, context); });
}

} // namespace

Fabric::Fabric(std::uint32_t api_version, Settings settings, void *context)
    : util_ext::Fabric(dpdkx::provider, api_version), handle_{{}, *this},
      settings_(std::move(settings)), idle_(settings_.engine.yield_after) {
  wait_.add(listeners_wait_);
  static fi_ops fid_ops = [] {
    auto t = util_ext::all_missing<fi_ops>();
    t.close = close;
    return t;
  }();
  static fi_ops_fabric fabric_ops = [] {
    auto t = util_ext::all_missing<fi_ops_fabric>();
    t.domain = open_domain;
    t.domain2 = open_domain2;
    t.eq_open = open_eq;
    t.passive_ep = open_passive;
    t.wait_open = open_wait_set;
    t.trywait = util_ext::Fabric::trywait;
    return t;
  }();
  handle_.fid = {FI_CLASS_FABRIC, context, &fid_ops};
  handle_.ops = &fabric_ops;
  handle_.api_version = api_version;
}

Fabric::~Fabric() {
  reap(); // nobody is left to need them
}

int Fabric::open(const fi_fabric_attr &attr, fid_fabric **out, void *context) {
  if (attr.name && std::strcmp(attr.name, fabric_name) != 0) {
    FI_WARN(&dpdkx::provider, FI_LOG_FABRIC, "no fabric '%s'; allowed: '%s'\n", attr.name,
            fabric_name);
    return -FI_ENODATA;
  }
  Settings settings;
  if (const int rc = current_settings(settings))
    return rc;
  *out = &(new Fabric(attr.api_version, std::move(settings), context))->handle_;
  return 0;
}

int Fabric::close(struct fid *f) {
  Fabric &self = from(f);
  if (self.in_use()) {
    FI_WARN(&self.provider(), FI_LOG_FABRIC,
            "fi_close: the fabric has domains, passive endpoints, event queues or wait sets that "
            "are open\n");
    return -FI_EBUSY;
  }
  delete &self;
  return 0;
}

// ---- what reports to event queues

void Fabric::progress() {
  if (turn_listeners())
    idle_.after_turn(true);
  reap();
  const std::lock_guard lock(mutex_);
  for (const Driven &driven : domains_) {
    if (driven.domain->auto_progress())
      driven.domain->polled_in_vain();
    else
      driven.domain->progress();
  }
  if (domains_.empty()) // else they see to it
    idle_.after_turn(false);
}

bool Fabric::turn_listeners() {
  unsigned done = 0;
  listeners_.for_each(true, [&done](engine::Endpoint &endpoint) {
    if (const std::unique_lock lock(endpoint.mutex(), std::try_to_lock); lock)
      done += endpoint.turn();
  });
  return done != 0;
}

void Fabric::enter(Domain &domain) {
  const std::lock_guard lock(mutex_);
  const auto at = std::find_if(domains_.begin(), domains_.end(),
                               [&](const Driven &d) { return d.domain == &domain; });
  if (at != domains_.end()) {
    ++at->entered;
    return;
  }
  domains_.push_back({&domain, 1});
  if (!domain.auto_progress()) // whose thread reports without being waited for
    wait_.add(domain.wait_source());
}

void Fabric::leave(Domain &domain) {
  const std::lock_guard lock(mutex_);
  const auto at = std::find_if(domains_.begin(), domains_.end(),
                               [&](const Driven &d) { return d.domain == &domain; });
  if (at == domains_.end() || --at->entered != 0)
    return;
  domains_.erase(at);
  wait_.remove(domain.wait_source());
}

int Fabric::start(engine::Endpoint &endpoint) {
  if (endpoint.has_device())
    if (const int rc = service_.start())
      return rc;
  listeners_.add(endpoint);
  listeners_wait_.attach(endpoint);
  return 0;
}

void Fabric::stop(engine::Endpoint &endpoint) {
  listeners_.remove(endpoint);
  listeners_wait_.detach(endpoint);
}

void Fabric::add_passive(PassiveEndpoint &pep) {
  const std::lock_guard lock(mutex_);
  passive_.push_back(&pep);
}

void Fabric::remove_passive(PassiveEndpoint &pep) {
  const std::lock_guard lock(mutex_);
  std::erase(passive_, &pep);
}

PassiveEndpoint *Fabric::find_passive(const struct fid *handle) {
  const std::lock_guard lock(mutex_);
  const auto at = std::find_if(passive_.begin(), passive_.end(),
                               [handle](PassiveEndpoint *pep) { return pep->handle() == handle; });
  return at == passive_.end() ? nullptr : *at;
}

void Fabric::keep(std::unique_ptr<Listener> listener) {
  const std::lock_guard lock(mutex_);
  kept_.push_back(std::move(listener));
}

void Fabric::reap() {
  std::vector<std::unique_ptr<Listener>> unneeded;
  {
    const std::lock_guard lock(mutex_);
    const auto end = std::partition(kept_.begin(), kept_.end(),
                                    [](const auto &listener) { return listener->needed(); });
    std::move(end, kept_.end(), std::back_inserter(unneeded));
    kept_.erase(end, kept_.end());
  }
}

int open_fabric(fi_fabric_attr *attr, fid_fabric **fabric, void *context) {
  if (!attr || !fabric)
    return -FI_EINVAL;
  return util_ext::guard([&] { return Fabric::open(*attr, fabric, context); });
}

} // namespace dpdkx
