// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What ranks with the same outline do, in the order in which they do it: without names, by numbers
// of channels, events and sizes.
//
// The events of a path are numbered in the order of (round, kind), in which a rank's tank has them;
// an action waits for so many of the first ones. That is when the tank's level reaches the work's
// threshold, which `collc check` proves of levels.
#pragma once

#include "collc/ir/rank_program.h"
#include "collc/lower/options.h"
#include "collc/simulate/loggops.h"
#include "collc/simulate/outline.h"

#include <cstdint>
#include <map>
#include <vector>

namespace collc {

enum class progress : std::uint8_t { triggered, driven };

struct action {
  enum class kind : std::uint8_t {
    tell_ready, // triggered: RTR
    write,      // triggered: data; with `sole` all of the message, where the peer counts writes
    end,        // triggered: RTE, but where the peer counts writes
    post,       // driven: the rank waits for a message that comes by rendezvous
    send,       // a signal; driven: any message
    request,    // driven: a message by rendezvous
    combine,    // of the rank's own buffers
    combined    // and that it is done; number: of the event
  };
  std::uint32_t need = 0; // so many events of the path
  std::uint32_t channel = 0;
  std::uint32_t number = 0; // of the message on the channel
  std::uint32_t size = 0;
  kind what = kind::send;
  bool sole = false; // the only write of its message, or the end of one without writes
};

// For one kind of progress.
struct script {
  struct path {
    std::uint32_t events = 0;
    std::uint32_t begin = 0, end = 0; // of the actions
    // Words of the state: how far it is; when it was there, where copies or combinations may make
    // that later than when the next event comes (0: none); the first one of a bit for each event.
    std::uint32_t level = 0, time = 0, came = 0;
  };
  std::vector<path> paths;
  std::vector<action> actions; // of each path by what they need
  // Which event of the path it is that a message comes, or that it may be sent.
  std::vector<std::uint32_t> arrival_of, ready_of; // by channels: see part
  // Words of the state: the first one of a bit for each message that is received; of the links; and
  // how many there are.
  std::uint32_t posted = 0, links = 0, words = 0;
  static constexpr std::uint32_t none = ~std::uint32_t{0};
};

struct part {
  struct channel {
    std::uint32_t path = 0;                          // by number among the rank's
    std::uint32_t first_received = 0, received = 0;  // messages, in arrival_of and `posted`
    std::uint32_t first_sent = 0, sent = 0;          // in ready_of
    std::uint32_t sends_list = 0, receives_list = 0; // the same number: the messages match
  };
  std::vector<channel> channels;
  std::vector<bool> counts;            // by path: all that comes adds 1 to the tank
  std::uint64_t start = 0, finish = 0; // bytes copied
  std::uint32_t start_size = 0, finish_size = 0;
  script triggered, driven;
  [[nodiscard]] const script &of(progress p) const {
    return p == progress::triggered ? triggered : driven;
  }
};

// A rank's state: words of 64 bits, of which these are the first ones. What is needed for most
// messages comes first, and a script says where.
struct state {
  enum : std::uint32_t { part, send_free, receive_free, cpu_free, done, others };
};

// Messages in either direction: what has to be the same at both ends.
class message_lists {
public:
  message_lists() { number({}); } // number 0
  std::uint32_t number(std::vector<std::uint64_t> list);
  [[nodiscard]] const std::vector<std::uint64_t> &list(std::uint32_t number) const {
    return *lists_[number];
  }
  static std::uint64_t word(bool has_data, std::uint64_t bytes) {
    return bytes << 1 | (has_data ? 1 : 0);
  }

private:
  std::map<std::vector<std::uint64_t>, std::uint32_t> numbers_;
  std::vector<const std::vector<std::uint64_t> *> lists_;
};

// Makes the parts of all ranks.
class part_maker {
public:
  part_maker(const lowering &how, std::uint64_t rendezvous, bool triggered, bool driven)
      : how_(how), rendezvous_(rendezvous), triggered_(triggered), driven_(driven) {}

  // Throws limit_error where triggered progress needs more bits than a counter has.
  part make(const rank_program &p, const std::vector<channel_key> &channels);

  [[nodiscard]] const message_sizes &sizes() const { return sizes_; }
  [[nodiscard]] const message_lists &lists() const { return lists_; }

private:
  const lowering &how_;
  std::uint64_t rendezvous_;
  bool triggered_, driven_;
  message_sizes sizes_;
  message_lists lists_;
};

} // namespace collc
