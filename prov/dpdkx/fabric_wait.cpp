// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/fabric_wait.h"

#include "dpdkx/provider.h"

#include <cstring>
#include <sys/epoll.h>
#include <unistd.h>

namespace dpdkx {

namespace {

int watch_fd(int epoll, int operation, int fd) {
  epoll_event readable{};
  readable.events = EPOLLIN;
  return epoll_ctl(epoll, operation, fd, &readable);
}

} // namespace

FabricWait::~FabricWait() {
  if (epoll_ >= 0)
    close(epoll_);
}

int FabricWait::fd() {
  const std::lock_guard lock(mutex_);
  if (epoll_ < 0)
    if (const int rc = open())
      FI_WARN(&provider, FI_LOG_FABRIC, "no descriptor to wait on: %s\n", fi_strerror(-rc));
  return epoll_;
}

int FabricWait::open() {
  if (const int rc = kick_.open())
    return rc;
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  if (epoll < 0 || watch_fd(epoll, EPOLL_CTL_ADD, kick_.fd()) != 0) {
    const int error = errno;
    if (epoll >= 0)
      close(epoll);
    return -error;
  }
  epoll_ = epoll;
  for (util_ext::WaitSource *source : sources_)
    watch(*source, EPOLL_CTL_ADD);
  return 0;
}

void FabricWait::watch(util_ext::WaitSource &source, int operation) const {
  if (const int fd = source.fd(); fd >= 0 && watch_fd(epoll_, operation, fd) != 0)
    FI_WARN(&provider, FI_LOG_FABRIC, "a descriptor can't be waited on: %s\n",
            std::strerror(errno));
}

bool FabricWait::arm() {
  const std::lock_guard lock(mutex_);
  ++armed_;
  bool quiet = epoll_ >= 0;
  if (quiet)
    kick_.clear();
  for (util_ext::WaitSource *source : sources_)
    quiet &= source->arm();
  return quiet;
}

void FabricWait::disarm() {
  const std::lock_guard lock(mutex_);
  --armed_;
  for (util_ext::WaitSource *source : sources_)
    source->disarm();
}

// Who sleeps looks again: what the source has to tell may be there already.
void FabricWait::add(util_ext::WaitSource &source) {
  const std::lock_guard lock(mutex_);
  sources_.push_back(&source);
  for (unsigned i = 0; i < armed_; ++i)
    (void)source.arm();
  if (epoll_ < 0)
    return;
  watch(source, EPOLL_CTL_ADD);
  kick_.set();
}

void FabricWait::remove(util_ext::WaitSource &source) {
  const std::lock_guard lock(mutex_);
  if (std::erase(sources_, &source) == 0)
    return;
  for (unsigned i = 0; i < armed_; ++i)
    source.disarm();
  if (epoll_ >= 0)
    watch(source, EPOLL_CTL_DEL);
}

} // namespace dpdkx
