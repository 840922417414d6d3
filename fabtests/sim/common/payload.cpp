// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "sim/common/payload.h"

#include "dpdkx/link/sim/random.h"
#include "sim/common/check.h"

#include <algorithm>
#include <cstring>

namespace sim {

namespace {

// Calls f(offset, 8 bytes, how many of them count) over `size` bytes.
template <class F> void each_word(std::size_t size, std::uint64_t message, F &&f) {
  dpdkx::link::sim::Random random(dpdkx::link::sim::Random(message).next());
  for (std::size_t at = 0; at < size; at += sizeof(std::uint64_t))
    f(at, random.next(), std::min(sizeof(std::uint64_t), size - at));
}

} // namespace

std::vector<std::byte> bytes_of(std::size_t size, std::uint64_t message) {
  std::vector<std::byte> bytes(size);
  each_word(size, message, [&](std::size_t at, std::uint64_t word, std::size_t n) {
    std::memcpy(bytes.data() + at, &word, n);
  });
  return bytes;
}

void verify(std::span<const std::byte> bytes, std::uint64_t message) {
  each_word(bytes.size(), message, [&](std::size_t at, std::uint64_t word, std::size_t n) {
    if (std::memcmp(bytes.data() + at, &word, n) != 0)
      FAIL("message {:#x} of {} bytes differs in the 8 bytes at {}", message, bytes.size(), at);
  });
}

} // namespace sim
