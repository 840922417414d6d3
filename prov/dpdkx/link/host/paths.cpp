// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/host/host_port.h"

#include "dpdkx/base/log.h"
#include "dpdkx/base/room.h"
#include "dpdkx/link/host/names.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace dpdkx::link {

namespace host {

HostPort::HostPort(const Address &bound, const HostOptions &options, Fd listener)
    : traits_{.lossless = true,
              .ordered = true,
              .checksum = false,
              .can_pull = true,
              .max_datagram = options.max_datagram,
              .tells = true},
      bound_(bound), generation_(fork_generation.load(std::memory_order_relaxed)),
      own_pid_(getpid()), calm_polls_(options.calm_polls), options_(options),
      listener_(std::move(listener)) {}

HostPort::~HostPort() {
  if (inherited())
    return;
  for (const std::unique_ptr<Path> &path : paths_)
    if (path != nullptr)
      part_from_peer(*path);
}

int HostPort::start() {
  needs_fence_ = !has_barrier_everywhere();
  {
    const ForkHold hold;
    epoll_ = Fd(epoll_create1(EPOLL_CLOEXEC), hold);
  }
  take_spare();
  if (!epoll_ || !spare_)
    return epoll_ ? spare_.error() : epoll_.error();
  return add_to_epoll(listener_, Source::listener, 0);
}

namespace {

std::string open_failure(const Address &peer, int result) {
  std::string text = "host link: can't open a path to " + to_string(peer) + ": ";
  if (result == -EMFILE)
    return text + "too many open files (RLIMIT_NOFILE)";
  if (result == -EFBIG)
    return text + "its rings are larger than a file may be (RLIMIT_FSIZE)";
  if (result == -EHOSTUNREACH)
    return text + "nobody answers there, and it is no address of this host";
  return text + std::strerror(-result);
}

// Of what others may simply not be there, the engine makes what it will.
LogLevel level_of(int result) {
  return result == -ECONNREFUSED || result == -EHOSTUNREACH ? LogLevel::debug : LogLevel::warn;
}

} // namespace

// The kernel lets each user but root have so many descriptors under way, in all processes.
void HostPort::tell_crowd() {
  if (!std::exchange(crowd_told_, true))
    log(LogLevel::warn, [&] {
      return "host link: more descriptors of this user are on their way to processes that don't "
             "take them than RLIMIT_NOFILE allows: paths have to wait";
    });
}

// Rings begin at different lines, or the polled lines of many idle paths
// would all want the same few places in the cache.
std::uint64_t HostPort::start_of_rings(const Path &path) const {
  const std::uint64_t line = bound_.port + static_cast<std::uint32_t>(path.id);
  return line * cache_line % options_.ring_bytes;
}

void HostPort::tell_failure(const Path &path, int result) {
  if (result != -EPERM) // said already
    log(level_of(result), [&] { return open_failure(path.peer, result); });
}

int HostPort::open_path(const Address &peer, PathId &id) {
  if (inherited())
    return -ECHILD;
  Path *const added = add_path(peer);
  if (added == nullptr)
    return -ENOMEM;
  Path &path = *added;
  int result = is_self(peer) ? open_to_self(path) : reach(path);
  if (result == -EAGAIN) {
    connecting_.push_back(&path);
    next_look_ = Time{};
    id = path.id;
    return 0;
  }
  if (result != 0) {
    tell_failure(path, result);
    remove_path(path);
    return result;
  }
  events_.push_back({PathEventKind::up, path.id});
  id = path.id;
  return 0;
}

void HostPort::close_path(PathId id) {
  if (inherited())
    return;
  std::erase_if(events_, [&](const PathEvent &event) { return event.path == id; });
  remove_path(path(id));
}

Path *HostPort::add_path(const Address &peer) {
  std::unique_ptr<Path> path(new (std::nothrow) Path);
  if (path == nullptr || !make_room_for_paths(paths_.size() + free_ids_.empty()))
    return nullptr;
  std::uint32_t id;
  if (free_ids_.empty()) {
    id = static_cast<std::uint32_t>(paths_.size());
    paths_.emplace_back();
  } else {
    id = free_ids_.back();
    free_ids_.pop_back();
  }
  path->id = PathId{id};
  path->peer = peer;
  paths_[id] = std::move(path);
  return paths_[id].get();
}

bool HostPort::make_room_for_paths(std::size_t n) {
  constexpr std::size_t events_a_path = 2; // it begins, and ends
  if (!make_room(paths_, n) || !make_room(free_ids_, n) || !make_room(watched_, n) ||
      !make_room(events_, events_a_path * n))
    return false;
  for (std::vector<Path *> *list : {&unflushed_, &unreleased_, &ending_, &connecting_})
    if (!make_room(*list, n))
      return false;
  return true;
}

void HostPort::remove_path(Path &path) {
  stop_watching(path);
  for (std::vector<Path *> *list : {&unflushed_, &unreleased_, &ending_, &connecting_})
    std::erase(*list, &path);
  part_from_peer(path);
  const auto id = static_cast<std::uint32_t>(path.id);
  free_ids_.push_back(id);
  paths_[id].reset();
}

bool HostPort::is_self(const Address &peer) const {
  if (peer == bound_)
    return true;
  return bound_.is_any() && any_address_like(peer) == bound_ && host_address_is_local(peer);
}

// One ring, of which this port is both ends; its other half is never touched.
int HostPort::open_to_self(Path &path) {
  Fd memfd;
  if (const int result = Segment::create(options_.ring_bytes, path.segment, memfd); result != 0)
    return result;
  path.who = {own_pid_, geteuid()};
  attach(path, 0, 0, options_.max_datagram);
  path.tx = RingProducer(path.segment.ring(path.end), 0);
  path.peer_sleep = path.own_sleep;
  path.state = Path::State::open;
  start_watching(path);
  return 0;
}

// Connects and greets, as far as that has not been done. -EAGAIN: to be tried again.
int HostPort::reach(Path &path) {
  if (!path.socket)
    if (const int result = connect_to(path.peer, path.socket); result != 0)
      return result;
  if (!path.memfd)
    if (const int result = prepare(path); result != 0)
      return result;
  return greet(path);
}

// All that the first half of the handshake needs.
int HostPort::prepare(Path &path) {
  if (const int result = identify(path.socket, path.who); result != 0)
    return result;
  if (const int result = check_user(path); result != 0)
    return result;
  const std::uint64_t start = start_of_rings(path);
  if (const int result = Segment::create(options_.ring_bytes, path.segment, path.memfd);
      result != 0)
    return result;
  attach(path, start, start, options_.max_datagram);
  for (const End end : {End::opener, End::acceptor})
    path.segment.consumer_words(end).head = start;
  *path.peer_sleep = static_cast<std::uint32_t>(Sleep::may_sleep); // until it says otherwise
  return 0;
}

// The first half of the handshake; the path is usable then.
int HostPort::greet(Path &path) {
  // An endpoint on the any address goes by the address that the peer knows: as
  // for UDP within a host, source and destination are then the same.
  Address from = bound_.is_any() ? path.peer : bound_;
  from.port = bound_.port;
  const Hello hello =
      make_hello(from, options_.ring_bytes, options_.max_datagram, start_of_rings(path));
  if (const int result = send_hello(path.socket, hello, path.memfd); result != 0) {
    if (result == -ETOOMANYREFS) // until peers have taken some
      tell_crowd();
    return result == -EPIPE ? -ECONNREFUSED : result == -ETOOMANYREFS ? -EAGAIN : result;
  }
  path.memfd.reset();
  if (path.who.pid != own_pid_)
    path.process = watch_process(path.socket, path.who);
  if (path.process.error() == -EMFILE)
    return -EMFILE;
  if (const int result = listen_to_peer(path); result != 0)
    return result;
  path.state = Path::State::open;
  start_watching(path);
  return 0;
}

int HostPort::listen_to_peer(Path &path) {
  const auto index = static_cast<std::uint32_t>(path.id);
  const int result = add_to_epoll(path.socket, Source::socket, index);
  return result != 0 ? result : add_to_epoll(path.process, Source::process, index);
}

// The socket is shut down as well as closed: a child may hold a copy of it.
void HostPort::part_from_peer(Path &path) {
  if (path.socket)
    shutdown(path.socket.get(), SHUT_RDWR);
  for (Fd *const fd : {&path.socket, &path.process}) {
    take_from_epoll(*fd);
    fd->reset();
  }
}

void HostPort::attach(Path &path, std::uint64_t start_rx, std::uint64_t start_tx,
                      std::uint32_t max_rx_datagram) {
  path.rx = RingConsumer(path.segment.ring(path.end), start_rx, max_rx_datagram);
  path.tx = RingProducer(path.segment.ring(other(path.end)), start_tx);
  path.own_sleep = &path.segment.consumer_words(path.end).sleep;
  path.peer_sleep = &path.segment.consumer_words(other(path.end)).sleep;
  path.trim_mark = path.trimmed_at = start_tx;
  const auto sleep = needs_fence_ || senders_fence_ ? Sleep::may_sleep : Sleep::polls_only;
  store_release(path.own_sleep, static_cast<std::uint32_t>(sleep));
}

int HostPort::check_user(const Path &path) const {
  const uid_t own = geteuid();
  const Peer &who = path.who;
  if (who.uid == own)
    return 0;
  log(LogLevel::warn, [&] {
    return "host link: the endpoint at " + to_string(path.peer) + " belongs to user " +
           std::to_string(who.uid) + " (process " + std::to_string(who.pid) + "), that at " +
           to_string(bound_) + " to user " + std::to_string(own) +
           "; only endpoints of one user can meet";
  });
  return -EPERM;
}

void HostPort::start_watching(Path &path) {
  path.watch_index = static_cast<std::uint32_t>(watched_.size());
  watched_.push_back({path.rx.watch(), &path});
}

void HostPort::stop_watching(Path &path) {
  const std::uint32_t index = path.watch_index;
  if (index >= watched_.size() || watched_[index].path != &path)
    return;
  watched_[index] = watched_.back();
  watched_[index].path->watch_index = index;
  watched_.pop_back();
}

} // namespace host

