// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// In what order a poll looks at a device's receive queues: that of the endpoint that polls first,
// then the others in turn, from where the last poll stopped, so that none waits for one that is
// never empty. The device's receive lock guards it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace dpdkx::link {

class QueueRota {
public:
  static constexpr std::uint16_t no_queue = 0xffff;

  // So many queues are looked at always, and there are `all`.
  void open(std::uint16_t pool, std::uint16_t all) {
    pool_ = pool;
    queues_.reserve(all);
    set({});
  }
  // ... and from now on these, too, which are not of the pool.
  void set(std::span<const std::uint16_t> others) {
    queues_.clear();
    for (std::uint16_t queue = 0; queue < pool_; ++queue)
      queues_.push_back(queue);
    for (const std::uint16_t queue : others)
      if (queue >= pool_)
        queues_.push_back(queue);
    next_ = 0;
  }

  // Calls `burst(queue, most)`, which says how many packets it has taken, at most `room` in all.
  // What comes by the pool, acks among it, finds room beside any number of data.
  template <class Burst> void round(std::uint16_t own, unsigned room, Burst &&burst) {
    unsigned share = 0, taken = 0;
    if (own != no_queue) {
      share = (room + (odd_ = !odd_)) / 2;
      room -= taken = share != 0 ? burst(own, share) : 0;
    }
    for (std::size_t looked = 0; looked < queues_.size() && room != 0; ++looked) {
      const std::uint16_t queue = queues_[next_];
      next_ = next_ + 1 == queues_.size() ? 0 : next_ + 1;
      if (queue != own)
        room -= burst(queue, room);
    }
    if (room != 0 && own != no_queue && taken == share)
      burst(own, room); // there may be more
  }

private:
  std::uint16_t pool_ = 1;
  std::vector<std::uint16_t> queues_;
  std::size_t next_ = 0;
  bool odd_ = false;
};

} // namespace dpdkx::link
