// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// An endpoint's side of every handshake: its incarnation, and the secret that
// its challenges, tokens and numbers are made with. Keeps nothing per peer.
#pragma once

#include "dpdkx/base/address.h"
#include "dpdkx/session/params.h"
#include "dpdkx/session/siphash.h"

#include <memory>

namespace dpdkx::session {

class WindowPool;

// One per endpoint; outlives the endpoint's sessions. Not thread-safe: the
// owner serialises it together with them.
class Gate {
public:
  Gate(const Params &, const Address &self); // draws incarnation and secret from getrandom()
  Gate(const Params &, const Address &self, std::uint64_t seed); // reproducible, for simulation
  ~Gate();
  Gate(Gate &&) = delete;

  wire::Incarnation incarnation() const { return incarnation_; }
  const Params &params() const { return params_; }
  const Address &self() const { return self_; }
  void set_self(const Address &a) { self_ = a; } // once the port is known

  wire::Token draw_token(std::uint32_t index); // low 32 bits: index; high: random, never 0
  std::uint64_t draw();                        // random, unpredictable to peers
  // Where the numbers of the session with that token start.
  std::uint32_t first_number(wire::Token, std::uint32_t which) const;

  // Answers a hello without keeping anything. `max_datagram`: of the link it came by.
  wire::Challenge challenge(const wire::Hello &, const Address &source, std::uint32_t max_datagram,
                            Time now) const;
  // Whether a confirm carries the cookie of a challenge that this gate made for
  // that source and hello not longer than cookie_lifetime ago. It proves that
  // the sender receives what is sent to that address, not who it is.
  bool cookie_fits(const wire::Hello &confirm, const Address &source, Time now) const;
  // Why the peer can't be talked to (version, key), as a negative errno; 0: it can.
  // -EPROTONOSUPPORT: version; -EKEYREJECTED: another job's key.
  int acceptable(const wire::Hello &) const;
  int acceptable(const wire::Challenge &) const;

  // When the challenge that a cookie came with was made, by this gate's clock.
  static Time issued_at(const wire::Cookie &);

  WindowPool &windows() { return *windows_; }

  // Timers run at this time. They run often while a session waits for its peer: a long while in
  // which none did is one in which this process stood still (a signal or a debugger stopped it),
  // and so may its peers have done.
  void timers_run(Time now);
  // Whether much of the time since then was such a while; it ended at resumed_at().
  bool stood_still(Time since) const;
  Time resumed_at() const { return resumed_at_; }

  static constexpr Duration cookie_lifetime = std::chrono::seconds(10);

private:
  Duration longest_pause() const;
  std::uint64_t mac(const wire::Hello &, const Address &source, std::int64_t issued) const;
  int acceptable(std::uint8_t version_min, std::uint8_t version_max, const wire::KeyDigest &) const;

  Params params_;
  Address self_;
  wire::Incarnation incarnation_ = wire::Incarnation::none;
  SipKey secret_;
  std::uint64_t drawn_ = 0;
  std::unique_ptr<WindowPool> windows_;
  Time timers_ran_at_ = never;
  Time stopped_at_ = Time::min(), resumed_at_ = Time::min();
};

} // namespace dpdkx::session