namespace {

int check_options(const HostOptions &options, std::string &error) {
  if (const char *fault = host::ring_size_fault(options.ring_bytes)) {
    error = "host ring size " + std::to_string(options.ring_bytes) + " is " + fault +
            "; allowed are powers of two from " + std::to_string(2 * host::page_bytes()) + " to " +
            std::to_string(host::max_ring_bytes);
    return -EINVAL;
  }
  if (options.max_datagram == 0 || options.max_datagram > host::ring_capacity(options.ring_bytes)) {
    error = "datagram size " + std::to_string(options.max_datagram) +
            " doesn't fit a host ring of " + std::to_string(options.ring_bytes) +
            " bytes; allowed are 1 to " + std::to_string(host::ring_capacity(options.ring_bytes));
    return -EINVAL;
  }
  if (options.first_port == 0 || options.first_port > options.last_port) {
    error = "port range " + std::to_string(options.first_port) + "-" +
            std::to_string(options.last_port) + " is empty; allowed are 1-65535";
    return -EINVAL;
  }
  return 0;
}

} // namespace

int open_host_port(const Address &wanted, const HostOptions &options, std::unique_ptr<Port> &port,
                   std::string &error) {
  if (const int result = check_options(options, error); result != 0)
    return result;
  host::Fd listener;
  Address bound;
  const host::PortRange range{options.first_port, options.last_port};
  if (const int result = host::listen_at(wanted, range, listener, bound, error); result != 0)
    return result;
  auto made = std::make_unique<host::HostPort>(bound, options, std::move(listener));
  if (const int result = made->start(); result != 0) {
    error = "can't open an endpoint at " + to_string(bound) + ": " +
            (result == -EMFILE ? "too many open files (RLIMIT_NOFILE)" : std::strerror(-result));
    return result;
  }
  port = std::move(made);
  return 0;
}

} // namespace dpdkx::link
