// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// An algorithm as its text states it: what rank `rank` of `ranks` does, as expressions.
#pragma once

#include "collc/lang/error.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace collc {

enum class collective : std::uint8_t {
  barrier,
  broadcast,
  allgather,
  alltoall,
  gather,
  scatter,
  reduce,
  allreduce
};

const char *name_of(collective c);

// When a rank tells another that its data may come.
enum class readiness : std::uint8_t {
  each,  // for every message, in its round
  early, // for every message, at the start
  once,  // for all messages of a peer together, at the start
  never  // the algorithm sees to it by signals
};

// Values have slots; these first four are given.
enum slot : int { slot_ranks, slot_rank, slot_root, slot_bytes, first_free_slot };

struct expression {
  enum class kind : std::uint8_t {
    number,
    variable,
    negate,
    invert, // not
    add,
    subtract,
    multiply,
    divide, // towards minus infinity
    modulo, // of the divisor's sign
    shift_left,
    shift_right,
    bit_xor,
    equal,
    unequal,
    less,
    less_or_equal,
    logical_and,
    logical_or,
    choice, // if a then b else c
    minimum,
    maximum,
    log2,          // rounded down
    ceiling_log2,  // rounded up
    trailing_zeros // of a number that is not 0
  };
  kind what = kind::number;
  std::int64_t value = 0; // of a number; of a variable: its slot
  std::unique_ptr<expression> a, b, c;
  place at;
  bool varies = false; // from rank to rank
};
using expression_ptr = std::unique_ptr<expression>;

// Buffers by number: these three are the collective's own, scratch ones follow.
enum buffer : int { buffer_input, buffer_output, buffer_data, first_scratch };

struct range_text { // BUFFER[offset : length]
  int buffer = 0;
  expression_ptr offset, length;
  place at;
};

struct piece_text {
  range_text from;
  int to_buffer = 0;        // at the peer
  expression_ptr to_offset; // null: as from
};

struct statement {
  enum class kind : std::uint8_t {
    let,
    require,
    branch, // if
    loop,
    path,
    round,
    send,
    receive,
    combine,
    copy_at_start,
    copy_at_finish
  };
  kind what = kind::let;
  place at;
  int variable = 0; // let, loop: its slot
  expression_ptr value, last,
      step; // let, require, if, path, round: value; loop: from value to last
  std::vector<statement> body, otherwise;
  // send, receive: value is the peer
  std::vector<piece_text> pieces; // receive: only `from` of each, the place that is written
  bool combines = false;
  expression_ptr after;
  std::string note; // require: what is wrong
};

struct parameter {
  std::string name;
  int variable = 0;
  expression_ptr value, least, most; // least and most may be null
  place at;
};

struct scratch_text {
  std::string name;
  expression_ptr size;
};

struct algorithm {
  std::string file;
  collective what = collective::barrier;
  std::string about;
  std::vector<parameter> parameters;
  expression_ptr rounds; // null: a rank's own rounds are all that counts
  readiness ready = readiness::each;
  std::vector<scratch_text> scratches;
  std::vector<statement> body;
  int slots = first_free_slot;
  bool combines_locally = false; // somewhere there is a `combine` of the rank's own

  [[nodiscard]] std::string buffer_name(int b) const;
};

} // namespace collc
