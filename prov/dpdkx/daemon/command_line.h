// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// dpdkxd's command line: what it is to do, and the options that are given there.
#pragma once

#include "dpdkx/daemon/config_file.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dpdkx::daemon {

enum class Command : std::uint8_t {
  run,
  check,   // what it would do, and what is missing
  status,  // of the running one, for eyes or as JSON
  metrics, // the same for Prometheus
  tell,    // --help, --version: `text`
};

struct CommandLine {
  Command command = Command::run;
  std::string text;
  std::vector<Given> given;
  std::optional<std::string> config; // a file in place of default_config_file
  bool json = false;
  std::optional<double> watch; // seconds
};

// False with a text.
bool parse_command_line(int argc, const char *const *argv, CommandLine &out, std::string &error);

// Options and what stands in the configuration file; the default one may be absent.
bool read_given(const CommandLine &, std::vector<Given> &file, std::string &error);

} // namespace dpdkx::daemon
