// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A device of dpdkxd's, as this process's ports share it: what it is, and where
// the daemon is found.
#pragma once

#include "dpdkx/link/daemon/client.h"
#include "dpdkx/link/daemon/messages.h"

namespace dpdkx::link::daemon {

class DaemonDevice final : public Device {
public:
  DaemonDevice(const DaemonOptions &options, const DeviceInfo &info)
      : options_(options), info_(info) {}

  const DeviceInfo &info() const override { return info_; }
  int open_port(const Address &wanted, const PortOptions &, std::unique_ptr<Port> &,
                std::string &error) override;
  // The daemon counts for all of its ranks, and shows it to who may know: none here.
  std::vector<std::pair<std::string, std::uint64_t>> statistics() const override { return {}; }

private:
  const DaemonOptions options_;
  const DeviceInfo info_;
};

// 0 or negative errno, with a text.
int connect_and_check(const std::string &socket, host::Fd &, std::string &error);
// As recv(): what lies there.
ssize_t receive_now(const host::Fd &, void *into, std::size_t size);
int receive_reply(const std::string &socket, const host::Fd &, Reply &, std::string &error,
                  Duration patience);

} // namespace dpdkx::link::daemon
