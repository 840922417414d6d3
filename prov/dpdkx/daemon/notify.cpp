// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/notify.h"

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace dpdkx::daemon {

bool notify(const std::string &state) {
  const char *name = std::getenv("NOTIFY_SOCKET");
  if (name == nullptr || *name == '\0')
    return true;
  sockaddr_un address{};
  const std::size_t length = std::strlen(name);
  if ((*name != '@' && *name != '/') || length >= sizeof(address.sun_path)) {
    errno = EINVAL;
    return false;
  }
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, name, length);
  if (*name == '@')
    address.sun_path[0] = '\0';
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0)
    return false;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
  const auto sent = sendto(fd, state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                           reinterpret_cast<const sockaddr *>(&address), size);
  const int error = errno;
  close(fd);
  errno = error;
  return sent == static_cast<ssize_t>(state.size());
}

std::string reloading() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return "RELOADING=1\nMONOTONIC_USEC=" +
         std::to_string(now.tv_sec * 1'000'000 + now.tv_nsec / 1000);
}

} // namespace dpdkx::daemon
