// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Connections that something is to be done with. What is to be done stands in
// flags of theirs; the list only saves looking for them. So it may hold some
// whose flag is down again, which are passed over, and when there is no memory
// for it all connections are looked at instead.
#pragma once

#include "dpdkx/base/room.h"
#include "dpdkx/engine/conn_table.h"

#include <vector>

namespace dpdkx::engine {

class WorkList {
public:
  void add(Conn &c) noexcept {
    if (make_room(list_, list_.size() + 1))
      list_.push_back(&c);
    else
      incomplete_ = true;
  }

  bool empty() const { return list_.empty() && !incomplete_; }
  // Whether `f` is true of one that stands there, or may stand there.
  template <class F> bool any(const ConnTable &conns, F &&f) const {
    bool found = false;
    for (const Conn *c : list_)
      found = found || f(*c);
    if (incomplete_)
      conns.for_each([&](const Conn &c) { found = found || f(c); });
    return found;
  }
  void forget(const Conn &c) { std::erase(list_, &c); }
  void swap(WorkList &other) noexcept {
    list_.swap(other.list_);
    std::swap(incomplete_, other.incomplete_);
  }

  // Empties the list and calls `f` for each that stood there, and perhaps for others. `f` may add
  // to another list, and destroy the connection that it is given, but no other.
  template <class F> void drain(const ConnTable &conns, F &&f) {
    for (Conn *c : list_)
      f(*c);
    list_.clear();
    if (!incomplete_)
      return;
    incomplete_ = false;
    conns.for_each(f);
  }

  // Calls `f` for each that stands there, and perhaps for others; keeps those for which it is true.
  // `f` changes no work list but others, and destroys no connection.
  template <class F> void keep_if(const ConnTable &conns, F &&f) {
    std::erase_if(list_, [&](Conn *c) { return !f(*c); });
    if (!incomplete_)
      return;
    incomplete_ = false;
    conns.for_each([&](Conn &c) { incomplete_ |= f(c); });
  }

private:
  std::vector<Conn *> list_;
  bool incomplete_ = false;
};

} // namespace dpdkx::engine
