// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Data that land in memory of the runtime's own, of which there is as much for each of the epochs
// that take turns: nobody who sends waits until the receiver has started. What has come is copied
// to where it belongs when the collective is complete.
//
// Where all ranks' data go to all, who is done knows that all have started: two epochs in turn
// suffice, three where one is complete before its own writes are, and nobody tells anybody that
// data may come. Where there is a root, a rank tells those who send to it, when it starts, that
// they may in an epoch to come.
#pragma once

#include "collc/ir/rank_program.h"
#include "collc/ir/request.h"
#include "collc/lower/options.h"

#include <string>

namespace collc {

constexpr unsigned most_turns = 8;

// Has it done so, with so many tanks; 0: as many as suit it.
void let_land(lowering &how, collective c, unsigned tanks = 0);

// Why a rank's data can't land; empty: they can.
std::string what_hinders_landing(const algorithm &a, const request &q, const rank_program &p);
// The rank's part with its data landing: in its scratch, and in a buffer after it in place of the
// output, or of what is broadcast.
rank_program landed(const algorithm &a, const request &q, rank_program p);

} // namespace collc
