// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/ethdev/claim.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace dpdkx::link {

namespace {

struct ClaimName {
  sockaddr_un address{};
  socklen_t size = 0;

  explicit ClaimName(const std::string &identity) {
    std::string name = "dpdkx-device-" + identity;
    name.resize(std::min(name.size(), sizeof(address.sun_path) - 1));
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name.data(), name.size()); // a leading 0: abstract
    size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  }
  const sockaddr *get() const { return reinterpret_cast<const sockaddr *>(&address); }
};

int unix_socket() { return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0); }

} // namespace

Claim::Claim(Claim &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Claim &Claim::operator=(Claim &&other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Claim::~Claim() {
  if (fd_ >= 0)
    close(fd_);
}

int Claim::take(const std::string &identity, Claim &out) {
  Claim claim;
  claim.fd_ = unix_socket();
  if (claim.fd_ < 0)
    return -errno;
  ClaimName name(identity);
  if (bind(claim.fd_, name.get(), name.size) != 0)
    return errno == EADDRINUSE ? -EBUSY : -errno;
  out = std::move(claim);
  return 0;
}

bool Claim::is_taken(const std::string &identity) {
  int fd = unix_socket();
  if (fd < 0)
    return false;
  ClaimName name(identity);
  bool taken = connect(fd, name.get(), name.size) == 0; // a datagram socket: tells nobody
  close(fd);
  return taken;
}

} // namespace dpdkx::link
