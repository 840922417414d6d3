// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/runtime/error.h"
#include "collc/runtime/function/function.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace collc::rt {

function_runner::function_runner(function_transport &t, const plan &p, std::uint32_t id)
    : transport_(t), plan_(p), id_(id) {
  for (const collc_tank &k : p.tanks()) {
    tank_name &name = names_.tanks.emplace_back();
    name.path = k.counter.path;
    for (unsigned turn = 0; turn < p.turns(); ++turn)
      name.key[turn] = plan::most_turns * tanks_.size() + turn;
    tank &mine = tanks_.emplace_back();
    mine.path = k.counter.path;
    mine.start = k.start;
    mine.full = k.full;
    mine.told = k.told;
    mine.ahead = k.ahead;
    mine.emptied = k.emptied != 0;
  }
  for (std::size_t b = plan::first_target; b < p.buffers().size(); ++b)
    names_.buffers.push_back({0, 0, p.buffers()[b].stride});
  for (std::uint32_t w = 0; w < p.works().size(); ++w)
    tanks_[index_of(p.works()[w].trigger.path)].works.push_back(w);
  t.runners_[id] = this; // others may start before this rank has heard of all
}

function_runner::~function_runner() { abandon(); }

void function_runner::abandon() noexcept {
  if (open_)
    transport_.runners_.erase(id_);
  open_ = false;
}

std::size_t function_runner::index_of(std::int64_t path) const {
  const auto found = std::ranges::find(tanks_, path, &tank::path);
  return static_cast<std::size_t>(found - tanks_.begin());
}

void function_runner::connect(const std::vector<runner_names> &all) {
  for (const collc_work &w : plan_.works()) {
    const bool adds = w.operation == COLLC_REMOTE_CNTR_ADD || w.operation == COLLC_CNTR_ADD;
    const auto peer = w.peer >= 0 ? w.peer : transport_.rank_;
    const runner_names &there = all[static_cast<std::size_t>(peer)];
    const auto found = std::ranges::find(there.tanks, w.target.path, &tank_name::path);
    targets_.push_back(adds ? found->key[0] : 0);
    strides_.push_back(
        adds ? 0
             : there.buffers[static_cast<std::size_t>(w.to.buffer) - plan::first_target].stride);
  }
}

void function_runner::start() {
  ++epoch_;
  for (tank &k : tanks_) {
    k.level[turn()] += k.start + (epoch_ <= k.ahead ? k.told : 0);
    k.next = 0;
    k.sent = 0;
    k.over = false;
  }
  advance();
}

// What one tank's works add to another of this rank may let that go on.
void function_runner::advance() {
  for (bool moved = true; moved;) {
    moved = false;
    for (tank &k : tanks_) {
      const std::size_t before = k.next;
      if (!advance(k))
        transport_.stalled = true;
      moved = moved || (tanks_.size() > 1 && k.next != before);
    }
  }
}

// False: a work could be done, but for want of room.
bool function_runner::advance(tank &k) {
  std::uint64_t &level = k.level[turn()];
  while (!k.over) {
    if (k.next == k.works.size()) {
      if (!k.emptied && level < k.full)
        return true;
      if (!k.emptied)
        level -= k.full;
      k.over = true;
      return true;
    }
    if (level < plan_.works()[k.works[k.next]].threshold)
      return true;
    if (!perform(k))
      return false;
  }
  return true;
}

frame_header function_runner::header_for(const collc_work &w, frame_kind kind) const {
  const auto index = static_cast<std::size_t>(&w - plan_.works().data());
  frame_header h;
  h.kind = kind;
  h.request = id_;
  if (kind == frame_kind::add) {
    h.tank = targets_[index] + plan_.turn(epoch_ + w.ahead);
    h.value = w.value;
  } else {
    h.buffer = static_cast<std::uint16_t>(w.to.buffer);
    h.offset = turn() * strides_[index] + w.to.offset;
  }
  return h;
}

