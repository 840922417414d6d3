// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What comes over sockets: connections, wakes, and the ends of peers. Looked at
// once a millisecond, since a system call in every turn would cost more than
// the turn.
#include "dpdkx/link/host/host_port.h"

#include "dpdkx/base/log.h"
#include "dpdkx/base/room.h"
#include "dpdkx/link/host/names.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace dpdkx::link::host {

namespace {

constexpr Duration look_every = std::chrono::milliseconds(1);
constexpr Duration look_every_connecting = std::chrono::microseconds(50);
constexpr Duration look_every_greeting = std::chrono::milliseconds(1);
constexpr Duration hello_within = std::chrono::seconds(10);
constexpr unsigned notes_per_look = 32; // of one peer
constexpr unsigned guests_per_look = 64;
constexpr int max_errno = 4095;               // Linux's largest
constexpr std::uint32_t refusals_to_log = 10; // then silence: a peer could fill a disk

std::uint64_t tag(std::uint32_t source, std::uint32_t index) {
  return std::uint64_t{source} << 32 | index;
}

} // namespace

unsigned HostPort::poll_events(PathEvent *out, unsigned max, Time now) {
  if (inherited()) [[unlikely]]
    return 0;
  if (now >= next_look_)
    look(now);
  if (!ending_.empty())
    settle_ending();
  const auto n = static_cast<unsigned>(std::min<std::size_t>(max, events_.size()));
  std::copy_n(events_.begin(), n, out);
  events_.erase(events_.begin(), events_.begin() + n);
  for (unsigned i = 0; i < n; ++i)
    if (out[i].kind == PathEventKind::accepted)
      start_watching(path(out[i].path)); // no datagram comes before its path is known
  return n;
}

bool HostPort::lives(PathId id, Time now) {
  if (inherited()) [[unlikely]]
    return false;
  Path &of = path(id);
  if (now - of.looked_at >= look_every) [[unlikely]]
    look_at(of, now);
  return of.state == Path::State::open || of.tx.drained();
}

void HostPort::look_at(Path &path, Time now) {
  path.looked_at = now;
  pollfd ends[] = {{path.socket.get(), POLLRDHUP, 0}, {path.process.get(), POLLIN, 0}};
  if (::poll(ends, 2, 0) <= 0)
    return;
  if (ends[0].revents)
    hear_peer(path);
  if (ends[1].revents)
    end_path(path, -ECONNRESET);
}

void HostPort::look(Time now) {
  now_ = now;
  next_look_ = now + look_every;
  look_at_sockets();
  if (!connecting_.empty())
    retry_connecting();
  if (!guests_.empty())
    expire_guests(now);
  if (now >= next_trim_) {
    trim_idle();
    next_trim_ = now + options_.idle_trim;
  }
}

void HostPort::look_at_sockets() {
  epoll_event found[64];
  const int n = epoll_wait(epoll_.get(), found, std::size(found), 0);
  for (int i = 0; i < n; ++i) {
    const auto index = static_cast<std::uint32_t>(found[i].data.u64);
    switch (static_cast<Source>(found[i].data.u64 >> 32)) {
    case Source::listener:
      accept_guests();
      break;
    case Source::guest:
      hear_guest(index);
      break;
    case Source::socket:
      hear_peer(*paths_[index]);
      break;
    case Source::process:
      end_path(*paths_[index], -ECONNRESET);
      break;
    }
  }
  if (n == static_cast<int>(std::size(found)))
    next_look_ = now_; // there may be more
}

int HostPort::add_to_epoll(const Fd &fd, Source source, std::uint32_t index) {
  if (!fd)
    return 0;
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = tag(static_cast<std::uint32_t>(source), index);
  return epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd.get(), &event) == 0 ? 0 : -errno;
}

// Closing isn't enough while some child holds a copy.
void HostPort::take_from_epoll(const Fd &fd) {
  if (fd)
    epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd.get(), nullptr);
}

