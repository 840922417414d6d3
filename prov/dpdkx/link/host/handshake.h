// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The few messages that two ports send over the socket between them.
//
// The opener makes the memory, sends Hello with it, and may send datagrams at
// once. The acceptor checks and maps it, and answers Welcome, or a refusal and
// closes. After that the socket tells of the other's end, and a message of one
// byte wakes a port that sleeps.
#pragma once

#include "dpdkx/base/address.h"
#include "dpdkx/link/host/fork_guard.h"

#include <cstdint>
#include <sys/types.h>

namespace dpdkx::link::host {

inline constexpr std::uint32_t handshake_version = 2;

struct Hello {
  char magic[8];
  std::uint32_t version;
  std::uint32_t ring_bytes;
  std::uint32_t max_datagram; // the largest that the opener sends
  std::uint16_t port;         // where the opener is bound
  std::uint16_t zero;
  std::uint8_t ip[16];
  std::uint64_t start[2]; // first position of the ring to End::opener, to End::acceptor
};
static_assert(sizeof(Hello) == 56);

struct Welcome {
  char magic[8];
  std::uint32_t version;
  std::int32_t status; // 0, or the negative errno of a refusal
};
static_assert(sizeof(Welcome) == 16);

Hello make_hello(const Address &from, std::uint32_t ring_bytes, std::uint32_t max_datagram,
                 std::uint64_t start);
// What is wrong with a Hello; null if nothing. `status`: what to answer then.
const char *hello_fault(const Hello &hello, int &status);

// 0 or negative errno.
int send_hello(const Fd &socket, const Hello &hello, const Fd &memfd);
// 0; -EAGAIN: not yet; -ECONNRESET: closed; -EMFILE: no descriptor free for the
// memory; -EPROTO: not a Hello of one memory.
int receive_hello(const Fd &socket, Hello &hello, Fd &memfd);

void send_welcome(const Fd &socket, std::int32_t status);
void send_wake(const Fd &socket);

enum class Note : std::uint8_t { none, wake, welcome, closed };
// The next message on an established connection; unknown ones count as a wake.
Note receive_note(const Fd &socket, Welcome &welcome);

// Who is at the other end of a socket, by the kernel's word. `pid` is 0 if the
// process can't be named in this PID namespace.
struct Peer {
  pid_t pid = 0;
  uid_t uid = 0;
};
int identify(const Fd &socket, Peer &peer);

// A descriptor that turns readable when the peer's process ends; without one
// (an old kernel, another PID namespace, ended already) its errno.
Fd watch_process(const Fd &socket, const Peer &peer);

} // namespace dpdkx::link::host
