// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// All groups of the process: whoever waits for one drives the others too, as its peers may wait for
// what this process owes them there.
#pragma once

#include "collc/runtime/group.h"

namespace collc::rt {

void enlist(group &);
void strike_off(group &); // waits for those who drive it
// All but that one, which may be null; those that other threads are busy with are left to them.
void drive_others(const group *but) noexcept;

} // namespace collc::rt
