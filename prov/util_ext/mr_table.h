// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Which memory peers may access, by key. Any thread. A region that is being
// taken out waits for the accesses that go on: afterwards nothing reads or
// writes its memory any more.
#pragma once

#include "util_ext/pins.h"

#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <sys/uio.h>
#include <unordered_map>
#include <utility>
#include <vector>

namespace util_ext {

class Cntr;

// Memory as peers see it: the buffers one after the other, the first byte at
// address `base`.
struct Region {
  std::vector<iovec> buffers;
  std::uint64_t base = 0;
  std::uint64_t length = 0; // of all buffers
  std::uint64_t access = 0; // FI_REMOTE_READ, FI_REMOTE_WRITE
  // What counts the accesses of peers, or null; set with MrTable::count().
  Cntr *read_cntr = nullptr, *write_cntr = nullptr;
  // The table's own.
  std::uint64_t key = 0;
  Pins::Count accesses = 0;
};

class MrTable {
public:
  // One access of a peer to one region, for as long as it lives.
  class Access {
  public:
    Access() = default;
    Access(Access &&other) noexcept
        : table_(std::exchange(other.table_, nullptr)), region_(other.region_),
          offset_(other.offset_), length_(other.length_) {}
    Access &operator=(Access &&other) noexcept {
      std::swap(table_, other.table_);
      std::swap(region_, other.region_);
      std::swap(offset_, other.offset_);
      std::swap(length_, other.length_);
      return *this;
    }
    ~Access() { end(); }

    void end() noexcept;
    std::size_t length() const { return length_; }
    // The memory in pieces: at most `max`; returns how many there are.
    std::size_t pieces(iovec *out, std::size_t max) const noexcept;
    // The memory from `offset` on that lies in one piece; offset < length().
    iovec piece(std::size_t offset) const noexcept;
    // What counts such accesses to the region, or null. `right`: FI_REMOTE_READ or FI_REMOTE_WRITE.
    Cntr *counter(std::uint64_t right) const noexcept;

  private:
    friend MrTable;
    MrTable *table_ = nullptr;
    Region *region_ = nullptr;
    std::uint64_t offset_ = 0;
    std::size_t length_ = 0;
  };

  // Starts an access to `len` bytes at a peer's `addr`. `rights`:
  // FI_REMOTE_READ and/or FI_REMOTE_WRITE. -FI_ENOKEY: no such key; -FI_EACCES:
  // no such right, or not all within the region.
  int access(std::uint64_t key, std::uint64_t addr, std::size_t len, std::uint64_t rights,
             Access &) noexcept;

  // -FI_ENOKEY: the key is in use. The region stays where it is until remove().
  int insert(Region &, std::uint64_t key);
  // With a key that can't be guessed, of `key_size` bytes.
  int insert_random(Region &, std::size_t key_size);
  void remove(Region &) noexcept;

  // From now on accesses by these rights are counted there; also while there are some. The counter
  // outlives the region.
  static void count(Region &, std::uint64_t rights, Cntr &) noexcept;

private:
  std::mutex mutex_;
  Pins pins_; // accesses to regions
  std::unordered_map<std::uint64_t, Region *> regions_;
};

} // namespace util_ext
