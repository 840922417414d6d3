// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Memory, and messages with descriptors, as those make them who don't keep to
// the rules.
#pragma once

#include "dpdkx/link/host/fork_guard.h"
#include "dpdkx/link/host/segment.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <span>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace harness {

// Those of good memory.
inline constexpr int all_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

// As large as good memory is, for rings of so many bytes.
inline std::size_t memory_bytes(std::size_t ring_bytes) {
  return dpdkx::link::host::page_bytes() + 2 * ring_bytes;
}

// Empty if it can't be made.
inline dpdkx::link::host::Fd make_memory(std::size_t bytes, int seals) {
  const dpdkx::link::host::ForkHold hold;
  dpdkx::link::host::Fd out(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING), hold);
  if (ftruncate(out.get(), static_cast<off_t>(bytes)) != 0 ||
      fcntl(out.get(), F_ADD_SEALS, seals) != 0)
    return {};
  return out;
}

// As send(2), with up to 200 descriptors.
inline ssize_t send_passing(int socket, std::span<const std::byte> bytes,
                            std::span<const int> descriptors, int flags) {
  constexpr std::size_t most = 200;
  alignas(cmsghdr) char control[CMSG_SPACE(most * sizeof(int))] = {};
  iovec body{const_cast<std::byte *>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &body;
  message.msg_iovlen = 1;
  if (const auto passed = descriptors.first(std::min(descriptors.size(), most)); !passed.empty()) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(passed.size_bytes());
    cmsghdr *const c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(passed.size_bytes());
    std::memcpy(CMSG_DATA(c), passed.data(), passed.size_bytes());
  }
  return sendmsg(socket, &message, flags);
}

} // namespace harness
