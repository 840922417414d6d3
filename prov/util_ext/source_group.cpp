// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/source_group.h"

#include <algorithm>
#include <cerrno>
#include <sys/epoll.h>
#include <unistd.h>

namespace util_ext {

SourceGroup::~SourceGroup() {
  if (epoll_ >= 0)
    close(epoll_);
}

int SourceGroup::open() {
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  return epoll_ < 0 ? -errno : 0;
}

int SourceGroup::add(WaitSource &source) {
  const std::lock_guard lock(mutex_);
  for (Entry &e : entries_)
    if (e.source == &source) {
      ++e.users;
      return 0;
    }
  const int fd = source.fd();
  if (fd < 0)
    return -FI_ENOSYS;
  entries_.reserve(entries_.size() + 1);
  epoll_event readable{};
  readable.events = EPOLLIN;
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &readable) != 0)
    return -errno;
  entries_.push_back({&source, 1});
  for (unsigned i = 0; i < armed_; ++i)
    source.arm();
  return 0;
}

void SourceGroup::remove(WaitSource &source) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry &e) { return e.source == &source; });
  if (found == entries_.end() || --found->users != 0)
    return;
  epoll_ctl(epoll_, EPOLL_CTL_DEL, source.fd(), nullptr);
  for (unsigned i = 0; i < armed_; ++i)
    source.disarm();
  entries_.erase(found);
}

bool SourceGroup::arm() {
  const std::lock_guard lock(mutex_);
  ++armed_;
  bool quiet = true;
  for (const Entry &e : entries_)
    quiet &= e.source->arm();
  return quiet;
}

void SourceGroup::disarm() {
  const std::lock_guard lock(mutex_);
  --armed_;
  for (const Entry &e : entries_)
    e.source->disarm();
}

} // namespace util_ext
