// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Tells whoever has started this process as a service how it is: sd_notify(3), without the
// library.
#pragma once

#include <string>

namespace dpdkx::daemon {

// "READY=1", "STOPPING=1\nSTATUS=...". Nothing, if NOTIFY_SOCKET isn't set. False with
// errno: nobody was told.
bool notify(const std::string &state);

std::string reloading(); // "RELOADING=1" with the time, as Type=notify-reload wants it

} // namespace dpdkx::daemon
