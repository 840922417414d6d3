// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The addresses of this host's interfaces.
#pragma once

#include "dpdkx/base/address.h"
#include "dpdkx/link/host/host_link.h"

#include <vector>

namespace dpdkx::link::host {

// At most a second old. Port numbers are 0.
std::vector<Address> local_addresses();

} // namespace dpdkx::link::host
