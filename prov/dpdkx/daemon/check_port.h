// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A port of a device's at which probes are answered, also while no rank is
// attached.
#pragma once

#include "dpdkx/check/responder.h"

#include <memory>

namespace dpdkx::daemon {

class CheckPort {
public:
  explicit CheckPort(std::unique_ptr<link::Port> port)
      : port_(std::move(port)), responder_({.role = wire::ProbeRole::daemon}) {}

  bool turn(Time now); // true: something has come
  link::Port &port() { return *port_; }
  std::uint64_t answered() const { return questions_ - responder_.refused(); }
  std::uint64_t refused() const { return responder_.refused(); } // there were too many

private:
  void take(const link::RxDatagram &, Time now);

  std::unique_ptr<link::Port> port_;
  link::RxDatagram burst_[16]; // here, as making them costs more than a turn in vain
  check::Responder responder_;
  std::uint64_t questions_ = 0;
};

} // namespace dpdkx::daemon
