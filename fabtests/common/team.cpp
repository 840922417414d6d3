// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "team.h"

#include "check.h"
#include "progress.h"

#include <poll.h>
#include <sched.h>
#include <unistd.h>

namespace fabtest {

team::team(int rank, int size, channel to_hub)
    : rank_(rank), size_(size), hub_(std::move(to_hub)) {}

std::vector<bytes> team::allgather(std::span<const std::byte> mine) {
  hub_.send(frame_kind::gather, rank_, mine);
  return await_parts(true);
}

void team::barrier_without_progress() {
  hub_.send(frame_kind::gather, rank_, {});
  await_parts(false);
}

std::vector<bytes> team::await_parts(bool progress) {
  pollfd p{hub_.fd(), POLLIN, 0};
  while (progress && poll(&p, 1, 0) == 0) {
    drive_progress();
    sched_yield();
  }
  const auto f = hub_.receive();
  if (!f)
    fail("the launcher is gone");
  return unpack(f->body);
}

std::vector<pid_t> team::pids() { return exchange<pid_t>(getpid()); }

void team::report(bool passed, bool skipped, const std::string &text) {
  bytes body = to_bytes(text);
  body.insert(body.begin(), static_cast<std::byte>(passed ? 0 : skipped ? 1 : 2));
  hub_.send(frame_kind::result, rank_, body);
}

} // namespace fabtest
