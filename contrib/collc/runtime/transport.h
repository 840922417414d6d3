// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The two ways in which schedules run: as deferred work of the provider (offload), and by calls
// that make progress (function). A transport is a group's, a runner a request's. All of it under
// the group's mutex; what can't go on throws failure, which is the end of the group.
#pragma once

#include "collc/runtime/plan.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace collc::rt {

// What a rank tells the others of a tank: its path, and the name by which they add to it, by turn.
struct tank_name {
  std::int64_t path = 0;
  std::uint64_t key[plan::most_turns] = {};
};
// ... and of a buffer that they write to: see memory.
struct buffer_name {
  std::uint64_t key = 0, start = 0, stride = 0;
};
struct runner_names {
  std::vector<tank_name> tanks;
  std::vector<buffer_name> buffers; // from plan::first_target on
};

class runner {
public:
  virtual ~runner() = default;
  runner(const runner &) = delete;

  virtual const runner_names &names() const = 0;
  // Of all ranks, by rank.
  virtual void connect(const std::vector<runner_names> &all) = 0;

  // Begins an epoch, the one after the last of which complete() said so. Allocates nothing.
  virtual void start() = 0;
  // Whether all has come, and all has left. The tanks are empty then.
  virtual bool complete() = 0;
  // Does what could not be done before, for want of room; what still can't makes the transport
  // stalled. Allocates nothing.
  virtual void advance() = 0;

  // Peers can't touch the caller's buffers any more.
  virtual void close_buffers() noexcept = 0;
  // Nothing of it is under way. It may be destroyed then, or when the endpoint is closed.
  virtual bool quiet() noexcept = 0;
  // Nothing more of it begins.
  virtual void abandon() noexcept = 0;

protected:
  runner() = default;
};

class transport {
public:
  virtual ~transport() = default;
  transport(const transport &) = delete;

  [[nodiscard]] std::int64_t rank() const { return rank_; }

  // What peers reach this rank's group by; all of them by rank.
  virtual std::uint64_t key() const = 0;
  virtual void meet(const std::vector<std::uint64_t> &keys) = 0;

  // `id` is the request's, the same on all ranks.
  virtual std::unique_ptr<runner> make(const plan &, std::uint32_t id) = 0;
  virtual std::uint64_t counters(const runner &) const = 0;

  virtual void progress() = 0;
  // Asks the next peers in turn for a sign of life; each rank begins with those that follow it. One
  // that is dead shows in progress(), now or later.
  void probe() {
    for (std::int64_t i = std::min(ranks_ - 1, probes_at_once); i > 0; --i) {
      if (!probe(next_probed_))
        return; // no room: this one the next time
      do
        next_probed_ = (next_probed_ + 1) % ranks_;
      while (next_probed_ == rank_);
    }
  }
  // Tells all peers that this group has failed, as far as they can be reached. True: all is told.
  virtual bool alarm() noexcept = 0;

  // Nothing that has been sent is still under way, of what runners don't know of.
  virtual bool idle() const noexcept = 0;

  // Some runner has something left that could be done but for want of room.
  bool stalled = false;

protected:
  transport(std::int64_t ranks, std::int64_t rank)
      : ranks_(ranks), rank_(rank), next_probed_((rank + 1) % ranks) {}

  // False: there is no room now.
  virtual bool probe(std::int64_t peer) = 0;

  const std::int64_t ranks_, rank_;

private:
  // Few, as each peer that is asked is a connection; others ask others.
  static constexpr std::int64_t probes_at_once = 16;

  std::int64_t next_probed_;
};

} // namespace collc::rt
