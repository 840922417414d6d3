// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/address_table.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>

namespace util_ext {

namespace {

constexpr std::uint32_t slot_free = 0, slot_removed = 1, slot_base = 2;

// An entry's address as the words that readers and writers move it in.
using Word [[gnu::may_alias]] = std::uint32_t;
constexpr std::size_t words = sizeof(SockAddr) / sizeof(Word);

// Acquire and release: what a reader does next, and what a writer did before,
// must not pass (see version_).
SockAddr load(const SockAddr &from) {
  SockAddr to;
  const Word *f = reinterpret_cast<const Word *>(&from);
  Word *t = reinterpret_cast<Word *>(&to);
  for (std::size_t i = 0; i < words; ++i)
    t[i] = __atomic_load_n(&f[i], __ATOMIC_ACQUIRE);
  return to;
}

void store(SockAddr &to, const SockAddr &from) {
  const Word *f = reinterpret_cast<const Word *>(&from);
  Word *t = reinterpret_cast<Word *>(&to);
  for (std::size_t i = 0; i < words; ++i)
    __atomic_store_n(&t[i], f[i], __ATOMIC_RELEASE);
}

// Family and port only: the rest of a freed entry stays as it was.
void store_free(SockAddr &to) {
  __atomic_store_n(reinterpret_cast<Word *>(&to), 0, __ATOMIC_RELEASE);
}

bool in_use(const SockAddr &a) {
  SockAddr first;
  *reinterpret_cast<Word *>(&first) =
      __atomic_load_n(reinterpret_cast<const Word *>(&a), __ATOMIC_ACQUIRE);
  return first.sa.sa_family != 0;
}

} // namespace

AddressTable::AddressTable() { rebuild(std::size_t{1} << first_bits); }

AddressTable::~AddressTable() {
  for (auto &s : segments_)
    std::free(s.load(std::memory_order_relaxed));
}

// ---- readers

AddressTable::Entry *AddressTable::entry(std::uint64_t index) const noexcept {
  const std::uint64_t i = index + (1U << first_bits);
  const unsigned bit = static_cast<unsigned>(std::bit_width(i)) - 1;
  Entry *segment = segments_[bit - first_bits].load(std::memory_order_acquire);
  return segment + (i - (std::uint64_t{1} << bit));
}

const SockAddr *AddressTable::lookup(std::uint64_t index) const noexcept {
  if (index >= high_water())
    return nullptr;
  const Entry *e = entry(index);
  return in_use(e->address) ? &e->address : nullptr;
}

AddressTable::Index AddressTable::probe(const SockAddr &a) const noexcept {
  const Table &t = *table_.load(std::memory_order_acquire);
  // Bounded, as a table that is being rewritten may look full.
  for (std::size_t i = hash_address(a), n = 0; n <= t.mask; ++i, ++n) {
    const Index slot = t.slots[i & t.mask].load(std::memory_order_acquire);
    if (slot == slot_free)
      return none;
    if (slot == slot_removed)
      continue;
    const SockAddr found = load(entry(slot - slot_base)->address);
    if (found.sa.sa_family != 0 && same_address(found, a))
      return slot - slot_base;
  }
  return none;
}

AddressTable::Index AddressTable::reverse(const SockAddr &a) const noexcept {
  for (;;) {
    const std::uint32_t version = version_.load(std::memory_order_acquire);
    const Index found = probe(a);
    if (version_.load(std::memory_order_relaxed) == version)
      return found;
  }
}

// ---- changes

// Stores that follow release, so whoever reads one of them sees this too.
void AddressTable::begin_rewrite() noexcept {
  version_.store(version_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

// Sees to the memory of an entry.
void AddressTable::make_entry(Index index) {
  const std::uint64_t i = std::uint64_t{index} + (1U << first_bits);
  const unsigned k = static_cast<unsigned>(std::bit_width(i)) - 1 - first_bits;
  if (k >= segments)
    throw std::bad_alloc();
  if (segments_[k].load(std::memory_order_relaxed))
    return;
  // Large ones are zeros that cost no memory until they are used.
  void *memory = std::calloc(std::size_t{1} << (first_bits + k), sizeof(Entry));
  if (!memory)
    throw std::bad_alloc();
  segments_[k].store(static_cast<Entry *>(memory), std::memory_order_release);
}

// There is a free slot.
void AddressTable::place(Table &t, Index index, const SockAddr &a) noexcept {
  std::size_t i = hash_address(a) & t.mask;
  Index was;
  while ((was = t.slots[i].load(std::memory_order_relaxed)) > slot_removed)
    i = (i + 1) & t.mask;
  occupied_ += was == slot_free;
  t.slots[i].store(index + slot_base, std::memory_order_release);
}

// Slots at the end of a run become free again, so that few stay "removed".
void AddressTable::unplace(Table &t, Index index, const SockAddr &a) noexcept {
  const auto at = [&](std::size_t i) {
    return t.slots[i & t.mask].load(std::memory_order_relaxed);
  };
  std::size_t i = hash_address(a);
  while (at(i) != index + slot_base)
    ++i;
  t.slots[i & t.mask].store(slot_removed, std::memory_order_release);
  if (at(i + 1) == slot_free)
    for (; at(i) == slot_removed; --i, --occupied_)
      t.slots[i & t.mask].store(slot_free, std::memory_order_release);
}

// Makes a table of that capacity the current one. Two of one size take turns, so
// that inserting and removing for ever needs no more memory.
void AddressTable::rebuild(std::size_t capacity) {
  Table *const old = table_.load(std::memory_order_relaxed);
  const bool same_size = old && old->mask + 1 == capacity;
  Table *next = same_size ? spare_ : nullptr;
  if (!next) {
    tables_.push_back(std::make_unique<Table>(capacity));
    next = tables_.back().get();
  }

  begin_rewrite();
  for (std::size_t i = 0; i < capacity; ++i)
    next->slots[i].store(slot_free, std::memory_order_release);
  occupied_ = 0;
  for (std::size_t i = 0; i < high_water(); ++i)
    if (const SockAddr *a = lookup(i))
      place(*next, static_cast<Index>(i), *a);

  table_.store(next, std::memory_order_release);
  spare_ = same_size ? old : nullptr;
}

void AddressTable::reserve(std::size_t count) {
  // A hint may be nonsense; what it leaves out costs growth.
  count = std::min(count, std::size_t{1} << 20);
  const std::size_t capacity = std::bit_ceil(count + count / 2);
  if (capacity > table_.load(std::memory_order_relaxed)->mask + 1)
    rebuild(capacity);
}

AddressTable::Index AddressTable::insert(const SockAddr &a, bool &is_new) {
  if (const Index known = probe(a); known != none) {
    ++entry(known)->references;
    is_new = false;
    return known;
  }

  const std::size_t capacity = table_.load(std::memory_order_relaxed)->mask + 1;
  if ((occupied_ + 1) * 4 > capacity * 3)
    rebuild(live_ * 2 >= capacity ? capacity * 2 : capacity);

  const bool again = !free_.empty();
  const Index index = again ? free_.top() : static_cast<Index>(high_water());
  if (again)
    free_.pop();
  else
    make_entry(index);

  Entry &e = *entry(index);
  if (again)
    begin_rewrite();
  e.references = 1;
  store(e.address, a);
  if (!again)
    high_water_.store(std::size_t{index} + 1, std::memory_order_release);
  place(*table_.load(std::memory_order_relaxed), index, a);
  ++live_;
  is_new = true;
  return index;
}

bool AddressTable::remove(Index index) {
  Entry &e = *entry(index);
  if (--e.references != 0)
    return false;
  unplace(*table_.load(std::memory_order_relaxed), index, e.address);
  store_free(e.address);
  --live_;
  try {
    free_.push(index);
  } catch (const std::bad_alloc &) {
    // The index stays unused.
  }
  return true;
}

} // namespace util_ext
