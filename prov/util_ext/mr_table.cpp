// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/mr_table.h"

#include "util_ext/cntr.h"
#include "util_ext/random_key.h"

#include <algorithm>
#include <atomic>

namespace util_ext {

int MrTable::access(std::uint64_t key, std::uint64_t addr, std::size_t len, std::uint64_t rights,
                    Access &out) noexcept {
  out.end();
  std::lock_guard lock(mutex_);
  const auto found = regions_.find(key);
  if (found == regions_.end())
    return -FI_ENOKEY;
  Region &r = *found->second;
  const std::uint64_t offset = addr - r.base; // huge if it lies before
  if ((r.access & rights) != rights || offset > r.length || len > r.length - offset)
    return -FI_EACCES;

  Pins::pin(r.accesses);
  out.table_ = this;
  out.region_ = &r;
  out.offset_ = offset;
  out.length_ = len;
  return 0;
}

void MrTable::Access::end() noexcept {
  if (!table_)
    return;
  MrTable &table = *std::exchange(table_, nullptr);
  table.pins_.unpin(region_->accesses, table.mutex_);
}

std::size_t MrTable::Access::pieces(iovec *out, std::size_t max) const noexcept {
  std::uint64_t skip = offset_;
  std::size_t left = length_, n = 0;
  for (const iovec &buffer : region_->buffers) {
    if (left == 0)
      break;
    if (skip >= buffer.iov_len) {
      skip -= buffer.iov_len;
      continue;
    }
    const std::size_t piece = std::min<std::size_t>(buffer.iov_len - skip, left);
    if (n < max)
      out[n] = {static_cast<char *>(buffer.iov_base) + skip, piece};
    ++n;
    left -= piece;
    skip = 0;
  }
  return n;
}

iovec MrTable::Access::piece(std::size_t offset) const noexcept {
  std::uint64_t skip = offset_ + offset;
  const std::size_t left = length_ - offset;
  for (const iovec &buffer : region_->buffers) {
    if (skip < buffer.iov_len)
      return {static_cast<char *>(buffer.iov_base) + skip,
              std::min<std::size_t>(buffer.iov_len - skip, left)};
    skip -= buffer.iov_len;
  }
  return {};
}

Cntr *MrTable::Access::counter(std::uint64_t right) const noexcept {
  Cntr *&place = right == FI_REMOTE_READ ? region_->read_cntr : region_->write_cntr;
  return std::atomic_ref(place).load(std::memory_order_acquire);
}

void MrTable::count(Region &r, std::uint64_t rights, Cntr &cntr) noexcept {
  if (rights & FI_REMOTE_READ)
    std::atomic_ref(r.read_cntr).store(&cntr, std::memory_order_release);
  if (rights & FI_REMOTE_WRITE)
    std::atomic_ref(r.write_cntr).store(&cntr, std::memory_order_release);
}

int MrTable::insert(Region &r, std::uint64_t key) {
  std::lock_guard lock(mutex_);
  r.key = key;
  return regions_.emplace(key, &r).second ? 0 : -FI_ENOKEY;
}

int MrTable::insert_random(Region &r, std::size_t key_size) {
  for (;;) {
    std::uint64_t key;
    if (const int rc = draw_key(key_size, key); rc != 0)
      return rc;
    if (const int rc = insert(r, key); rc != -FI_ENOKEY)
      return rc;
  }
}

// By then no access can start any more.
void MrTable::remove(Region &r) noexcept {
  std::unique_lock lock(mutex_);
  regions_.erase(r.key);
  pins_.wait(r.accesses, lock);
}

} // namespace util_ext
