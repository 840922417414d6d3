// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// cmocka for C++ files, and how a file of cases joins its room's program:
//
//   static void seq__orders_across_the_wrap(void **) { assert_true(...); }
//
//   static const CMUnitTest cases[] = {cmocka_unit_test(seq__orders_across_the_wrap)};
//   static const unit::Group group{"seq", cases};
#pragma once

#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <span>

// cmocka's fail() would hide every function of that name from here on: it stays
// out, and fail_msg(format, ...) does without.
#pragma push_macro("fail")
#pragma push_macro("fail_msg")
extern "C" {
#include <cmocka.h>
}
#pragma pop_macro("fail")
#pragma pop_macro("fail_msg")
#define fail_msg(...) (print_error("ERROR: " __VA_ARGS__), _fail(__FILE__, __LINE__))

namespace unit {

// Groups run in the order of their names. Objects of static storage only.
class Group {
public:
  Group(const char *name, std::span<const CMUnitTest> cases);

private:
  friend int run(const char *pattern);
  const char *name_;
  std::span<const CMUnitTest> cases_;
  const Group *next_;
};

// Runs every group of the program, or of all cases those whose names `pattern` fits; returns the
// program's exit code.
int run(const char *pattern);

} // namespace unit
