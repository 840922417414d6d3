// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Several sources as one, for a wait set: they come and go while threads wait.
#pragma once

#include "util_ext/domain.h"

#include <mutex>
#include <vector>

namespace util_ext {

class SourceGroup final : public WaitSource {
public:
  SourceGroup() = default;
  virtual ~SourceGroup();
  SourceGroup(const SourceGroup &) = delete;
  SourceGroup &operator=(const SourceGroup &) = delete;

  // 0 or a negative errno.
  int open();
  // The same source may be added several times. After add() who waits should look
  // again: it may have something already. -FI_ENOSYS: it has no descriptor.
  int add(WaitSource &);
  void remove(WaitSource &) noexcept;

  int fd() override { return epoll_; }
  bool arm() override;
  void disarm() override;

private:
  struct Entry {
    WaitSource *source;
    unsigned users;
  };

  int epoll_ = -1;
  std::mutex mutex_;
  std::vector<Entry> entries_;
  unsigned armed_ = 0; // arm() without disarm()
};

} // namespace util_ext
