// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Arguments of DPDK's virtual devices. Its drivers leave out what they don't
// know, some of them everything else with it, and read "8x" as 8: so the ones
// that are known here are looked at before DPDK sees them.
#pragma once

#include <string>
#include <string_view>

namespace dpdkx::net {

// The arguments that a driver takes, as in DPDK 22.11, separated by blanks:
// "role=server|client id=# mac=MAC socket". '#': a whole number. `device`: the
// driver's name, or a device's, which begins with it. Empty: none that is known here.
std::string_view vdev_arguments(std::string_view device);

// The drivers that are known here: "net_af_packet, net_af_xdp, ...".
std::string vdev_drivers();

// What is wrong with "key=value,..." and what is allowed; empty if nothing is,
// or if the driver isn't known here.
std::string vdev_arguments_fault(std::string_view device, std::string_view arguments);

} // namespace dpdkx::net
