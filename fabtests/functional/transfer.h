// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What holds for messages and tagged messages alike; msg.cpp and tagged.cpp run all of it.
#pragma once

#include "common/case.h"
#include "common/forms.h"

namespace fabtest {

void transfer_every_size(team &t, kind k);
void transfer_every_form(team &t, kind k);
void transfer_scattered(team &t, kind k);
void transfer_to_oneself(team &t, kind k);
void transfer_empty_with_data(team &t, kind k);
void transfer_inject_reuses_buffer(team &t, kind k);
void transfer_many_in_flight(team &t, kind k);
void transfer_both_directions(team &t, kind k);
void transfer_huge(team &t, kind k);

} // namespace fabtest
