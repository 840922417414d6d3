// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Status as it goes over the socket: JSON, times in nanoseconds. What a newer dpdkxd adds is
// skipped, what an older one hasn't is as if it were 0.
#pragma once

#include "dpdkx/daemon/status.h"

#include <string>
#include <string_view>

namespace dpdkx::daemon {

std::string status_to_json(const Status &); // one line
// For eyes: the same over several lines. Text that isn't JSON stays as it is.
std::string indented_json(std::string_view text);

// False with a text: not JSON, or not of a dpdkxd.
bool status_from_json(std::string_view text, Status &out, std::string &error);

} // namespace dpdkx::daemon
