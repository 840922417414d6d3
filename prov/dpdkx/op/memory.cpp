// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/op/ops.h"

#include <algorithm>
#include <cstring>

namespace dpdkx::op {

void Memory::set(const iovec *from, std::size_t n, std::size_t total) {
  count = static_cast<std::uint32_t>(n);
  len = total;
  for (std::size_t i = 0; i < n; ++i)
    iov[i] = from[i];
}

namespace {

// Calls f(piece, bytes) for the pieces of [offset, offset + n).
template <class F> std::size_t walk(const Memory &m, std::size_t offset, std::size_t n, F &&f) {
  std::size_t done = 0;
  for (std::uint32_t i = 0; i < m.count && done < n; ++i) {
    if (offset >= m.iov[i].iov_len) {
      offset -= m.iov[i].iov_len;
      continue;
    }
    const std::size_t bytes = std::min(n - done, m.iov[i].iov_len - offset);
    f(static_cast<std::byte *>(m.iov[i].iov_base) + offset, bytes, done);
    done += bytes;
    offset = 0;
  }
  return done;
}

} // namespace

std::size_t Memory::copy_out(std::size_t offset, std::byte *to, std::size_t n) const {
  return walk(*this, offset, n, [to](const std::byte *piece, std::size_t bytes, std::size_t done) {
    std::memcpy(to + done, piece, bytes);
  });
}

std::size_t Memory::copy_in(std::size_t offset, const std::byte *from, std::size_t n) const {
  return walk(*this, offset, n, [from](std::byte *piece, std::size_t bytes, std::size_t done) {
    std::memcpy(piece, from + done, bytes);
  });
}

std::size_t Memory::slice(std::size_t offset, std::size_t n, iovec *out) const {
  std::size_t pieces = 0;
  walk(*this, offset, n, [&](std::byte *piece, std::size_t bytes, std::size_t) {
    out[pieces++] = {piece, bytes};
  });
  return pieces;
}

std::uint8_t Memory::regions(wire::RemoteRegion *out) const {
  std::uint8_t n = 0;
  for (std::uint32_t i = 0; i < count; ++i)
    if (iov[i].iov_len)
      out[n++] = {reinterpret_cast<std::uintptr_t>(iov[i].iov_base), iov[i].iov_len};
  return n;
}

} // namespace dpdkx::op
