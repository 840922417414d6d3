// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Where the rooms below the libfabric face send what must be told. The face
// installs a sink that hands on to fi_log; nothing is ever printed here.
#pragma once

#include <concepts>
#include <cstdint>
#include <new>
#include <string_view>

namespace dpdkx {

enum class LogLevel : std::uint8_t { warn, info, debug };

// Thread-safe if the sink is. `sink` may be null (silent, the default).
void set_log_sink(void (*sink)(LogLevel, std::string_view text));
bool log_enabled(LogLevel);
void set_log_filter(bool (*enabled)(LogLevel));
[[gnu::cold]] void log(LogLevel, std::string_view text);

// What must be told where nothing may throw: `text()` is made only if somebody wants it, and if
// there is memory for it.
template <std::invocable Text>
[[gnu::cold, gnu::noinline]] void log(LogLevel level, Text &&text) noexcept {
  if (!log_enabled(level))
    return;
  try {
    log(level, std::string_view(text()));
  } catch (const std::bad_alloc &) {
    log(level, "no memory to say what has happened");
  }
}

} // namespace dpdkx
