// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What one rank does: operations, and the events that they wait for. Made for one rank alone,
// whatever number of ranks there is.
//
// The events of a rank are ordered by the rounds in which its text has them; an operation waits for
// all that stand before it in that order. Operations of different paths don't wait for each other.
#pragma once

#include "collc/lang/ast.h"

#include <cstdint>
#include <string>
#include <vector>

namespace collc {

struct range {
  int buffer = 0;
  std::uint64_t offset = 0, length = 0;
  bool operator==(const range &) const = default;
};

struct piece {
  range from;
  int to_buffer = 0; // of the peer, or of the rank itself for copies and local combinations
  std::uint64_t to_offset = 0;
  [[nodiscard]] range to() const { return {to_buffer, to_offset, from.length}; }
  bool operator==(const piece &) const = default;
};

// In all.
inline std::uint64_t bytes_of(const std::vector<piece> &pieces) {
  std::uint64_t bytes = 0;
  for (const piece &p : pieces)
    bytes += p.from.length;
  return bytes;
}
inline std::uint64_t bytes_of(const std::vector<range> &places) {
  std::uint64_t bytes = 0;
  for (const range &r : places)
    bytes += r.length;
  return bytes;
}

struct sending {
  std::int64_t peer = 0;
  std::int64_t round = 0;
  std::int64_t after = 0; // rounds whose events it waits for
  bool has_data = false;  // else a signal
  bool combines = false;
  std::vector<piece> pieces; // none is empty: a message of no bytes has none
  std::uint32_t ordinal = 0; // among the sendings to this peer on this path
  std::string note;
  place at;
};

struct receiving {
  std::int64_t peer = 0;
  std::int64_t round = 0;
  std::int64_t after = 0; // rounds whose events the peer is told to come after
  bool has_data = false, combines = false;
  std::vector<range> places;
  std::uint32_t ordinal = 0; // among the receivings from this peer on this path
  std::string note;
  place at;
};

// Of the rank's own buffers, once the round's messages are there.
struct combining {
  std::int64_t round = 0;
  piece what;
  place at;
};

struct path_program {
  std::int64_t number = 0;
  std::vector<sending> sends; // each list in the order of rounds, then of the text
  std::vector<receiving> receives;
  std::vector<combining> combines;
};

struct rank_program {
  std::int64_t rank = 0, ranks = 0;
  std::int64_t rounds = -1; // of all ranks; -1: not stated
  readiness ready = readiness::each;
  bool barrier = false;             // a collective without data
  bool combines_locally = false;    // some rank of it does
  std::vector<std::uint64_t> sizes; // of the buffers, by number
  std::vector<piece> start, finish; // copies that Start and Wait make
  std::vector<path_program> paths;  // by number
};

} // namespace collc
