// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#pragma once

#include "sim/common/world.h"

#include <map>

namespace sim {

// Everything that has ever been on the wire to an address, to be heard again.
class Recorder {
public:
  explicit Recorder(World &world) : world_(world) {
    world.set_hook([this](const dpdkx::link::sim::Departure &d) {
      old_[d.to].push_back({d.from, {d.bytes.begin(), d.bytes.end()}});
      return dpdkx::link::sim::Verdict{};
    });
  }
  // `share` of it, over the next while.
  void replay(const Address &to, double share, Duration spread) {
    auto &random = world_.random();
    for (const auto &[from, bytes] : old_[to])
      if (random.chance(share))
        world_.network().inject(from, to, bytes, random.up_to(spread));
  }

private:
  struct Old {
    Address from;
    std::vector<std::byte> bytes;
  };
  World &world_;
  struct Before {
    bool operator()(const Address &a, const Address &b) const {
      return a.ip != b.ip ? a.ip < b.ip : a.port < b.port;
    }
  };
  std::map<Address, std::vector<Old>, Before> old_;
};

} // namespace sim
