// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A rank's part as deferred works: what is queued at a provider.
#pragma once

#include "collc/ir/rank_program.h"

#include <cstdint>
#include <string>
#include <vector>

namespace collc {

enum class event_kind : std::uint8_t {
  ready,    // the peer's memory may be written
  arrival,  // the peer's data, or its signal, are there
  raise,    // the level is raised for a branch
  reduced,  // the rank's own combination is done
  delivered // the rank's own data are at the peer
};

// In the order of a round: (round, event_kind).
struct position {
  std::int64_t round = 0;
  event_kind slot = event_kind::ready;
  auto operator<=>(const position &) const = default;
};

struct counter_id {
  enum class role : std::uint8_t { tank, transfers, deliveries, ready, data, sent };
  role what = role::tank;
  std::int64_t path = 0, round = 0; // round: of pre-matched schedules
  auto operator<=>(const counter_id &) const = default;
};

// Counts no works' triggers but what the request waits for.
constexpr counter_id transfers_counter{counter_id::role::transfers, 0, 0};

enum class operation : std::uint8_t { remote_add, local_add, write, atomic };

enum class role : std::uint8_t {
  ready,     // RTR: ready to receive
  data,      // DAT
  end,       // RTE: end of data
  signal,    // no data belong to it
  reduce,    // RED: combines buffers of the rank's own
  reduced,   // and tells so
  delivered, // DLV: the rank's own data have arrived
  raise,     // of the level, for a branch
  chain,     // pre-matched: a round before is over
  finish     // FIN: takes the level back
};

struct work {
  counter_id trigger;
  std::uint64_t threshold = 0;
  operation what = operation::remote_add;
  role why = role::signal;
  std::int64_t peer = -1;  // the rank itself for what goes to itself; -1: local
  std::uint64_t value = 0; // added, modulo 2^64; of a write: by the target, which counts it
  counter_id target;       // of what is added
  // Of writes and atomics: where their completion is counted. Never a tank, which a failure would
  // raise as well.
  counter_id completion = transfers_counter;
  piece moved;            // of writes and atomics
  std::int64_t round = 0; // logical; 0: none
  std::int64_t real_round = 0;
  std::uint64_t window = 0;  // queued once the works of the window before have fired
  unsigned ahead = 0;        // the target is the tank of the epoch that is so many later
  position makes;            // the event at the peer that it brings about
  std::uint32_t ordinal = 0; // and which of the rank's: see sending and receiving
  std::string note;
  bool operator==(const work &) const = default;
};

// What adds to a tank of the rank's.
struct event {
  position at;
  std::int64_t source = 0;
  std::uint32_t ordinal = 0;
  std::uint64_t weight = 0;
};

struct tank {
  counter_id id;
  std::uint64_t start = 0;   // what Start pours
  std::uint64_t full = 0;    // the level when all has come, start included
  std::uint64_t told = 0;    // what of it is told ahead: Start pours it in the epochs before
  std::vector<event> events; // in their order
};

struct rank_schedule {
  std::int64_t rank = 0;
  bool barrier = false, single_source = false;
  std::vector<tank> tanks; // by path; pre-matched: none
  std::vector<counter_id> counters;
  std::vector<work> works; // of each path by threshold; what has the same one fires in this order
  std::uint64_t windows = 1;
  // Writes and atomics, whose completion the request waits for besides: until then it needs their
  // data.
  std::uint64_t transfers = 0;
};

} // namespace collc
