// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What a session needs of memory only while a handshake lasts. Asking: hello
// until a challenge comes, then confirm until a welcome comes. Answering: the
// welcome that is owed.
//
// A confirm and its welcome are padded to the largest datagram that both links
// carry. When they stay unanswered right after a challenge was answered, the
// path may swallow datagrams of that size: a new hello shows that the peer is
// there, and after some rounds of that the next confirm is smaller. A round takes longer than
// a peer that shares its processor with many is away from it.
#pragma once

#include "dpdkx/session/params.h"

namespace dpdkx::session {

class Handshake {
public:
  enum class Step : std::uint8_t { resting, hello, confirm };

  // Starts a new attempt, which old answers don't fit. `patience`: how long to wait for the first.
  void ask(std::uint32_t attempt, Time now, Duration patience);
  void rest() {
    step_ = Step::resting;
    started_at_ = never;
  }

  Step step() const { return step_; }
  std::uint32_t attempt() const { return attempt_; }
  wire::Incarnation peer() const { return peer_; } // as of the challenge
  Time challenged_at() const { return challenged_at_; }
  const wire::Cookie &cookie() const { return cookie_; }
  // The size of the confirm, header included; 0: not padded.
  std::uint32_t size() const { return size_; }

  // A challenge for the current attempt. Returns a sample of the round trip, or zero.
  Duration on_challenge(const wire::Challenge &, std::uint32_t own_max_datagram, bool pad, Time);
  // Likewise for the welcome that ends it.
  Duration sample(Time now) const;

  // When something is to be sent; never while resting.
  Time due_at() const { return step_ == Step::resting ? never : due_at_; }
  // The current step's packet leaves now.
  void sent(Time now, Duration longest_wait);
  // Whether the confirm has been tried often enough, and for a whole round.
  bool exhausted(Time now, Duration round) const {
    return step_ == Step::confirm && tries_ >= confirms_a_challenge &&
           now >= confirming_since_ + round;
  }

  // The largest datagram size to try that is smaller than `size`; `size` itself if there is none.
  static std::uint32_t smaller(std::uint32_t size);

  // A welcome is owed for that confirm; of the same attempt and size.
  void owe_welcome(const wire::Hello &confirm) {
    welcome_owed_ = true;
    welcome_attempt_ = confirm.attempt;
    welcome_padding_ = confirm.padding;
  }
  bool welcome_owed() const { return welcome_owed_; }
  std::uint32_t welcome_attempt() const { return welcome_attempt_; }
  std::uint32_t welcome_padding() const { return welcome_padding_; }
  void welcome_sent() { welcome_owed_ = false; }

  // When a session whose peer has confirmed, but not spoken since, asks by itself.
  Time ask_at() const { return ask_at_; }
  void ask_at(Time t) { ask_at_ = t; }

  Time started_at() const { return started_at_; }
  void started_at(Time t) { started_at_ = t; }

  static constexpr std::uint8_t confirms_a_challenge = 2;
  static constexpr std::uint8_t rounds_at_full_size = 3;

private:
  Step step_ = Step::resting;
  std::uint8_t tries_ = 0;  // of this step
  std::uint8_t rounds_ = 0; // challenges answered with this size
  std::uint32_t attempt_ = 0;
  std::uint32_t size_ = 0, full_size_ = 0;
  wire::Incarnation peer_ = wire::Incarnation::none;
  wire::Cookie cookie_{};
  Time due_at_{}, sent_at_{}, challenged_at_{}, confirming_since_{};
  Duration wait_{}, patience_{};

  bool welcome_owed_ = false;
  std::uint32_t welcome_attempt_ = 0, welcome_padding_ = 0;
  Time ask_at_ = never;
  Time started_at_ = never;
};

} // namespace dpdkx::session
