// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/idle_service.h"

#include "dpdkx/provider.h"

namespace dpdkx {

int IdleService::start() {
  if (thread_.running())
    return 0;
  std::string error;
  const int rc = thread_.start(
      "dpdkx-service", -1, [this] { run(); }, error);
  if (rc)
    FI_WARN(&provider, FI_LOG_DOMAIN, "%s\n", error.c_str());
  return rc;
}

void IdleService::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  signal_.notify_all();
  thread_.join();
}

void IdleService::run() {
  std::unique_lock lock(mutex_);
  while (!signal_.wait_for(lock, tick_, [this] { return stopping_; })) {
    lock.unlock();
    serve();
    lock.lock();
  }
}

void IdleService::serve() {
  const Time now = SystemClock::instance().now();
  endpoints_.for_each(true, [&](engine::Endpoint &endpoint) {
    const std::unique_lock lock(endpoint.mutex(), std::try_to_lock);
    if (lock && now - endpoint.last_turn() >= tick_)
      endpoint.service();
  });
}

} // namespace dpdkx
