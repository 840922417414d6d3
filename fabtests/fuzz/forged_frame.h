// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Frames as a peer could send them: about memory and counters, about messages that are under way,
// and about connections.
#pragma once

#include "dpdkx/base/seq.h"
#include "dpdkx/wire/packet.h"
#include "fuzz/input.h"
#include "harness/calls.h"

#include <functional>
#include <vector>

namespace fuzz {

// What a peer knows of the other side, for it to make sense.
struct Known {
  dpdkx::MessageNumber next;                            // of the next message
  std::uint64_t connection = 0;                         // its id
  std::vector<dpdkx::wire::OpId> operations;            // that it has been told
  std::function<harness::RemoteHow(std::size_t)> place; // where bytes can be put
};

std::vector<std::byte> forged_frame(Input &, const Known &);

} // namespace fuzz
