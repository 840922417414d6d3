// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Starts DPDK inside somebody else's process: once, with the first device, and
// so that the application notices nothing.
#pragma once

#include "dpdkx/link/ethdev/module.h"

#include <atomic>
#include <functional>
#include <string>

namespace dpdkx::link {

// 0, or a negative errno with a text. `spec`: the device that DPDK is started
// for. DPDK that the application has started itself is shared as it is.
int start_eal(const DeviceOptions &, const net::DeviceSpec &spec, std::string &error);

// DPDK was started by this process's parent: nothing of it may be used here.
extern std::atomic<bool> eal_forked;
inline bool eal_is_parents() { return eal_forked.load(std::memory_order_relaxed); }

bool eal_has_huge_pages();

// Runs `call` on DPDK's interrupt thread, in between what it does there, and waits for it.
void on_interrupt_thread(const std::function<void()> &call);

} // namespace dpdkx::link
