// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What dpdkxd can be told, on its command line and in its configuration file,
// under the same names: one table, from which both are read, --help is made and
// the man page's test is served.
#pragma once

#include "dpdkx/base/log.h"
#include "dpdkx/base/setting_value.h"
#include "dpdkx/daemon/config.h"
#include "dpdkx/daemon/config_file.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dpdkx::daemon {

inline constexpr const char *default_config_file = "/etc/dpdkx/dpdkxd.conf";

struct Options {
  Config config;
  LogLevel log_level = LogLevel::info;
  std::string metrics; // address:port to serve them at; empty: nowhere
};

enum class Takes : std::uint8_t {
  one,        // value
  list,       // values, which all count
  per_device, // a value for all devices, or one for each
};

struct Option {
  const char *name; // "max-ring"
  SettingKind kind;
  SettingBounds bounds;
  const char *preset; // the default, as a user would write it; empty: none
  Takes takes;
  bool at_run_time; // a reload can change it
  const char *text;
  // Put a value into its place, that of a device in the second; false with a text.
  bool (*store)(Options &, const SettingValue &, std::string &error);
  bool (*store_of_device)(DeviceConfig &, const SettingValue &, std::string &error);
};

std::span<const Option> all_options();
const Option *find_option(std::string_view name);

// "number, 576 to 9978, or 0": what is allowed, with units.
std::string allowed_of(const Option &);

// What the command line gives takes the place of what the file gives. False with a text
// that names where the value is, the value, and what is allowed.
bool read_options(std::span<const Given> command_line, std::span<const Given> file, Options &out,
                  std::string &error);

// Of what a reload has read: options that only a restart changes keep what `running` had;
// `left` says which and why, a line each.
std::vector<Given> what_reload_changes(std::span<const Given> running, std::span<const Given> read,
                                       std::vector<std::string> &left);

} // namespace dpdkx::daemon
