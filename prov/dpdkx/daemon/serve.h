// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The daemon's life: opened, serving, reloaded, stopped.
#pragma once

#include "dpdkx/daemon/command_line.h"
#include "dpdkx/daemon/options.h"
#include "dpdkx/daemon/service.h"

namespace dpdkx::daemon {

// Until SIGTERM or SIGINT; SIGHUP reads the file again. 0, or 1: it could not start, told in
// `error`.
int serve(const CommandLine &, const std::vector<Given> &file, const Options &, const OpenService &,
          const AskStatus &, std::string &error);

} // namespace dpdkx::daemon
