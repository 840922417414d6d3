// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Addresses between the forms that an application may choose (fi_info's
// addr_format: FI_SOCKADDR, FI_SOCKADDR_IN, FI_SOCKADDR_IN6, FI_ADDR_STR) and
// the transport's.
#pragma once

#include "dpdkx/base/address.h"
#include "util_ext/address.h"

#include <cstddef>
#include <cstdint>
#include <rdma/fabric.h>
#include <vector>

namespace dpdkx {

using AddressBytes = std::vector<std::byte>; // as the application gets them

bool known_format(std::uint32_t format);
// The same for who opens an endpoint: 0, or -FI_EINVAL, which has been told.
int check_format(std::uint32_t format);

Address to_address(const util_ext::SockAddr &);
// IPv4 as sockaddr_in, also where it is mapped into IPv6.
util_ext::SockAddr to_sockaddr(const Address &);

// 0, or -FI_EINVAL: no address in that format. Texts may need a name server.
int read_address(std::uint32_t format, const void *from, std::size_t len, Address &);

// Tells that `what` is none of the format: -FI_EINVAL.
int refuse_address(const char *what, std::uint32_t format);

// The source address of an info, if it has one; else `source` stays. 0, or -FI_EINVAL, which has
// been told.
int read_source(const fi_info &, Address &source);

// Empty: the format can't hold it (an IPv6 address as FI_SOCKADDR_IN).
AddressBytes write_address(std::uint32_t format, const Address &);

// The same for fi_getname and its like: as much as there is room for. 0 or a negative FI_E*.
int give_name(std::uint32_t format, const Address &, void *to, std::size_t *len);

} // namespace dpdkx
