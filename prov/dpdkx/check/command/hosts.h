// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Hosts as they are named on the command line.
#pragma once

#include "dpdkx/base/address.h"

#include <string>

namespace dpdkx::check {

// "name", "10.0.0.1", "fd00::1", each with a port as "name:4000", "[fd00::1]:4000". `v4`: which
// addresses of a name count. False with a text.
bool find_host(const std::string &text, std::uint16_t preset_port, bool v4, Address &out,
               std::string &error);

} // namespace dpdkx::check
