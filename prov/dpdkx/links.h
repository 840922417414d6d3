// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Where an endpoint lives: one IP address and UDP port, bound on the host link
// and, with a device, on the device too.
#pragma once

#include "dpdkx/engine/endpoint.h"
#include "dpdkx/settings.h"

#include <cstdint>

namespace dpdkx {

// `source`: asked for; the any address: all of the host's, or the device's; port 0: to be chosen.
// `device` null: host link only. 0, or a negative FI_E*, which has been told.
int open_links(const Settings &, link::Device *, const Address &source, std::uint32_t traffic_class,
               engine::Links &, Address &self);

} // namespace dpdkx
