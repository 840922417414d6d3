// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// How the value of a setting is written: "64KiB", "10s", "yes", "49152-65535".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dpdkx {

enum class SettingKind : std::uint8_t {
  size,       // bytes; suffix B, KiB, MiB or GiB (also K, M, G, alike powers of 1024)
  duration,   // nanoseconds; suffix ns, us, ms, s or min; the suffix is required
  yes_no,     // yes, no, on, off, true, false, 1, 0
  number,     // a whole number
  port_range, // FIRST-LAST, or one port
  choice,     // one of SettingBounds::choices; its place among them
  text,       // taken as it is
};

struct SettingValue {
  std::uint64_t number = 0; // size, duration, yes_no (0, 1), number, choice; first port
  std::uint64_t last = 0;   // last port
  std::string_view text;    // as written
};

// What a value may be. Bounds hold for sizes, durations, numbers and ports.
struct SettingBounds {
  std::uint64_t min = 0, max = 0;
  std::uint64_t multiple = 1;
  bool power_of_two = false;
  bool or_zero = false;          // besides, as a word for "as it comes"
  const char *choices = nullptr; // separated by blanks
};

// Whether `text` is a value of that kind and within bounds; then `value` is set.
bool parse_setting(SettingKind, const SettingBounds &, std::string_view text, SettingValue &value);

// What is allowed, in words: "size, 0 to 1GiB".
std::string allowed_values(SettingKind, const SettingBounds &);

} // namespace dpdkx
