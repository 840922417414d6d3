// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Connections by address: open addressing, four bytes a slot, since an idle
// peer may cost next to nothing.
#pragma once

#include "dpdkx/base/room.h"
#include "dpdkx/engine/conn_table.h"

#include <vector>

namespace dpdkx::engine {

class AddressTable {
public:
  explicit AddressTable(const ConnTable &conns) : conns_(conns) {}

  Conn *find(const Address &a) const {
    if (slots_.empty())
      return nullptr;
    for (std::size_t i = home(a);; i = (i + 1) & mask()) {
      if (slots_[i] == none)
        return nullptr;
      if (Conn &c = conns_.at(slots_[i]); c.address == a)
        return &c;
    }
  }

  // False: no memory.
  bool insert(Conn *c) {
    if ((used_ + 1) * 4 > slots_.size() * 3 && !grow())
      return false;
    put(ConnTable::index_of(*c));
    ++used_;
    return true;
  }

  void erase(const Conn *c) {
    if (slots_.empty())
      return;
    std::size_t i = home(c->address);
    while (slots_[i] != ConnTable::index_of(*c)) {
      if (slots_[i] == none)
        return;
      i = (i + 1) & mask();
    }
    // Close the gap, so that no search stops short.
    for (std::size_t j = i;;) {
      slots_[i] = none;
      std::size_t h;
      do {
        j = (j + 1) & mask();
        if (slots_[j] == none) {
          --used_;
          return;
        }
        h = home(conns_.at(slots_[j]).address);
      } while (((j - h) & mask()) < ((j - i) & mask()));
      slots_[i] = slots_[j];
      i = j;
    }
  }

private:
  std::size_t mask() const { return slots_.size() - 1; }
  std::size_t home(const Address &a) const { return AddressHash{}(a)&mask(); }
  void put(std::uint32_t index) {
    std::size_t i = home(conns_.at(index).address);
    while (slots_[i] != none)
      i = (i + 1) & mask();
    slots_[i] = index;
  }
  bool grow() {
    const std::size_t n = slots_.empty() ? 16 : slots_.size() * 2;
    std::vector<std::uint32_t> old;
    if (!make_room(old, n))
      return false;
    old.resize(n, none);
    old.swap(slots_);
    for (const std::uint32_t index : old)
      if (index != none)
        put(index);
    return true;
  }

  static constexpr std::uint32_t none = 0xffffffff;
  const ConnTable &conns_;
  std::vector<std::uint32_t> slots_; // numbers of connections
  std::size_t used_ = 0;
};

} // namespace dpdkx::engine
