// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#pragma once

#include <functional>
#include <string>
#include <thread>

namespace dpdkx {

// Starts a thread that takes none of the application's signals, nor do those that it starts.
// 0, or a negative errno and what is allowed.
int start_thread(std::thread &thread, std::function<void()> run, std::string &error);

} // namespace dpdkx
