// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The datatypes of atomics, for tests of all of them: what they are in C++,
// values, and when two values are the same.
#pragma once

#include "dpdkx/op/atomic.h"
#include "dpdkx/op/small_float.h"
#include "unit/property.h"

#include <bit>
#include <cmath>
#include <complex>
#include <iterator>
#include <limits>
#include <tuple>
#include <type_traits>
#include <vector>

namespace atomic_types {

using Int128 = __int128;
using Uint128 = unsigned __int128;

// Calls f.operator()<id, T>() for each.
template <class F> void for_each_type(F &&f) {
  using namespace dpdkx::op;
  f.template operator()<FI_INT8, std::int8_t>();
  f.template operator()<FI_UINT8, std::uint8_t>();
  f.template operator()<FI_INT16, std::int16_t>();
  f.template operator()<FI_UINT16, std::uint16_t>();
  f.template operator()<FI_INT32, std::int32_t>();
  f.template operator()<FI_UINT32, std::uint32_t>();
  f.template operator()<FI_INT64, std::int64_t>();
  f.template operator()<FI_UINT64, std::uint64_t>();
  f.template operator()<FI_INT128, Int128>();
  f.template operator()<FI_UINT128, Uint128>();
  f.template operator()<FI_FLOAT, float>();
  f.template operator()<FI_DOUBLE, double>();
  f.template operator()<FI_LONG_DOUBLE, long double>();
  f.template operator()<FI_FLOAT_COMPLEX, std::complex<float>>();
  f.template operator()<FI_DOUBLE_COMPLEX, std::complex<double>>();
  f.template operator()<FI_LONG_DOUBLE_COMPLEX, std::complex<long double>>();
  f.template operator()<datatype_float16, Float16>();
  f.template operator()<datatype_bfloat16, Bfloat16>();
  f.template operator()<datatype_float8_e4m3, Float8E4m3>();
  f.template operator()<datatype_float8_e5m2, Float8E5m2>();
}

template <class T>
inline constexpr bool integer =
    std::is_integral_v<T> || std::is_same_v<T, Int128> || std::is_same_v<T, Uint128>;
template <class T> inline constexpr bool complex = false;
template <class T> inline constexpr bool complex<std::complex<T>> = true;

template <class T> inline constexpr std::size_t value_bytes = sizeof(T);
template <>
inline constexpr std::size_t value_bytes<long double> = std::numeric_limits<long double>::digits ==
                                                                64
                                                            ? 10
                                                            : sizeof(long double);

// The same number; 0.0 and -0.0 are two, all NaN are one.
template <class T> bool same(T a, T b) {
  if constexpr (complex<T>)
    return same(a.real(), b.real()) && same(a.imag(), b.imag());
  else if constexpr (integer<T>)
    return a == b;
  else if constexpr (std::is_floating_point_v<T>)
    return (a != a && b != b) || (a == b && std::signbit(a) == std::signbit(b));
  else
    return same(static_cast<double>(a), static_cast<double>(b));
}

// A value of any type, as drawn at random: how it is meant, and bits. One for
// all types, as generators of each would take minutes to compile.
using Drawn = std::tuple<std::uint8_t, std::uint64_t, std::uint64_t>;

inline rc::Gen<std::vector<Drawn>> drawn(std::size_t count) {
  const auto bits = rc::gen::arbitrary<std::uint64_t>();
  return rc::gen::container<std::vector<Drawn>>(
      count, rc::gen::tuple(rc::gen::inRange<std::uint8_t>(0, 3), bits, bits));
}

// Few enough values that two are often equal, and all that is special.
template <class T> T value(const Drawn &from) {
  const auto [how, x, y] = from;
  if constexpr (complex<T>) {
    using Part = typename T::value_type;
    return T(value<Part>({how, x, y}), value<Part>({(how + x) % 3, y, x}));
  } else if constexpr (integer<T>) {
    const auto top = Uint128{1} << (8 * sizeof(T) - 1);
    const Uint128 special[] = {~Uint128{}, top, top - 1, top + 1};
    return static_cast<T>(how == 0   ? x % 4
                          : how == 1 ? special[x % std::size(special)]
                                     : static_cast<Uint128>(x) << 64 | y);
  } else {
    using Limits = std::numeric_limits<double>;
    const double special[] = {0.0,  -0.0, Limits::infinity(), -Limits::infinity(),
                              1e-5, 3e4,  Limits::quiet_NaN()};
    return static_cast<T>(how == 0   ? double(x % 19) - 9
                          : how == 1 ? special[x % std::size(special)]
                                     : double(std::bit_cast<float>(static_cast<std::uint32_t>(x))));
  }
}

} // namespace atomic_types
