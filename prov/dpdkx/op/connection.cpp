// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/op/connection.h"

#include "dpdkx/base/room.h"

#include <algorithm>
#include <utility>

namespace dpdkx::op {

bool Connection::begin(State state, std::uint64_t id) {
  if (state_ != State::idle)
    return false;
  state_ = state;
  id_ = id;
  return true;
}

bool Connection::leave() {
  if (state_ != State::up)
    return false;
  state_ = State::leaving;
  return true;
}

Connection::Step Connection::on_frame(wire::FrameType type, std::uint64_t id, bool from_partner) {
  const bool ours = from_partner && id == id_;
  switch (type) {
  case wire::FrameType::connect:
    return Step::refuse; // nobody listens here
  case wire::FrameType::accept:
    return on_accept(id);
  case wire::FrameType::ready:
    if (state_ != State::answering || !ours)
      return Step::violation;
    state_ = State::up;
    return Step::confirmed;
  case wire::FrameType::reject:
    if ((state_ != State::calling && state_ != State::answering) || !ours)
      return Step::ignore; // it has crossed something
    state_ = State::over;
    return Step::refused;
  case wire::FrameType::shutdown:
    if (state_ != State::up && state_ != State::leaving)
      return Step::violation;
    return ours ? Step::hang_up : Step::violation;
  default:
    return Step::violation;
  }
}

// Who knows the number has it from the listener, whatever its address.
Connection::Step Connection::on_accept(std::uint64_t id) {
  if (state_ != State::calling || id != id_)
    return Step::refuse;
  state_ = State::up;
  return Step::establish;
}

Connection::Step Connection::on_loss() {
  switch (std::exchange(state_, State::over)) {
  case State::calling:
  case State::answering:
    return Step::refused;
  case State::up:
  case State::leaving:
    return Step::ended;
  case State::idle:
  case State::over:
    break;
  }
  return Step::ignore;
}

Backlog::Add Backlog::add(const void *caller, std::uint64_t id, Number &number) {
  if (holds(caller))
    return Add::repeated;
  if (waiting_.size() >= most_)
    return Add::full;
  if (!make_room(waiting_, waiting_.size() + 1))
    return Add::no_memory;
  number = ++last_;
  waiting_.push_back({number, caller, id});
  return Add::added;
}

std::optional<Backlog::Request> Backlog::take(Number number) {
  const auto at = std::find_if(waiting_.begin(), waiting_.end(),
                               [number](const Request &r) { return r.number == number; });
  if (at == waiting_.end())
    return std::nullopt;
  const Request request = *at;
  waiting_.erase(at);
  return request;
}

bool Backlog::holds(const void *caller) const {
  return std::any_of(waiting_.begin(), waiting_.end(),
                     [caller](const Request &r) { return r.caller == caller; });
}

void Backlog::lost(const void *caller) {
  for (Request &r : waiting_)
    if (r.caller == caller)
      r.caller = nullptr;
}

} // namespace dpdkx::op
