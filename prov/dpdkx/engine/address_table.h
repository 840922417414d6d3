// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Connections by address: open addressing, eight bytes a slot, since an idle
// peer may cost next to nothing.
#pragma once

#include "dpdkx/engine/conn.h"

#include <vector>

namespace dpdkx::engine {

class AddressTable {
public:
  Conn *find(const Address &a) const {
    if (slots_.empty())
      return nullptr;
    for (std::size_t i = home(a);; i = (i + 1) & mask()) {
      if (!slots_[i])
        return nullptr;
      if (slots_[i]->address == a)
        return slots_[i];
    }
  }

  void insert(Conn *c) {
    if ((used_ + 1) * 4 > slots_.size() * 3)
      grow();
    put(c);
    ++used_;
  }

  void erase(const Conn *c) {
    if (slots_.empty())
      return;
    std::size_t i = home(c->address);
    while (slots_[i] != c) {
      if (!slots_[i])
        return;
      i = (i + 1) & mask();
    }
    // Close the gap, so that no search stops short.
    for (std::size_t j = i;;) {
      slots_[i] = nullptr;
      std::size_t h;
      do {
        j = (j + 1) & mask();
        if (!slots_[j]) {
          --used_;
          return;
        }
        h = home(slots_[j]->address);
      } while (((j - h) & mask()) < ((j - i) & mask()));
      slots_[i] = slots_[j];
      i = j;
    }
  }

private:
  std::size_t mask() const { return slots_.size() - 1; }
  std::size_t home(const Address &a) const { return AddressHash{}(a)&mask(); }
  void put(Conn *c) {
    std::size_t i = home(c->address);
    while (slots_[i])
      i = (i + 1) & mask();
    slots_[i] = c;
  }
  void grow() {
    std::vector<Conn *> old(slots_.empty() ? 16 : slots_.size() * 2);
    old.swap(slots_);
    for (Conn *c : old)
      if (c)
        put(c);
  }

  std::vector<Conn *> slots_;
  std::size_t used_ = 0;
};

} // namespace dpdkx::engine
