// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/runtime/group.h"

#include "collc/runtime/function/function.h"
#include "collc/runtime/offload/offload.h"
#include "collc/runtime/registry.h"
#include "collc/runtime/request.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>

#include <fmt/format.h>

namespace collc::rt {

namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// What a group that has failed still does for others, and waits for, when it goes.
constexpr milliseconds farewell{1'000};

// What a rank tells of itself when a group is made.
struct introduction {
  outcome result;
  std::int64_t ranks = 0, rank = 0;
  std::int32_t mode = 0;
  std::uint32_t name_length = 0;
  std::uint64_t key = 0;
  std::array<char, 64> provider{};
  std::array<std::byte, 512> name{};
};

void check_alike(const std::vector<introduction> &all) {
  for (std::size_t r = 0; r < all.size(); ++r) {
    const introduction &i = all[r], &first = all[0];
    if (i.rank != static_cast<std::int64_t>(r) || i.ranks != static_cast<std::int64_t>(all.size()))
      fail(-FI_EINVAL, fmt::format("the exchange has rank {} of {} in place {} of {}", i.rank,
                                   i.ranks, r, all.size()));
    if (i.mode != first.mode)
      fail(-FI_EINVAL, fmt::format("the ranks' settings differ: mode of rank {} is {}, of rank 0 "
                                   "{}",
                                   r, i.mode, first.mode));
    if (i.result.code == 0 && first.result.code == 0 && i.provider != first.provider)
      fail(-FI_EINVAL, fmt::format("rank {} uses provider {}, rank 0 {}", r, i.provider.data(),
                                   first.provider.data()));
  }
}

} // namespace

group::group(const exchange &e, options o) : exchange_(e), options_(std::move(o)) {
  const bool choose = options_.mode == COLLC_RT_AUTO;
  std::optional<failure> missing = open(choose ? COLLC_RT_OFFLOAD : options_.mode);
  if (missing && choose) {
    // On all ranks: they have told each other.
    transport_.reset();
    fabric_.reset();
    missing = open(COLLC_RT_FUNCTION);
  }
  if (missing)
    throw failure(*missing);
}

// What some rank lacks for this mode, if anything; throws what no other mode would mend.
std::optional<failure> group::open(collc_rt_mode mode) {
  mode_ = mode;
  introduction mine;
  mine.ranks = ranks();
  mine.rank = rank();
  mine.mode = options_.mode;
  mine.result = outcome_of([&] {
    fabric_ = std::make_unique<rt::fabric>(options_, mode, ranks());
    if (mode == COLLC_RT_OFFLOAD)
      transport_ =
          std::make_unique<offload_transport>(*fabric_, ranks(), rank(), options_.most_works);
    else
      transport_ =
          std::make_unique<function_transport>(*fabric_, ranks(), rank(), options_.silence);
    mine.key = transport_->key();
    std::strncpy(mine.provider.data(), fabric_->provider(), mine.provider.size() - 1);
    const auto name = fabric_->name();
    if (name.size() > mine.name.size())
      rt::fail(-FI_EINVAL, fmt::format("the endpoint's address has {} bytes; allowed: {}",
                                       name.size(), mine.name.size()));
    std::ranges::copy(name, mine.name.begin());
    mine.name_length = static_cast<std::uint32_t>(name.size());
  });
  const auto all = exchange_.gather(mine);
  check_alike(all);
  try {
    exchange_.agree(all);
  } catch (const failure &f) {
    return f;
  }
  std::vector<std::uint64_t> keys;
  for (const introduction &i : all) {
    fabric_->insert(std::span(i.name).first(i.name_length));
    keys.push_back(i.key);
  }
  transport_->meet(keys);
  return std::nullopt;
}

group::~group() {
  leaving_.reset();
  drain(farewell);
  fabric_->close_endpoint();
}

void group::make_leaving() {
  collc_rt_collective barrier{};
  barrier.size = sizeof barrier;
  barrier.kind = COLLC_RT_BARRIER;
  barrier.algorithm = "barrier:dissemination";
  leaving_ = std::make_unique<request>(*this, &barrier);
  run_barrier("reached each other");
}

void group::check() const {
  if (failure_)
    throw failure(*failure_);
}

void group::fail(const failure &f) noexcept {
  if (failure_)
    return;
  failure_ = f;
  if (!gone_)
    transport_->alarm();
}

void group::add(request &) {
  ++requests_;
  active_.reserve(requests_);
}

void group::remove(request &r) noexcept {
  deactivate(r);
  --requests_;
}

void group::activate(request &r) {
  if (active_.empty())
    next_probe_ = clock::now() + options_.probe;
  active_.push_back(&r);
  ++active_everywhere();
}

void group::deactivate(request &r) noexcept { active_everywhere() -= std::erase(active_, &r); }

void group::progress() noexcept {
  if (fabric_->ep() == nullptr)
    return;
  try {
    transport_->progress();
    if (failure_) {
      if (!gone_)
        transport_->alarm();
      return;
    }
    if (transport_->stalled) {
      transport_->stalled = false;
      for (request *const r : active_)
        r->advance();
    }
    probe_when_due();
  } catch (const failure &f) {
    fail(f);
  }
  if (!retired_.empty())
    reap();
}

void group::probe_when_due() {
  if (active_.empty())
    return;
  const auto now = clock::now();
  if (now < next_probe_)
    return;
  next_probe_ = now + options_.probe;
  transport_->probe();
}

void group::retire(std::unique_ptr<runner> r, std::unique_ptr<plan> p) {
  if (!r)
    return;
  if (failure_)
    r->abandon();
  if (!r->quiet() && failure_ && fabric_->ep() != nullptr) {
    // What is under way may still read the caller's buffers, until the endpoint is closed.
    drain(farewell);
    fabric_->close_endpoint();
  }
  r->close_buffers();
  retired_.push_back({std::move(p), std::move(r)});
  reap();
}

// Those of which nothing is under way any more.
void group::reap() noexcept {
  std::erase_if(retired_,
                [this](const retired &r) { return fabric_->ep() == nullptr || r.how->quiet(); });
}

// Gives what has begun the time to end, and others to hear that this group has failed.
void group::drain(milliseconds limit) noexcept {
  const auto end = clock::now() + limit;
  while (fabric_->ep() != nullptr && clock::now() < end) {
    progress();
    const bool told = !failure_ || gone_ || transport_->alarm();
    if (told && transport_->idle() &&
        std::ranges::all_of(retired_, [](const retired &r) { return r.how->quiet(); }))
      return;
    std::this_thread::yield();
  }
}

// Nobody else knows of this group yet, or any more: no lock is needed.
void group::run_barrier(const char *what) {
  leaving_->start();
  const auto end = clock::now() + options_.leave;
  run([&] {
    while (!leaving_->test()) {
      progress();
      drive_others(this);
      if (clock::now() > end)
        rt::fail(-FI_ETIMEDOUT, fmt::format("not all ranks have {} within {} ms (leave_ms)", what,
                                            options_.leave.count()));
      std::this_thread::yield();
    }
  });
}

int group::leave(bool alone) {
  if (failure_ || alone)
    return 0;
  return guarded([&] {
    run_barrier("left the group");
    gone_ = true;
  });
}

void group::query(collc_rt_group_info &i) const {
  i.ranks = ranks();
  i.rank = rank();
  i.mode = mode_;
  i.error = failure_ ? failure_->code : 0;
  i.requests = requests_ - (leaving_ ? 1 : 0);
  i.active = active_.size();
  std::memset(i.provider, 0, sizeof i.provider);
  std::strncpy(i.provider, fabric_->provider(), sizeof i.provider - 1);
}

} // namespace collc::rt
