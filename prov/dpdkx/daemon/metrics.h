// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Status in Prometheus's text format, version 0.0.4.
#pragma once

#include "dpdkx/daemon/status.h"

#include <string>

namespace dpdkx::daemon {

inline constexpr const char *metrics_content_type = "text/plain; version=0.0.4; charset=utf-8";

std::string metrics_text(const Status &);

} // namespace dpdkx::daemon
