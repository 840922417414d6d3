// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// With a device: a thread that keeps the peers of endpoints content while the
// application doesn't call.
#pragma once

#include "dpdkx/background.h"
#include "dpdkx/base/clock.h"
#include "dpdkx/endpoint_set.h"

#include <condition_variable>
#include <mutex>

namespace dpdkx {

class IdleService {
public:
  // Looks at them every `tick`, and serves those that had no turn for so long.
  IdleService(EndpointSet &endpoints, Duration tick) : endpoints_(endpoints), tick_(tick) {}
  ~IdleService() { stop(); }

  int start(); // 0, also if it runs already; or a negative FI_E*, which has been told
  void stop();

private:
  void run();
  void serve();

  EndpointSet &endpoints_;
  const Duration tick_;
  std::mutex mutex_;
  std::condition_variable signal_;
  bool stopping_ = false;
  Background thread_;
};

} // namespace dpdkx
