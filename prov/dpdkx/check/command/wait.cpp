// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/check/command/wait.h"

#include <algorithm>
#include <ctime>
#include <poll.h>
#include <sched.h>

namespace dpdkx::check {

namespace {

constexpr Duration polls_for = std::chrono::milliseconds(2);
constexpr Duration longest = std::chrono::milliseconds(20); // devices have timers of their own
constexpr Duration blind = std::chrono::microseconds(200);  // where a port can't wake us

timespec to_timespec(Duration d) {
  return {static_cast<time_t>(d.count() / 1'000'000'000),
          static_cast<long>(d.count() % 1'000'000'000)};
}

} // namespace

void Wait::after_turn(bool did, Time now) {
  if (did)
    busy_at_ = now;
  if (busy_at_ != Time::min() && now - busy_at_ < polls_for) {
    sched_yield();
    return;
  }
  const Time due = run_.due();
  const Duration most = fds_.empty() ? blind : longest;
  if (due > now)
    sleep(due == never ? most : std::min(most, due - now));
}

void Wait::sleep(Duration limit) {
  const timespec timeout = to_timespec(limit);
  if (fds_.empty()) {
    nanosleep(&timeout, nullptr);
    return;
  }
  std::vector<pollfd> wait;
  for (const int fd : fds_)
    wait.push_back({fd, POLLIN, 0});
  if (run_.arm())
    (void)ppoll(wait.data(), wait.size(), &timeout, nullptr);
  run_.disarm();
}

} // namespace dpdkx::check
