// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Socket addresses as libfabric passes them around, for tests that make up peers.
#pragma once

#include "common/channel.h"

#include <string>

#include <netinet/in.h>

namespace fabtest {

bool is_socket_format(std::uint32_t addr_format); // FI_SOCKADDR, _IN, _IN6

// From numeric text; the family follows from it.
bytes socket_address(const std::string &host, std::uint16_t port);
// The same host as in `like`, another port.
bytes with_port(const bytes &like, std::uint16_t port);

int family_of(const bytes &address);
std::uint16_t port_of(const bytes &address);
std::string host_of(const bytes &address);

} // namespace fabtest
