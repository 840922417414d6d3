// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Which counters peers may add to, by key. Any thread, unless made without locking. An export that
// is being taken out waits for the additions that go on: afterwards nothing touches its counter any
// more. No lock is held while a counter changes.
#pragma once

#include "util_ext/pins.h"

#include <rdma/fabric.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace util_ext {

class Cntr;

class CntrTable {
public:
  explicit CntrTable(bool locking) : locking_(locking) {}

  // What a peer asks for. -FI_ENOKEY: no such key; -FI_EACCES: not by this right.
  int add(std::uint64_t key, std::uint64_t value) noexcept;

  // `rights`: FI_REMOTE_WRITE allows add(). A counter may have several keys.
  // -FI_ENOKEY: the key is in use.
  int insert(Cntr &, std::uint64_t key, std::uint64_t rights);
  // Under a key that can't be guessed.
  int insert_random(Cntr &, std::uint64_t rights, std::uint64_t &key);
  // -FI_ENOKEY: the counter has no such key.
  int remove(const Cntr &, std::uint64_t key) noexcept;
  // All that it has; before it goes.
  void remove_all(const Cntr &) noexcept;

  std::size_t size() const noexcept; // keys

private:
  struct Export {
    Cntr &cntr;
    const std::uint64_t rights;
    Pins::Count additions = 0; // that go on
  };
  using Exports = std::unordered_map<std::uint64_t, Export>;
  using Keys = std::unordered_multimap<const Cntr *, std::uint64_t>;

  // An export that may be added to; else an error.
  Export *find(std::uint64_t key, int &error) noexcept;
  // With the lock, which it lets go of while it waits.
  void withdraw(Keys::iterator, std::unique_lock<std::mutex> &) noexcept;

  const bool locking_; // else additions take no lock, and nobody need wait for them
  mutable std::mutex mutex_;
  Pins pins_; // additions to exported counters
  Exports exports_;
  Exports::value_type *last_ = nullptr; // the one that was found last: often the next
  Keys keys_;
};

} // namespace util_ext
