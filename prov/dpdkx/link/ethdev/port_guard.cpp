// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/ethdev/port_guard.h"

#include <algorithm>
#include <cerrno>
#include <linux/filter.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace dpdkx::link {

namespace {

union Name {
  sockaddr any;
  sockaddr_in v4;
  sockaddr_in6 v6{};

  explicit Name(const Address &address) {
    if (address.is_v4()) {
      v4 = {};
      v4.sin_family = AF_INET;
      v4.sin_addr.s_addr = htonl(address.v4_host_order());
      v4.sin_port = htons(address.port);
    } else {
      v6.sin6_family = AF_INET6;
      std::copy(address.ip.begin(), address.ip.end(), v6.sin6_addr.s6_addr);
      v6.sin6_port = htons(address.port);
    }
  }
  socklen_t size() const { return any.sa_family == AF_INET ? sizeof(v4) : sizeof(v6); }
};

} // namespace

PortGuard::~PortGuard() { release(); }

void PortGuard::release() {
  if (fd_ >= 0)
    close(fd_);
  fd_ = -1;
}

int PortGuard::bind(const Address &address) {
  sock_filter drop_all[] = {BPF_STMT(BPF_RET | BPF_K, 0)};
  sock_fprog program{1, drop_all};
  Name name(address);
  fd_ = socket(name.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd_ < 0 || setsockopt(fd_, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) != 0 ||
      ::bind(fd_, &name.any, name.size()) != 0)
    return -errno;
  return 0;
}

} // namespace dpdkx::link
