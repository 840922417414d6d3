// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// How places to meet are written: sockets of ranks, and TCP addresses.
#pragma once

#include "dpdkx/base/address.h"

#include <string>
#include <string_view>

namespace dpdkx::daemon {

// "@name", an abstract socket, or an absolute path; false with a text that begins "socket: ".
bool check_socket(std::string_view socket, std::string &error);

// "127.0.0.1:9100", "[::1]:9100": of the host alone, as anyone who reaches it is told who
// runs what; false with a text that begins "metrics: ".
bool parse_tcp_address(std::string_view text, Address &out, std::string &error);

} // namespace dpdkx::daemon
