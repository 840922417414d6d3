// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/runtime/request.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace collc::rt {

// What a rank tells of itself first: whether it has what it needs, and what the request is.
struct request::introduction {
  outcome result;
  std::uint32_t id = 0;
  std::uint64_t digests[plan::digest_count] = {};
  std::uint64_t tanks = 0, buffers = 0;
};

request::request(group &g, const collc_rt_collective *asked) : group_(g) {
  outcome own;
  {
    const std::lock_guard lock(g.mutex);
    const std::uint32_t id = g.next_id();
    own = outcome_of([&] {
      g.check();
      plan_ =
          std::make_unique<plan>(read_collective(asked, g.ranks(), g.rank()), g.ranks(), g.rank());
      runner_ = g.transport().make(*plan_, id);
    });
  }
  try {
    introduce(own);
    connect();
  } catch (...) {
    const std::lock_guard lock(g.mutex);
    runner_.reset();
    throw;
  }
  const std::lock_guard lock(g.mutex);
  g.add(*this);
}

request::~request() {
  const std::lock_guard lock(group_.mutex);
  group_.remove(*this);
  group_.retire(std::move(runner_), std::move(plan_));
}

void request::introduce(outcome own) {
  introduction mine;
  mine.result = own;
  if (runner_) {
    std::ranges::copy(plan_->digests(), mine.digests);
    mine.tanks = runner_->names().tanks.size();
    mine.buffers = runner_->names().buffers.size();
  }
  const auto all = group_.peers().gather(mine);
  group_.peers().agree(all);
  for (std::size_t r = 1; r < all.size(); ++r)
    for (std::size_t d = 0; d < plan::digest_count; ++d)
      if (all[r].digests[d] != all[0].digests[d])
        fail(-FI_EINVAL, fmt::format("the ranks' requests differ: {} of rank {} is not that of "
                                     "rank 0",
                                     plan::digest_name(d), r));
  for (const introduction &i : all) {
    most_tanks_ = std::max(most_tanks_, i.tanks);
    most_buffers_ = std::max(most_buffers_, i.buffers);
  }
}

namespace {

template <class T> std::byte *put(std::byte *at, const std::vector<T> &what) {
  const auto bytes = std::as_bytes(std::span(what));
  return std::ranges::copy(bytes, at).out;
}

template <class T> const std::byte *take(const std::byte *at, std::vector<T> &what) {
  const auto bytes = std::as_writable_bytes(std::span(what));
  std::copy_n(at, bytes.size(), bytes.begin());
  return at + bytes.size();
}

} // namespace

// All names, in as much room as the rank with most of them needs.
void request::connect() {
  const auto ranks = static_cast<std::size_t>(group_.ranks());
  runner_names own = runner_->names();
  own.tanks.resize(most_tanks_, {-1, {}});
  own.buffers.resize(most_buffers_);
  std::vector<std::byte> mine(most_tanks_ * sizeof(tank_name) +
                              most_buffers_ * sizeof(buffer_name)),
      all(mine.size() * ranks);
  put(put(mine.data(), own.tanks), own.buffers);
  if (!mine.empty())
    group_.peers().gather(mine, all);

  std::vector<runner_names> names(ranks, own);
  const std::byte *from = all.data();
  for (std::size_t r = 0; r < ranks; ++r) {
    from = take(take(from, names[r].tanks), names[r].buffers);
    // All ranks see the same, and answer the same.
    if (!std::ranges::equal(names[r].tanks, names[0].tanks, {}, &tank_name::path, &tank_name::path))
      fail(-FI_ENOSYS,
           fmt::format("algorithm {}: ranks 0 and {} have different paths", plan_->name(), r));
  }
  const std::lock_guard lock(group_.mutex);
  runner_->connect(names);
}

void request::start() {
  group_.check();
  if (active_)
    fail(-FI_EBUSY, fmt::format("{} is active: it has been started, and not completed by "
                                "collc_rt_wait or collc_rt_test",
                                plan_->name()));
  ++starts_;
  plan_->copy_at_start(turn());
  active_ = true;
  group_.activate(*this);
  group_.run([&] { runner_->start(); });
}

bool request::test() {
  if (!active_)
    return true;
  try {
    group_.check();
    bool over = false;
    group_.run([&] { over = runner_->complete(); });
    if (!over)
      return false;
  } catch (const failure &) {
    active_ = false;
    group_.deactivate(*this);
    throw;
  }
  plan_->copy_at_finish(turn());
  active_ = false;
  group_.deactivate(*this);
  return true;
}

void request::query(collc_rt_request_info &i) const {
  i.active = active_ ? 1 : 0;
  i.starts = starts_;
  i.works = plan_->works().size();
  i.counters = group_.transport().counters(*runner_);
  const std::string &name = plan_->name();
  const std::size_t most = sizeof i.algorithm - 1, length = std::min(name.size(), most);
  std::memset(i.algorithm, 0, sizeof i.algorithm);
  std::memcpy(i.algorithm, name.data() + name.size() - length, length);
}

} // namespace collc::rt
