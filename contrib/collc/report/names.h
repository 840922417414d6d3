// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What tables, graphs and JSON call things.
#pragma once

#include "collc/lower/schedule.h"

#include <string>

namespace collc {

std::string name_of(operation o);             // as libfabric's, without FI_OP_
std::string name_of(role r);                  // RTR, DAT, RTE, ...
std::string name_of(const counter_id &c);     // tank, tank 1, deliveries, ...
std::string signed_text(std::uint64_t value); // modulo 2^64, the shorter way
std::string text_of(const algorithm &a, const piece &p);

} // namespace collc
