// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What the objects under test stand on: a provider whose log lines are kept, a
// fabric, a domain that does nothing, and one that has something to wait for.
#pragma once

#include "util_ext/domain.h"
#include "util_ext/fabric.h"
#include "util_ext/wait.h"

#include <cstring>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace fake {

extern const fi_provider provider;

// Puts a number into an enum as a C caller might: any.
template <class E> void put_raw(E &e, unsigned value) {
  static_assert(sizeof(E) == sizeof value);
  std::memcpy(&e, &value, sizeof value);
}

// While it lives, operator new that answers null instead of throwing does so.
class NoMemory {
public:
  NoMemory();
  ~NoMemory();
};

// The lines since the last call, oldest first. This program's fi_log() keeps
// them; nothing is printed.
std::vector<std::string> take_log();

class Source final : public util_ext::WaitSource {
public:
  Source() { event_.open(); }
  int fd() override { return blind ? -1 : event_.fd(); }
  bool arm() override {
    std::lock_guard lock(mutex_);
    ++arms;
    if (pending_)
      return false;
    event_.clear();
    return true;
  }
  void disarm() override {
    std::lock_guard lock(mutex_);
    --arms;
  }

  // From another thread: something has arrived, for progress() to find.
  void arrive() {
    std::lock_guard lock(mutex_);
    pending_ = true;
    if (arms > 0)
      event_.set();
  }
  bool take() {
    std::lock_guard lock(mutex_);
    return std::exchange(pending_, false);
  }
  int armed() {
    std::lock_guard lock(mutex_);
    return arms;
  }

  bool blind = false;

private:
  int arms = 0;
  std::mutex mutex_;
  util_ext::Event event_;
  bool pending_ = false;
};

class Domain final : public util_ext::Domain {
public:
  explicit Domain(fi_threading threading = FI_THREAD_SAFE,
                  fi_progress progress = FI_PROGRESS_MANUAL,
                  std::uint32_t api_version = FI_VERSION(1, 17),
                  std::uint32_t addr_format = FI_SOCKADDR)
      : util_ext::Domain(fake::provider, threading, progress, api_version, addr_format) {}
  ~Domain() = default;

  void progress() override {
    progressed.fetch_add(1);
    if (on_progress)
      on_progress();
  }
  void polled_in_vain() override { in_vain.fetch_add(1); }
  util_ext::WaitSource &wait_source() override { return source; }
  int make_work(const fi_deferred_work &work, std::unique_ptr<util_ext::Work> &made) override {
    return on_make_work ? on_make_work(work, made) : -FI_ENOSYS;
  }

  std::atomic<int> progressed{0}, in_vain{0};
  std::function<void()> on_progress; // set before threads start
  std::function<int(const fi_deferred_work &, std::unique_ptr<util_ext::Work> &)> on_make_work;
  Source source;
};

class Fabric final : public util_ext::Fabric {
public:
  explicit Fabric(std::uint32_t api_version = FI_VERSION(1, 17))
      : util_ext::Fabric(fake::provider, api_version) {}
  ~Fabric() = default;
};

} // namespace fake