void HostPort::accept_guests() {
  for (unsigned i = 0; i < guests_per_look; ++i) {
    Guest guest;
    {
      const ForkHold hold;
      guest.socket =
          Fd(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC), hold);
    }
    if (!guest.socket) {
      if (guest.socket.error() == -EMFILE || guest.socket.error() == -ENFILE)
        refuse_for_want_of_descriptors();
      return;
    }
    if (identify(guest.socket, guest.who) != 0)
      continue;
    if (guest.who.uid != geteuid()) {
      refuse(guest, -EPERM, "it belongs to another user");
      continue;
    }
    guest.deadline = now_ + hello_within;
    auto slot =
        std::find_if(guests_.begin(), guests_.end(), [](const Guest &g) { return !g.socket; });
    if (slot == guests_.end()) {
      if (!make_room(guests_, guests_.size() + 1)) {
        refuse(guest, -ENOMEM, "no memory");
        continue;
      }
      slot = guests_.emplace(guests_.end());
    }
    *slot = std::move(guest);
    const auto index = static_cast<std::uint32_t>(slot - guests_.begin());
    if (add_to_epoll(slot->socket, Source::guest, index) == 0)
      hear_guest(index); // as a rule its Hello is there already
    else
      slot->socket.reset();
  }
}

// A connection left waiting would keep the port from ever sleeping again, and
// its opener in hope.
void HostPort::refuse_for_want_of_descriptors() {
  spare_.reset();
  Guest guest;
  {
    const ForkHold hold;
    guest.socket =
        Fd(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC), hold);
  }
  if (guest.socket && identify(guest.socket, guest.who) == 0)
    refuse(guest, -EMFILE, "too many open files (RLIMIT_NOFILE)");
  guest.socket.reset();
  take_spare();
}

// One that needs no file, as there may be no /dev.
void HostPort::take_spare() {
  const ForkHold hold;
  spare_ = Fd(eventfd(0, EFD_CLOEXEC), hold);
}

void HostPort::refuse(const Guest &guest, int status, const char *why) {
  send_welcome(guest.socket, status);
  ++counters_.rx_dropped;
  if (++refusals_logged_ > refusals_to_log)
    return;
  log(LogLevel::warn, [&] {
    return "host link: " + to_string(bound_) + " refuses a connection from process " +
           std::to_string(guest.who.pid) + " of user " + std::to_string(guest.who.uid) + ": " + why;
  });
}

void HostPort::hear_guest(std::uint32_t slot) {
  Guest guest = std::move(guests_[slot]);
  Hello hello;
  Fd memfd;
  int result = receive_hello(guest.socket, hello, memfd);
  if (result == -EAGAIN) {
    guests_[slot] = std::move(guest);
    return;
  }
  take_from_epoll(guest.socket);
  if (result == -ECONNRESET) // changed its mind
    return;
  const char *why = "it doesn't speak the host link's protocol";
  if (result == 0) {
    why = hello_fault(hello, result);
    if (why == nullptr) {
      result = admit(guest, hello, memfd);
      why = "its memory can't be mapped, or is not as it must be";
    }
  }
  if (result == -EMFILE)
    why = "too many open files (RLIMIT_NOFILE)";
  if (result != 0)
    refuse(guest, result, why);
}

int HostPort::admit(Guest &guest, const Hello &hello, const Fd &memfd) {
  Segment segment;
  if (const int result = Segment::attach(memfd, hello.ring_bytes, segment); result != 0)
    return result;
  Fd process;
  if (guest.who.pid != own_pid_)
    process = watch_process(guest.socket, guest.who);
  if (process.error() == -EMFILE)
    return -EMFILE;

  Address peer;
  std::memcpy(peer.ip.data(), hello.ip, peer.ip.size());
  peer.port = hello.port;
  Path *const added = add_path(peer);
  if (added == nullptr)
    return -ENOMEM;
  Path &path = *added;
  path.end = End::acceptor;
  path.segment = std::move(segment);
  path.socket = std::move(guest.socket);
  path.process = std::move(process);
  path.who = guest.who;
  attach(path, hello.start[static_cast<int>(End::acceptor)],
         hello.start[static_cast<int>(End::opener)], hello.max_datagram);
  if (const int result = listen_to_peer(path); result != 0) {
    guest.socket = std::move(path.socket);
    remove_path(path);
    return result;
  }
  path.state = Path::State::open;
  send_welcome(path.socket, 0);
  events_.push_back({PathEventKind::accepted, path.id});
  return 0;
}

