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
    if (k.start != 0)
      check_call("fi_cntr_add", fi_cntr_add(k.cntr[epoch_ % 2].get(), k.start));
  }
  queued_ = 0;
  queue();
}

std::uint64_t offload_runner::ended() const noexcept {
  return fi_cntr_read(transfers_.get()) + fi_cntr_readerr(transfers_.get());
}

void offload_runner::queue() {
  entries &all = current();
  const std::uint64_t most = transport_.most_works();
  while (queued_ < all.size()) {
    entry &e = all[queued_];
    const bool full = most != 0 && awaited_ - ended() >= most;
    const int rc = full || transport_.room() == 0
                       ? -FI_EAGAIN
                       : fi_control(&transport_.on().domain()->fid, FI_QUEUE_WORK, &e.work);
    if (rc == -FI_EAGAIN) {
      transport_.stalled = true;
      return;
    }
    check_call("FI_QUEUE_WORK", rc);
    ++queued_;
    if (e.work.completion_cntr != nullptr)
      ++awaited_;
  }
}

void offload_runner::advance() {
  queue();
  check_errors();
}

void offload_runner::check_errors() const {
  if (fi_cntr_readerr(transfers_.get()) != 0)
    fail(-FI_EIO, fmt::format("{}: a transfer to another rank has failed", plan_.name()));
}

// Each look at a counter makes the provider turn once: there are as few as will do.
bool offload_runner::complete() {
  constexpr unsigned looks_between_errors = 16;
  queue();
  const bool left = queued_ == current().size() && fi_cntr_read(transfers_.get()) == awaited_;
  if (!left) {
    if (++looks_ % looks_between_errors == 0)
      check_errors();
    return false;
  }
  bool all = true;
  for (tank &k : tanks_) {
    fid_cntr *const level = k.cntr[epoch_ % 2].get();
    if (!k.over && fi_cntr_read(level) >= k.full) {
      check_call("fi_cntr_add", fi_cntr_add(level, 0 - k.full));
      k.over = true;
    }
    all = all && k.over;
  }
  return all;
}

bool offload_runner::quiet() noexcept { return ended() >= awaited_; }

// Works that have not fired never complete: what is under way is then unknown, until the endpoint
// is closed.
void offload_runner::abandon() noexcept {
  for (const tank &k : tanks_)
    for (const auto &c : k.cntr)
      if (c)
        fi_control(&transport_.on().domain()->fid, FI_FLUSH_WORK, c.get());
}

void offload_runner::close_buffers() noexcept { regions_.clear(); }

} // namespace collc::rt
