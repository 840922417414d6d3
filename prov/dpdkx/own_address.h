// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The address by which others know this host where no device says it.
#pragma once

#include "dpdkx/base/address.h"

namespace dpdkx {

// Port number 0. The source that the kernel would use for a distant host, else
// the first address that isn't loopback, else 127.0.0.1. `v6`: an IPv6 address
// if there is one. Sends nothing.
Address primary_address(bool v6);

} // namespace dpdkx
