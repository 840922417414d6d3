// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The exchange out of band, and how ranks agree that something has worked: what fails on one fails
// on all, and nobody waits for one that has given up.
#pragma once

#include "collc/collc_runtime.h"

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

namespace collc::rt {

// A rank's word: part of what it gives to an exchange.
struct outcome {
  std::int32_t code = 0;
  std::array<char, 204> text{};
};

// What `call` throws, or success.
outcome outcome_of(const std::function<void()> &call);

class exchange {
public:
  exchange(std::int64_t ranks, std::int64_t rank, const collc_rt_exchange &how)
      : ranks_(ranks), rank_(rank), how_(how) {}

  [[nodiscard]] std::int64_t ranks() const { return ranks_; }
  [[nodiscard]] std::int64_t rank() const { return rank_; }

  // `all` has room for as much from every rank.
  void gather(std::span<const std::byte> mine, std::span<std::byte> all) const;

  template <class T> std::vector<T> gather(const T &mine) const {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> all(static_cast<std::size_t>(ranks_));
    gather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
    return all;
  }

  // Throws the own failure, or that of the first rank that has one.
  template <class T> void agree(const std::vector<T> &all) const {
    throw_if(all[static_cast<std::size_t>(rank_)].result);
    for (std::size_t r = 0; r < all.size(); ++r)
      throw_others(r, all[r].result);
  }

private:
  static void throw_if(const outcome &own);
  static void throw_others(std::size_t rank, const outcome &theirs);

  std::int64_t ranks_, rank_;
  collc_rt_exchange how_;
};

} // namespace collc::rt
