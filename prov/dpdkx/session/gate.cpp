// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The cookie is {time, SipHash-2-4(secret, time, source, incarnation, token)}.
// 64 bits suffice: a forger has one guess a packet, ten seconds for each, and
// wins no more than a session with an address it can't receive at. The time in
// it also tells which of two lives of a peer is the later one.
#include "dpdkx/session/gate.h"

#include "dpdkx/session/window.h"
#include "dpdkx/wire/bytes.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/random.h>
#include <system_error>

namespace dpdkx::session {

namespace {

void fill_randomly(std::span<std::byte> out) {
  while (!out.empty()) {
    const ssize_t n = getrandom(out.data(), out.size(), 0);
    if (n > 0)
      out = out.subspan(static_cast<std::size_t>(n));
    else if (errno != EINTR)
      throw std::system_error(errno, std::generic_category(), "getrandom");
  }
}

// What a draw is for, so that equal inputs never give equal outputs.
enum class Use : std::uint64_t { draw, number, cookie };

} // namespace

Gate::Gate(const Params &p, const Address &self) : Gate(p, self, 0) {
  std::byte random[sizeof(SipKey)];
  fill_randomly(random);
  std::memcpy(&secret_, random, sizeof(secret_));
  incarnation_ = wire::Incarnation{draw()};
}

Gate::Gate(const Params &p, const Address &self, std::uint64_t seed)
    : params_(p), self_(self), secret_{seed, ~seed}, windows_(std::make_unique<WindowPool>()) {
  constexpr std::uint32_t word = 64;
  params_.window = std::clamp(p.window / word * word, word, ReceiveWindow::size);
  incarnation_ = wire::Incarnation{draw()};
}

Gate::~Gate() = default;

// Twice the time between two runs at most, while a session waits.
Duration Gate::longest_pause() const {
  return std::max(params_.peer_timeout / 4, 2 * params_.max_rto);
}

void Gate::timers_run(Time now) {
  if (timers_ran_at_ != never && now - timers_ran_at_ > longest_pause()) {
    stopped_at_ = timers_ran_at_;
    resumed_at_ = now;
  }
  timers_ran_at_ = now;
}

bool Gate::stood_still(Time since) const {
  return resumed_at_ > since && resumed_at_ - std::max(since, stopped_at_) > longest_pause();
}

std::uint64_t Gate::draw() {
  std::uint64_t r;
  do {
    const std::uint64_t in[] = {static_cast<std::uint64_t>(Use::draw), ++drawn_};
    r = siphash(secret_, std::as_bytes(std::span(in)));
  } while (r == 0);
  return r;
}

wire::Token Gate::draw_token(std::uint32_t index) {
  std::uint64_t high;
  do
    high = draw() >> 32;
  while (high == 0);
  return wire::Token{high << 32 | index};
}

std::uint32_t Gate::first_number(wire::Token token, std::uint32_t which) const {
  if (params_.first_number)
    return *params_.first_number;
  const std::uint64_t in[] = {static_cast<std::uint64_t>(Use::number),
                              static_cast<std::uint64_t>(token), which};
  return static_cast<std::uint32_t>(siphash(secret_, std::as_bytes(std::span(in))));
}

std::uint64_t Gate::mac(const wire::Hello &h, const Address &source, std::int64_t issued) const {
  std::byte in[58];
  wire::bytes::put(in + 0, static_cast<std::uint64_t>(Use::cookie));
  wire::bytes::put(in + 8, issued);
  wire::bytes::put(in + 16, h.incarnation);
  wire::bytes::put(in + 24, h.token);
  wire::bytes::put(in + 32, source.port);
  std::memcpy(in + 34, source.ip.data(), source.ip.size());
  wire::bytes::put(in + 50, static_cast<std::uint64_t>(incarnation_));
  return siphash(secret_, in);
}

wire::Challenge Gate::challenge(const wire::Hello &h, const Address &source,
                                std::uint32_t max_datagram, Time now) const {
  wire::Challenge c;
  c.incarnation = incarnation_;
  c.peer_incarnation = h.incarnation;
  c.peer_token = h.token;
  c.attempt = h.attempt;
  c.max_datagram = max_datagram;
  c.key = params_.key;
  const std::int64_t issued = now.time_since_epoch().count();
  wire::bytes::put(c.cookie.data(), issued);
  wire::bytes::put(c.cookie.data() + 8, mac(h, source, issued));
  return c;
}

bool Gate::cookie_fits(const wire::Hello &confirm, const Address &source, Time now) const {
  const Time issued = issued_at(confirm.cookie);
  return confirm.peer_incarnation == incarnation_ && issued <= now &&
         issued >= now - cookie_lifetime &&
         wire::bytes::get<std::uint64_t>(confirm.cookie.data() + 8) ==
             mac(confirm, source, issued.time_since_epoch().count());
}

Time Gate::issued_at(const wire::Cookie &cookie) {
  return Time(Duration(wire::bytes::get<std::int64_t>(cookie.data())));
}

int Gate::acceptable(const wire::Hello &h) const {
  return acceptable(h.version_min, h.version_max, h.key);
}

int Gate::acceptable(const wire::Challenge &c) const {
  return acceptable(c.version_min, c.version_max, c.key);
}

int Gate::acceptable(std::uint8_t version_min, std::uint8_t version_max,
                     const wire::KeyDigest &key) const {
  if (version_min > wire::protocol_version || version_max < wire::protocol_version)
    return -EPROTONOSUPPORT;
  return key == params_.key ? 0 : -EKEYREJECTED;
}

} // namespace dpdkx::session
