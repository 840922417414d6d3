// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What ranks send each other where calls make progress: messages of one frame, numbered, so that
// they are handled in the order of their sending whatever order they complete in.
#pragma once

#include <cstdint>

namespace collc::rt {

enum class frame_kind : std::uint16_t {
  add,     // to a tank
  put,     // into a buffer, and then to a tank
  combine, // the same, with what is there
  probe,   // nothing
  alarm    // the group has failed
};

struct frame_header {
  std::uint32_t source = 0, number = 0; // of those from that rank
  frame_kind kind = frame_kind::probe;
  std::uint16_t buffer = 0;
  std::uint32_t request = 0;
  std::uint64_t tank = 0; // what tank_name has for it
  std::uint64_t value = 0;
  std::uint64_t offset = 0;
  std::uint32_t length = 0, reserved = 0; // of what follows
};
static_assert(sizeof(frame_header) == 48);

// Small enough for one piece of what providers buffer (tcp;ofi_rxm: 16 KiB); what is combined comes
// in whole elements, of up to 16 bytes.
constexpr std::uint32_t frame_size = 8192;
constexpr std::uint32_t frame_room = (frame_size - sizeof(frame_header)) / 16 * 16;

} // namespace collc::rt
