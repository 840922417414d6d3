// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// For a table whose entries are used without its lock: whoever takes one out
// waits until nobody uses it any more.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace util_ext {

class Pins {
public:
  using Count = std::size_t; // an entry's: how often it is in use; atomic

  // Under the table's lock, under which the entry was found.
  static void pin(Count &count) noexcept { std::atomic_ref(count).fetch_add(1); }
  // Without it. Nobody owns the entry any more after the last of them; the table lives on.
  void unpin(Count &count, std::mutex &table) noexcept {
    if (std::atomic_ref(count).fetch_sub(1) == 1 && waiting_.load() != 0) {
      const std::lock_guard lock(table);
      idle_.notify_all();
    }
  }
  // With the table's lock, which is let go of meanwhile. The entry can't be found any more.
  void wait(Count &count, std::unique_lock<std::mutex> &table) noexcept {
    ++waiting_;
    idle_.wait(table, [&] { return std::atomic_ref(count).load() == 0; });
    --waiting_;
  }

private:
  std::condition_variable idle_;        // some entry is not in use any more
  std::atomic<std::size_t> waiting_{0}; // who waits for that
};

} // namespace util_ext
