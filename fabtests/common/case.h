// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Named cases, gathered from the files of a program:
//
//   CASE(to_oneself, .ranks = 1) { ... uses the team `t` ... }
#pragma once

#include "check.h"
#include "team.h"

#include <vector>

namespace fabtest {

struct case_options {
  int ranks = 2;
  double seconds = 30;       // all of it; single waits have limits of their own
  std::uint32_t may_die = 0; // bit r: rank r is expected to be killed
  bool huge = false;         // only with --huge
  bool slow = false;         // only with --slow
};

struct test_case {
  const char *name;
  void (*body)(team &);
  case_options options;
};

std::vector<test_case> &all_cases();

struct case_registrar {
  case_registrar(const char *name, void (*body)(team &), const case_options &options) {
    all_cases().push_back({name, body, options});
  }
};

} // namespace fabtest

#define CASE(name, ...)                                                                            \
  static void body_of_##name(::fabtest::team &t);                                                  \
  static const ::fabtest::case_registrar register_##name(#name, body_of_##name,                    \
                                                         ::fabtest::case_options{__VA_ARGS__});    \
  static void body_of_##name([[maybe_unused]] ::fabtest::team &t)
