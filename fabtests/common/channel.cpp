// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "channel.h"

#include "check.h"

#include <cerrno>
#include <chrono>
#include <cstring>

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

namespace fabtest {

namespace {

struct header {
  frame_kind kind;
  std::int32_t rank;
  std::uint64_t size;
};

// Calls `move(at, size)`, which sends or receives a part, until it is all done.
template <class Byte, class Move> bool move_all(Byte *at, std::size_t size, Move &&move) {
  while (size > 0) {
    const ssize_t n = move(at, size);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    at += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

bool send_all(int fd, const void *data, std::size_t size) {
  return move_all(static_cast<const char *>(data), size, [fd](const char *at, std::size_t left) {
    return ::send(fd, at, left, MSG_NOSIGNAL);
  });
}

bool receive_all(int fd, void *data, std::size_t size) {
  return move_all(static_cast<char *>(data), size,
                  [fd](char *at, std::size_t left) { return ::recv(fd, at, left, 0); });
}

struct address_list {
  addrinfo *first = nullptr;
  ~address_list() { freeaddrinfo(first); }
};

void resolve(const std::string &host_and_port, bool passive, address_list &list) {
  const auto colon = host_and_port.rfind(':');
  if (colon == std::string::npos)
    fail(fmt::format("\"{}\" is not host:port", host_and_port));
  const std::string host = host_and_port.substr(0, colon);
  const std::string port = host_and_port.substr(colon + 1);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = passive ? AI_PASSIVE : 0;
  const int rc = getaddrinfo(host.c_str(), port.c_str(), &hints, &list.first);
  if (rc != 0)
    fail(fmt::format("{}: {}", host_and_port, gai_strerror(rc)));
}

} // namespace

unique_fd::~unique_fd() {
  if (fd_ >= 0)
    ::close(fd_);
}

bool channel::send(frame_kind kind, int rank, std::span<const std::byte> body) const {
  const header h{kind, rank, body.size()};
  return send_all(fd(), &h, sizeof h) && send_all(fd(), body.data(), body.size());
}

std::optional<frame> channel::receive() const {
  header h{};
  if (!receive_all(fd(), &h, sizeof h))
    return std::nullopt;
  frame f{h.kind, h.rank, bytes(h.size)};
  if (!receive_all(fd(), f.body.data(), f.body.size()))
    return std::nullopt;
  return f;
}

std::pair<channel, channel> make_channel_pair() {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
    fail(fmt::format("socketpair: {}", std::strerror(errno)));
  return {channel(unique_fd(fds[0])), channel(unique_fd(fds[1]))};
}

channel connect_to(const std::string &host_and_port) {
  address_list list;
  resolve(host_and_port, false, list);
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  do {
    for (auto *a = list.first; a; a = a->ai_next) {
      unique_fd fd(socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
      if (fd && connect(fd.get(), a->ai_addr, a->ai_addrlen) == 0) {
        const int on = 1;
        setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        return channel(std::move(fd));
      }
    }
    // The other launcher may not listen yet, and nothing here could tell us when it does.
    const timespec pause{0, 20'000'000};
    nanosleep(&pause, nullptr);
  } while (std::chrono::steady_clock::now() < give_up);
  fail(fmt::format("nobody listens on {}", host_and_port));
}

unique_fd listen_on(const std::string &host_and_port) {
  address_list list;
  resolve(host_and_port, true, list);
  unique_fd fd(socket(list.first->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); // who is accepted inherits it
  if (bind(fd.get(), list.first->ai_addr, list.first->ai_addrlen) != 0 || listen(fd.get(), 64) != 0)
    fail(fmt::format("listening on {}: {}", host_and_port, std::strerror(errno)));
  return fd;
}

bytes pack(std::span<const bytes> parts) {
  bytes out;
  for (const auto &part : parts) {
    const std::uint64_t size = part.size();
    const auto *p = reinterpret_cast<const std::byte *>(&size);
    out.insert(out.end(), p, p + sizeof size);
    out.insert(out.end(), part.begin(), part.end());
  }
  return out;
}

std::vector<bytes> unpack(std::span<const std::byte> packed) {
  std::vector<bytes> parts;
  while (packed.size() >= sizeof(std::uint64_t)) {
    std::uint64_t size = 0;
    std::memcpy(&size, packed.data(), sizeof size);
    packed = packed.subspan(sizeof size);
    parts.emplace_back(packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(size));
    packed = packed.subspan(size);
  }
  return parts;
}

bytes to_bytes(const std::string &text) {
  const auto *p = reinterpret_cast<const std::byte *>(text.data());
  return {p, p + text.size()};
}

std::string to_text(std::span<const std::byte> body) {
  return {reinterpret_cast<const char *>(body.data()), body.size()};
}

} // namespace fabtest
