// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What deferred atomics can combine: types and operations of libfabric, as MPI has them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace collc {

struct atomic_kind {
  std::string operation = "sum", type = "double";
  std::uint64_t size = 8; // bytes of the type
  std::string fi_operation = "FI_SUM", fi_type = "FI_DOUBLE";
};

// Throws error where the operation isn't defined for the type, or either is unknown.
atomic_kind find_atomic(const std::string &operation, const std::string &type);

std::vector<std::string> atomic_operations();
std::vector<std::string> atomic_types();

} // namespace collc
