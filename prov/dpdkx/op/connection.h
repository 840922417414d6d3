// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What becomes of an endpoint's connection, and of the requests that wait at a
// listener: what happens goes in, what is to be done comes out. Nothing here
// sends, and nothing of a peer is believed.
#pragma once

#include "dpdkx/wire/packet.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace dpdkx::op {

// An endpoint has one connection in its life. It calls a listener and hears from
// whom that has chosen, or it answers who has called. The partner is whom it
// speaks with: first the listener or the caller, then the other end.
class Connection {
public:
  enum class State : std::uint8_t {
    idle,
    calling,   // has asked the listener
    answering, // has told the caller that it accepts
    up,
    leaving, // has been told to end it; what was posted before still goes out
    over,
  };
  enum class Step : std::uint8_t {
    ignore,    // comes too late to mean anything
    violation, // makes no sense whenever it comes
    refuse,    // answer with reject: nobody here waits for that
    establish, // the sender is the other end: answer with ready
    confirmed, // ... and it knows
    refused,   // there will be no connection
    hang_up,   // the other end has ended it
    ended,     // it is gone
  };

  State state() const { return state_; }
  std::uint64_t id() const { return id_; }

  // False: it has, or has had, a connection already.
  bool call(std::uint64_t id) { return begin(State::calling, id); }
  bool answer(std::uint64_t id) { return begin(State::answering, id); }
  // False: there is none to end.
  bool leave();
  Step on_frame(wire::FrameType, std::uint64_t id, bool from_partner);
  // The session with the partner is gone.
  Step on_loss();

private:
  bool begin(State, std::uint64_t id);
  Step on_accept(std::uint64_t id);

  State state_ = State::idle;
  std::uint64_t id_ = 0;
};

// Requests for connections, until the application has answered them.
class Backlog {
public:
  explicit Backlog(std::size_t most) : most_(most) {}

  // Names a request at this side.
  using Number = std::uint64_t;
  struct Request {
    Number number;
    const void *caller; // its session; null: gone
    std::uint64_t id;
  };
  enum class Add : std::uint8_t { added, full, repeated, no_memory };

  // A caller that has one waiting may not have another.
  Add add(const void *caller, std::uint64_t id, Number &);
  // The application has answered it: what it was, once.
  std::optional<Request> take(Number);
  bool holds(const void *caller) const; // whether one of that caller waits
  // That caller's session is gone. What it has asked for counts until it is answered.
  void lost(const void *caller);
  std::size_t size() const { return waiting_.size(); }

private:
  const std::size_t most_;
  Number last_ = 0;
  std::vector<Request> waiting_;
};

} // namespace dpdkx::op
