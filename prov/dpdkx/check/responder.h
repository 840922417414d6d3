// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Answers probes, and keeps nothing about who asks. See protocol.md, section 15.
#pragma once

#include "dpdkx/link/link.h"
#include "dpdkx/session/siphash.h"
#include "dpdkx/wire/probe.h"

#include <optional>
#include <vector>

namespace dpdkx::check {

// Where dpdkxd and dpdkx-check answer. Below what kernels give to their own sockets.
inline constexpr std::uint16_t default_port = 4797;

class Responder {
public:
  struct Who {
    wire::ProbeRole role = wire::ProbeRole::endpoint;
    std::uint64_t key = 0;  // wire::probe_key()
    std::uint64_t seed = 0; // not 0: cookies are reproducible (simulation)
  };
  explicit Responder(const Who &who) : who_(who) {}

  // A probe has come to the port: answers it if it is a question. What it says, unless it is
  // malformed. Between poll() and release().
  std::optional<wire::Probe> take(link::Port &, const link::RxDatagram &,
                                  std::span<const std::byte> body, Time now);

  std::uint64_t refused() const { return refused_; } // there were too many

  static constexpr Duration cookie_unit = std::chrono::seconds(10);
  // Answers within `period` at most. A check asks one question after the other.
  static constexpr unsigned burst = 32;
  static constexpr Duration period = std::chrono::milliseconds(10);
  // So many questions without an answer heard show that answers get lost.
  static constexpr std::uint32_t deaf_after = 4;

private:
  bool may_answer(Time now);
  std::uint64_t cookie(const Address &, std::int64_t unit);
  bool answer(link::Port &, const link::RxDatagram &, const wire::Probe &question, Time now);
  void tell_of_deaf(const Address &, const wire::Probe &question, Time now);

  const Who who_;
  std::optional<session::SipKey> secret_; // drawn with the first question
  Time refilled_at_ = Time::min();
  unsigned budget_ = 0;
  std::uint64_t refused_ = 0;
  Time told_at_ = Time::min();
  std::vector<std::byte> room_;
};

} // namespace dpdkx::check
