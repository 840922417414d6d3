// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Results as people read them, and as JSON.
#pragma once

#include "dpdkx/base/address.h"
#include "dpdkx/check/result.h"

#include <span>
#include <string>
#include <vector>

namespace dpdkx::check {

struct Checked {
  std::string host; // as it was named
  Address address;
  Result result;
};

struct OwnSide {
  std::string device; // its link name
  std::uint32_t max_datagram = 0;
};

// A line for each host, and below it what is wrong or worth knowing.
std::string table(std::span<const Checked>, const OwnSide &);
std::string json(std::span<const Checked>, const OwnSide &);
bool all_well(std::span<const Checked>);

// Of who has asked us, while they did.
class Askers {
public:
  void asked(const Address &who, const wire::Probe &, std::uint32_t len, Time now);
  // Lines about those who have asked nothing for a moment.
  std::string quiet(Time now, bool as_json);

private:
  struct Asker {
    Address who;
    std::uint64_t id;
    std::uint32_t asked = 0, heard = 0, largest = 0, came = 0;
    Time last{};
  };
  std::vector<Asker> askers_;
};

} // namespace dpdkx::check
