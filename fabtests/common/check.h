// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What a test says when something is not as it must be: every failure carries file, line, the call
// as written, and libfabric's text for the code it returned.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace fabtest {

// std::source_location, which clang 14 doesn't have.
struct where {
  const char *file;
  unsigned line;

  static constexpr where current(const char *file = __builtin_FILE(),
                                 unsigned line = __builtin_LINE()) {
    return {file, line};
  }
};

struct failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Thrown where a provider lacks what a case is about; only where having it is optional.
struct skipped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[noreturn]] void fail(std::string_view text, where at = where::current());
[[noreturn]] void fail_call(std::string_view call, long code, where at = where::current());
[[noreturn]] void skip(std::string_view reason);

// For places that may not throw (destructors, other threads): the case fails when it ends.
void fail_later(std::string_view text, where at = where::current()) noexcept;

// The texts of fail_later so far, and none afterwards.
std::string take_late_failures();

std::string describe(long code); // "-11 (Resource temporarily unavailable)"

template <class T> T check_ok(std::string_view call, T code, where at = where::current()) {
  if (code < 0)
    fail_call(call, static_cast<long>(code), at);
  return code;
}

inline void check_code(std::string_view call, long expected, long code,
                       where at = where::current()) {
  if (code != expected)
    fail(fmt::format("{} returned {}, expected {}", call, describe(code), describe(expected)), at);
}

inline void check_that(std::string_view condition, bool holds, where at = where::current()) {
  if (!holds)
    fail(fmt::format("not true: {}", condition), at);
}

template <class A, class B>
void check_equal(std::string_view left, std::string_view right, const A &a, const B &b,
                 where at = where::current()) {
  if (!(a == b))
    fail(fmt::format("{} is {}, expected {} ({})", left, a, b, right), at);
}

} // namespace fabtest

#define CHECK(condition) ::fabtest::check_that(#condition, static_cast<bool>(condition))
#define CHECK_EQ(value, expected) ::fabtest::check_equal(#value, #expected, value, expected)
// The call succeeds; the value is what it returned.
#define CHECK_OK(call) ::fabtest::check_ok(#call, (call))
#define CHECK_CODE(expected, call) ::fabtest::check_code(#call, (expected), (call))
