// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "atomic_reference.h"

#include "common/completion.h"

#include <complex>
#include <concepts>
#include <cstring>

#include <sched.h>

namespace fabtest {

namespace {

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

template <class T> struct is_complex : std::false_type {};
template <class T> struct is_complex<std::complex<T>> : std::true_type {};
template <class T>
inline constexpr bool whole =
    std::is_integral_v<T> || std::same_as<T, int128> || std::same_as<T, uint128>;
template <class T> inline constexpr bool ordered = !is_complex<T>::value;

template <class T> struct of { using type = T; };

// Calls `body` with of<T> of the datatype's T.
template <class Body> auto with_type(fi_datatype type, Body &&body) {
  switch (type) {
  case FI_INT8:
    return body(of<std::int8_t>{});
  case FI_UINT8:
    return body(of<std::uint8_t>{});
  case FI_INT16:
    return body(of<std::int16_t>{});
  case FI_UINT16:
    return body(of<std::uint16_t>{});
  case FI_INT32:
    return body(of<std::int32_t>{});
  case FI_UINT32:
    return body(of<std::uint32_t>{});
  case FI_INT64:
    return body(of<std::int64_t>{});
  case FI_UINT64:
    return body(of<std::uint64_t>{});
  case FI_FLOAT:
    return body(of<float>{});
  case FI_DOUBLE:
    return body(of<double>{});
  case FI_FLOAT_COMPLEX:
    return body(of<std::complex<float>>{});
  case FI_DOUBLE_COMPLEX:
    return body(of<std::complex<double>>{});
  case FI_LONG_DOUBLE:
    return body(of<long double>{});
  case FI_LONG_DOUBLE_COMPLEX:
    return body(of<std::complex<long double>>{});
  case FI_INT128:
    return body(of<int128>{});
  case FI_UINT128:
    return body(of<uint128>{});
  default:
    fail(fmt::format("datatype {} is none", static_cast<int>(type)));
  }
}

template <class T> T load(std::span<const std::byte> from, std::size_t i) {
  T value;
  std::memcpy(&value, from.data() + i * sizeof(T), sizeof(T));
  return value;
}

template <class T> void store(std::span<std::byte> to, std::size_t i, const T &value) {
  std::memcpy(to.data() + i * sizeof(T), &value, sizeof(T));
}

template <class T> T truth(bool b) { return T(static_cast<T>(b ? 1 : 0)); }

// Wraps, as the widest type that loses nothing of a small one does.
template <class T> T sum(const T &a, const T &b) {
  if constexpr (whole<T>)
    return static_cast<T>(static_cast<uint128>(a) + static_cast<uint128>(b));
  else
    return a + b;
}

template <class T> T product(const T &a, const T &b) {
  if constexpr (whole<T>)
    return static_cast<T>(static_cast<uint128>(a) * static_cast<uint128>(b));
  else
    return a * b;
}

template <class T> T after_ordered(fi_op op, const T &t, const T &o, const T &c) {
  switch (op) {
  case FI_MIN:
    return o < t ? o : t;
  case FI_MAX:
    return o > t ? o : t;
  case FI_CSWAP_LE:
    return c <= t ? o : t;
  case FI_CSWAP_LT:
    return c < t ? o : t;
  case FI_CSWAP_GE:
    return c >= t ? o : t;
  case FI_CSWAP_GT:
    return c > t ? o : t;
  default:
    fail(fmt::format("operation {} is none", static_cast<int>(op)));
  }
}

template <class T> T after_bits(fi_op op, const T &t, const T &o, const T &c) {
  switch (op) {
  case FI_BOR:
    return static_cast<T>(t | o);
  case FI_BAND:
    return static_cast<T>(t & o);
  case FI_BXOR:
    return static_cast<T>(t ^ o);
  default: // FI_MSWAP
    return static_cast<T>((o & c) | (t & static_cast<T>(~c)));
  }
}

bool is_about_bits(fi_op op) {
  return op == FI_BOR || op == FI_BAND || op == FI_BXOR || op == FI_MSWAP;
}

bool is_about_order(fi_op op) {
  return op == FI_MIN || op == FI_MAX || (op >= FI_CSWAP_LE && op <= FI_CSWAP_GT);
}

template <class T> T after(fi_op op, const T &t, const T &o, const T &c) {
  const T zero{};
  switch (op) {
  case FI_SUM:
    return sum(t, o);
  case FI_PROD:
    return product(t, o);
  case FI_LOR:
    return truth<T>(t != zero || o != zero);
  case FI_LAND:
    return truth<T>(t != zero && o != zero);
  case FI_LXOR:
    return truth<T>((t != zero) != (o != zero));
  case FI_ATOMIC_READ:
    return t;
  case FI_ATOMIC_WRITE:
    return o;
  case FI_CSWAP:
    return c == t ? o : t;
  case FI_CSWAP_NE:
    return c != t ? o : t;
  default:
    if constexpr (whole<T>)
      if (is_about_bits(op))
        return after_bits(op, t, o, c);
    if constexpr (ordered<T>)
      return after_ordered(op, t, o, c);
    fail(fmt::format("operation {} is none of this type's", static_cast<int>(op)));
  }
}

} // namespace

std::string name_of(atomic_kind kind, fi_op op, fi_datatype type) {
  const char *call = kind == atomic_kind::plain   ? "fi_atomic"
                     : kind == atomic_kind::fetch ? "fi_fetch_atomic"
                                                  : "fi_compare_atomic";
  std::string name = call;
  name += fmt::format(" {}", fi_tostr(&op, FI_TYPE_ATOMIC_OP));
  name += fmt::format(" {}", fi_tostr(&type, FI_TYPE_ATOMIC_TYPE));
  return name;
}

std::size_t size_of(fi_datatype type) {
  return with_type(type, [](auto t) { return sizeof(typename decltype(t)::type); });
}

bool reference_has(atomic_kind kind, fi_op op, fi_datatype type) {
  const bool swaps = op >= FI_CSWAP && op <= FI_MSWAP;
  if (swaps != (kind == atomic_kind::compare))
    return false;
  if (op == FI_ATOMIC_READ && kind != atomic_kind::fetch)
    return false;
  return with_type(type, [op](auto t) {
    using T = typename decltype(t)::type;
    return (whole<T> || !is_about_bits(op)) && (ordered<T> || !is_about_order(op));
  });
}

std::vector<std::byte> some_values(fi_datatype type, std::size_t count, random_source &random) {
  return with_type(type, [&](auto t) {
    using T = typename decltype(t)::type;
    std::vector<std::byte> values(count * sizeof(T));
    for (std::size_t i = 0; i < count; ++i) {
      const auto small = static_cast<int>(random.below(8));
      const auto other = static_cast<int>(random.below(3));
      if constexpr (is_complex<T>::value) {
        using Part = typename T::value_type;
        store(values, i, T(static_cast<Part>(small - 3), static_cast<Part>(other - 1)));
      } else if constexpr (std::is_unsigned_v<T> || std::same_as<T, uint128>) {
        store(values, i, static_cast<T>(small));
      } else {
        store(values, i, static_cast<T>(small - 3));
      }
    }
    return values;
  });
}

bool same_values(fi_datatype type, std::span<const std::byte> a, std::span<const std::byte> b) {
  return with_type(type, [&](auto t) {
    using T = typename decltype(t)::type;
    if (a.size() != b.size())
      return false;
    for (std::size_t i = 0; i < a.size() / sizeof(T); ++i)
      if (load<T>(a, i) != load<T>(b, i))
        return false;
    return true;
  });
}

void apply_reference(fi_op op, fi_datatype type, std::span<std::byte> target,
                     std::span<const std::byte> operand, std::span<const std::byte> compare) {
  with_type(type, [&](auto t) {
    using T = typename decltype(t)::type;
    for (std::size_t i = 0; i < target.size() / sizeof(T); ++i)
      store(target, i, after<T>(op, load<T>(target, i), load<T>(operand, i), load<T>(compare, i)));
  });
}

void await_values(std::span<const std::byte> memory, fi_datatype type,
                  std::span<const std::byte> expected, where at) {
  const auto end = std::chrono::steady_clock::now() + default_wait();
  while (!same_values(type, memory, expected)) {
    if (std::chrono::steady_clock::now() > end)
      fail(fmt::format("values that a peer changes are not as they should be within {} ms",
                       default_wait().count()),
           at);
    drive_progress();
    sched_yield();
  }
}

} // namespace fabtest
