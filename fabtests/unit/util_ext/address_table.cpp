// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/address_table.h"

#include <arpa/inet.h>
#include <atomic>
#include <malloc.h>
#include <map>
#include <rapidcheck.h>
#include <set>
#include <thread>

#include "unit/unit.h"

using util_ext::AddressTable;
using util_ext::SockAddr;

namespace {

SockAddr address(std::uint32_t n) {
  SockAddr a{};
  a.in.sin_family = AF_INET;
  a.in.sin_addr.s_addr = htonl(0x0a000000 + n / 16);
  a.in.sin_port = htons(static_cast<std::uint16_t>(1000 + n % 16));
  return a;
}

void insert__gives_the_lowest_free_index(void **) {
  AddressTable t;
  bool is_new;
  for (std::uint32_t i = 0; i < 5; ++i)
    assert_int_equal(t.insert(address(i), is_new), i);
  assert_true(t.remove(3));
  assert_true(t.remove(1));
  assert_int_equal(t.insert(address(10), is_new), 1);
  assert_int_equal(t.insert(address(11), is_new), 3);
  assert_int_equal(t.insert(address(12), is_new), 5);
  assert_int_equal(t.high_water(), 6);
}

void insert__of_the_same_counts(void **) {
  AddressTable t;
  bool is_new;
  assert_int_equal(t.insert(address(7), is_new), 0);
  assert_true(is_new);
  assert_int_equal(t.insert(address(7), is_new), 0);
  assert_false(is_new);
  assert_false(t.remove(0));
  assert_non_null(t.lookup(0));
  assert_int_equal(t.reverse(address(7)), 0);
  assert_true(t.remove(0));
  assert_null(t.lookup(0));
  assert_int_equal(t.reverse(address(7)), AddressTable::none);
}

void lookup__of_what_never_was(void **) {
  AddressTable t;
  assert_null(t.lookup(0));
  assert_null(t.lookup(~std::uint64_t{0}));
  bool is_new;
  t.insert(address(1), is_new);
  assert_null(t.lookup(1));
  assert_null(t.lookup(std::uint64_t{1} << 32));
}

// Positive: insert that address; negative: remove it once.
void table__agrees_with_a_map(void **) {
  assert_true(rc::check("insert, remove", [](const std::vector<std::int16_t> &steps) {
    AddressTable t;
    std::map<std::uint32_t, std::pair<std::uint32_t, int>> index_of; // index, references
    std::set<std::uint32_t> used;
    for (int repeat = 0; repeat < 4; ++repeat)
      for (const std::int16_t s : steps) {
        const std::uint32_t n = static_cast<std::uint32_t>(std::abs(int{s}) + repeat * 100) % 400;
        const auto found = index_of.find(n);
        if (s >= 0) {
          bool is_new;
          const auto index = t.insert(address(n), is_new);
          RC_ASSERT(is_new == (found == index_of.end()));
          if (is_new) {
            std::uint32_t lowest = 0;
            while (used.count(lowest))
              ++lowest;
            RC_ASSERT(index == lowest);
            used.insert(index);
            index_of[n] = {index, 1};
          } else {
            RC_ASSERT(index == found->second.first);
            ++found->second.second;
          }
        } else if (found != index_of.end()) {
          const auto index = found->second.first;
          RC_ASSERT(t.remove(index) == (--found->second.second == 0));
          if (found->second.second == 0) {
            index_of.erase(found);
            used.erase(index);
          }
        }
      }
    for (std::uint32_t n = 0; n < 400; ++n) {
      const auto found = index_of.find(n);
      RC_ASSERT(t.reverse(address(n)) ==
                (found == index_of.end() ? AddressTable::none : found->second.first));
      if (found != index_of.end())
        RC_ASSERT(same_address(*t.lookup(found->second.first), address(n)));
    }
  }));
}

std::size_t allocated() {
  const struct mallinfo2 m = mallinfo2();
  return m.uordblks + m.hblkhd;
}

void table__takes_at_most_64_bytes_an_address(void **) {
  constexpr std::uint32_t count = 1'000'000;
  const std::size_t before = allocated();
  if (before == 0)
    skip(); // another allocator, which doesn't tell
  AddressTable t;
  bool is_new;
  for (std::uint32_t i = 0; i < count; ++i)
    t.insert(address(i), is_new);
  const std::size_t full = allocated() - before;
  for (std::uint32_t i = 0; i < count; i += 997)
    assert_int_equal(t.reverse(address(i)), i);
  // Inserting and removing for ever takes no more, the list of free indices apart.
  for (std::uint32_t i = 0; i < 3 * count; ++i) {
    t.remove(i % count);
    t.insert(address(count + i), is_new);
  }
  const std::size_t churned = allocated() - before;
  print_message("%.1f bytes an address, %.1f after churn\n", double(full) / count,
                double(churned) / count);
  assert_true(full <= 64 * std::size_t{count});
  assert_true(churned <= 64 * std::size_t{count});
}

// Readers run against inserts, removals and reuse of indices: what stays in is
// always found, and an index that is found had that address.
void reverse__runs_beside_changes(void **) {
  AddressTable t;
  constexpr std::uint32_t kept = 64, others = 3000;
  bool is_new;
  for (std::uint32_t i = 0; i < kept; ++i)
    t.insert(address(i), is_new);
  std::atomic<bool> done{false};
  std::atomic<int> faults{0};
  std::vector<std::thread> readers;
  for (int r = 0; r < 2; ++r)
    readers.emplace_back([&] {
      for (std::uint32_t n = 0; !done.load(); ++n) {
        if (t.reverse(address(n % kept)) != n % kept)
          ++faults;
        const auto i = t.reverse(address(kept + n % others));
        if (i != AddressTable::none && i < kept)
          ++faults;
        if (t.reverse(address(1'000'000 + n)) != AddressTable::none)
          ++faults;
        if (!t.lookup(n % kept))
          ++faults;
      }
    });
  for (int repeat = 0; repeat < 10; ++repeat) {
    std::vector<std::uint32_t> indices;
    for (std::uint32_t n = 0; n < others; ++n)
      indices.push_back(t.insert(address(kept + n), is_new));
    for (const std::uint32_t i : indices)
      t.remove(i);
  }
  done = true;
  for (auto &r : readers)
    r.join();
  assert_int_equal(faults.load(), 0);
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(insert__gives_the_lowest_free_index),
    cmocka_unit_test(insert__of_the_same_counts),
    cmocka_unit_test(lookup__of_what_never_was),
    cmocka_unit_test(table__agrees_with_a_map),
    cmocka_unit_test(table__takes_at_most_64_bytes_an_address),
    cmocka_unit_test(reverse__runs_beside_changes),
};
static const unit::Group group{"address_table", cases};
