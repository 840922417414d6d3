// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "payload.h"

#include <algorithm>
#include <cstring>

namespace fabtest {

namespace {

constexpr std::byte guard_byte{0xa5};

// splitmix64: every bit of the result depends on every bit of the input.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

std::uint64_t word(std::uint64_t key, std::size_t index) { return mix(key + index); }

} // namespace

void fill(std::span<std::byte> buffer, std::uint64_t message) {
  const std::uint64_t key = mix(message);
  std::size_t at = 0;
  for (std::size_t i = 0; at < buffer.size(); ++i) {
    const std::uint64_t w = word(key, i);
    const std::size_t n = std::min(sizeof w, buffer.size() - at);
    std::memcpy(buffer.data() + at, &w, n);
    at += n;
  }
}

void verify(std::span<const std::byte> buffer, std::uint64_t message, where at) {
  const std::uint64_t key = mix(message);
  std::size_t offset = 0;
  for (std::size_t i = 0; offset < buffer.size(); ++i) {
    const std::uint64_t w = word(key, i);
    const std::size_t n = std::min(sizeof w, buffer.size() - offset);
    if (std::memcmp(buffer.data() + offset, &w, n) != 0)
      fail(fmt::format("message {:#x} of {} bytes differs in the 8 bytes at {}", message,
                       buffer.size(), offset),
           at);
    offset += n;
  }
}

std::vector<std::byte> payload(std::size_t size, std::uint64_t message) {
  std::vector<std::byte> buffer(size);
  fill(buffer, message);
  return buffer;
}

guarded_buffer::guarded_buffer(std::size_t size) : store_(size + 2 * guard, guard_byte) {}

void guarded_buffer::clear() { std::ranges::fill(store_, guard_byte); }

void guarded_buffer::check_guards(std::size_t used, where at) const {
  const auto intact = [](std::byte b) { return b == guard_byte; };
  const auto begin = store_.begin();
  const auto behind = begin + static_cast<std::ptrdiff_t>(guard + used);
  if (!std::all_of(begin, begin + guard, intact))
    fail("bytes in front of the receive buffer were overwritten", at);
  if (!std::all_of(behind, store_.end(), intact))
    fail(fmt::format("bytes behind the {} received ones were overwritten", used), at);
}

std::uint64_t random_source::next() {
  state_ += 0x9e3779b97f4a7c15ull;
  return mix(state_);
}

} // namespace fabtest
