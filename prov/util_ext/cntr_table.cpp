// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/cntr_table.h"

#include "util_ext/cntr.h"
#include "util_ext/random_key.h"

#include <rdma/fi_errno.h>

#include <algorithm>

namespace util_ext {

CntrTable::Export *CntrTable::find(std::uint64_t key, int &error) noexcept {
  if (!last_ || last_->first != key) {
    const auto found = exports_.find(key);
    last_ = found == exports_.end() ? nullptr : &*found;
  }
  error = !last_ ? -FI_ENOKEY : !(last_->second.rights & FI_REMOTE_WRITE) ? -FI_EACCES : 0;
  return error ? nullptr : &last_->second;
}

int CntrTable::add(std::uint64_t key, std::uint64_t value) noexcept {
  Export *to;
  int error;
  if (!locking_) {
    if ((to = find(key, error)))
      to->cntr.add(value);
    return error;
  }
  {
    const std::lock_guard lock(mutex_);
    to = find(key, error);
    if (!to)
      return error;
    Pins::pin(to->additions);
  }
  to->cntr.add(value);
  pins_.unpin(to->additions, mutex_);
  return 0;
}

int CntrTable::insert(Cntr &cntr, std::uint64_t key, std::uint64_t rights) {
  const std::lock_guard lock(mutex_);
  const auto [place, fresh] = exports_.try_emplace(key, Export{cntr, rights});
  if (!fresh)
    return -FI_ENOKEY;
  try {
    keys_.emplace(&cntr, key);
  } catch (...) {
    exports_.erase(place);
    throw;
  }
  return 0;
}

int CntrTable::insert_random(Cntr &cntr, std::uint64_t rights, std::uint64_t &key) {
  for (;;) {
    std::uint64_t drawn;
    if (const int rc = draw_key(sizeof drawn, drawn); rc != 0)
      return rc;
    if (const int rc = insert(cntr, drawn, rights); rc != -FI_ENOKEY) {
      if (rc == 0)
        key = drawn;
      return rc;
    }
  }
}

// From here on no addition can start. Whoever else removes the same finds nothing.
void CntrTable::withdraw(Keys::iterator key, std::unique_lock<std::mutex> &lock) noexcept {
  last_ = nullptr;
  const Exports::node_type taken = exports_.extract(key->second);
  keys_.erase(key);
  pins_.wait(taken.mapped().additions, lock);
}

int CntrTable::remove(const Cntr &cntr, std::uint64_t key) noexcept {
  std::unique_lock lock(mutex_);
  const auto [first, last] = keys_.equal_range(&cntr);
  const auto found = std::find_if(first, last, [key](const auto &k) { return k.second == key; });
  if (found == last)
    return -FI_ENOKEY;
  withdraw(found, lock);
  return 0;
}

void CntrTable::remove_all(const Cntr &cntr) noexcept {
  std::unique_lock lock(mutex_);
  for (auto key = keys_.find(&cntr); key != keys_.end(); key = keys_.find(&cntr))
    withdraw(key, lock);
}

std::size_t CntrTable::size() const noexcept {
  const std::lock_guard lock(mutex_);
  return exports_.size();
}

} // namespace util_ext
