// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The processors that the calling thread, and what it starts, may run on, and
// where a thread is to stay.
#pragma once

#include <pthread.h>
#include <string>

namespace dpdkx {

bool may_run_on(int cpu);
std::string allowed_cpus(); // "0-3,8"
bool pin(pthread_t thread, int cpu);

} // namespace dpdkx
