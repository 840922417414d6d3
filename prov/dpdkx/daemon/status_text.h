// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Status as tables.
#pragma once

#include "dpdkx/daemon/status.h"

#include <string>

namespace dpdkx::daemon {

// All there is. Counters of the driver that are 0 are left out.
std::string status_text(const Status &);

// What happened since `before`, per second; all there is if that was another dpdkxd. Of
// counters those that have moved.
std::string status_change_text(const Status &before, const Status &now);

} // namespace dpdkx::daemon
