// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The command line of dpdkx-check.
#pragma once

#include "dpdkx/base/clock.h"
#include "dpdkx/check/responder.h"

#include <string>
#include <vector>

namespace dpdkx::check {

struct Options {
  std::vector<std::string> hosts;
  std::uint16_t port = default_port;
  bool listen = false, json = false, verbose = false;
  Duration listen_for = never.time_since_epoch();
  Duration timeout = std::chrono::seconds(3); // for a host's MAC address
};

enum class Parsed : std::uint8_t { run, told, wrong }; // told: help or version, in `text`

Parsed parse(int argc, const char *const *argv, Options &, std::string &text);

} // namespace dpdkx::check
