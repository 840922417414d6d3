// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/net/neighbour.h"

#include "dpdkx/base/room.h"

#include <algorithm>
#include <new>

namespace dpdkx::net {

namespace {
constexpr Time not_yet = Time::min();    // set when the first tick comes
constexpr unsigned direct_questions = 3; // to the address last known, before all are asked
} // namespace

NeighbourTable::NeighbourTable(const Settings &settings) : settings_(settings) {
  requests_.reserve(settings.burst);
}

Neighbour &NeighbourTable::find_or_add(const Ip &ip) {
  if (auto at = index_.find(ip); at != FlatMapOf<Ip>::none)
    return all_[at];
  if (unused_.empty()) {
    const auto n = all_.size() + 1;
    if (!make_room(unused_, n) || !make_room(asking_, n)) // remove() and ask() must not fail
      throw std::bad_alloc();
    all_.emplace_back();
    unused_.push_back(static_cast<std::uint32_t>(all_.size() - 1));
  }
  index_.insert(ip, unused_.back());
  auto &neighbour = all_[unused_.back()];
  unused_.pop_back();
  neighbour.ip_ = ip;
  neighbour.in_use_ = true;
  return neighbour;
}

Neighbour &NeighbourTable::acquire(const Ip &ip) {
  auto &neighbour = find_or_add(ip);
  if (!neighbour.resolved() && !neighbour.asking_) {
    neighbour.word_.store(0, std::memory_order_release);
    ask(neighbour, not_yet);
  }
  ++neighbour.users_;
  return neighbour;
}

void NeighbourTable::release(Neighbour &neighbour) {
  // A resolved one is kept for the next user, until a sweep finds it stale.
  if (--neighbour.users_ == 0 && !neighbour.resolved())
    remove(neighbour);
}

void NeighbourTable::add_fixed(const Ip &ip, const Mac &mac) {
  auto &neighbour = find_or_add(ip);
  neighbour.fixed_ = true;
  neighbour.word_.store(mac.word() | Neighbour::resolved_bit, std::memory_order_release);
  changed();
}

void NeighbourTable::learn(const Ip &ip, const Mac &mac, Time now, bool new_too) {
  if (index_.find(ip) == FlatMapOf<Ip>::none && !(new_too && add_unasked(ip)))
    return;
  auto &neighbour = all_[index_.find(ip)];
  if (neighbour.fixed_)
    return;
  neighbour.word_.store(mac.word() | Neighbour::resolved_bit, std::memory_order_release);
  neighbour.asking_ = false;
  neighbour.since_ = now;
  neighbour.strange_.store(false, std::memory_order_relaxed);
  changed();
}

bool NeighbourTable::add_unasked(const Ip &ip) {
  if (size() >= settings_.max_unasked)
    return false;
  try {
    find_or_add(ip);
  } catch (const std::bad_alloc &) {
    return false;
  }
  return true;
}

void NeighbourTable::learn_weakly(const Ip &ip, const Mac &mac, Time now) {
  auto at = index_.find(ip);
  if (at == FlatMapOf<Ip>::none || all_[at].fixed_)
    return;
  auto &neighbour = all_[at];
  bool told = !mac.is_zero(), same = !told || mac == neighbour.mac();
  if (neighbour.resolved() ? same : told)
    learn(ip, told ? mac : neighbour.mac(), now, false);
  else if (neighbour.resolved())
    neighbour.note_heard(mac);
}

void NeighbourTable::ask(Neighbour &neighbour, Time from) {
  if (!neighbour.listed_)
    asking_.push_back(&neighbour);
  neighbour.listed_ = neighbour.asking_ = true;
  neighbour.since_ = neighbour.next_ask_ = from;
  neighbour.asked_ = 0;
  next_tick_ = std::min(next_tick_, from);
}

std::span<const NeighbourTable::Request> NeighbourTable::tick(Time now) {
  requests_.clear();
  if (now < next_tick_)
    return requests_;
  if (now >= next_sweep_) {
    look_at_use(now);
    next_sweep_ = now + settings_.sweep;
  }
  next_tick_ = next_sweep_;
  ask_due(now);
  return requests_;
}

void NeighbourTable::ask_due(Time now) {
  std::erase_if(asking_, [&](Neighbour *neighbour) {
    neighbour->listed_ = neighbour->asking_ && !give_up(*neighbour, now);
    return !neighbour->listed_;
  });
  for (auto *neighbour : asking_) {
    if (neighbour->next_ask_ <= now && requests_.size() < settings_.burst)
      requests_.push_back(question(*neighbour, now));
    next_tick_ = std::min(next_tick_, std::max(neighbour->next_ask_, now + settings_.burst_gap));
  }
  // Those at the end of the list aren't to wait for ever behind those at its start.
  if (requests_.size() == settings_.burst)
    std::rotate(asking_.begin(), asking_.begin() + std::min(requests_.size(), asking_.size()),
                asking_.end());
}

NeighbourTable::Request NeighbourTable::question(Neighbour &neighbour, Time now) {
  bool direct = neighbour.resolved() && neighbour.asked_ < direct_questions;
  auto wait = settings_.first_retry * (1u << std::min<unsigned>(neighbour.asked_, 16));
  neighbour.next_ask_ = now + std::min(wait, settings_.max_retry);
  neighbour.asked_ += neighbour.asked_ < 255;
  return {neighbour.ip_, direct ? neighbour.mac() : Mac::broadcast()};
}

bool NeighbourTable::give_up(Neighbour &neighbour, Time now) {
  if (neighbour.since_ == not_yet)
    neighbour.since_ = neighbour.next_ask_ = now;
  if (neighbour.resolved() || now - neighbour.since_ < settings_.resolve_timeout)
    return false;
  neighbour.asking_ = false;
  neighbour.word_.store(Neighbour::failed_bit, std::memory_order_release);
  changed();
  return true;
}

void NeighbourTable::look_at_use(Time now) {
  for (auto &neighbour : all_)
    if (neighbour.in_use_ && !neighbour.fixed_ && neighbour.resolved())
      look_at_use(neighbour, now);
}

void NeighbourTable::look_at_use(Neighbour &neighbour, Time now) {
  bool used = neighbour.used_.exchange(false, std::memory_order_relaxed);
  bool heard = neighbour.heard_.exchange(false, std::memory_order_relaxed);
  bool strange = neighbour.strange_.exchange(false, std::memory_order_relaxed);
  if (heard && !strange) {
    neighbour.asking_ = false;
    neighbour.since_ = now;
    return;
  }
  bool stale = now - neighbour.since_ >= settings_.reachable;
  if (stale && neighbour.users_ == 0)
    remove(neighbour);
  else if (!neighbour.asking_ && (strange || (stale && used)))
    ask(neighbour, now);
}

void NeighbourTable::remove(Neighbour &neighbour) {
  auto at = index_.find(neighbour.ip_);
  index_.erase(neighbour.ip_);
  unused_.push_back(at);
  neighbour.word_.store(0, std::memory_order_release);
  neighbour.asking_ = neighbour.in_use_ = false;
  for (auto *flag : {&neighbour.used_, &neighbour.heard_, &neighbour.strange_})
    flag->store(false, std::memory_order_relaxed);
}

} // namespace dpdkx::net
