// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#pragma once

#include "collc/ir/rank_program.h"
#include "collc/ir/request.h"

namespace collc {

// Throws error if the request is none that the algorithm knows: ranks, root, bytes, parameters.
void check_request(const algorithm &a, const request &q);

// Throws text_error where the algorithm does what can't be.
rank_program expand(const algorithm &a, const request &q, std::int64_t rank);

} // namespace collc
