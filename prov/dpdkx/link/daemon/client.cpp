// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/daemon/client.h"

#include "dpdkx/link/daemon/device.h"
#include "dpdkx/link/daemon/messages.h"
#include "dpdkx/link/host/handshake.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace dpdkx::link {

namespace daemon {

namespace {

constexpr std::uint32_t max_devices = 256;
constexpr std::uint32_t max_text = 64u << 20;

std::string at(const std::string &socket) { return "dpdkxd at " + socket; }

std::string connect_failure(const std::string &socket, int rc) {
  if (rc == -ECONNREFUSED || rc == -ENOENT)
    return "no dpdkxd listens at " + socket + "; is it running, and in this network namespace?";
  return at(socket) + " can't be reached: " + std::strerror(-rc);
}

// The length received, 0 if it was closed, or negative errno.
ssize_t receive(const host::Fd &socket, void *into, std::size_t size, Duration patience) {
  const Time until = SystemClock::instance().now() + patience;
  int ready;
  do { // an application's signals end poll(), and not the wait
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(
        std::max(until - SystemClock::instance().now(), Duration::zero()));
    pollfd wait{socket.get(), POLLIN, 0};
    ready = ::poll(&wait, 1, static_cast<int>(left.count()));
  } while (ready < 0 && errno == EINTR);
  if (ready == 0)
    return -ETIMEDOUT;
  const ssize_t got = ready < 0 ? -1 : receive_now(socket, into, size);
  return got < 0 ? -errno : got;
}

} // namespace

ssize_t receive_now(const host::Fd &socket, void *into, std::size_t size) {
  const ssize_t got = recv(socket.get(), into, size, MSG_DONTWAIT);
  if (got >= 0 || errno != ECONNRESET)
    return got;
  return recv(socket.get(), into, size, MSG_DONTWAIT); // told first, though a refusal may lie there
}

int connect_and_check(const std::string &socket, host::Fd &fd, std::string &error) {
  if (const int rc = connect_to_daemon(socket, fd)) {
    error = connect_failure(socket, rc);
    return rc == -ENOENT ? -ECONNREFUSED : rc;
  }
  host::Peer who;
  if (const int rc = host::identify(fd, who)) {
    error = connect_failure(socket, rc);
    return rc;
  }
  // Anybody may take an abstract name while no daemon has it.
  if (who.uid != 0 && who.uid != geteuid()) {
    error = at(socket) + " is a process of user " + std::to_string(who.uid) +
            "; allowed: root's, or one of this user";
    return -EPERM;
  }
  return 0;
}

int receive_reply(const std::string &socket, const host::Fd &fd, Reply &reply, std::string &error,
                  Duration patience) {
  const ssize_t got = receive(fd, &reply, sizeof(reply), patience);
  if (got <= 0) {
    error = at(socket) + (got == -ETIMEDOUT ? " doesn't answer" : " has closed the connection");
    return got == 0 ? -ECONNRESET : static_cast<int>(got);
  }
  if (!is_reply(reply, static_cast<std::size_t>(got))) {
    error = at(socket) + " is of another version of dpdkx; allowed: the same on both sides";
    return -EPROTO;
  }
  if (reply.status != 0)
    error = at(socket) + ": " + text_of(reply.text);
  return reply.status;
}

namespace {

int ask(const std::string &socket, Ask what, host::Fd &fd, Reply &reply, std::string &error,
        Duration patience) {
  if (const int rc = connect_and_check(socket, fd, error))
    return rc;
  const Request request = make_request(what);
  if (send(fd.get(), &request, sizeof(request), MSG_NOSIGNAL) < 0) {
    const int rc = -errno;
    error = connect_failure(socket, rc);
    return rc;
  }
  return receive_reply(socket, fd, reply, error, patience);
}

int broken_off(const std::string &socket, ssize_t got, std::string &error) {
  error = at(socket) + " has broken off its answer";
  return got < 0 ? static_cast<int>(got) : -EPROTO;
}

} // namespace

} // namespace daemon

int daemon_devices(const std::string &socket, std::vector<DeviceInfo> &out, std::string &error,
                   Duration patience) {
  host::Fd fd;
  daemon::Reply reply;
  if (const int rc = daemon::ask(socket, daemon::Ask::devices, fd, reply, error, patience))
    return rc;
  out.clear();
  for (std::uint32_t i = 0; i < std::min(reply.count, daemon::max_devices); ++i) {
    daemon::DeviceEntry entry;
    const ssize_t got = daemon::receive(fd, &entry, sizeof(entry), patience);
    if (got != sizeof(entry))
      return daemon::broken_off(socket, got, error);
    if (const char *fault = daemon::entry_fault(entry)) {
      error = daemon::at(socket) + " tells of a device that can't be: " + fault;
      return -EPROTO;
    }
    out.push_back(daemon::device_info(entry));
  }
  return 0;
}

int daemon_status(const std::string &socket, std::string &json, std::string &error,
                  Duration patience) {
  host::Fd fd;
  daemon::Reply reply;
  if (const int rc = daemon::ask(socket, daemon::Ask::status, fd, reply, error, patience))
    return rc;
  json.clear();
  std::vector<char> piece(daemon::text_piece);
  while (json.size() < std::min(reply.count, daemon::max_text)) {
    const ssize_t got = daemon::receive(fd, piece.data(), piece.size(), patience);
    if (got <= 0)
      return daemon::broken_off(socket, got, error);
    json.append(piece.data(), static_cast<std::size_t>(got));
  }
  return 0;
}

int open_daemon_device(const DaemonOptions &options, const std::string &link_name,
                       std::shared_ptr<Device> &device, std::string &error) {
  std::vector<DeviceInfo> devices;
  if (const int rc = daemon_devices(options.socket, devices, error))
    return rc;
  if (const DeviceInfo *found = daemon::find_device(devices, link_name, error)) {
    device = std::make_shared<daemon::DaemonDevice>(options, *found);
    return 0;
  }
  error = daemon::at(options.socket) + ": " + error;
  return -ENODEV;
}

} // namespace dpdkx::link
