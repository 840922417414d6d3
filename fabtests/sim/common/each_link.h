// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Cases that must hold on any kind of link.
#pragma once

#include "sim/common/check.h"
#include "sim/common/world.h"

#include <cstdint>
#include <functional>

namespace sim {

// The body in two nodes' world: lossless, lossy and clean, lossy and rough.
inline std::function<void(std::uint64_t)> on_each_link(void (*body)(World &)) {
  return [body](std::uint64_t seed) {
    for (const int kind : {0, 1, 2}) {
      World world(seed, setup_for(kind == 0));
      world.add(2);
      if (kind == 2)
        world.network().set_faults(
            {.loss = 0.05, .duplicate = 0.05, .reorder = 0.05, .corrupt = 0.02});
      body(world);
      world.run_for(1s); // what comes too much, comes now
      CHECK_EQ(world.network().counters().misuse, 0u);
    }
  };
}

} // namespace sim
