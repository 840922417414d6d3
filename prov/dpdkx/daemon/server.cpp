// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/server.h"

#include "dpdkx/base/log.h"
#include "dpdkx/link/host/unix_socket.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dpdkx::daemon {

using link::daemon::Ask;
using link::daemon::Reply;
using link::daemon::Request;

namespace {

constexpr unsigned guests_a_look = 64;
constexpr std::size_t max_guests = 1024;
constexpr Duration request_within = std::chrono::seconds(10);
constexpr std::uint64_t no_guest = UINT64_MAX; // tag of the listener
constexpr std::uint64_t refusals_to_log = 100; // then silence: anybody could fill a disk

void send_message(const Guest &guest, const void *data, std::size_t size) {
  // Who doesn't take it is gone, or will ask again.
  (void)send(guest.socket.get(), data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
}

} // namespace

Server::~Server() {
  if (!path_.empty())
    unlink(path_.c_str());
}

int Server::listen(const std::string &name, std::string &error) {
  if (!link::daemon::is_socket_name(name)) {
    error = "socket '" + name + "'; allowed: @NAME, or a path that begins with '/', of at most " +
            std::to_string(link::host::SocketName::max_length) + " characters";
    return -EINVAL;
  }
  const bool is_path = name[0] == '/';
  if (is_path)
    if (const int rc = take_path(name, error))
      return rc;
  const auto socket_name = is_path ? link::host::SocketName::path(name)
                                   : link::host::SocketName::abstract(name.substr(1));
  if (const int rc = link::host::listen_at(socket_name, listener_)) {
    listener_.reset();
    error = rc == -EADDRINUSE
                ? "socket " + name + " is in use: another dpdkxd runs in this network namespace"
                : "socket " + name + " can't be listened at: " + std::strerror(-rc);
    return rc;
  }
  spare_ = link::host::make_socket();
  {
    const link::host::ForkHold hold;
    epoll_ = link::host::Fd(epoll_create1(EPOLL_CLOEXEC), hold);
  }
  if (const int rc = watch(listener_, no_guest)) {
    error = std::string("no descriptor to wait on: ") + std::strerror(-rc);
    return rc;
  }
  if (const int rc = undertaker_.start(error))
    return rc;
  if (!is_path)
    return 0;
  path_ = name;
  constexpr mode_t everybody = 0666; // who may attach to what, is for us to say
  if (chmod(name.c_str(), everybody) == 0)
    return 0;
  const int rc = -errno;
  error = "socket " + name + " can't be opened to all users: " + std::strerror(-rc);
  return rc;
}

int Server::take_path(const std::string &path, std::string &error) {
  const int rc = lock_.take(path);
  if (rc == 0)
    return remove_stale(path, error);
  error = rc == -EADDRINUSE
              ? "socket " + path + " is in use: another dpdkxd has locked " + lock_.file()
              : "socket " + path + " can't be had: " + lock_.file() + ": " + std::strerror(-rc);
  return rc;
}

// Left by a daemon that was killed: nobody listens there.
int Server::remove_stale(const std::string &path, std::string &error) {
  struct stat status;
  if (lstat(path.c_str(), &status) != 0)
    return 0;
  if (!S_ISSOCK(status.st_mode)) {
    error = "socket " + path + " is a file of another kind; allowed: a path that is free";
    return -EEXIST;
  }
  link::host::Fd probe;
  if (link::daemon::connect_to_daemon(path, probe) != -ECONNREFUSED) {
    error = "socket " + path + " is in use: another dpdkxd listens there";
    return -EADDRINUSE;
  }
  unlink(path.c_str());
  return 0;
}

void Server::look(Time now) {
  crowded_ = !accept(now);
  const bool heard = hear_some();
  show_out_silent(now);
  // What was heard is being closed, by another thread. Else somebody has to go.
  if (crowded_ && !heard && !undertaker_.closes_soon() &&
      !make_way("dpdkxd has no descriptors left (RLIMIT_NOFILE), and it has asked nothing"))
    accept_none();
}

// True: somebody had something to say.
bool Server::hear_some() {
  epoll_event found[guests_a_look];
  const int n = epoll_wait(epoll_.get(), found, std::size(found), 0);
  bool heard = false;
  for (int i = 0; i < n; ++i) {
    const auto guest = std::ranges::find_if(guests_, [&](const Guest &one) {
      return static_cast<std::uint64_t>(one.socket.get()) == found[i].data.u64;
    });
    if (guest == guests_.end() || !hear(*guest))
      continue;
    heard = true;
    dismiss(*guest);
    guests_.erase(guest);
  }
  return heard;
}

void Server::show_out_silent(Time now) {
  while (!guests_.empty() && now >= guests_.front().deadline)
    make_way("it has asked nothing for 10 s");
}

int Server::watch(const link::host::Fd &socket, std::uint64_t tag) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = tag;
  return epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket.get(), &event) == 0 ? 0 : -errno;
}

// False: there is no descriptor for who has come.
bool Server::accept(Time now) {
  for (unsigned i = 0; i < guests_a_look; ++i) {
    Guest guest;
    if (const int rc = accept_one(guest))
      return (rc != -EMFILE && rc != -ENFILE) || !somebody_waits();
    if (guests_.size() >= max_guests)
      make_way("too many have come, and it has asked nothing");
    guest.deadline = now + request_within;
    guests_.push_back(std::move(guest));
  }
  return true;
}

