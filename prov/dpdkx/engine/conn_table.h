// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// An endpoint's connections: where they live, and by number (the low half of
// our token). In chunks, since an idle peer may cost next to nothing.
#pragma once

#include "dpdkx/base/room.h"
#include "dpdkx/engine/conn.h"

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

namespace dpdkx::engine {

class ConnTable {
public:
  ConnTable() = default;
  ConnTable(const ConnTable &) = delete;
  ~ConnTable() {
    for_each([this](Conn &c) { destroy(c); });
  }

  // Makes a connection whose token is drawn for the number it gets; null: no memory.
  Conn *make(session::Gate &gate, const Address &to, link::Port *port, bool lossless) {
    std::uint32_t index;
    if (!free_index(index))
      return nullptr;
    Chunk &chunk = *chunks_[index / chunk_size];
    Conn *c =
        new (chunk.at(index % chunk_size)) Conn(gate, gate.draw_token(index), to, port, lossless);
    chunk.taken |= std::uint64_t{1} << index % chunk_size;
    return c;
  }

  void destroy(Conn &c) {
    const std::uint32_t index = index_of(c);
    Chunk &chunk = *chunks_[index / chunk_size];
    c.~Conn();
    chunk.taken &= ~(std::uint64_t{1} << index % chunk_size);
    first_room_ = std::min(first_room_, index / chunk_size);
  }

  Conn *find(wire::Token token) const {
    const std::uint32_t index = index_of(token);
    if (index / chunk_size >= chunks_.size())
      return nullptr;
    Chunk &chunk = *chunks_[index / chunk_size];
    if (!(chunk.taken >> index % chunk_size & 1))
      return nullptr;
    Conn *c = chunk.at(index % chunk_size);
    return c->session.local_token() == token ? c : nullptr;
  }

  // Other tables name a connection by its number: half of what a pointer takes.
  static std::uint32_t index_of(const Conn &c) { return index_of(c.session.local_token()); }
  Conn &at(std::uint32_t index) const {
    return *chunks_[index / chunk_size]->at(index % chunk_size);
  }

  // `f` may destroy the one it is given.
  template <class F> void for_each(F &&f) const {
    for (const auto &chunk : chunks_)
      for (std::uint64_t left = chunk->taken; left; left &= left - 1)
        f(*chunk->at(static_cast<std::uint32_t>(std::countr_zero(left))));
  }

private:
  static constexpr std::uint32_t chunk_size = 64;
  struct Chunk {
    std::uint64_t taken = 0; // bit i: the i-th lives
    alignas(Conn) std::byte room[chunk_size * sizeof(Conn)];
    Conn *at(std::uint32_t i) {
      return std::launder(reinterpret_cast<Conn *>(room + i * sizeof(Conn)));
    }
  };

  static std::uint32_t index_of(wire::Token token) {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(token));
  }

  bool free_index(std::uint32_t &index) {
    while (first_room_ < chunks_.size() && chunks_[first_room_]->taken == ~std::uint64_t{0})
      ++first_room_;
    if (first_room_ == chunks_.size()) {
      std::unique_ptr<Chunk> chunk(new (std::nothrow) Chunk);
      if (!chunk || !make_room(chunks_, chunks_.size() + 1))
        return false;
      chunks_.push_back(std::move(chunk));
    }
    const std::uint64_t taken = chunks_[first_room_]->taken;
    index = first_room_ * chunk_size + static_cast<std::uint32_t>(std::countr_one(taken));
    return true;
  }

  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::uint32_t first_room_ = 0; // no chunk before it has any
};

} // namespace dpdkx::engine
