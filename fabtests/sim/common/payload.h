// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Bytes that say which message they belong to and where in it they stand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sim {

std::vector<std::byte> bytes_of(std::size_t size, std::uint64_t message);
void verify(std::span<const std::byte>, std::uint64_t message); // fails

} // namespace sim
