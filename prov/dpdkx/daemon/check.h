// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// dpdkxd check: what it would do, and what is missing for that, with the command that mends it.
// Looks, and changes nothing.
#pragma once

#include "dpdkx/daemon/options.h"
#include "dpdkx/daemon/service.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace dpdkx::daemon {

enum class Verdict : std::uint8_t {
  fine,
  note,    // it starts, and could do better
  missing, // it does not start
};

struct Finding {
  Verdict verdict;
  std::string about; // "eth0", "huge pages"
  std::string text;
  std::string mend; // a command, or what to change; empty: nothing
};

// Where it looks. Files under `root` are the kernel's; the rest is asked of calls.
struct CheckedHost {
  std::filesystem::path root = "/";
  // An interface's address, MTU and state; net::describe_device()'s results.
  std::function<int(const DeviceConfig &, net::DeviceDescription &, std::string &error)> describe;
  std::function<bool(const net::DeviceSpec &)> is_taken; // by another process
  std::function<std::string(std::string &error)> find_module;
  AskStatus ask;
};

// The one that runs this.
CheckedHost this_host(const AskStatus &);

std::vector<Finding> check(const Options &, const CheckedHost &);

bool would_start(const std::vector<Finding> &);
std::string findings_text(const std::vector<Finding> &); // a line each, and the sum of it

} // namespace dpdkx::daemon
