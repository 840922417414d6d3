// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What a simulation says when something is not as it must be. Of its own, so
// that the fuzzers, which clang builds, can have it too.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace sim {

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Where {
  const char *file;
  int line;
};

[[noreturn]] void fail(std::string_view text, Where);
// For destructors and other threads: the case fails when it ends.
void fail_later(std::string_view text) noexcept;
// The texts of fail_later() so far, and none afterwards.
std::string take_late_failures();

template <class A, class B>
void check_equal(const char *left, const char *right, const A &a, const B &b, Where at) {
  if (!(a == b))
    fail(fmt::format("{} is {}, expected {} ({})", left, a, b, right), at);
}

} // namespace sim

#define HERE                                                                                       \
  ::sim::Where { __FILE__, __LINE__ }
#define FAIL(...) ::sim::fail(fmt::format(__VA_ARGS__), HERE)
#define CHECK(condition) ((condition) ? void() : ::sim::fail("not true: " #condition, HERE))
#define CHECK_EQ(value, expected) ::sim::check_equal(#value, #expected, value, expected, HERE)
