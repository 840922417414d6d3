// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What dpdkxd writes where it was started. The only file of these rooms that does.
#pragma once

#include "dpdkx/base/log.h"

#include <string_view>

namespace dpdkx::daemon {

// Whole, or false with errno.
bool put_out(std::string_view text);
// A line on standard error: "dpdkxd: text".
void put_error(std::string_view text);

// From here on what is logged goes to standard error, a line each, up to that level; with
// "<4>" and the like before it if journald reads (sd-daemon(3)). Again: another level.
void log_to_console(LogLevel);

} // namespace dpdkx::daemon
