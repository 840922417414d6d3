// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/runtime/combine.h"

#include "collc/runtime/error.h"

#include <algorithm>
#include <complex>
#include <concepts>
#include <cstring>
#include <type_traits>

#include <fmt/format.h>

namespace collc::rt {

namespace {

// Integers wrap around, those below int too.
template <class T, class Op> T wrapped(T a, T b, Op op) {
  if constexpr (std::integral<T>) {
    using wide = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
    return static_cast<T>(op(static_cast<wide>(a), static_cast<wide>(b)));
  } else {
    return op(a, b);
  }
}

template <class T, fi_op op> T combined(T a, T b) {
  if constexpr (op == FI_SUM)
    return wrapped(a, b, [](auto x, auto y) { return x + y; });
  else if constexpr (op == FI_PROD)
    return wrapped(a, b, [](auto x, auto y) { return x * y; });
  else if constexpr (op == FI_MIN)
    return std::min(a, b);
  else if constexpr (op == FI_MAX)
    return std::max(a, b);
  else if constexpr (op == FI_LAND)
    return static_cast<T>(a != 0 && b != 0);
  else if constexpr (op == FI_LOR)
    return static_cast<T>(a != 0 || b != 0);
  else if constexpr (op == FI_LXOR)
    return static_cast<T>((a != 0) != (b != 0));
  else if constexpr (op == FI_BAND)
    return static_cast<T>(a & b);
  else if constexpr (op == FI_BOR)
    return static_cast<T>(a | b);
  else
    return static_cast<T>(a ^ b);
}

template <class T, fi_op op> void run(std::byte *into, const std::byte *from, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    T a, b;
    std::memcpy(&a, into + i * sizeof(T), sizeof(T));
    std::memcpy(&b, from + i * sizeof(T), sizeof(T));
    a = combined<T, op>(a, b);
    std::memcpy(into + i * sizeof(T), &a, sizeof(T));
  }
}

template <class T, fi_op op> constexpr bool defined() {
  if constexpr (op == FI_SUM || op == FI_PROD)
    return true;
  else if constexpr (op == FI_MIN || op == FI_MAX)
    return std::is_arithmetic_v<T>;
  else
    return std::integral<T>;
}

struct operation_name {
  const char *name;
  fi_op op;
};
constexpr operation_name operations[] = {
    {"sum", FI_SUM}, {"prod", FI_PROD}, {"min", FI_MIN},   {"max", FI_MAX}, {"land", FI_LAND},
    {"lor", FI_LOR}, {"lxor", FI_LXOR}, {"band", FI_BAND}, {"bor", FI_BOR}, {"bxor", FI_BXOR}};

// Calls with the operation as a constant.
template <class T, std::size_t i = 0>
bool find_operation(const std::string &name, combination &found) {
  if constexpr (i < std::size(operations)) {
    constexpr fi_op op = operations[i].op;
    if (name != operations[i].name)
      return find_operation<T, i + 1>(name, found);
    if constexpr (defined<T, op>()) {
      found.operation = op;
      found.run = run<T, op>;
      return true;
    }
  }
  return false;
}

template <class T>
bool try_type(const std::string &type, const char *name, fi_datatype as,
              const std::string &operation, combination &found) {
  if (type != name)
    return false;
  found.type = as;
  found.size = sizeof(T);
  if (!find_operation<T>(operation, found))
    fail(-FI_EINVAL, fmt::format("operation '{}' is not one of type '{}'; see --op of collc(1)",
                                 operation, type));
  return true;
}

} // namespace

combination find_combination(const std::string &operation, const std::string &type) {
  combination c{};
  const bool known =
      try_type<std::int8_t>(type, "int8", FI_INT8, operation, c) ||
      try_type<std::uint8_t>(type, "uint8", FI_UINT8, operation, c) ||
      try_type<std::int16_t>(type, "int16", FI_INT16, operation, c) ||
      try_type<std::uint16_t>(type, "uint16", FI_UINT16, operation, c) ||
      try_type<std::int32_t>(type, "int32", FI_INT32, operation, c) ||
      try_type<std::uint32_t>(type, "uint32", FI_UINT32, operation, c) ||
      try_type<std::int64_t>(type, "int64", FI_INT64, operation, c) ||
      try_type<std::uint64_t>(type, "uint64", FI_UINT64, operation, c) ||
      try_type<float>(type, "float", FI_FLOAT, operation, c) ||
      try_type<double>(type, "double", FI_DOUBLE, operation, c) ||
      try_type<std::complex<float>>(type, "float_complex", FI_FLOAT_COMPLEX, operation, c) ||
      try_type<std::complex<double>>(type, "double_complex", FI_DOUBLE_COMPLEX, operation, c);
  if (!known)
    fail(-FI_EINVAL, fmt::format("type is '{}'; see --type of collc(1) for what is allowed", type));
  return c;
}

} // namespace collc::rt
