// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Whether this is built under a sanitizer that has memory of its own, so that the process's can't
// be measured, and the code is several times slower.
#pragma once

namespace fabtest {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
inline constexpr bool sanitized =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool sanitized = false;
#endif

} // namespace fabtest
