// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Where the rooms below the libfabric face send what must be told. The face
// installs a sink that hands on to fi_log; nothing is ever printed here.
#pragma once

#include <cstdint>
#include <string_view>

namespace dpdkx {

enum class LogLevel : std::uint8_t { warn, info, debug };

// Thread-safe if the sink is. `sink` may be null (silent, the default).
void set_log_sink(void (*sink)(LogLevel, std::string_view text));
bool log_enabled(LogLevel);
void set_log_filter(bool (*enabled)(LogLevel));
void log(LogLevel, std::string_view text);

} // namespace dpdkx
