// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What collc_rt_settings say, with the defaults of what they leave open.
#pragma once

#include "collc/collc_runtime.h"
#include "collc/runtime/fids.h"

#include <chrono>
#include <cstdint>
#include <string>

namespace collc::rt {

struct options {
  collc_rt_mode mode = COLLC_RT_AUTO;
  info_ptr info; // null: by the next two
  std::string provider, node;
  bool automatic = false;
  std::chrono::milliseconds probe{1'000}, silence{30'000}, leave{10'000};
  std::uint64_t most_works = 0; // 0: no limit
};

// Null: all defaults.
options read_options(const collc_rt_settings *settings);

} // namespace collc::rt
