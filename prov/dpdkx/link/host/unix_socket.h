// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Unix sockets that keep messages apart, and messages that carry memory.
#pragma once

#include "dpdkx/link/host/fork_guard.h"

#include <cstddef>
#include <span>
#include <string_view>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>
#include <vector>

namespace dpdkx::link::host {

// Of a socket: abstract, or a path of the file system. The caller has seen to its length.
struct SocketName {
  sockaddr_un address{};
  socklen_t length = 0;

  static constexpr std::size_t max_length = sizeof(sockaddr_un::sun_path) - 1;
  static SocketName abstract(std::string_view name);
  static SocketName path(std::string_view path);
  const sockaddr *get() const { return reinterpret_cast<const sockaddr *>(&address); }
};

Fd make_socket();                               // never blocks
int connect_to(const SocketName &, Fd &socket); // 0 or negative errno
int listen_at(const SocketName &, Fd &socket);  // likewise

// 0 or negative errno.
int send_with_memory(const Fd &socket, std::span<const std::byte> message, const Fd &memfd);
// The length received; 0: closed; negative errno. `memfd` is what came with the message, none if
// nothing did; -EMFILE: no descriptor is free for it; -EPROTO: more than one came, or the message
// is longer than `into`.
ssize_t receive_with_memory(const Fd &socket, std::span<std::byte> into, Fd &memfd);
// The same of a message that stays in front, with all that came with it added to `passed`, also
// where something is wrong. The message has them, too: however long the last close of one takes, to
// close these takes no time, and those for which no descriptor is free stay with it.
ssize_t peek_with_descriptors(const Fd &socket, std::span<std::byte> into, std::vector<Fd> &passed);
// Takes that message away. Of what came with it nothing is closed for the last time whose copy is
// still open.
void drop_message(const Fd &socket);

} // namespace dpdkx::link::host
