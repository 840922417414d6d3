// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The processors that the calling thread, and what it starts, may run on.
#pragma once

#include <string>

namespace dpdkx {

bool may_run_on(int cpu);
std::string allowed_cpus(); // "0-3,8"

} // namespace dpdkx
