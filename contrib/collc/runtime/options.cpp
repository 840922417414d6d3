// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/runtime/options.h"

#include "collc/runtime/error.h"

#include <cstring>

#include <fmt/format.h>

namespace collc::rt {

namespace {

void set(std::chrono::milliseconds &time, std::uint32_t given) {
  if (given != 0)
    time = std::chrono::milliseconds(given);
}

} // namespace

options read_options(const collc_rt_settings *settings) {
  options o;
  if (settings == nullptr)
    return o;
  if (settings->size < sizeof *settings)
    fail(-FI_EINVAL, fmt::format("collc_rt_settings.size is {}; at least {} is needed",
                                 settings->size, sizeof *settings));
  int mode = 0; // read as what it may be, not as what it should
  static_assert(sizeof mode == sizeof settings->mode);
  std::memcpy(&mode, &settings->mode, sizeof mode);
  if (mode < COLLC_RT_AUTO || mode > COLLC_RT_FUNCTION)
    fail(-FI_EINVAL, fmt::format("collc_rt_settings.mode is {}; allowed: COLLC_RT_AUTO (0), "
                                 "COLLC_RT_OFFLOAD (1), COLLC_RT_FUNCTION (2)",
                                 mode));
  o.mode = settings->mode;
  if (settings->info != nullptr) {
    if (settings->provider != nullptr || settings->node != nullptr)
      fail(-FI_EINVAL, "collc_rt_settings: info goes without provider and node");
    o.info.reset(fi_dupinfo(settings->info));
    if (!o.info)
      fail(-FI_ENOMEM, "fi_dupinfo: no memory");
  }
  if (settings->provider != nullptr)
    o.provider = settings->provider;
  if (settings->node != nullptr)
    o.node = settings->node;
  o.automatic = settings->automatic != 0;
  set(o.probe, settings->probe_ms);
  set(o.silence, settings->silence_ms);
  set(o.leave, settings->leave_ms);
  o.most_works = settings->most_works;
  return o;
}

} // namespace collc::rt
