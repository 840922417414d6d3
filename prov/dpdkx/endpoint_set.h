// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The endpoints that a domain drives. Walking them takes no lock, so that
// threads which poll don't meet; adding and removing copies the list.
#pragma once

#include "dpdkx/engine/endpoint.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <sched.h>
#include <vector>

namespace dpdkx {

class EndpointSet {
public:
  using List = std::vector<engine::Endpoint *>;

  EndpointSet() : list_(new List) {}
  ~EndpointSet() { delete list_.load(); }
  EndpointSet(const EndpointSet &) = delete;

  void add(engine::Endpoint &);
  // After this no walk touches the endpoint. Not to be called from within one.
  void remove(engine::Endpoint &);

  // `concurrent`: remove() may run in another thread at the same time.
  template <class F> void for_each(bool concurrent, F &&f) {
    if (!concurrent) {
      for (engine::Endpoint *endpoint : *list_.load(std::memory_order_relaxed))
        f(*endpoint);
      return;
    }
    const Reader reader(*this);
    for (engine::Endpoint *endpoint : *list_.load())
      f(*endpoint);
  }

private:
  // Readers count themselves under the parity of the epoch in which they began.
  // A writer publishes its list, then twice starts a new epoch and waits for
  // the readers of the one before: whoever had the old list is gone then.
  class Reader {
  public:
    explicit Reader(EndpointSet &set) : count_(set.readers_[set.epoch_.load() & 1]) {
      count_.fetch_add(1);
    }
    ~Reader() { count_.fetch_sub(1, std::memory_order_release); }
    Reader(const Reader &) = delete;

  private:
    std::atomic<std::uint32_t> &count_;
  };

  void replace(std::unique_ptr<List>);

  std::atomic<List *> list_;
  std::atomic<std::uint32_t> epoch_{0};
  std::atomic<std::uint32_t> readers_[2] = {};
  std::mutex writers_;
};

inline void EndpointSet::add(engine::Endpoint &endpoint) {
  const std::lock_guard lock(writers_);
  auto list = std::make_unique<List>(*list_.load());
  list->push_back(&endpoint);
  replace(std::move(list));
}

inline void EndpointSet::remove(engine::Endpoint &endpoint) {
  const std::lock_guard lock(writers_);
  auto list = std::make_unique<List>(*list_.load());
  std::erase(*list, &endpoint);
  replace(std::move(list));
}

inline void EndpointSet::replace(std::unique_ptr<List> list) {
  const std::unique_ptr<List> old(list_.exchange(list.release()));
  for (int round = 0; round < 2; ++round) {
    const std::uint32_t past = epoch_.fetch_add(1) & 1;
    while (readers_[past].load() != 0)
      sched_yield(); // a walk is short
  }
}

} // namespace dpdkx
