// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/check/memory.h"
#include "unit/property.h"

#include "unit/collc/compiled.h"

using namespace collc;

static void memory__what_is_written_is_read(void **) {
  memory a(16), b(16);
  a.fill({{1, 0}});
  assert_true(b.write(a.read(4, 4), 6, 7)); // bytes 4 to 7 at 10
  const auto parts = b.read(8, 8);
  assert_int_equal(parts.size(), 3);
  assert_true(parts[0].of.empty() && parts[0].begin == 8 && parts[0].end == 10);
  assert_true(parts[1].of == (contents{{1, -6}}) && parts[1].begin == 10 && parts[1].by == 7);
  assert_true(parts[2].of.empty() && parts[2].begin == 14 && parts[2].end == 16);
  assert_false(a.write(b.read(8, 4), 0, 8)); // two of them were never written
}

static void memory__combines_what_both_have(void **) {
  memory a(8), b(8);
  a.fill({{1, 0}});
  b.fill({{0, 0}});
  assert_true(b.combine(a.read(0, 4), 2, 1));
  const auto parts = b.read(0, 8);
  assert_int_equal(parts.size(), 3);
  assert_true(parts[1].of == (contents{{0, 0}, {1, -2}}));
  memory never(8);
  assert_false(b.combine(never.read(0, 1), 0, 1));
}

// As bytes have it.
static void memory__is_as_an_array_of_bytes(void **) {
  assert_true(unit::holds("any writes", [] {
    constexpr std::uint64_t size = 24;
    memory m[2] = {memory(size), memory(size)};
    std::vector<std::vector<std::int64_t>> bytes(2, std::vector<std::int64_t>(size));
    for (int i = 0; i < 2; ++i) {
      m[i].fill({{i, 0}});
      for (std::uint64_t x = 0; x < size; ++x)
        bytes[i][x] = i * 100 + static_cast<std::int64_t>(x);
    }
    for (int i = 0; i < 12; ++i) {
      const auto from = *rc::gen::inRange<std::uint64_t>(0, size);
      const auto length = *rc::gen::inRange<std::uint64_t>(0, size - from + 1);
      const auto to = *rc::gen::inRange<std::uint64_t>(0, size - length + 1);
      const auto source = *rc::gen::inRange(0, 2), target = *rc::gen::inRange(0, 2);
      m[target].write(m[source].read(from, length),
                      static_cast<std::int64_t>(to) - static_cast<std::int64_t>(from), i);
      const auto was = bytes[source];
      for (std::uint64_t x = 0; x < length; ++x)
        bytes[target][to + x] = was[from + x];
    }
    for (int i = 0; i < 2; ++i)
      for (const stretch &s : m[i].read(0, size))
        for (std::uint64_t x = s.begin; x < s.end; ++x)
          RC_ASSERT(s.of[0].rank * 100 + static_cast<std::int64_t>(x) + s.of[0].shift ==
                    bytes[i][x]);
  }));
}

static const CMUnitTest cases[] = {cmocka_unit_test(memory__what_is_written_is_read),
                                   cmocka_unit_test(memory__combines_what_both_have),
                                   cmocka_unit_test(memory__is_as_an_array_of_bytes)};
static const unit::Group group{"memory", cases};
