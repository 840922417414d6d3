// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A collective that is started again and again, one thing that may happen after the other: a rank
// starts once more, or something arrives. What becomes ready fires at once; what fires is under way
// until it arrives.
#pragma once

#include "collc/check/world.h"

#include <cstdint>
#include <string>
#include <vector>

namespace collc {

struct reuse_options {
  unsigned epochs = 2;
  std::uint64_t most_states = 1u << 22;
};

// A start of a rank (source = target), or the arrival of what stands at that place between the two.
struct happening {
  bool start = false;
  std::uint16_t source = 0, target = 0, place = 0;
};

// As in collc check --replay: "s0", "1>2", or "1>2#3" for one that is not the first.
std::string text_of(const happening &h);

class reuse_model {
public:
  struct item { // under way
    std::uint16_t work;
    std::uint8_t epoch;
  };
  struct rank_state {
    std::uint8_t started = 0, completed = 0;
    std::uint8_t finished = 0;           // tanks that FIN has emptied
    std::vector<std::uint8_t> under_way; // own transfers, by turn
    std::uint64_t fired = 0;             // works of this epoch
    std::vector<std::uint64_t> landed;   // data for this rank, by turn
    std::vector<std::uint64_t> levels;   // tanks by path and turn, then deliveries by path
  };
  struct state {
    std::vector<rank_state> ranks;
    std::vector<std::vector<item>> between; // by source and target
  };

  // Throws error if there is more than can be looked at.
  reuse_model(const world &w, const reuse_options &o);

  [[nodiscard]] state first() const;
  [[nodiscard]] std::vector<happening> next(const state &s) const;
  // Lets it happen. What is wrong about it, or empty; adds what happened to the log, if there is
  // one.
  std::string apply(state &s, const happening &h, std::vector<std::string> *log) const;
  [[nodiscard]] bool over(const state &s) const; // all epochs of all ranks
  [[nodiscard]] std::string key(const state &s) const;

private:
  struct work_view {
    std::size_t rank, target;    // where it goes; its own rank for local ones
    std::size_t trigger, raises; // counters; raises: of the target
    std::uint64_t needed = 0;    // data that it hands on, among those for its rank
    int lands_as = -1;           // which of the target's data it is; -1: moves none
    bool adds = false, local = false;
  };

  [[nodiscard]] std::size_t counter(const counter_id &id, std::size_t turn) const;
  [[nodiscard]] std::size_t queue(std::size_t from, std::size_t to) const {
    return from * ranks_ + to;
  }
  [[nodiscard]] std::size_t turn(unsigned epoch) const { return epoch % tanks_; }
  [[nodiscard]] std::string land(rank_state &r, const item &i, std::size_t rank) const;
  void view(work_number k);
  void find_needed(work_number k);
  std::string start(state &s, std::size_t rank, std::vector<std::string> *log) const;
  std::string arrive(state &s, const happening &h, std::vector<std::string> *log) const;
  std::string settle(state &s, std::size_t rank, std::vector<std::string> *log) const;
  std::string fire(state &s, std::size_t rank, std::vector<std::string> *log) const;
  std::string complete(state &s, std::size_t rank, std::vector<std::string> *log) const;
  [[nodiscard]] bool is_complete(const rank_state &r, std::size_t rank) const;

  const world &w_;
  reuse_options options_;
  std::size_t ranks_, paths_, tanks_;
  std::vector<work_view> views_;
  std::vector<std::uint64_t> all_data_; // for each rank
  std::vector<unsigned> finishes_;      // FINs of each rank
};

} // namespace collc
