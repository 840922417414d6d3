// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A NIC's rules as tests want them: no NIC here has any. What it does is in a state that outlives
// it.
#pragma once

#include "dpdkx/link/ethdev/flow_rules.h"

#include <cerrno>
#include <map>

namespace fake {

struct Nic {
  bool supported = true;
  std::size_t room = 1000;                        // for rules; more: -ENOSPC
  unsigned refusals = 0;                          // so many of the next ones are refused
  unsigned failing_removes = 0;                   // so many of the next ones fail
  std::map<std::uint16_t, std::uint16_t> rules{}; // queue of a port
  unsigned unknown_removes = 0;                   // of what is not there
};

class Rules final : public dpdkx::link::FlowRules {
public:
  explicit Rules(Nic &nic) : nic_(nic) {}

  bool supported() override { return nic_.supported; }
  int add(std::uint16_t port, std::uint16_t queue, Handle &handle) override {
    if (nic_.refusals != 0)
      return --nic_.refusals, -EINVAL;
    if (nic_.rules.size() >= nic_.room)
      return -ENOSPC;
    if (!nic_.rules.try_emplace(port, queue).second)
      return -EEXIST;
    handle = reinterpret_cast<Handle>(std::uintptr_t{port});
    return 0;
  }
  int remove(Handle handle) override {
    if (nic_.failing_removes != 0)
      return --nic_.failing_removes, -EIO;
    const auto port = static_cast<std::uint16_t>(reinterpret_cast<std::uintptr_t>(handle));
    nic_.unknown_removes += nic_.rules.erase(port) == 0; // forgotten, or a fault
    return 0;
  }

private:
  Nic &nic_;
};

} // namespace fake
