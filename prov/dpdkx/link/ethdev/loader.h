// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Finds and loads the ethdev module. Linked into the provider; no DPDK here.
#pragma once

#include "dpdkx/link/ethdev/module.h"

#include <span>
#include <string>

namespace dpdkx::link {

// Loads libdpdkx-ethdev.so once a process, from the folder that this code was
// loaded from, or from `path` (a file). null with a text: not there, DPDK not
// installed, another build's. Never unloaded.
const EthdevModule *load_ethdev_module(const std::string &path, std::string &error);

// Whether there is a file to load it from, the one beside this code; false with
// a text. Looks, and loads nothing.
bool ethdev_module_exists(std::string &error);

// The module if it has been loaded, else null.
const EthdevModule *loaded_ethdev_module();

// The first device that this process has open, else the first that nobody has
// claimed, else requests.size(). Without side effects: a guess about what
// open_first_free() will find.
std::size_t find_free_device(std::span<const DeviceRequest> requests);

// Opens the first device of the list that isn't another process's. `index`
// tells which.
int open_first_free(const EthdevModule &, std::span<const DeviceRequest> requests,
                    const DeviceOptions &, std::shared_ptr<Device> &, std::size_t &index,
                    std::string &error);

} // namespace dpdkx::link
