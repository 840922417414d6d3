// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What a thread blocks on until an endpoint of the domain has something to do:
// the endpoints' descriptors, a timer for what is due next, and kick() for
// what other threads change meanwhile. Costs nothing until someone asks for it.
#pragma once

#include "dpdkx/endpoint_set.h"
#include "util_ext/wait.h"

#include <mutex>

namespace dpdkx {

class DomainWait final : public util_ext::WaitSource {
public:
  explicit DomainWait(EndpointSet &endpoints) : endpoints_(endpoints) {}
  virtual ~DomainWait();
  DomainWait(const DomainWait &) = delete;

  int fd() override;
  bool arm() override;
  void disarm() override;

  // Around the endpoint's time in the set: attach() after it was added, detach()
  // after it was removed and before it is closed.
  void attach(engine::Endpoint &);
  void detach(engine::Endpoint &);

  // A call has given the endpoint something to do, or a timer: a thread that
  // sleeps must know if it is due before the thread would wake by itself.
  void posted(engine::Endpoint &endpoint) {
    if (sleepers_.load() != 0) [[unlikely]]
      posted_while_asleep(endpoint);
  }
  void kick() noexcept;

private:
  int open(); // 0 or a negative errno; under the lock
  void watch(engine::Endpoint &, int operation);
  bool arm_endpoint(engine::Endpoint &, Time &deadline);
  void posted_while_asleep(engine::Endpoint &);
  void set_timer(Time deadline);
  void disarm_all();

  EndpointSet &endpoints_;
  std::mutex mutex_;
  int epoll_ = -1, timer_ = -1;
  util_ext::Event kick_;
  std::atomic<unsigned> sleepers_{0};  // arm() without disarm(); changed under the lock
  std::atomic<Time::rep> deadline_{0}; // that the timer is set for
};

} // namespace dpdkx
