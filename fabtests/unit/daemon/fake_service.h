// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// In place of what forwards: runs until it is stopped, and keeps what it was given.
#pragma once

#include "dpdkx/daemon/service.h"

#include <condition_variable>
#include <mutex>
#include <vector>

namespace dpdkx::daemon {

struct FakeWorld {
  std::mutex mutex;
  std::condition_variable changed;
  bool running = false, stopped = false, gone = false;
  std::vector<Config> configs; // the first, and those of reloads

  template <class What> void wait(What &&what) {
    std::unique_lock lock(mutex);
    changed.wait(lock, what);
  }
  template <class Change> void change(Change &&make) {
    const std::lock_guard lock(mutex);
    make();
    changed.notify_all();
  }
};

class FakeService final : public Service {
public:
  explicit FakeService(FakeWorld &world) : world_(world) {}
  ~FakeService() override {
    world_.change([this] { world_.gone = true; });
  }
  void run() override {
    world_.change([this] { world_.running = true; });
    world_.wait([this] { return world_.stopped; });
  }
  void stop() override {
    world_.change([this] { world_.stopped = true; });
  }
  void reload(const Config &config) override {
    world_.change([&] { world_.configs.push_back(config); });
  }

private:
  FakeWorld &world_;
};

inline OpenService open_fake(FakeWorld &world) {
  return [&world](const Config &config, std::unique_ptr<Service> &out, std::string &) {
    world.configs.push_back(config);
    out = std::make_unique<FakeService>(world);
    return 0;
  };
}

} // namespace dpdkx::daemon
