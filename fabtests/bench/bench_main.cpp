// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "bench/bench_main.h"

#include "common/command_line.h"
#include "common/settings.h"

#include <cstdio>

#include <fmt/format.h>

namespace fabtest {

void add_bench_options(command_line &app, bench_options &options) {
  config().pin = true;
  add_options(app);
  app.add("--what", options.what, "which measurements").comma_separated();
  app.add("--sizes", options.sizes, "message sizes in bytes").comma_separated();
  app.add("--milliseconds", options.how.milliseconds, "time for each figure");
  app.add("--batches", options.how.batches, "values for each figure");
}

int run_bench(const rank_body &body, int ranks) {
  try {
    launcher_group group;
    if (!group.coordinates()) {
      group.serve([&](const std::string &) { return body; });
      return 0;
    }
    const run_limits limits{config().limit(300), 0};
    const outcome result = group.run("bench", ranks, body, limits);
    if (result.result == outcome::verdict::passed)
      return 0;
    fmt::print(stderr, "{}\n", result.text);
  } catch (const std::exception &e) {
    fmt::print(stderr, "{}\n", e.what());
  }
  return 1;
}

} // namespace fabtest
