// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What users can set, FI_DPDKX_*: one table with kind, range, default and text
// of each, from which fi_info -e and the man page's test are served, and the
// values as the provider uses them.
#pragma once

#include "dpdkx/base/setting_value.h"
#include "dpdkx/engine/config.h"
#include "dpdkx/link/daemon/client.h"
#include "dpdkx/link/ethdev/module.h"
#include "dpdkx/link/host/host_link.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dpdkx {

struct Settings {
  engine::Config engine;
  link::HostOptions host;

  std::vector<net::DeviceSpec> devices;
  std::vector<std::optional<net::AddressSpec>> addresses; // as many as devices, or fewer
  link::DeviceOptions device_options;
  bool use_daemon = true; // where no devices are named, and one runs
  link::DaemonOptions daemon;

  std::size_t cq_size = 0;    // entries of a CQ that leaves its size open
  std::size_t cq_overrun = 0; // entries kept beyond a CQ's size

  std::size_t max_triggered_ops = 0, max_cntrs = 0; // of a domain; 0: as many as memory holds

  std::size_t listen_backlog = 0; // requests for connections that wait at a listener

  Duration service_tick{};
  int progress_cpu = -1; // -1: not pinned
  bool offer = false;    // answer fi_getinfo also where dpdkx isn't named

  // The devices with their addresses, and the ports of endpoints on them.
  std::vector<link::DeviceRequest> device_requests(net::Family preferred) const;
  link::PortOptions ports() const { return {host.first_port, host.last_port}; }
};

struct Setting {
  const char *name; // as fi_param_define takes it: "rendezvous_size"
  SettingKind kind;
  SettingBounds bounds;
  const char *preset; // the default, as a user would write it; empty: none
  const char *text;
  // Puts a valid value into its place; false with a text when it turns out not to be.
  bool (*store)(Settings &, const SettingValue &, std::string &error);
};

std::span<const Setting> all_settings();
std::string environment_name(const Setting &); // "FI_DPDKX_RENDEZVOUS_SIZE"

// Where values come from: null when the variable is not set.
using SettingSource = const char *(*)(const Setting &);

// Reads all of them, `out` and result 0. -FI_EINVAL: some value is wrong; `error`
// names the setting, the value and what is allowed.
int read_settings(SettingSource, Settings &out, std::string &error);
// The same of one.
bool read_setting(const Setting &, const char *text, SettingValue &, std::string &error);

// Of an environment ("NAME=value", ..., null), what looks like a setting and is none.
std::vector<std::string_view> unknown_settings(const char *const *environment);

} // namespace dpdkx
