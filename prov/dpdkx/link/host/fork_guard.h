// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What fork() must not copy. A child that kept a port's sockets would keep its
// name taken and its peers believing that it lives, so every descriptor of this
// link is closed in the child, before fork() returns there. Objects that the
// child inherited know by the generation that they are no longer theirs.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

namespace dpdkx::link::host {

// Counts the forks between the first process and this one.
extern std::atomic<std::uint32_t> fork_generation;

// While one exists, no other thread's fork() can begin: held from the making of
// a descriptor until an Fd owns it.
class ForkHold {
public:
  ForkHold();

private:
  std::unique_lock<std::mutex> lock_;
};

// Owns a file descriptor, or holds the negative errno that kept it from being made.
class Fd {
public:
  Fd() = default;
  // `fd` < 0 stands for a failed system call: errno is taken.
  Fd(int fd, const ForkHold &);
  Fd(Fd &&other) noexcept : fd_(std::exchange(other.fd_, -1)), generation_(other.generation_) {}
  Fd &operator=(Fd &&other) noexcept;
  ~Fd() { reset(); }

  explicit operator bool() const { return fd_ >= 0; }
  int get() const { return fd_; }
  int error() const { return fd_ < 0 ? fd_ : 0; }
  void reset();
  // Leaves it to the caller to close, which may take long: no fork() waits for that, and a child
  // may get a copy. -1: there is none, or it was inherited.
  int release();

private:
  int fd_ = -1;
  std::uint32_t generation_ = 0;
};

} // namespace dpdkx::link::host
