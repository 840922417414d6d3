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
// sees the flag (see flush()). That needs senders who fence: where some don't
// yet, they are made to, and the port lies down a while later.
bool HostPort::arm() {
  if (inherited())
    return true;
  look_at_sockets(); // and with it, empty them
  if (!events_.empty() || !ending_.empty() || !connecting_.empty() || !all_senders_fence())
    return false;
  for (const Watch &watch : watched_)
    set_sleep(*watch.path, Sleep::asleep);
  armed_ = true;
  full_fence();
  if (std::any_of(watched_.begin(), watched_.end(),
                  [](const Watch &watch) { return load_relaxed(watch.word) != 0; })) {
    disarm();
    return false;
  }
  return true;
}

// Who publishes and still sees polls_only doesn't fence: its datagram might become visible only
// after a look. The barrier makes it visible, but for one case: Linux leaves out a processor that
// has come from idling to a thread of the process that it ran before (an exit of a thread there, or
// a registration elsewhere, has cleared its mark). There, time does: a processor keeps a store to
// itself for less than a microsecond.
bool HostPort::all_senders_fence() {
  constexpr Duration a_while = std::chrono::microseconds(20);
  bool some_did_not = false;
  for (const Watch &watch : watched_)
    if (polls_only(*watch.path)) {
      set_sleep(*watch.path, Sleep::may_sleep);
      some_did_not = true;
    }
  polls_awake_ = 0;
  senders_fence_ = true;
  if (some_did_not) {
    if (!barrier_everywhere())
      needs_fence_ = true; // can't be, since registering worked; from now on they always do
    all_fence_at_ = SystemClock::instance().now() + a_while;
    return false;
  }
  return SystemClock::instance().now() >= all_fence_at_;
}

// A fence makes a sender wait for the line that it has just written, each time. So who polls on and
// on relieves senders of it, and pays for the next sleep with a barrier again; which reaches all
// processes of the host that use the link, and therefore must come less and less often.
void HostPort::poll_only_again() {
  constexpr std::uint32_t most = 1u << 26; // a second, and more
  polls_awake_ = 0;
  if (armed_ || needs_fence_)
    return;
  calm_polls_ = std::min(2 * calm_polls_, most);
  senders_fence_ = false;
  for (const Watch &watch : watched_)
    set_sleep(*watch.path, Sleep::polls_only);
}

void HostPort::disarm() {
  if (!armed_ || inherited())
    return;
  armed_ = false;
  for (const Watch &watch : watched_)
    if (!polls_only(*watch.path)) // accepted since: its sender doesn't fence so far
      set_sleep(*watch.path, Sleep::may_sleep);
  look_at_sockets(); // a wake left in a socket would make the next sleep short
}

} // namespace dpdkx::link::host
