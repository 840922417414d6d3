// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The two ways in which schedules run: as deferred work of the provider (offload), and by calls
// that make progress (function). A transport is a group's, a runner a request's. All of it under
// the group's mutex; what can't go on throws failure, which is the end of the group.
#pragma once

#include "collc/runtime/plan.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace collc::rt {

// What a rank tells the others of a tank: its path, and the name by which they add to it in even
// and odd epochs.
struct tank_name {
  std::int64_t path = 0;
  std::uint64_t key[2] = {};
};
// ... and of a buffer that they write to.
struct buffer_name {
  std::uint64_t key = 0, start = 0, length = 0;
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

  // What peers reach this rank's group by; all of them by rank.
  virtual std::uint64_t key() const = 0;
  virtual void meet(const std::vector<std::uint64_t> &keys) = 0;

  // `id` is the request's, the same on all ranks.
  virtual std::unique_ptr<runner> make(const plan &, std::uint32_t id) = 0;
  virtual std::uint64_t counters(const runner &) const = 0;

  virtual void progress() = 0;
  // Asks all peers for a sign of life. One that is dead shows in progress(), now or later.
  virtual void probe() = 0;
  // Tells all peers that this group has failed, as far as they can be reached. True: all is told.
  virtual bool alarm() noexcept = 0;

  // Nothing that has been sent is still under way, of what runners don't know of.
  virtual bool idle() const noexcept = 0;

  // Some runner has something left that could be done but for want of room.
  bool stalled = false;

protected:
  transport() = default;
};

} // namespace collc::rt