// Does the next one; it has been counted then.
bool function_runner::perform(tank &k) {
  const collc_work &w = plan_.works()[k.works[k.next]];
  if (w.operation == COLLC_WRITE || w.operation == COLLC_ATOMIC)
    return move(k, w);
  if (w.operation == COLLC_CNTR_ADD || w.peer == transport_.rank_) {
    ++k.next;
    tanks_[index_of(w.target.path)].level[turn()] += w.value;
    return true;
  }
  if (!transport_.channel_.send(w.peer, header_for(w, frame_kind::add), {}, under_way_))
    return false;
  ++k.next;
  return true;
}

// An addition that follows the data to the same rank goes with their last frame.
const collc_work *function_runner::added_with(const tank &k) const {
  if (k.next + 1 >= k.works.size())
    return nullptr;
  const collc_work &data = plan_.works()[k.works[k.next]],
                   &next = plan_.works()[k.works[k.next + 1]];
  const bool fits = next.operation == COLLC_REMOTE_CNTR_ADD && next.peer == data.peer &&
                    next.threshold <= k.level[turn()];
  return fits ? &next : nullptr;
}

bool function_runner::move(tank &k, const collc_work &w) {
  if (w.peer == transport_.rank_) {
    combine(w);
    ++k.next;
    return true;
  }
  const memory &from = plan_.buffers()[static_cast<std::size_t>(w.from.buffer)];
  const collc_work *const then = added_with(k);
  do {
    const std::uint64_t length = std::min<std::uint64_t>(w.length - k.sent, frame_room);
    const bool last = k.sent + length == w.length;
    frame_header h =
        header_for(w, w.operation == COLLC_WRITE ? frame_kind::put : frame_kind::combine);
    h.offset += k.sent;
    if (last && then != nullptr) {
      const frame_header add = header_for(*then, frame_kind::add);
      h.tank = add.tank;
      h.value = add.value;
    }
    if (!transport_.channel_.send(w.peer, h, {from.at(turn()) + w.from.offset + k.sent, length},
                                  under_way_))
      return false;
    k.sent += length;
  } while (k.sent < w.length);
  k.sent = 0;
  k.next += then != nullptr ? 2 : 1;
  return true;
}

void function_runner::combine(const collc_work &w) const {
  const memory &from = plan_.buffers()[static_cast<std::size_t>(w.from.buffer)],
               &to = plan_.buffers()[static_cast<std::size_t>(w.to.buffer)];
  plan_.combining().run(to.at(turn()) + w.to.offset, from.at(turn()) + w.from.offset,
                        w.length / plan_.combining().size);
}

void function_runner::take(const frame_header &h, const std::byte *payload) {
  if (h.kind != frame_kind::add && h.length > 0) {
    const auto buffers = plan_.buffers();
    if (!plan_.is_target(h.buffer) || h.buffer >= buffers.size() ||
        h.offset > plan_.whole_length(buffers[h.buffer]) ||
        h.length > plan_.whole_length(buffers[h.buffer]) - h.offset)
      fail(-FI_EOTHER,
           fmt::format("rank {} sent {} bytes for {} of buffer {} of {}, which are not there",
                       h.source, h.length, h.offset, h.buffer, plan_.name()));
    std::byte *const to = buffers[h.buffer].start + h.offset;
    if (h.kind == frame_kind::put)
      std::memcpy(to, payload, h.length);
    else
      plan_.combining().run(to, payload, h.length / plan_.combining().size);
  }
  if (h.value == 0)
    return;
  if (h.tank >= plan::most_turns * tanks_.size())
    fail(-FI_EOTHER, fmt::format("rank {} adds to tank {} of {}, which there is not", h.source,
                                 h.tank, plan_.name()));
  tanks_[h.tank / plan::most_turns].level[h.tank % plan::most_turns] += h.value;
  advance();
}

// What has not left for want of this process's calls would be missed by a peer.
bool function_runner::complete() {
  advance();
  return under_way_ == 0 && std::ranges::all_of(tanks_, [](const tank &k) { return k.over; });
}

} // namespace collc::rt
