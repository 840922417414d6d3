// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "bench/sampling.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace fabtest {

namespace {

using clock = std::chrono::steady_clock;
using milliseconds = std::chrono::duration<double, std::milli>;

constexpr int patience = 10;

double timed(const work &run, std::uint64_t repetitions) {
  const auto start = clock::now();
  run(repetitions);
  const std::chrono::duration<double, std::nano> took = clock::now() - start;
  return took.count() / static_cast<double>(repetitions);
}

} // namespace

std::vector<double> sample(team &t, const sampling &how, const work &run) {
  run(20); // connections, caches, page faults
  const double trial = t.exchange(timed(run, 30)).front();
  const double per_batch = how.milliseconds * 1e6 / how.batches / std::max(trial, 1.0);
  const auto repetitions = static_cast<std::uint64_t>(std::clamp(per_batch, 2.0, 200'000.0));
  std::vector<double> values;
  const auto start = clock::now();
  for (int i = 0; i < how.batches; ++i) {
    values.push_back(timed(run, repetitions));
    // On a machine that is busy with other things, fewer batches have to do.
    const bool enough = i >= 2 && clock::now() - start > patience * milliseconds(how.milliseconds);
    if (t.exchange(enough).front())
      break;
  }
  return values;
}

void print_figure(team &t, const figure &f, const std::vector<double> &values) {
  if (!t.first())
    return;
  const nlohmann::json line{
      {"what", f.what}, {"unit", f.unit}, {"size", f.size}, {"values", values}};
  fmt::print("{}\n", line.dump());
  std::fflush(stdout);
}

} // namespace fabtest
