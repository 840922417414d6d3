// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/host/unix_socket.h"

#include <cerrno>
#include <cstring>

namespace dpdkx::link::host {

namespace {

constexpr int max_passed = 4; // descriptors looked for in one message

// Owns whatever descriptors came with a message.
int take_descriptors(msghdr &message, const ForkHold &hold, Fd (&passed)[max_passed]) {
  int count = 0;
  for (cmsghdr *c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
      continue;
    const std::size_t bytes = c->cmsg_len - CMSG_LEN(0);
    for (std::size_t at = 0; at + sizeof(int) <= bytes && count < max_passed; at += sizeof(int)) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(c) + at, sizeof(fd));
      passed[count++] = Fd(fd, hold);
    }
  }
  return count;
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

ssize_t receive_with_memory(const Fd &socket, std::span<std::byte> into, Fd &memfd) {
  alignas(cmsghdr) char control[CMSG_SPACE(max_passed * sizeof(int))];
  iovec body{into.data(), into.size()};
  msghdr message{};
  message.msg_iov = &body;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  Fd passed[max_passed];
  int count;
  ssize_t got;
  {
    const ForkHold hold;
    got = recvmsg(socket.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0)
      return -errno;
    count = take_descriptors(message, hold, passed);
  }
  if (got == 0)
    return 0;
  if (count == 0 && (message.msg_flags & MSG_CTRUNC) != 0)
    return -EMFILE;
  if (count > 1 || (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0)
    return -EPROTO;
  if (count == 1)
    memfd = std::move(passed[0]);
  return got;
}

} // namespace dpdkx::link::host
