// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// main() of every functional program: runs the cases in turn, a line for each.
#include "case.h"
#include "common/command_line.h"
#include "launcher.h"
#include "settings.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

// Looked for in all tests but the simulation's, which would take fifty times as long.
#if defined(__SANITIZE_ADDRESS__)
extern "C" const char *__asan_default_options();
extern "C" const char *__asan_default_options() { return "detect_stack_use_after_return=1"; }
#endif

namespace fabtest {

std::vector<test_case> &all_cases() {
  static std::vector<test_case> list;
  return list;
}

namespace {

struct tally {
  int passed = 0, failed = 0, skipped = 0;
};

outcome run_case(launcher_group &group, const test_case &c) {
  if (c.options.huge && !config().huge)
    return {outcome::verdict::skipped, "only with --huge"};
  if (c.options.slow && !config().slow)
    return {outcome::verdict::skipped, "only with --slow"};
  const run_limits limits{config().limit(c.options.seconds), c.options.may_die};
  return group.run(c.name, c.options.ranks, c.body, limits);
}

void run_and_print(launcher_group &group, const test_case &c, tally &sum) {
  const auto start = std::chrono::steady_clock::now();
  const outcome result = run_case(group, c);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  switch (result.result) {
  case outcome::verdict::passed:
    ++sum.passed;
    fmt::print("ok    {} ({:.2f} s)\n", c.name, took.count());
    break;
  case outcome::verdict::skipped:
    ++sum.skipped;
    fmt::print("skip  {}: {}\n", c.name, result.text);
    break;
  case outcome::verdict::failed:
    ++sum.failed;
    fmt::print("FAIL  {} ({:.2f} s): {}\n", c.name, took.count(), result.text);
    break;
  }
  std::fflush(stdout);
}

rank_body find_case(const std::string &name) {
  const auto &cases = all_cases();
  const auto it = std::ranges::find(cases, name, &test_case::name);
  if (it == cases.end())
    fail(fmt::format("no case \"{}\"", name));
  return it->body;
}

int run(const std::vector<std::string> &only, int repeat) {
  launcher_group group;
  if (!group.coordinates()) {
    group.serve(find_case);
    return 0;
  }
  for (const auto &name : only)
    find_case(name);
  fmt::print("seed {}\n", config().seed);
  tally sum;
  for (int i = 0; i < repeat; ++i)
    for (const auto &c : all_cases())
      if (only.empty() || std::ranges::count(only, c.name) > 0)
        run_and_print(group, c, sum);
  fmt::print("{} passed, {} failed", sum.passed, sum.failed);
  if (sum.skipped > 0)
    fmt::print(", {} skipped", sum.skipped);
  fmt::print("\n");
  return sum.failed == 0 ? 0 : 1;
}

} // namespace

} // namespace fabtest

int main(int argc, char **argv) {
  fabtest::command_line app("Runs its cases against a libfabric provider.");
  std::vector<std::string> only;
  bool list = false;
  int repeat = 1;
  fabtest::add_options(app);
  app.add("--only", only, "names of the cases to run").comma_separated();
  app.add("--repeat", repeat, "run everything so many times");
  app.add_flag("--list", list, "print the names of the cases");
  if (const auto code = app.parse(argc, argv))
    return *code;
  if (list) {
    for (const auto &c : fabtest::all_cases())
      fmt::print("{}\n", c.name);
    return 0;
  }
  fabtest::settle_seed();
  try {
    return fabtest::run(only, repeat);
  } catch (const std::exception &e) {
    fmt::print(stderr, "{}\n", e.what());
    return 2;
  }
}
