// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#pragma once

#include <cstdint>

namespace dpdkx::check {

std::uint64_t draw(); // unpredictable

} // namespace dpdkx::check
