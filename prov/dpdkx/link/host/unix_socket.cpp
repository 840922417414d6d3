// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/host/unix_socket.h"

#include <cerrno>
#include <cstring>

namespace dpdkx::link::host {

namespace {

constexpr std::size_t max_passed = 253; // in one message: Linux's SCM_MAX_FD

// Owns whatever descriptors came with a message.
void take_descriptors(msghdr &message, const ForkHold &hold, std::vector<Fd> &passed) {
  for (cmsghdr *c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
      continue;
    const std::size_t bytes = c->cmsg_len - CMSG_LEN(0);
    for (std::size_t at = 0; at + sizeof(int) <= bytes; at += sizeof(int)) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(c) + at, sizeof(fd));
      passed.emplace_back(fd, hold);
    }
  }
}

} // namespace

SocketName SocketName::abstract(std::string_view name) {
  SocketName out;
  out.address.sun_family = AF_UNIX; // sun_path[0] == 0 makes it abstract
  std::memcpy(out.address.sun_path + 1, name.data(), name.size());
  out.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return out;
}

SocketName SocketName::path(std::string_view path) {
  SocketName out;
  out.address.sun_family = AF_UNIX;
  std::memcpy(out.address.sun_path, path.data(), path.size());
  out.length = static_cast<socklen_t>(sizeof(out.address));
  return out;
}

Fd make_socket() {
  const ForkHold hold;
  return {socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), hold};
}

int connect_to(const SocketName &name, Fd &socket) {
  socket = make_socket();
  if (!socket)
    return socket.error();
  return connect(socket.get(), name.get(), name.length) == 0 ? 0 : -errno;
}

int listen_at(const SocketName &name, Fd &socket) {
  socket = make_socket();
  if (!socket)
    return socket.error();
  const bool listens =
      bind(socket.get(), name.get(), name.length) == 0 && listen(socket.get(), SOMAXCONN) == 0;
  return listens ? 0 : -errno;
}

int send_with_memory(const Fd &socket, std::span<const std::byte> bytes, const Fd &memfd) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  iovec body{const_cast<std::byte *>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &body;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  cmsghdr *const c = CMSG_FIRSTHDR(&message);
  c->cmsg_level = SOL_SOCKET;
  c->cmsg_type = SCM_RIGHTS;
  c->cmsg_len = CMSG_LEN(sizeof(int));
  const int fd = memfd.get();
  std::memcpy(CMSG_DATA(c), &fd, sizeof(fd));
  return sendmsg(socket.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

namespace {

ssize_t receive_with_descriptors(const Fd &socket, std::span<std::byte> into, int flags,
                                 std::vector<Fd> &passed) {
  alignas(cmsghdr) char control[CMSG_SPACE(max_passed * sizeof(int))];
  iovec body{into.data(), into.size()};
  msghdr message{};
  message.msg_iov = &body;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  const std::size_t before = passed.size();
  passed.reserve(before + max_passed);
  ssize_t got;
  {
    const ForkHold hold;
    got = recvmsg(socket.get(), &message, flags | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0)
      return -errno;
    take_descriptors(message, hold, passed);
  }
  if (got == 0)
    return 0;
  if (passed.size() == before && (message.msg_flags & MSG_CTRUNC) != 0)
    return -EMFILE;
  return (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0 ? -EPROTO : got;
}

} // namespace

ssize_t peek_with_descriptors(const Fd &socket, std::span<std::byte> into,
                              std::vector<Fd> &passed) {
  return receive_with_descriptors(socket, into, MSG_PEEK, passed);
}

void drop_message(const Fd &socket) { (void)recv(socket.get(), nullptr, 0, MSG_DONTWAIT); }

ssize_t receive_with_memory(const Fd &socket, std::span<std::byte> into, Fd &memfd) {
  std::vector<Fd> passed;
  const ssize_t got = receive_with_descriptors(socket, into, 0, passed);
  if (got > 0 && passed.size() > 1)
    return -EPROTO;
  if (got > 0 && passed.size() == 1)
    memfd = std::move(passed.front());
  return got;
}

} // namespace dpdkx::link::host
