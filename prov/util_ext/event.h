// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#pragma once

namespace util_ext {

// A file descriptor that poll() finds readable between set() and clear().
class Event {
public:
  Event() = default;
  Event(const Event &) = delete;
  Event &operator=(const Event &) = delete;
  ~Event();

  int open(); // 0, -FI_EMFILE, ...; nothing if it is open
  int fd() const { return fd_; }
  void set() noexcept;
  void clear() noexcept;

private:
  int fd_ = -1;
};

} // namespace util_ext
