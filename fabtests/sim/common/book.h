// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A plain table of addresses: what an AV is to an engine.
#pragma once

#include "dpdkx/engine/endpoint.h"

#include <unordered_map>
#include <vector>

namespace sim {

class Book final : public dpdkx::engine::AddressBook {
public:
  fi_addr_t insert(const dpdkx::Address &a) {
    const auto [it, fresh] = index_.try_emplace(a, addresses_.size());
    if (fresh)
      addresses_.push_back(a);
    return it->second;
  }

  bool lookup(fi_addr_t i, dpdkx::Address &out) const override {
    if (i >= addresses_.size())
      return false;
    out = addresses_[i];
    return true;
  }
  fi_addr_t reverse(const dpdkx::Address &a) const override {
    const auto it = index_.find(a);
    return it == index_.end() ? FI_ADDR_NOTAVAIL : it->second;
  }

private:
  std::vector<dpdkx::Address> addresses_;
  std::unordered_map<dpdkx::Address, fi_addr_t, dpdkx::AddressHash> index_;
};

} // namespace sim
