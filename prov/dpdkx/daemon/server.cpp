// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/server.h"

#include "dpdkx/base/log.h"
#include "dpdkx/link/host/unix_socket.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
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
  take_spare();
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
  accept(now);
  std::erase_if(guests_, [&](Guest &guest) {
    if (!hear(guest)) {
      if (now < guest.deadline)
        return false;
      refuse(guest, -ETIMEDOUT, "it has asked nothing for 10 s");
    }
    dismiss(guest);
    return true;
  });
}

void Server::accept(Time now) {
  for (unsigned i = 0; i < guests_a_look; ++i) {
    Guest guest;
    {
      const link::host::ForkHold hold;
      guest.socket = link::host::Fd(
          accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC), hold);
    }
    if (!guest.socket) {
      const int rc = guest.socket.error();
      if ((rc != -EMFILE && rc != -ENFILE) || !somebody_waits())
        return;
      if (!make_way("dpdkxd has no descriptors left (RLIMIT_NOFILE), and it has asked nothing"))
        return accept_none();
      continue;
    }
    if (link::host::identify(guest.socket, guest.who) != 0)
      continue;
    if (guests_.size() >= max_guests)
      make_way("too many have come, and it has asked nothing");
    guest.deadline = now + request_within;
    guests_.push_back(std::move(guest));
  }
}

bool Server::somebody_waits() const {
  pollfd wait{listener_.get(), POLLIN, 0};
  return ::poll(&wait, 1, 0) == 1;
}

// Nobody keeps others out by saying nothing: the one that has been silent for longest goes.
bool Server::make_way(const std::string &why) {
  if (guests_.empty())
    return false;
  refuse(guests_.front(), -ETIMEDOUT, why); // and closed here: its descriptor is needed now
  guests_.erase(guests_.begin());
  return true;
}

// Else they would wait in vain, and the socket would be readable for ever.
void Server::accept_none() {
  if (!spare_)
    return;
  spare_.reset();
  {
    Guest guest;
    {
      const link::host::ForkHold hold;
      guest.socket = link::host::Fd(
          accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC), hold);
    }
    if (guest.socket && link::host::identify(guest.socket, guest.who) == 0)
      refuse(guest, -EMFILE, "dpdkxd has no descriptors left (RLIMIT_NOFILE)");
  }
  take_spare();
}

// Unless it has been handed on.
void Server::dismiss(Guest &guest) { undertaker_.take_socket(std::move(guest.socket)); }

void Server::take_spare() { spare_ = link::host::make_socket(); }

// True: it is done with.
bool Server::hear(Guest &guest) {
  Request request;
  std::vector<link::host::Fd> passed;
  const ssize_t got = link::host::receive_with_descriptors(
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
