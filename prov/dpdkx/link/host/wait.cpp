// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Sleeping until something arrives. The descriptor is the epoll set: a wake, a
// connection and a peer's end all make it readable.
#include "dpdkx/link/host/host_port.h"

#include <algorithm>

namespace dpdkx::link::host {

namespace {

void set_sleep(Path &path, Sleep sleep) {
  store_relaxed(path.own_sleep, static_cast<std::uint32_t>(sleep));
}

bool polls_only(const Path &path) {
  return load_relaxed(path.own_sleep) == static_cast<std::uint32_t>(Sleep::polls_only);
}

} // namespace

// First the flags, then a look at the rings: whoever publishes after the look
// sees the flag (see flush()). Senders fence only once they know that their
// receiver may sleep; the first time, the fence is made for them.
bool HostPort::arm() {
  if (inherited())
    return true;
  look_at_sockets(); // and with it, empty them
  if (!events_.empty() || !ending_.empty() || !connecting_.empty())
    return false;
  bool for_them = false;
  for (const Watch &watch : watched_) {
    for_them |= polls_only(*watch.path);
    set_sleep(*watch.path, Sleep::asleep);
  }
  armed_ = true;
  if (for_them && !barrier_everywhere()) {
    disarm(); // can't be, since registering worked; senders fence from now on
    return false;
  }
  full_fence();
  if (std::any_of(watched_.begin(), watched_.end(),
                  [](const Watch &watch) { return load_relaxed(watch.word) != 0; })) {
    disarm();
    return false;
  }
  return true;
}

void HostPort::disarm() {
  if (!armed_ || inherited())
    return;
  armed_ = false;
  for (const Watch &watch : watched_)
    if (!polls_only(*watch.path)) // accepted since: its sender still needs the first fence
      set_sleep(*watch.path, Sleep::may_sleep);
  look_at_sockets(); // a wake left in a socket would make the next sleep short
}

} // namespace dpdkx::link::host
