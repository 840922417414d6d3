// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Addresses by index, and indices by address. Changes are serialised by the
// owner; readers take no lock, and an insert never holds them up.
//
// About 50 bytes an address: 32 for the entry, 5 to 11 in the hash table, as
// much again in the tables that it has outgrown. Those are kept, as a reader may
// still be in one.
//
// How readers see a whole entry: a new entry is written before the hash table
// names it. Memory that is used again (an index, a table) can be reached only by
// readers that started before it was given up; version_ goes up before it is
// rewritten, and a reader that sees so afterwards looks again.
#pragma once

#include "util_ext/address.h"

#include <array>
#include <atomic>
#include <memory>
#include <queue>
#include <vector>

namespace util_ext {

class AddressTable {
public:
  using Index = std::uint32_t;
  static constexpr Index none = ~Index{0};

  AddressTable();
  ~AddressTable();
  AddressTable(const AddressTable &) = delete;
  AddressTable &operator=(const AddressTable &) = delete;

  // Readers. Any thread.
  // Null: not in use. Valid until the index is removed.
  const SockAddr *lookup(std::uint64_t index) const noexcept;
  Index reverse(const SockAddr &) const noexcept;
  // One beyond the highest index that was ever in use.
  std::size_t high_water() const noexcept { return high_water_.load(std::memory_order_acquire); }

  // Changes. One at a time. May throw std::bad_alloc, and then have changed nothing.
  void reserve(std::size_t count); // a hint: no growth up to so many
  // The lowest free index, or that of the same address, which then counts twice.
  Index insert(const SockAddr &, bool &is_new);
  // True: it was the last reference, the index is free.
  bool remove(Index);

private:
  // Read as words by readers that a change may overtake.
  struct Entry {
    SockAddr address; // sa_family 0: free
    std::uint32_t references;
  };
  static_assert(sizeof(Entry) == 32);

  using Slot = std::atomic<Index>; // free, removed, or an index + 2
  struct Table {
    explicit Table(std::size_t capacity) : mask(capacity - 1), slots(new Slot[capacity]()) {}
    const std::size_t mask;
    std::unique_ptr<Slot[]> slots;
  };

  // Segment k holds 64 << k entries, so that none ever moves.
  static constexpr unsigned first_bits = 6, segments = 26;

  Entry *entry(std::uint64_t index) const noexcept;
  void make_entry(Index);
  Index probe(const SockAddr &) const noexcept;
  void place(Table &, Index, const SockAddr &) noexcept;
  void unplace(Table &, Index, const SockAddr &) noexcept;
  void rebuild(std::size_t capacity);
  void begin_rewrite() noexcept;

  std::array<std::atomic<Entry *>, segments> segments_{};
  std::atomic<std::size_t> high_water_{0};
  std::atomic<std::uint32_t> version_{0};
  std::atomic<Table *> table_{nullptr};
  // The owner's.
  std::vector<std::unique_ptr<Table>> tables_;
  Table *spare_ = nullptr;   // as large as the current one, and given up
  std::size_t live_ = 0;     // addresses
  std::size_t occupied_ = 0; // slots of the current table that are not free
  std::priority_queue<Index, std::vector<Index>, std::greater<>> free_; // below high_water_
};

} // namespace util_ext
