// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The devices of dpdkxd, which processes use that name none by themselves.
#pragma once

#include "dpdkx/settings.h"

#include <string>
#include <string_view>
#include <vector>

namespace dpdkx {

// Of domains that stand for such a device: then comes its link name.
inline constexpr std::string_view daemon_domain_prefix = "dpdkxd:";

std::string daemon_domain_name(const link::DeviceInfo &);

// None where devices are named, or no daemon runs; one that runs and can't be
// used is told.
std::vector<link::DeviceInfo> daemon_devices(const Settings &);

// The kernel's view of one, for fi_nic(3).
net::DeviceSpec spec_of(const link::DeviceInfo &);
net::DeviceDescription description_of(const link::DeviceInfo &);

} // namespace dpdkx
