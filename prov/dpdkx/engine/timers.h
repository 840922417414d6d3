// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Which connection is to be looked at next: a binary heap on Conn::timer. A
// deadline that has moved back is found out when the old one comes up, so that
// traffic, which moves it all the time, costs nothing here.
#pragma once

#include "dpdkx/engine/conn.h"

#include <vector>

namespace dpdkx::engine {

class Timers {
public:
  Time next() const { return heap_.empty() ? never : heap_.front()->timer; }
  Conn *first() const { return heap_.empty() ? nullptr : heap_.front(); }

  // Not later than `when`.
  void at_latest(Conn &c, Time when) {
    if (when >= c.timer)
      return;
    c.timer = when;
    if (c.timer_index == none) {
      c.timer_index = static_cast<std::uint32_t>(heap_.size());
      heap_.push_back(&c);
    }
    up(c.timer_index);
  }

  void remove(Conn &c) {
    if (c.timer_index == none)
      return;
    const std::uint32_t at = c.timer_index;
    Conn *last = heap_.back();
    heap_.pop_back();
    c.timer_index = none;
    c.timer = never;
    if (last == &c)
      return;
    place(at, last);
    up(at);
    down(last->timer_index);
  }

private:
  static constexpr std::uint32_t none = 0xffffffff;

  void place(std::uint32_t i, Conn *c) {
    heap_[i] = c;
    c->timer_index = i;
  }
  void up(std::uint32_t i) {
    Conn *c = heap_[i];
    for (; i > 0 && c->timer < heap_[(i - 1) / 2]->timer; i = (i - 1) / 2)
      place(i, heap_[(i - 1) / 2]);
    place(i, c);
  }
  void down(std::uint32_t i) {
    Conn *c = heap_[i];
    const std::uint32_t n = static_cast<std::uint32_t>(heap_.size());
    for (std::uint32_t child; (child = 2 * i + 1) < n; i = child) {
      if (child + 1 < n && heap_[child + 1]->timer < heap_[child]->timer)
        ++child;
      if (c->timer <= heap_[child]->timer)
        break;
      place(i, heap_[child]);
    }
    place(i, c);
  }

  std::vector<Conn *> heap_;
};

} // namespace dpdkx::engine
