// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What a collective needs of counters, deferred works and the network.
#pragma once

#include "collc/lower/lower.h"

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace collc {

struct resources {
  std::int64_t rounds = 0;      // r
  std::int64_t real_rounds = 0; // R: check points
  std::uint64_t counters = 0;   // that tell a rank what has come; most of all ranks, as all below
  std::uint64_t reusable_counters = 0; // where the collective is started again and again
  std::uint64_t prematched_counters = 0;
  std::uint64_t message_counters = 0; // with one for each message that a rank gets
  std::uint64_t works = 0, windows = 1;
  unsigned level_bits = 0;
  std::uint64_t landing_bytes = 0;                              // for all turns
  std::uint64_t bytes = 0;                                      // that a rank sends
  std::uint64_t all_works = 0, all_messages = 0, all_bytes = 0; // of all ranks
};

resources measure(compiler &c);

std::string resources_text(const compiler &c, const resources &r);
nlohmann::json resources_json(const compiler &c, const resources &r);

} // namespace collc
