// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A port's paths: to anywhere on lossy ports, connected pairs on lossless ones.
#include "dpdkx/link/sim/port.h"

#include <algorithm>
#include <cstring>

namespace dpdkx::link::sim {

namespace {
using Lock = std::unique_lock<std::mutex>;
}

SimPort::Path *SimPort::find(PathId id) {
  const auto i = static_cast<std::size_t>(id);
  return i < paths_.size() && paths_[i].open ? &paths_[i] : nullptr;
}

SimPort::Path *SimPort::path(PathId id) {
  Path *p = find(id);
  if (!p)
    ++core_.counters.misuse;
  return p;
}

SimPort *SimPort::behind(const PathEnd &end) {
  SimPort *port = end.nic ? end.nic->port : nullptr;
  const Path *p = port ? port->find(end.id) : nullptr;
  return p && p->serial == end.serial ? port : nullptr;
}

void SimPort::give_back(const PathEnd &sender) {
  SimPort *port = behind(sender);
  if (!port)
    return;
  Path &p = port->paths_[static_cast<std::size_t>(sender.id)];
  --p.held;
  if (p.refused)
    port->core_.mark_ready(port->nic_);
  p.refused = false;
}

PathId SimPort::add_path(const Address &peer) {
  std::uint32_t i;
  if (free_paths_.empty()) {
    i = static_cast<std::uint32_t>(paths_.size());
    paths_.emplace_back();
  } else {
    i = free_paths_.back();
    free_paths_.pop_back();
  }
  paths_[i] = Path{};
  paths_[i].open = true;
  paths_[i].serial = core_.next_serial++;
  paths_[i].peer = peer;
  return PathId(i);
}

int SimPort::open_path(const Address &peer, PathId &id) {
  Lock lock(core_.mutex);
  if (!alive_)
    return -EHOSTUNREACH;
  if (traits_.lossless)
    return connect(peer, id);
  id = add_path(peer);
  path_of_[peer] = id;
  const bool fails = core_.nic(peer).unresolvable;
  core_.schedule(core_.now() + nic_.profile.resolve,
                 event::Tell{{&nic_, path(id)->serial, id},
                             fails ? PathEventKind::failed : PathEventKind::up,
                             fails ? -EHOSTUNREACH : 0});
  return 0;
}

int SimPort::connect(const Address &peer, PathId &id) {
  Nic &peer_nic = core_.nic(peer);
  if (!peer_nic.port || !peer_nic.port->traits_.lossless)
    return -ECONNREFUSED;
  SimPort &other = *peer_nic.port;
  id = add_path(peer);
  const PathId peer_id = other.add_path(address_); // may be this port: to oneself
  Path &mine = *find(id), &theirs = *other.find(peer_id);
  theirs.announced = false;
  mine.peer_end = {&peer_nic, theirs.serial, peer_id};
  theirs.peer_end = {&nic_, mine.serial, id};
  core_.schedule(core_.now(), event::Tell{theirs.peer_end, PathEventKind::up, 0});
  core_.schedule(core_.now() + nic_.profile.delay,
                 event::Tell{mine.peer_end, PathEventKind::accepted, 0});
  return 0;
}

void SimPort::close_path(PathId id) {
  Lock lock(core_.mutex);
  if (!alive_)
    return;
  if (path(id))
    remove_path(id);
}

void SimPort::remove_path(PathId id) {
  Path &p = *find(id);
  if (traits_.lossless) {
    // Told when the last datagram has arrived; the peer polls those first.
    core_.schedule(std::max(core_.now(), p.last_arrival),
                   event::Tell{p.peer_end, PathEventKind::peer_gone, 0});
    forget_arrivals(p, id);
  } else if (const auto it = path_of_.find(p.peer); it != path_of_.end() && it->second == id) {
    path_of_.erase(it);
  }
  std::erase_if(events_, [&](const PathEvent &e) { return e.path == id; });
  p.open = false;
  free_paths_.push_back(static_cast<std::uint32_t>(id));
}

// What has arrived on a path that is closed is of no use to anyone.
void SimPort::forget_arrivals(const Path &closed, PathId id) {
  const auto first = arrived_.begin() + polled_;
  const auto rest = std::stable_partition(first, arrived_.end(), [&](const Packet *p) {
    return p->receiver.id != id || p->receiver.serial != closed.serial;
  });
  for (auto it = rest; it != arrived_.end(); ++it) {
    give_back((*it)->sender);
    core_.pool.put(*it);
  }
  arrived_.erase(rest, arrived_.end());
}

void SimPort::tell(PathEvent e) { events_.push_back(e); }

bool SimPort::lives(PathId id, Time) {
  Lock lock(core_.mutex);
  return std::none_of(events_.begin(), events_.end(), [id](const PathEvent &e) {
    return e.kind == PathEventKind::peer_gone && e.path == id;
  });
}

unsigned SimPort::poll_events(PathEvent *out, unsigned max, Time) {
  Lock lock(core_.mutex);
  unsigned n = 0;
  for (auto it = events_.begin(); alive_ && n < max && it != events_.end();) {
    Path &p = *find(it->path);
    if (it->kind == PathEventKind::peer_gone && p.to_poll != 0) {
      ++it;
      continue;
    }
    if (it->kind == PathEventKind::accepted && p.to_poll != 0)
      core_.mark_ready(nic_); // a poll before this one stopped in front of its datagrams
    p.announced = true;
    out[n++] = *it;
    it = events_.erase(it);
  }
  return n;
}

int SimPort::pull(PathId id, std::span<const iovec> local, std::span<const iovec> remote) {
  Lock lock(core_.mutex);
  const Path *p = alive_ ? path(id) : nullptr;
  if (!p || !traits_.can_pull)
    return -EPERM;
  if (!behind(p->peer_end))
    return -ESRCH;
  std::size_t from = 0, offset = 0;
  for (const iovec &to : local) {
    for (std::size_t done = 0; done < to.iov_len;) {
      if (from == remote.size())
        return -EFAULT;
      const std::size_t n = std::min(to.iov_len - done, remote[from].iov_len - offset);
      if (n != 0)
        std::memcpy(static_cast<std::byte *>(to.iov_base) + done,
                    static_cast<const std::byte *>(remote[from].iov_base) + offset, n);
      done += n;
      offset += n;
      if (offset == remote[from].iov_len)
        ++from, offset = 0;
    }
  }
  return 0;
}

} // namespace dpdkx::link::sim
