// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Which connection is to be looked at next: a binary heap. A deadline that has
// moved back is found out when the old one comes up, so that traffic, which
// moves it all the time, costs nothing here.
#pragma once

#include "dpdkx/base/room.h"
#include "dpdkx/engine/conn.h"

#include <algorithm>
#include <vector>

namespace dpdkx::engine {

class Timers {
public:
  Time next() const { return heap_.empty() ? missed_ : std::min(missed_, heap_.front().when); }
  Conn *due(Time now) const { // null: none
    return heap_.empty() || heap_.front().when > now ? nullptr : heap_.front().conn;
  }

  // Whether one is due that there was no memory to take up: then all are to be looked at.
  bool missed(Time now) {
    if (missed_ > now)
      return false;
    missed_ = never;
    return true;
  }

  // Not later than `when`.
  void at_latest(Conn &c, Time when) {
    if (c.timer_index == none) {
      if (when == never)
        return;
      if (!make_room(heap_, heap_.size() + 1)) {
        missed_ = std::min(missed_, when);
        return;
      }
      c.timer_index = static_cast<std::uint32_t>(heap_.size());
      heap_.push_back({when, &c});
    } else if (when < heap_[c.timer_index].when) {
      heap_[c.timer_index].when = when;
    } else {
      return;
    }
    up(c.timer_index);
  }

  void remove(Conn &c) {
    if (c.timer_index == none)
      return;
    const std::uint32_t at = c.timer_index;
    c.timer_index = none;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (last.conn == &c)
      return;
    place(at, last);
    up(at);
    down(last.conn->timer_index);
  }

private:
  struct Entry {
    Time when;
    Conn *conn;
  };
  static constexpr std::uint32_t none = 0xffffffff;

  void place(std::uint32_t i, const Entry &e) {
    heap_[i] = e;
    e.conn->timer_index = i;
  }
  void up(std::uint32_t i) {
    const Entry e = heap_[i];
    for (; i > 0 && e.when < heap_[(i - 1) / 2].when; i = (i - 1) / 2)
      place(i, heap_[(i - 1) / 2]);
    place(i, e);
  }
  void down(std::uint32_t i) {
    const Entry e = heap_[i];
    const std::uint32_t n = static_cast<std::uint32_t>(heap_.size());
    for (std::uint32_t child; (child = 2 * i + 1) < n; i = child) {
      if (child + 1 < n && heap_[child + 1].when < heap_[child].when)
        ++child;
      if (e.when <= heap_[child].when)
        break;
      place(i, heap_[child]);
    }
    place(i, e);
  }

  std::vector<Entry> heap_;
  Time missed_ = never; // when the first is due that is not in the heap
};

} // namespace dpdkx::engine
