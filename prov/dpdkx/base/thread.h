// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#pragma once

#include <functional>
#include <string>
#include <thread>

namespace dpdkx {

// Starts a thread that takes none of the application's signals, nor do those that it starts.
// 0, or a negative errno and what is allowed.
int start_thread(std::thread &thread, std::function<void()> run, std::string &error);

// The calling thread gets a processor soon after it wakes, also where others keep all of them busy,
// and has it for short times: Linux 6.12 and later let a thread's slice say so, without a
// privilege. Elsewhere it waits for the running thread's slice to end, some milliseconds.
// sched_setattr(2)
void prefer_short_slices() noexcept;

} // namespace dpdkx
