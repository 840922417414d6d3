// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/runtime/registry.h"

namespace collc::rt {

namespace {

struct registry {
  std::mutex mutex;
  std::vector<group *> groups;
  std::atomic<std::size_t> count{0};
};

// Never destroyed: a program may call from where it ends.
registry &all() {
  static registry &r = *new registry;
  return r;
}

} // namespace

void enlist(group &g) {
  registry &r = all();
  const std::lock_guard lock(r.mutex);
  r.groups.push_back(&g);
  r.count = r.groups.size();
}

void strike_off(group &g) {
  registry &r = all();
  const std::lock_guard lock(r.mutex);
  std::erase(r.groups, &g);
  r.count = r.groups.size();
}

void drive_others(const group *but) noexcept {
  registry &r = all();
  if (r.count.load(std::memory_order_relaxed) <= (but != nullptr ? 1u : 0u))
    return;
  const std::unique_lock lock(r.mutex, std::try_to_lock);
  if (!lock)
    return; // some other thread does
  for (group *const g : r.groups)
    if (g != but)
      if (const std::unique_lock own(g->mutex, std::try_to_lock); own)
        g->progress();
}

std::atomic<std::size_t> &active_everywhere() {
  static std::atomic<std::size_t> count{0};
  return count;
}

background_progress::background_progress() {
  if (active_everywhere() > 0)
    thread_ = std::thread([this] {
      while (!over_) {
        drive_others(nullptr);
        std::this_thread::sleep_for(std::chrono::microseconds(20));
      }
    });
}

background_progress::~background_progress() {
  over_ = true;
  if (thread_.joinable())
    thread_.join();
}

} // namespace collc::rt
