// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A mutex that can be switched off when the object is made: FI_THREAD_DOMAIN
// promises one caller at a time, and then pays nothing.
#pragma once

#include <mutex>

namespace util_ext {

class OptionalMutex {
public:
  explicit OptionalMutex(bool enabled) : enabled_(enabled) {}
  void lock() {
    if (enabled_)
      mutex_.lock();
  }
  bool try_lock() { return !enabled_ || mutex_.try_lock(); }
  void unlock() {
    if (enabled_)
      mutex_.unlock();
  }

private:
  std::mutex mutex_;
  const bool enabled_;
};

} // namespace util_ext
