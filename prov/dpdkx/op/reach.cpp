// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/op/reach.h"

#include "util_ext/cntr.h"

#include <rdma/fi_errno.h>

#include <algorithm>
#include <cstring>

namespace dpdkx::op {

wire::Targets slice(const wire::Targets &of, std::uint64_t offset, std::uint64_t n) {
  wire::Targets out;
  for (unsigned i = 0; i < of.count && n != 0; ++i) {
    const wire::RemoteTarget &t = of.at[i];
    if (offset >= t.length) {
      offset -= t.length;
      continue;
    }
    const std::uint64_t part = std::min(n, t.length - offset);
    out.at[out.count++] = {t.address + offset, part, t.key};
    n -= part;
    offset = 0;
  }
  return out;
}

int Reach::open(util_ext::MrTable *table, const wire::Targets &targets,
                std::uint64_t rights) noexcept {
  for (count_ = 0; count_ < targets.count; ++count_) {
    const wire::RemoteTarget &t = targets.at[count_];
    const int rc =
        table ? table->access(t.key, t.address, t.length, rights, access_[count_]) : -FI_ENOKEY;
    if (rc != 0)
      return -rc;
  }
  return 0;
}

void Reach::count(std::uint64_t right) const noexcept {
  util_ext::Cntr *told[wire::max_targets];
  std::size_t n = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    util_ext::Cntr *const cntr = access_[i].counter(right);
    if (!cntr || std::find(told, told + n, cntr) != told + n)
      continue;
    told[n++] = cntr;
    cntr->add(1);
  }
}

iovec Reach::piece(std::uint64_t offset) const noexcept {
  for (std::size_t i = 0; i < count_; ++i) {
    if (offset < access_[i].length())
      return access_[i].piece(offset);
    offset -= access_[i].length();
  }
  return {};
}

void Reach::put(std::uint64_t offset, const std::byte *from, std::size_t n) const noexcept {
  while (n != 0) {
    const iovec at = piece(offset);
    const std::size_t part = std::min(n, at.iov_len);
    if (part == 0)
      return;
    std::memcpy(at.iov_base, from, part);
    from += part;
    offset += part;
    n -= part;
  }
}

void Reach::get(std::uint64_t offset, std::byte *to, std::size_t n) const noexcept {
  while (n != 0) {
    const iovec at = piece(offset);
    const std::size_t part = std::min(n, at.iov_len);
    if (part == 0)
      return;
    std::memcpy(to, at.iov_base, part);
    to += part;
    offset += part;
    n -= part;
  }
}

} // namespace dpdkx::op
