// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/ethdev/port_guard.h"

#include <cerrno>
#include <linux/filter.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace dpdkx::link {

PortGuard::~PortGuard() {
  if (fd_ >= 0)
    close(fd_);
}

int PortGuard::bind(const Address &address) {
  fd_ = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd_ < 0)
    return -errno;
  sock_filter drop_all[] = {BPF_STMT(BPF_RET | BPF_K, 0)};
  sock_fprog program{1, drop_all};
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(address.v4_host_order());
  name.sin_port = htons(address.port);
  if (setsockopt(fd_, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) != 0 ||
      ::bind(fd_, reinterpret_cast<sockaddr *>(&name), sizeof(name)) != 0)
    return -errno;
  return 0;
}

} // namespace dpdkx::link
