// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A request's epochs. Its counters only grow: what is waited for is so much more than before.
#include "collc/runtime/error.h"
#include "collc/runtime/offload/offload.h"

#include <algorithm>

#include <fmt/format.h>

namespace collc::rt {

void offload_runner::start() {
  ++epoch_;
  for (tank &k : tanks_) {
    k.over = false;
    const std::uint64_t start = k.start + (epoch_ <= k.ahead ? k.told : 0);
    if (start != 0)
      check_call("fi_cntr_add", fi_cntr_add(k.cntr[plan_.turn(epoch_)].get(), start));
  }
  queued_ = 0;
  queue();
}

std::uint64_t offload_runner::under_way() const noexcept {
  std::uint64_t all = transfers_.under_way();
  for (const completions &c : moves_)
    if (c.cntr)
      all += c.under_way();
  return all;
}

void offload_runner::queue() {
  entries &all = current();
  const std::uint64_t most = transport_.most_works();
  while (queued_ < all.size()) {
    entry &e = all[queued_];
    const bool full = most != 0 && under_way() >= most;
    const int rc = full || transport_.room() == 0
                       ? -FI_EAGAIN
                       : fi_control(&transport_.on().domain()->fid, FI_QUEUE_WORK, &e.work);
    if (rc == -FI_EAGAIN) {
      transport_.stalled = true;
      return;
    }
    check_call("FI_QUEUE_WORK", rc);
    ++queued_;
    if (e.counted != nullptr)
      ++e.counted->awaited;
  }
}

void offload_runner::advance() {
  queue();
  check_errors();
}

void offload_runner::check_errors() const {
  const auto failed = [](const completions &c) {
    return c.cntr && fi_cntr_readerr(c.cntr.get()) != 0;
  };
  if (failed(transfers_) || std::ranges::any_of(moves_, failed))
    fail(-FI_EIO, fmt::format("{}: a transfer to another rank has failed", plan_.name()));
}

bool offload_runner::complete() {
  constexpr unsigned looks_between_errors = 16;
  queue();
  if (over())
    return true;
  if (++looks_ % looks_between_errors == 0)
    check_errors();
  return false;
}

// Each look at a counter makes the provider turn once: there are as few as will do.
bool offload_runner::over() {
  if (queued_ < current().size() || !transfers_.all())
    return false;
  bool all = true;
  for (tank &k : tanks_) {
    fid_cntr *const level = k.cntr[plan_.turn(epoch_)].get();
    if (!k.over && fi_cntr_read(level) >= k.full) {
      check_call("fi_cntr_add", fi_cntr_add(level, 0 - k.full));
      k.over = true;
    }
    all = all && k.over;
  }
  // The memory of that epoch is free then.
  return all && (!plan_.lands() || epoch_ <= plan_.lag() ||
                 moves_[plan_.turn(epoch_ - plan_.lag())].all());
}

bool offload_runner::quiet() noexcept { return under_way() == 0; }

// Works that have not fired never complete: what is under way is then unknown, until the endpoint
// is closed.
void offload_runner::abandon() noexcept {
  for (const tank &k : tanks_)
    for (const auto &c : k.cntr)
      if (c)
        fi_control(&transport_.on().domain()->fid, FI_FLUSH_WORK, c.get());
}

// Where data land, the caller's buffers aren't open to anybody; what is may still be sent from.
void offload_runner::close_buffers() noexcept {
  if (!plan_.lands())
    regions_.clear();
}

} // namespace collc::rt
