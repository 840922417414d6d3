// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The processed position as a link's word (link::Port::tell()): which session of the hearer it is
// about, and the message number before which all has been processed. A path may outlive a session.
#pragma once

#include "dpdkx/base/seq.h"
#include "dpdkx/wire/packet.h"

#include <cstdint>

namespace dpdkx::engine {

// `session`: by the hearer's token for it.
constexpr std::uint64_t telling(wire::Token session, MessageNumber processed) {
  const auto token = static_cast<std::uint64_t>(session);
  return ((token ^ token << 32) & ~std::uint64_t{0xffffffff}) | processed.value;
}

// False: it is about no session of that token.
constexpr bool read_telling(std::uint64_t word, wire::Token session, MessageNumber &processed) {
  processed.value = static_cast<std::uint32_t>(word);
  return word != 0 && word == telling(session, processed);
}

} // namespace dpdkx::engine
