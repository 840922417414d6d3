// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// dpdkxd: from its arguments to its exit code.
#pragma once

#include "dpdkx/daemon/service.h"

#include <functional>
#include <string_view>

namespace dpdkx::daemon {

struct Surroundings {
  OpenService open;
  AskStatus ask;
  std::function<bool(std::string_view)> out; // what is asked for: standard output
};

// 0: done. 1: it could not be. 2: something in the arguments or in the configuration file
// isn't allowed. Whatever is wrong has been told on standard error.
int run_program(int argc, const char *const *argv, const Surroundings &);

} // namespace dpdkx::daemon
