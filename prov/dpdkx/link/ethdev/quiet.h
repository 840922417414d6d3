// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Keeps what DPDK and the libraries under it say on one thread from the
// application's stdout and stderr, and hands it to the log.
#pragma once

#include <string>

namespace dpdkx::link {

// While one exists, what its thread writes to stdio's stdout and stderr goes to
// dpdkx::log() at info. Other threads' output goes where it did. Nests, and may
// exist on several threads.
class Quiet {
public:
  Quiet();
  ~Quiet();
  Quiet(const Quiet &) = delete;

  // From now on what DPDK logs, on any thread and at any time, goes to
  // dpdkx::log() at info. Not for a DPDK that the application has started.
  void take_dpdk_log();

  // The first line that DPDK logged as an error on this thread since, which is the reason of
  // those that follow; else the last of any.
  std::string first_error() const;
};

} // namespace dpdkx::link
