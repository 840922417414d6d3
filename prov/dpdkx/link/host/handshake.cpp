// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/host/handshake.h"

#include "dpdkx/link/host/segment.h"
#include "dpdkx/link/host/unix_socket.h"

#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 // Linux 6.5
#endif

namespace dpdkx::link::host {

namespace {

constexpr char hello_magic[8] = {'d', 'p', 'd', 'k', 'x', ' ', 'h', 'i'};
constexpr char welcome_magic[8] = {'d', 'p', 'd', 'k', 'x', ' ', 'o', 'k'};

} // namespace

Hello make_hello(const Address &from, std::uint32_t ring_bytes, std::uint32_t max_datagram,
                 std::uint64_t start) {
  Hello hello{};
  std::memcpy(hello.magic, hello_magic, sizeof(hello.magic));
  hello.version = handshake_version;
  hello.ring_bytes = ring_bytes;
  hello.max_datagram = max_datagram;
  hello.port = from.port;
  std::memcpy(hello.ip, from.ip.data(), sizeof(hello.ip));
  hello.start[0] = hello.start[1] = start;
  return hello;
}

const char *hello_fault(const Hello &hello, int &status) {
  status = -EPROTO;
  if (std::memcmp(hello.magic, hello_magic, sizeof(hello.magic)) != 0)
    return "it doesn't speak the host link's protocol";
  if (hello.version != handshake_version) {
    status = -EPROTONOSUPPORT;
    return "it speaks another version of the host link's protocol";
  }
  if (ring_size_fault(hello.ring_bytes) != nullptr)
    return "its ring size is impossible";
  if (hello.max_datagram == 0 || hello.max_datagram > ring_capacity(hello.ring_bytes))
    return "its datagrams don't fit its ring";
  if (hello.start[0] % cache_line != 0 || hello.start[1] % cache_line != 0)
    return "its rings begin within a line";
  return nullptr;
}

int send_hello(const Fd &socket, const Hello &hello, const Fd &memfd) {
  return send_with_memory(socket, std::as_bytes(std::span(&hello, 1)), memfd);
}

int receive_hello(const Fd &socket, Hello &hello, Fd &memfd) {
  const ssize_t got =
      receive_with_memory(socket, std::as_writable_bytes(std::span(&hello, 1)), memfd);
  if (got < 0)
    return static_cast<int>(got);
  if (got == 0)
    return -ECONNRESET;
  return got == sizeof(hello) && memfd ? 0 : -EPROTO;
}

void send_welcome(const Fd &socket, std::int32_t status) {
  Welcome welcome{};
  std::memcpy(welcome.magic, welcome_magic, sizeof(welcome.magic));
  welcome.version = handshake_version;
  welcome.status = status;
  // A peer that can't be told is one that is gone, which its socket will say.
  (void)send(socket.get(), &welcome, sizeof(welcome), MSG_DONTWAIT | MSG_NOSIGNAL);
}

void send_wake(const Fd &socket) {
  // No room for it: then earlier ones lie there unread, and wake just as well.
  (void)send(socket.get(), "w", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

Note receive_note(const Fd &socket, Welcome &welcome) {
  ssize_t got = recv(socket.get(), &welcome, sizeof(welcome), MSG_DONTWAIT);
  if (got < 0 && errno == ECONNRESET) // told first, though a refusal may lie there
    got = recv(socket.get(), &welcome, sizeof(welcome), MSG_DONTWAIT);
  if (got < 0)
    return errno == EAGAIN ? Note::none : Note::closed;
  if (got == 0)
    return Note::closed;
  const bool is_welcome =
      got == sizeof(welcome) && std::memcmp(welcome.magic, welcome_magic, 8) == 0;
  return is_welcome ? Note::welcome : Note::wake;
}

int identify(const Fd &socket, Peer &peer) {
  ucred credentials{};
  socklen_t length = sizeof(credentials);
  if (getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0)
    return -errno;
  peer = {credentials.pid, credentials.uid};
  return 0;
}

Fd watch_process(const Fd &socket, const Peer &peer) {
  const ForkHold hold;
  int fd = -1;
  socklen_t length = sizeof(fd);
  if (getsockopt(socket.get(), SOL_SOCKET, SO_PEERPIDFD, &fd, &length) == 0)
    return {fd, hold};
  if (errno == ENOPROTOOPT && peer.pid != 0)
    return {static_cast<int>(syscall(SYS_pidfd_open, peer.pid, 0)), hold};
  return {-1, hold};
}

} // namespace dpdkx::link::host
