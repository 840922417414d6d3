// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Keys that peers can't guess.
#pragma once

#include <cstddef>
#include <cstdint>

namespace util_ext {

// 0, or a negative FI_E* and `key` as it was. Of `size` bytes, 1 to 8; never FI_KEY_NOTAVAIL.
int draw_key(std::size_t size, std::uint64_t &key) noexcept;

} // namespace util_ext
