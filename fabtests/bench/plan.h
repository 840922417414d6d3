// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Who is measured against whom, and with which command.
#pragma once

#include "bench/child.h"
#include "bench/namespaces.h"

#include <optional>
#include <string>
#include <vector>

namespace fabtest {

inline constexpr const char *dpdkx_name = "dpdkx"; // the contestant that all is about

struct contestant {
  std::string name;
  command run;
  // Programs that call their figures by their own names (floors) put them beside "latency".
  bool names_itself = false;
};

struct section {
  std::string name;
  std::vector<contestant> contestants; // run in turn
};

struct plan_options {
  std::string folder;  // where the measuring programs are
  std::string scratch; // an empty folder for sockets
  bool quick = false;
};

section host_section(const plan_options &o);
// RMA and atomics, and messages to compare them with.
section remote_section(const plan_options &o);
// Deferred work, beside messages.
section triggers_section(const plan_options &o);
section remote_veth_section(const plan_options &o, const namespace_pair &ns);
// In two namespaces too: there dpdkx finds no shared memory between its ranks.
section memif_section(const plan_options &o, const namespace_pair &ns);
section veth_section(const plan_options &o, const namespace_pair &ns);
// The same veth with frames of that size, which is to be set before it runs.
inline constexpr unsigned jumbo_mtu = 9000;
section jumbo_section(const plan_options &o, const namespace_pair &ns);

} // namespace fabtest
