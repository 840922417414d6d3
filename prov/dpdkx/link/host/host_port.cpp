// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/host/host_port.h"

#include "dpdkx/base/log.h"
#include "dpdkx/link/host/pull.h"

#include <cstring>
#include <poll.h>

namespace dpdkx::link::host {

TxRoom HostPort::reserve(PathId id, std::uint32_t len) {
  if (inherited()) [[unlikely]]
    return {};
  Path &to = path(id);
  if (to.state != Path::State::open) [[unlikely]]
    return {};
  std::byte *const data = to.tx.reserve(len);
  if (data == nullptr) [[unlikely]] {
    if (to.tx.corrupt())
      break_path(to, "the head of a ring");
    ++counters_.tx_refused;
    return {};
  }
  return {data, len, &to};
}

void HostPort::commit(PathId, const TxRoom &room, std::uint32_t len) {
  Path &to = *static_cast<Path *>(room.handle);
  to.tx.commit(len);
  ++counters_.tx_datagrams;
  counters_.tx_bytes += len;
  to_flush(to);
}

void HostPort::to_flush(Path &path) {
  if (path.unflushed)
    return;
  path.unflushed = true;
  unflushed_.push_back(&path);
}

void HostPort::tell(PathId id, std::uint64_t word) {
  if (inherited()) [[unlikely]]
    return;
  Path &to = path(id);
  if (to.state != Path::State::open) [[unlikely]]
    return;
  to.rx.tell(word);
  to_flush(to);
}

std::uint64_t HostPort::told(PathId id) const {
  if (inherited()) [[unlikely]]
    return 0;
  const Path &from = path(id);
  return from.state == Path::State::connecting ? 0 : from.tx.told();
}

// Datagrams and words are visible already. What is left to do is to wake
// receivers that sleep: they set their flag and then look at the ring, while
// this side has filled the ring and now looks at the flag. Each must have its
// store done before its load, or both could miss the other. A receiver that
// polls_only takes the cost of that upon itself before it sleeps.
void HostPort::flush() {
  if (inherited()) [[unlikely]]
    return;
  compiler_fence();
  bool fenced = false;
  for (Path *const to : unflushed_) {
    to->unflushed = false;
    if (load_relaxed(to->peer_sleep) == static_cast<std::uint32_t>(Sleep::polls_only) &&
        !needs_fence_) [[likely]]
      continue;
    if (!fenced) {
      full_fence();
      ++counters_.tx_fences;
    }
    fenced = true;
    wake_if_asleep(*to);
  }
  unflushed_.clear();
}

void HostPort::wake_if_asleep(Path &to) {
  auto asleep = static_cast<std::uint32_t>(Sleep::asleep);
  if (load_relaxed(to.peer_sleep) != asleep)
    return;
  // Takes the flag back, so that one sleep costs one wake.
  if (std::atomic_ref(*to.peer_sleep)
          .compare_exchange_strong(asleep, static_cast<std::uint32_t>(Sleep::may_sleep)) &&
      to.socket)
    send_wake(to.socket);
}

// A path that is full of datagrams must not keep others waiting: a call that
// stops for want of room in `out` makes the next begin behind that path.
unsigned HostPort::poll(RxDatagram *out, unsigned max) {
  if (inherited()) [[unlikely]]
    return 0;
  if (senders_fence_ && ++polls_awake_ >= calm_polls_) [[unlikely]]
    poll_only_again();
  const auto count = static_cast<std::uint32_t>(watched_.size());
  std::uint32_t at = next_watch_ < count ? next_watch_ : 0;
  unsigned n = 0;
  for (std::uint32_t left = count; left != 0 && n < max; --left) {
    Watch &watch = watched_[at];
    if (load_relaxed(watch.word) != 0)
      n += drain(watch, out + n, max - n);
    if (++at == count)
      at = 0;
  }
  next_watch_ = at;
  return n;
}

unsigned HostPort::drain(Watch &watch, RxDatagram *out, unsigned max) {
  Path &from = *watch.path;
  if (from.broken)
    return 0;
  unsigned n = 0;
  auto next = RingConsumer::Next::none;
  while (n < max &&
         (next = from.rx.next(out[n].data, out[n].len)) == RingConsumer::Next::datagram) {
    out[n].path = from.id;
    out[n].handle = &from;
    counters_.rx_bytes += out[n].len;
    ++n;
  }
  watch.word = from.rx.watch();
  counters_.rx_datagrams += n;
  if (n != 0 && !from.unreleased) {
    from.unreleased = true;
    unreleased_.push_back(&from);
  }
  if (next == RingConsumer::Next::corrupt) [[unlikely]]
    break_path(from, "a record of a ring");
  return n;
}

void HostPort::release(RxDatagram *, unsigned) {
  if (inherited()) [[unlikely]]
    return;
  for (Path *const from : unreleased_) {
    from->unreleased = false;
    from->rx.release();
  }
  unreleased_.clear();
}

void HostPort::break_path(Path &path, const char *what) {
  if (path.broken)
    return;
  path.broken = true;
  ++counters_.rx_dropped;
  log(LogLevel::warn, [&] {
    return "host link: " + to_string(path.peer) + " (process " + std::to_string(path.who.pid) +
           ") wrote over " + what + " shared with " + to_string(bound_) +
           ": the path to it is given up";
  });
  end_path(path, -EPROTO);
}

void HostPort::reply(const RxDatagram &to, std::span<const std::byte> bytes) {
  const TxRoom room = reserve(to.path, static_cast<std::uint32_t>(bytes.size()));
  if (room.data == nullptr)
    return;
  std::memcpy(room.data, bytes.data(), bytes.size());
  commit(to.path, room, static_cast<std::uint32_t>(bytes.size()));
  flush();
}

int HostPort::pull(PathId id, std::span<const iovec> local, std::span<const iovec> remote) {
  if (inherited())
    return -ESRCH;
  Path &from = path(id);
  if (from.state != Path::State::open)
    return -ESRCH;
  if (from.who.pid == own_pid_)
    return pull_here(local, remote);
  if (from.who.pid == 0 || from.pull_forbidden)
    return -EPERM;
  const int result = pull_from(from.who.pid, local, remote);
  if (result == -EPERM) {
    from.pull_forbidden = true;
    log(LogLevel::info, [&from] {
      return "host link: this system doesn't allow reading the memory of process " +
             std::to_string(from.who.pid) + "; large messages are sent in pieces";
    });
  }
  // The number may have passed to another process: not if the peer still lives.
  pollfd ends[] = {{from.socket.get(), POLLRDHUP, 0}, {from.process.get(), POLLIN, 0}};
  if (result == 0 && ::poll(ends, 2, 0) > 0)
    return -ESRCH;
  return result;
}

} // namespace dpdkx::link::host
