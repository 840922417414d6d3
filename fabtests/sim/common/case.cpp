// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "sim/common/case.h"

#include "sim/common/check.h"
#include "sim/common/trace.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace sim {

namespace {

// Not a static object of this file: cases of other files register before main().
std::vector<const Case *> &cases() {
  static std::vector<const Case *> all;
  return all;
}

std::string notes;

bool run_one(const char *program, const char *name, std::uint64_t seed,
             const std::function<void(std::uint64_t)> &body) {
  const auto start = std::chrono::steady_clock::now();
  std::string failure;
  notes.clear();
  try {
    body(seed);
  } catch (const std::exception &e) {
    failure = e.what();
  }
  failure += take_late_failures();
  const auto real = std::chrono::steady_clock::now() - start;
  std::printf("%s %s, seed %llu (%.1f s)%s\n", failure.empty() ? "ok  " : "FAIL", name,
              static_cast<unsigned long long>(seed), std::chrono::duration<double>(real).count(),
              notes.c_str());
  if (!failure.empty())
    std::printf("%s\n  again: %s --only %s --seed %llu\n", failure.c_str(), program, name,
                static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  return failure.empty();
}

// Of the seeds that a case has; never none of them.
std::uint64_t part_of(std::uint64_t seeds) {
  const char *text = std::getenv("SIM_SEEDS_DIVIDED_BY");
  const std::uint64_t by = text ? std::strtoull(text, nullptr, 0) : 1;
  return std::max<std::uint64_t>(1, by ? seeds / by : seeds);
}

} // namespace

Case::Case(const char *name, unsigned seeds, std::function<void(std::uint64_t)> body)
    : name_(name), seeds_(seeds), body_(std::move(body)) {
  cases().push_back(this);
}

void note(const std::string &text) { notes += "; " + text; }

int run_cases(int argc, char **argv) {
  const char *only = "";
  std::uint64_t seed = 0, seeds = 0; // 0: as the case says
  bool list = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--list") == 0)
      list = true;
    else if (i + 1 < argc && std::strcmp(argv[i], "--seed") == 0)
      seed = std::strtoull(argv[++i], nullptr, 0);
    else if (i + 1 < argc && std::strcmp(argv[i], "--seeds") == 0)
      seeds = std::strtoull(argv[++i], nullptr, 0);
    else if (i + 1 < argc && std::strcmp(argv[i], "--only") == 0)
      only = argv[++i];
    else if (i + 1 < argc && std::strcmp(argv[i], "--trace") == 0)
      traced.on = std::sscanf(argv[++i], "%u,%u", &traced.a, &traced.b) == 2;
    else {
      std::fprintf(stderr,
                   "usage: %s [--seed N] [--seeds HOW-MANY] [--only TEXT] [--list] "
                   "[--trace NODE,NODE]\n",
                   argv[0]);
      return 2;
    }
  }
  unsigned passed = 0, failed = 0;
  for (const Case *c : cases()) {
    if (!std::strstr(c->name_, only))
      continue;
    if (list) {
      std::puts(c->name_);
      continue;
    }
    const std::uint64_t first = seed ? seed : 1;
    const std::uint64_t runs = seeds ? seeds : seed ? 1 : part_of(c->seeds_);
    for (std::uint64_t s = first; s < first + runs; ++s)
      run_one(argv[0], c->name_, s, c->body_) ? ++passed : ++failed;
  }
  if (!list)
    std::printf("%u passed, %u failed\n", passed, failed);
  return failed == 0 && (list || passed > 0) ? 0 : 1;
}

} // namespace sim

int main(int argc, char **argv) { return sim::run_cases(argc, argv); }
