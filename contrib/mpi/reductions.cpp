// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "mpi/reductions.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <type_traits>
#include <vector>

namespace coll {

namespace {

constexpr auto operations = std::to_array<const char *>(
    {"sum", "prod", "min", "max", "land", "lor", "lxor", "band", "bor", "bxor"});
constexpr auto elements =
    std::to_array<const char *>({"int8", "uint8", "int16", "uint16", "int32", "uint32", "int64",
                                 "uint64", "float", "double", "float_complex", "double_complex"});

template <class List> named in(const List &list, std::string_view name) {
  const auto at = std::find(list.begin(), list.end(), name);
  return at != list.end() ? named{*at, static_cast<int>(at - list.begin())} : named{};
}

template <class T> const char *integer() {
  static_assert(std::is_integral_v<T>);
  switch (sizeof(T)) {
  case 1:
    return std::is_signed_v<T> ? "int8" : "uint8";
  case 2:
    return std::is_signed_v<T> ? "int16" : "uint16";
  case 4:
    return std::is_signed_v<T> ? "int32" : "uint32";
  default:
    return std::is_signed_v<T> ? "int64" : "uint64";
  }
}

struct row {
  MPI_Datatype type;
  const char *name;
};

// Those that reductions are defined for. Handles aren't constants in every MPI.
std::vector<row> all_types() {
  return {
      {MPI_SIGNED_CHAR, "int8"},
      {MPI_UNSIGNED_CHAR, "uint8"},
      {MPI_SHORT, integer<short>()},
      {MPI_UNSIGNED_SHORT, integer<unsigned short>()},
      {MPI_INT, integer<int>()},
      {MPI_UNSIGNED, integer<unsigned>()},
      {MPI_LONG, integer<long>()},
      {MPI_UNSIGNED_LONG, integer<unsigned long>()},
      {MPI_LONG_LONG, integer<long long>()},
      {MPI_UNSIGNED_LONG_LONG, integer<unsigned long long>()},
      {MPI_INT8_T, "int8"},
      {MPI_INT16_T, "int16"},
      {MPI_INT32_T, "int32"},
      {MPI_INT64_T, "int64"},
      {MPI_UINT8_T, "uint8"},
      {MPI_UINT16_T, "uint16"},
      {MPI_UINT32_T, "uint32"},
      {MPI_UINT64_T, "uint64"},
      {MPI_AINT, integer<MPI_Aint>()},
      {MPI_OFFSET, integer<MPI_Offset>()},
      {MPI_COUNT, integer<MPI_Count>()},
      {MPI_BYTE, "uint8"},
      {MPI_C_BOOL, "uint8"},
      {MPI_FLOAT, "float"},
      {MPI_DOUBLE, "double"},
      {MPI_C_FLOAT_COMPLEX, "float_complex"},
      {MPI_C_DOUBLE_COMPLEX, "double_complex"},
  };
}

} // namespace

named operation_of(MPI_Op op) {
  static const std::vector<std::pair<MPI_Op, const char *>> all{
      {MPI_SUM, "sum"},   {MPI_PROD, "prod"}, {MPI_MIN, "min"},   {MPI_MAX, "max"},
      {MPI_LAND, "land"}, {MPI_LOR, "lor"},   {MPI_LXOR, "lxor"}, {MPI_BAND, "band"},
      {MPI_BOR, "bor"},   {MPI_BXOR, "bxor"}};
  for (const auto &[known, name] : all)
    if (known == op)
      return in(operations, name);
  return {};
}

named element_of(MPI_Datatype type) {
  static const std::vector<row> all = all_types();
  for (const row &r : all)
    if (r.type == type)
      return in(elements, r.name);
  return {};
}

} // namespace coll
