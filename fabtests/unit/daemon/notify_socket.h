// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What systemd does with NOTIFY_SOCKET.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "unit/unit.h"

class NotifySocket {
public:
  NotifySocket()
      : fd_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)),
        name_("@dpdkxd-notify-" + std::to_string(getpid())) {
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    std::memcpy(at.sun_path, name_.data(), name_.size());
    at.sun_path[0] = '\0';
    assert_int_equal(bind(fd_, reinterpret_cast<sockaddr *>(&at),
                          static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name_.size())),
                     0);
    setenv("NOTIFY_SOCKET", name_.c_str(), 1);
  }
  ~NotifySocket() {
    unsetenv("NOTIFY_SOCKET");
    close(fd_);
  }
  NotifySocket(const NotifySocket &) = delete;

  std::string next() const { // waits
    char text[256];
    const ssize_t n = recv(fd_, text, sizeof(text), 0);
    return n < 0 ? "" : std::string(text, static_cast<std::size_t>(n));
  }

private:
  int fd_;
  std::string name_;
};
