// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The arithmetic of fi_atomic(3), as plainly as it can be written.
#pragma once

#include "common/payload.h"

#include <string>

#include <rdma/fi_atomic.h>
#include <rdma/fi_domain.h>

namespace fabtest {

enum class atomic_kind { plain, fetch, compare };

std::string name_of(atomic_kind kind, fi_op op, fi_datatype type);

std::size_t size_of(fi_datatype type);
// Whether fi_atomic(3) defines it, for the datatypes up to FI_UINT128.
bool reference_has(atomic_kind kind, fi_op op, fi_datatype type);

// Small numbers, of which many are equal to each other or zero; all exact in every type.
std::vector<std::byte> some_values(fi_datatype type, std::size_t count, random_source &random);
// As numbers: what a long double has as padding doesn't count.
bool same_values(fi_datatype type, std::span<const std::byte> a, std::span<const std::byte> b);

void apply_reference(fi_op op, fi_datatype type, std::span<std::byte> target,
                     std::span<const std::byte> operand, std::span<const std::byte> compare);

// Until a peer has made them so.
void await_values(std::span<const std::byte> memory, fi_datatype type,
                  std::span<const std::byte> expected, where at = where::current());

} // namespace fabtest
