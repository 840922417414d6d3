// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace collc {

// By receiver, and each receiver's by order(); receivers are numbers below `end`. `room` is used.
template <typename Entry>
void sort_by_receiver(std::vector<Entry> &all, std::vector<Entry> &room, std::uint32_t end) {
  const auto before = [](const Entry &a, const Entry &b) {
    return a.to != b.to ? a.to < b.to : a.order() < b.order();
  };
  constexpr std::size_t few = 64, many = 4096;
  if (std::ranges::is_sorted(all, before))
    return;
  if (all.size() < few) {
    std::ranges::sort(all, before);
    return;
  }
  constexpr unsigned most = 11;
  const unsigned digit = all.size() < many ? 8 : most; // bits
  room.resize(all.size());
  for (unsigned low = 0; (end - 1) >> low != 0; low += digit) {
    std::array<std::uint32_t, (1U << most) + 1> begin;
    std::fill_n(begin.begin(), (1U << digit) + 1, 0);
    const auto digit_of = [=](const Entry &e) { return e.to >> low & ((1U << digit) - 1); };
    for (const Entry &e : all)
      ++begin[digit_of(e) + 1];
    for (std::size_t i = 1; i <= 1U << digit; ++i)
      begin[i] += begin[i - 1];
    for (const Entry &e : all)
      room[begin[digit_of(e)]++] = e;
    all.swap(room);
  }
  for (auto first = all.begin(); first != all.end();) {
    auto last = first + 1;
    while (last != all.end() && last->to == first->to)
      ++last;
    if (last - first > 1)
      std::sort(first, last, before);
    first = last;
  }
}

} // namespace collc
