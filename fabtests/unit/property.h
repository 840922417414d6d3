// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// rapidcheck for files of cases. What most properties draw, and how one is run, is made from its
// templates once, in property.cpp: it takes a compiler longer than such a file does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include <rapidcheck.h>

namespace unit {

bool run_property(const std::string &name, const std::function<void()> &property);

// As rc::check, for a property without arguments: it draws what it needs, and RC_ASSERTs.
template <typename Property> bool holds(const std::string &name, Property &&property) {
  static_assert(std::is_void_v<std::invoke_result_t<Property &>>);
  return run_property(name, std::forward<Property>(property));
}

} // namespace unit

#define UNIT_DRAWN(T)                                                                              \
  UNIT_MADE_ONCE template class rc::Gen<T>;                                                        \
  UNIT_MADE_ONCE template class rc::Shrinkable<T>;                                                 \
  UNIT_MADE_ONCE template class rc::Seq<rc::Shrinkable<T>>;                                        \
  UNIT_MADE_ONCE template decltype(rc::Arbitrary<T>::arbitrary()) rc::gen::arbitrary<T>();
#define UNIT_DRAWN_NUMBER(T)                                                                       \
  UNIT_DRAWN(T)                                                                                    \
  UNIT_MADE_ONCE template rc::Gen<T> rc::gen::inRange<T>(T, T);                                    \
  UNIT_DRAWN(std::vector<T>)                                                                       \
  UNIT_MADE_ONCE template rc::Gen<std::vector<T>> rc::gen::container<std::vector<T>, T>(           \
      rc::Gen<T>);                                                                                 \
  UNIT_MADE_ONCE template rc::Gen<std::vector<T>> rc::gen::container<std::vector<T>, T>(           \
      std::size_t, rc::Gen<T>);
#define UNIT_DRAWN_TYPES                                                                           \
  UNIT_DRAWN(bool)                                                                                 \
  UNIT_DRAWN_NUMBER(std::uint8_t)                                                                  \
  UNIT_DRAWN_NUMBER(std::int16_t)                                                                  \
  UNIT_DRAWN_NUMBER(std::uint16_t)                                                                 \
  UNIT_DRAWN_NUMBER(int)                                                                           \
  UNIT_DRAWN_NUMBER(std::uint32_t)                                                                 \
  UNIT_DRAWN_NUMBER(std::int64_t)                                                                  \
  UNIT_DRAWN_NUMBER(std::uint64_t)

#ifndef UNIT_MADE_ONCE
#define UNIT_MADE_ONCE extern
UNIT_DRAWN_TYPES
#endif
