// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Frames about a peer's memory, as a peer could send them.
#pragma once

#include "dpdkx/base/seq.h"
#include "fuzz/input.h"
#include "harness/calls.h"

#include <functional>
#include <vector>

namespace fuzz {

// `place`: where in the memory so many bytes are to be.
std::vector<std::byte> forged_frame(Input &, dpdkx::MessageNumber,
                                    const std::function<harness::RemoteHow(std::size_t)> &place);

} // namespace fuzz
