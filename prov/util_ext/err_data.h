// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What error entries of CQs and EQs carry: bytes of the provider's own, handed
// over as fi_cq(3) and fi_eq(3) say, and an error number as text.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace util_ext {

class ErrData {
public:
  static constexpr std::size_t max_size = 256; // what who rejects a connection may say

  // Copies; what is longer is cut off.
  void assign(const void *data, std::size_t size) noexcept {
    size_ = std::min(size, max_size);
    if (size_)
      std::memcpy(bytes_.data(), data, size_);
  }

  // Into the caller's buffer, if it brings one, else a pointer to the bytes
  // here. Applications before 1.5 bring none; and their fi_cq_err_entry (not
  // their fi_eq_err_entry: `sized`) ends before the size.
  template <class Entry> void give(Entry &out, std::uint32_t api, bool sized) noexcept {
    const bool modern = FI_VERSION_GE(api, FI_VERSION(1, 5));
    if (modern && out.err_data && out.err_data_size) {
      out.err_data_size = std::min(out.err_data_size, size_);
      std::memcpy(out.err_data, bytes_.data(), out.err_data_size);
      return;
    }
    out.err_data = size_ ? bytes_.data() : nullptr;
    if (modern || sized)
      out.err_data_size = size_;
  }

private:
  std::array<std::byte, max_size> bytes_;
  std::size_t size_ = 0;
};

// fi_cq_strerror, fi_eq_strerror: provider error numbers are errno's or FI_E*.
inline const char *explain(int prov_errno, char *buf, std::size_t len) noexcept {
  const char *text = fi_strerror(prov_errno < 0 ? -prov_errno : prov_errno);
  if (buf && len)
    std::snprintf(buf, len, "%s", text);
  return buf && len ? buf : text;
}

} // namespace util_ext