void HostPort::expire_guests(Time now) {
  for (Guest &guest : guests_)
    if (guest.socket && now >= guest.deadline) {
      take_from_epoll(guest.socket);
      refuse(guest, -ETIMEDOUT, "it has said nothing for 10 s");
      guest.socket.reset();
    }
  while (!guests_.empty() && !guests_.back().socket)
    guests_.pop_back();
}

void HostPort::hear_peer(Path &path) {
  if (path.state != Path::State::open)
    return;
  for (unsigned i = 0; i < notes_per_look; ++i) {
    Welcome welcome;
    switch (receive_note(path.socket, welcome)) {
    case Note::none:
      return;
    case Note::wake: // has done its work
      break;
    case Note::welcome:
      if (welcome.status == 0)
        break;
      refused_by_peer(path, welcome.status);
      return;
    case Note::closed:
      end_path(path, -ECONNRESET);
      return;
    }
  }
}

void HostPort::refused_by_peer(Path &path, std::int32_t status) {
  if (status > 0 || status < -max_errno)
    status = -EPROTO;
  log(LogLevel::warn, [&] {
    return "host link: " + to_string(path.peer) + " refuses a path from " + to_string(bound_) +
           ": " + std::strerror(-status);
  });
  end_path(path, status);
}

// The peer's part is over. Its descriptors go at once; the rings stay until
// what lies in them has been polled.
void HostPort::end_path(Path &path, int error) {
  if (path.state != Path::State::open)
    return;
  path.state = Path::State::ending;
  path.end_error = error;
  part_from_peer(path);
  ending_.push_back(&path);
}

void HostPort::settle_ending() {
  std::erase_if(ending_, [&](Path *path) {
    if (!path->rx.released() || (!path->broken && !path->rx.empty()))
      return false;
    path->state = Path::State::ended;
    stop_watching(*path);
    events_.push_back({PathEventKind::peer_gone, path->id, path->end_error});
    return true;
  });
}

void HostPort::retry_connecting() {
  std::erase_if(connecting_, [this](Path *path) {
    const int result = reach(*path);
    if (result == -EAGAIN)
      return false;
    if (result == 0) {
      events_.push_back({PathEventKind::up, path->id});
      return true;
    }
    tell_failure(*path, result);
    part_from_peer(*path);
    path->state = Path::State::ended;
    events_.push_back({PathEventKind::failed, path->id, result});
    return true;
  });
  if (!connecting_.empty()) {
    const bool connected =
        std::ranges::all_of(connecting_, [](Path *p) { return bool(p->socket); });
    next_look_ = now_ + (connected ? look_every_greeting : look_every_connecting);
  }
}

// Only the producer of an empty ring does this, which owns all of it: what the
// consumer looks at, the next word, is zero before and after.
void HostPort::trim_idle() {
  for (const std::unique_ptr<Path> &path : paths_) {
    if (path == nullptr || path->state != Path::State::open)
      continue;
    const std::uint64_t position = path->tx.position();
    const bool idle = position == path->trim_mark;
    path->trim_mark = position;
    if (!idle || path->trimmed_at == position || !path->tx.drained())
      continue;
    path->segment.drop_pages(path->socket ? other(path->end) : path->end);
    path->trimmed_at = position;
  }
}

} // namespace dpdkx::link::host
