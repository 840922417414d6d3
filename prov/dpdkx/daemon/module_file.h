// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#pragma once

#include "dpdkx/link/ethdev/module.h"

#include <string>

namespace dpdkx::daemon {

// libdpdkx-ethdev.so, which links DPDK: in a folder of FI_PROVIDER_PATH, where libfabric finds the
// provider, or else where both were installed. `error`: there is none, and where it was looked
// for; the result is empty.
std::string find_module(std::string &error);
// The same, loaded; null: it can't be, as `error` says.
const link::EthdevModule *load_module(std::string &error);

} // namespace dpdkx::daemon
