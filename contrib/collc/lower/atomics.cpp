// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/lower/atomics.h"

#include "collc/lang/error.h"

#include <algorithm>
#include <array>

namespace collc {

namespace {

enum class kind : std::uint8_t { integer, real, complex };

struct type_row {
  const char *name, *fi;
  std::uint64_t size;
  kind what;
};
constexpr auto types = std::to_array<type_row>({
    {"int8", "FI_INT8", 1, kind::integer},
    {"uint8", "FI_UINT8", 1, kind::integer},
    {"int16", "FI_INT16", 2, kind::integer},
    {"uint16", "FI_UINT16", 2, kind::integer},
    {"int32", "FI_INT32", 4, kind::integer},
    {"uint32", "FI_UINT32", 4, kind::integer},
    {"int64", "FI_INT64", 8, kind::integer},
    {"uint64", "FI_UINT64", 8, kind::integer},
    {"float", "FI_FLOAT", 4, kind::real},
    {"double", "FI_DOUBLE", 8, kind::real},
    {"float_complex", "FI_FLOAT_COMPLEX", 8, kind::complex},
    {"double_complex", "FI_DOUBLE_COMPLEX", 16, kind::complex},
});

struct operation_row {
  const char *name, *fi;
  kind upto; // the least integer-like type that has it
};
constexpr auto operations = std::to_array<operation_row>({
    {"sum", "FI_SUM", kind::complex},
    {"prod", "FI_PROD", kind::complex},
    {"min", "FI_MIN", kind::real},
    {"max", "FI_MAX", kind::real},
    {"land", "FI_LAND", kind::integer},
    {"lor", "FI_LOR", kind::integer},
    {"lxor", "FI_LXOR", kind::integer},
    {"band", "FI_BAND", kind::integer},
    {"bor", "FI_BOR", kind::integer},
    {"bxor", "FI_BXOR", kind::integer},
});

template <typename Table> std::vector<std::string> names_of(const Table &table) {
  std::vector<std::string> names;
  for (const auto &row : table)
    names.emplace_back(row.name);
  return names;
}

std::string listed(const std::vector<std::string> &names) {
  std::string text;
  for (const auto &n : names)
    text += (text.empty() ? "" : ", ") + n;
  return text;
}

template <typename Table>
const auto &row_of(const Table &table, const std::string &name, const char *what) {
  for (const auto &row : table)
    if (name == row.name)
      return row;
  throw error(std::string(what) + " is '" + name + "'; allowed: " + listed(names_of(table)));
}

} // namespace

atomic_kind find_atomic(const std::string &operation, const std::string &type) {
  const operation_row &o = row_of(operations, operation, "operation");
  const type_row &t = row_of(types, type, "type");
  if (t.what > o.upto) {
    std::vector<std::string> allowed;
    for (const auto &row : types)
      if (row.what <= o.upto)
        allowed.emplace_back(row.name);
    throw error("operation '" + operation + "' isn't defined for type '" + type + "'; it is for " +
                listed(allowed));
  }
  return {operation, type, t.size, o.fi, t.fi};
}

std::vector<std::string> atomic_operations() { return names_of(operations); }
std::vector<std::string> atomic_types() { return names_of(types); }

} // namespace collc
