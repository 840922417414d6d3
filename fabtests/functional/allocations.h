// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Counts what operator new allocates: for this program, and the libraries that share its C++
// library, as the runtime does, and the provider doesn't. Nothing under a sanitizer, whose own they
// are.
#pragma once

#include <cstdint>

namespace fabtest {

std::uint64_t allocations();

} // namespace fabtest
