// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/host/fork_guard.h"

#include <cerrno>
#include <pthread.h>
#include <set>
#include <unistd.h>

namespace dpdkx::link::host {

std::atomic<std::uint32_t> fork_generation{0};

namespace {

// Never destroyed: ports may outlive the static objects of this library.
struct Registry {
  std::mutex mutex;
  std::set<int> owned;
};

Registry &registry() {
  static Registry *const instance = [] {
    auto *made = new Registry;
    pthread_atfork([] { registry().mutex.lock(); }, [] { registry().mutex.unlock(); },
                   [] {
                     for (const int fd : registry().owned)
                       close(fd);
                     registry().owned.clear();
                     fork_generation.fetch_add(1, std::memory_order_relaxed);
                     registry().mutex.unlock();
                   });
    return made;
  }();
  return *instance;
}

} // namespace

ForkHold::ForkHold() : lock_(registry().mutex) {}

Fd::Fd(int fd, const ForkHold &)
    : fd_(fd >= 0 ? fd : -errno), generation_(fork_generation.load(std::memory_order_relaxed)) {
  if (fd >= 0)
    registry().owned.insert(fd);
}

Fd &Fd::operator=(Fd &&other) noexcept {
  if (this != &other) {
    reset();
    fd_ = std::exchange(other.fd_, -1);
    generation_ = other.generation_;
  }
  return *this;
}

int Fd::release() {
  const int fd = std::exchange(fd_, -1);
  if (fd < 0)
    return -1;
  const ForkHold hold;
  if (generation_ != fork_generation.load(std::memory_order_relaxed))
    return -1;
  registry().owned.erase(fd);
  return fd;
}

void Fd::reset() {
  const int fd = std::exchange(fd_, -1);
  if (fd < 0)
    return;
  const ForkHold hold;
  // In a child the number was closed already, and may name something else.
  if (generation_ != fork_generation.load(std::memory_order_relaxed))
    return;
  registry().owned.erase(fd);
  close(fd);
}

} // namespace dpdkx::link::host
