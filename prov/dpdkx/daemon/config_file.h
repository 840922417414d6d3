// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The configuration file: TOML of one level, "name = value" and "name = [value, ...]".
// What the names mean is for options.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dpdkx::daemon {

// A value that an option was given.
struct Given {
  std::string option; // "mtu"
  std::string value;
  std::string where; // "--mtu", or "/etc/dpdkx/dpdkxd.conf:12: mtu"
};

// Values in the order of the file, of which `file` is the name in texts. False with a text
// that names file, line, what stands there, and what is allowed.
bool parse_config(std::string_view text, const std::string &file, std::vector<Given> &out,
                  std::string &error);
// The same, of a file that is read.
bool read_config_file(const std::string &file, std::vector<Given> &out, std::string &error);

} // namespace dpdkx::daemon
