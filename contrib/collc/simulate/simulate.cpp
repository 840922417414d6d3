// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/simulate/simulate.h"

#include "collc/simulate/cast.h"
#include "collc/simulate/engine.h"

#include <algorithm>
#include <future>
#include <system_error>
#include <utility>

namespace collc {

namespace {

simulated summary_of(run_result r) {
  simulated out;
  out.messages = r.messages;
  std::vector<picoseconds> sorted = r.done;
  const auto middle = sorted.begin() + (std::ssize(sorted) - 1) / 2;
  std::ranges::nth_element(sorted, middle);
  out.median = *middle;
  const auto [first, last] = std::ranges::minmax(r.done);
  out.first = first;
  out.last = last;
  out.done = std::move(r.done);
  return out;
}

// In a thread, if there can be one; else when it is asked for.
template <typename Run> std::future<simulated> start(bool in_thread, Run run) {
  if (in_thread)
    try {
      return std::async(std::launch::async, run);
    } catch (const std::system_error &) { // no more threads
    }
  return std::async(std::launch::deferred, run);
}

} // namespace

simulation simulate(const compiler &c, const loggops &how, bool triggered, bool driven) {
  check(how);
  const cast all(c.source(), c.asked(), c.how(), static_cast<std::uint64_t>(how.rendezvous),
                 triggered, driven);
  const costs cost(how, all.sizes());
  const auto run_as = [&](progress p) { return summary_of(run(all, cost, p)); };
  simulation out;
  std::future<simulated> beside;
  if (triggered)
    beside = start(driven, [&] { return run_as(progress::triggered); });
  if (driven)
    out.driven = run_as(progress::driven);
  if (triggered)
    out.triggered = beside.get();
  return out;
}

} // namespace collc
