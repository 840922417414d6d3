// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// fi_nic(3): what is known of a device before anybody opens it.
#pragma once

#include "dpdkx/net/describe.h"

#include <filesystem>

#include <rdma/fabric.h>

namespace dpdkx {

// For fi_info::nic; fi_freeinfo() frees it, fi_dupinfo() copies it. Reads what
// the kernel tells about the device, no more. All of its attributes are there; what nobody knows is
// null, 0 or unknown in them. Throws std::bad_alloc.
fid_nic *make_nic(const net::DeviceSpec &, const net::DeviceDescription &,
                  const std::filesystem::path &sysfs = "/sys");

} // namespace dpdkx
