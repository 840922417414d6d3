// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// All groups of the process: whoever waits for one drives the others too, as its peers may wait for
// what this process owes them there.
#pragma once

#include "collc/runtime/group.h"

#include <atomic>
#include <thread>

namespace collc::rt {

void enlist(group &);
void strike_off(group &); // waits for those who drive it
// All but that one, which may be null; those that other threads are busy with are left to them.
void drive_others(const group *but) noexcept;

// Requests that are active, in all groups.
std::atomic<std::size_t> &active_everywhere();

// A thread that drives all groups as long as this lives, where any request is active.
class background_progress {
public:
  background_progress();
  ~background_progress();
  background_progress(const background_progress &) = delete;

private:
  std::atomic<bool> over_{false};
  std::thread thread_;
};

} // namespace collc::rt