int Server::accept_one(Guest &guest) {
  {
    const link::host::ForkHold hold;
    guest.socket = link::host::Fd(
        accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC), hold);
  }
  if (!guest.socket)
    return guest.socket.error();
  int rc = link::host::identify(guest.socket, guest.who);
  if (rc == 0)
    rc = watch(guest.socket, static_cast<std::uint64_t>(guest.socket.get()));
  if (rc)
    dismiss(guest);
  return rc;
}

bool Server::somebody_waits() const {
  pollfd wait{listener_.get(), POLLIN, 0};
  return ::poll(&wait, 1, 0) == 1;
}

// Nobody keeps others out by saying nothing: the one that has been silent for longest goes.
bool Server::make_way(const std::string &why) {
  if (guests_.empty())
    return false;
  refuse(guests_.front(), -ETIMEDOUT, why);
  dismiss(guests_.front());
  guests_.erase(guests_.begin());
  return true;
}

// Else they would wait in vain.
void Server::accept_none() {
  if (spare_) {
    spare_.reset();
    Guest guest;
    if (accept_one(guest) == 0)
      refuse(guest, -EMFILE, "dpdkxd has no descriptors left (RLIMIT_NOFILE)");
    dismiss(guest);
  }
  if (!spare_)
    spare_ = link::host::make_socket(); // or at another look, when that one has been closed
}

// Unless it has been handed on.
void Server::dismiss(Guest &guest) {
  forget(guest);
  undertaker_.take_socket(std::move(guest.socket));
}

// Who has the descriptor next may keep it open.
void Server::forget(const Guest &guest) {
  if (guest.socket)
    epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, guest.socket.get(), nullptr);
}

// True: it is done with. What it says is left where it is but for a rank that is handed on.
bool Server::hear(Guest &guest) {
  Request request;
  std::vector<link::host::Fd> passed;
  const ssize_t got = link::host::peek_with_descriptors(
      guest.socket, std::as_writable_bytes(std::span(&request, 1)), passed);
  if (got == -EAGAIN)
    return false;
  if (got != 0 && got != -ECONNRESET)
    judge(guest, request, passed.size() > 1 ? -EPROTO : got, passed);
  for (link::host::Fd &fd : passed)
    undertaker_.take(std::move(fd));
  return true;
}

// `got`: the length of the request, or a negative errno.
void Server::judge(Guest &guest, const Request &request, ssize_t got,
                   std::span<const link::host::Fd> passed) {
  int status = got < 0 ? static_cast<int>(got) : 0;
  const char *fault = got == -EMFILE ? "too many open files (RLIMIT_NOFILE of dpdkxd)"
                      : got < 0
                          ? "it doesn't speak dpdkxd's protocol"
                          : link::daemon::request_fault(request, static_cast<std::size_t>(got),
                                                        !passed.empty(), status);
  const link::host::Fd none;
  if (fault != nullptr)
    refuse(guest, status, fault);
  else
    answer(guest, request, passed.empty() ? none : passed.front());
}

void Server::answer(Guest &guest, const Request &request, const link::host::Fd &memory) {
  switch (static_cast<Ask>(request.ask)) {
  case Ask::devices:
    return send_devices(guest, handlers_.devices());
  case Ask::status:
    return send_status(guest, handlers_.status());
  case Ask::attach:
    break;
  }
  link::host::drop_message(guest.socket);
  forget(guest);
  std::string error;
  if (const int rc = handlers_.attach(guest, request, memory, error))
    refuse(guest, rc, error);
}

void Server::send_devices(const Guest &guest, const std::vector<link::DeviceInfo> &devices) {
  Reply reply = link::daemon::make_reply(0);
  reply.count = static_cast<std::uint32_t>(devices.size());
  send_message(guest, &reply, sizeof(reply));
  for (const link::DeviceInfo &info : devices) {
    const link::daemon::DeviceEntry entry = link::daemon::make_entry(info);
    send_message(guest, &entry, sizeof(entry));
  }
}

// Much of it needs more room than a socket has by default.
void Server::send_status(const Guest &guest, const std::string &text) {
  const int room = static_cast<int>(std::min<std::size_t>(2 * text.size() + 65536, 1u << 27));
  (void)setsockopt(guest.socket.get(), SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room));
  Reply reply = link::daemon::make_reply(0);
  reply.count = static_cast<std::uint32_t>(text.size());
  send_message(guest, &reply, sizeof(reply));
  for (std::size_t at = 0; at < text.size(); at += link::daemon::text_piece)
    send_message(guest, text.data() + at, std::min(text.size() - at, link::daemon::text_piece));
}

void Server::refuse(const Guest &guest, int status, const std::string &why) {
  const Reply reply = link::daemon::make_reply(status, why);
  send_message(guest, &reply, sizeof(reply));
  // That a port is taken is how ranks find a free one.
  if (status == -EADDRINUSE || ++refused_ > refusals_to_log)
    return;
  log(LogLevel::warn, [&] {
    return "process " + std::to_string(guest.who.pid) + " of user " +
           std::to_string(guest.who.uid) + " is refused: " + why;
  });
}

} // namespace dpdkx::daemon
