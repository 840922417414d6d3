// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Bytes that say which message they belong to and where in it they stand.
#pragma once

#include "check.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fabtest {

// A message's identity: any number that differs between messages that could be confused.
void fill(std::span<std::byte> buffer, std::uint64_t message);
void verify(std::span<const std::byte> buffer, std::uint64_t message, where at = where::current());

std::vector<std::byte> payload(std::size_t size, std::uint64_t message);

// A receive buffer with guard bytes on both sides, so that an overrun is seen.
class guarded_buffer {
public:
  explicit guarded_buffer(std::size_t size);

  [[nodiscard]] std::byte *data() { return store_.data() + guard; }
  [[nodiscard]] std::size_t size() const { return store_.size() - 2 * guard; }
  [[nodiscard]] std::span<std::byte> span() { return {data(), size()}; }
  [[nodiscard]] std::span<std::byte> first(std::size_t n) { return span().first(n); }

  void clear();
  // Also that nothing behind the first `used` bytes was touched.
  void check_guards(std::size_t used, where at = where::current()) const;

private:
  static constexpr std::size_t guard = 64;
  std::vector<std::byte> store_;
};

// A small, fast generator whose sequence depends on the seed alone.
class random_source {
public:
  explicit random_source(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  bool one_in(unsigned n) { return below(n) == 0; }

private:
  std::uint64_t state_;
};

} // namespace fabtest
