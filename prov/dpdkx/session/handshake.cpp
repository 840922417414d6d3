// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/session/handshake.h"

#include <algorithm>

namespace dpdkx::session {

namespace {

// UDP payloads that common paths carry, over IPv4 and over IPv6: jumbo frames, Ethernet, Ethernet
// in a tunnel, the least of IPv6, the least of IPv4.
constexpr std::uint32_t common_sizes[] = {8972, 8952, 4052, 1472,
                                          1452, 1422, 1232, wire::min_datagram};

} // namespace

std::uint32_t Handshake::smaller(std::uint32_t size) {
  for (const std::uint32_t s : common_sizes)
    if (s < size)
      return s;
  return size;
}

void Handshake::ask(std::uint32_t attempt, Time now, Duration patience) {
  step_ = Step::hello;
  attempt_ = attempt;
  tries_ = 0;
  due_at_ = now;
  started_at_ = std::min(started_at_, now);
  wait_ = patience_ = patience;
}

Duration Handshake::on_challenge(const wire::Challenge &c, std::uint32_t own_max_datagram, bool pad,
                                 Time now) {
  const std::uint32_t full = pad ? std::min(own_max_datagram, c.max_datagram) : 0;
  cookie_ = c.cookie;
  if (c.incarnation != peer_ || full != full_size_) { // another life, perhaps another path
    peer_ = c.incarnation;
    size_ = full_size_ = full;
    rounds_ = 0;
  }
  challenged_at_ = now;
  if (step_ == Step::confirm)
    return Duration::zero();

  const Duration rtt = sample(now);
  if (rounds_ >= (size_ == full_size_ ? rounds_at_full_size : 1)) {
    size_ = smaller(size_);
    rounds_ = 0;
  }
  ++rounds_;
  step_ = Step::confirm;
  tries_ = 0;
  due_at_ = confirming_since_ = now;
  wait_ = std::max(patience_, 3 * (now - sent_at_));
  return rtt;
}

Duration Handshake::sample(Time now) const {
  return tries_ == 1 ? now - sent_at_ : Duration::zero();
}

void Handshake::sent(Time now, Duration longest_wait) {
  sent_at_ = now;
  due_at_ = now + wait_;
  wait_ = std::min(2 * wait_, longest_wait);
  tries_ = static_cast<std::uint8_t>(std::min(tries_ + 1, 0xff));
}

} // namespace dpdkx::session
