// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Op tables and the C boundary. Applications call slots without asking whether
// they are there, so no slot may be null: all_missing<fi_ops_x>() fills every
// one, also those that a newer libfabric's headers add, with a function that
// answers -FI_ENOSYS. A provider then sets what it has:
//
//   static fi_ops_cq ops = [] {
//     auto t = all_missing<fi_ops_cq>();
//     t.read = cq_read;
//     return t;
//   }();
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include <cstddef>
#include <cstring>
#include <new>
#include <system_error>
#include <type_traits>
#include <utility>

namespace util_ext {

// Converts to any function pointer; the function answers -FI_ENOSYS, or null
// where a pointer is asked for, or 0 where the result can't be negative.
struct Missing {
  template <class R, class... Args> using Function = R (*)(Args...);

  template <class R, class... Args> constexpr operator Function<R, Args...>() const {
    return [](Args...) -> R {
      if constexpr (std::is_signed_v<R>)
        return static_cast<R>(-FI_ENOSYS);
      else if constexpr (!std::is_void_v<R>)
        return R{};
    };
  }
};

namespace detail {

template <class Ops, std::size_t... I>
concept HasSlots = requires {
  Ops{sizeof(Ops), ((void)I, Missing{})...};
};

template <class Ops, std::size_t... I> constexpr Ops fill_slots(std::index_sequence<I...>) {
  // One more would not compile: then this is all of them.
  if constexpr (HasSlots<Ops, I..., sizeof...(I)>)
    return fill_slots<Ops>(std::index_sequence<I..., sizeof...(I)>{});
  else
    return Ops{sizeof(Ops), ((void)I, Missing{})...};
}

} // namespace detail

// For fi_ops and every fi_ops_*: a `size` member, then function pointers.
template <class Ops> constexpr Ops all_missing() {
  constexpr Ops ops = detail::fill_slots<Ops>(std::index_sequence<>{});
  return ops;
}

// The number in an enum that a C caller filled in: to load one that is out of
// range as an enum is undefined.
template <class E> unsigned raw(const E &e) {
  static_assert(std::is_enum_v<E> && sizeof(E) == sizeof(unsigned));
  unsigned value;
  std::memcpy(&value, &e, sizeof value);
  return value;
}

// Runs what a C caller asked for; an exception becomes a negative FI_E*.
template <class F> auto guard(F &&f) noexcept -> decltype(f()) {
  using R = decltype(f());
  try {
    return std::forward<F>(f)();
  } catch (const std::bad_alloc &) {
    return static_cast<R>(-FI_ENOMEM);
  } catch (const std::system_error &e) {
    const int code = e.code().value();
    return static_cast<R>(code > 0 ? -code : -FI_EOTHER);
  } catch (...) {
    return static_cast<R>(-FI_EOTHER);
  }
}

} // namespace util_ext
