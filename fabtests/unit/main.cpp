// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "unit/unit.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fnmatch.h>
#include <vector>

// Looked for in all tests but the simulation's, which would take fifty times as long.
#if defined(__SANITIZE_ADDRESS__)
extern "C" const char *__asan_default_options();
extern "C" const char *__asan_default_options() { return "detect_stack_use_after_return=1"; }
#endif

namespace unit {

namespace {
const Group *first_ = nullptr;
} // namespace

Group::Group(const char *name, std::span<const CMUnitTest> cases)
    : name_(name), cases_(cases), next_(first_) {
  first_ = this;
}

int run(const char *pattern) {
  std::vector<const Group *> groups;
  for (const Group *g = first_; g != nullptr; g = g->next_)
    groups.push_back(g);
  std::sort(groups.begin(), groups.end(),
            [](const Group *a, const Group *b) { return std::strcmp(a->name_, b->name_) < 0; });

  std::size_t cases = 0;
  int failed = 0;
  for (const Group *g : groups) {
    std::vector<CMUnitTest> chosen(g->cases_.begin(), g->cases_.end());
    if (pattern != nullptr)
      std::erase_if(chosen, [&](const CMUnitTest &c) { return fnmatch(pattern, c.name, 0) != 0; });
    if (chosen.empty())
      continue;
    failed += _cmocka_run_group_tests(g->name_, chosen.data(), chosen.size(), nullptr, nullptr);
    cases += chosen.size();
  }
  if (cases == 0) {
    std::puts("no cases");
    return 77; // automake's code for a skipped test
  }
  std::printf("%zu passed, %d failed\n", cases - static_cast<std::size_t>(failed), failed);
  return failed == 0 ? 0 : 1;
}

} // namespace unit

int main(int argc, char **argv) {
  const char *const pattern = argc > 1 ? argv[1] : nullptr;
  if (argc > 2 || (pattern != nullptr && *pattern == '-')) {
    std::fprintf(stderr, "usage: %s [PATTERN]\nPATTERN: of cases' names, as 'seq__*'\n", argv[0]);
    return 2;
  }
  return unit::run(pattern);
}
