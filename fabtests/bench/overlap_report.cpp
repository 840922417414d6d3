// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What the runs of `overlap` have measured: one table, targets, CSV and SVG.
//   overlap_report [--strict] -o NAME FILE
// Each line of FILE is one figure of fabtests/coll/overlap, to which its network, MPI and run were
// added.
#include "bench/report.h"
#include "common/command_line.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace fabtest {

namespace {

constexpr std::array ways{"blocking", "non-blocking",   "persistent",
                          "function", "offload-manual", "offload"};
constexpr std::array collectives{"barrier", "bcast", "allgather"};
const std::string ours = "offload";
const std::string driven = "offload-manual";  // by who waits, which is quicker than by a thread
const std::string over_dpdkx = "mpich-dpdkx"; // whose latency is the measure

// Of all ways, on one network under one MPI.
struct subject {
  std::string network, mpi, collective;
  [[nodiscard]] std::string section() const {
    return fmt::format("{}_{}_{}", network, mpi, collective);
  }
};

class overlap_results {
public:
  explicit overlap_results(const std::string &path);

  [[nodiscard]] std::optional<double> get(const subject &s, const std::string &what,
                                          std::size_t size, const std::string &way) const {
    return all_.median(s.section(), what, size, way);
  }
  // The share of its time that a way can't hide: one copy of all bytes takes the processor.
  [[nodiscard]] std::optional<double> limit(const subject &s, std::size_t size,
                                            const std::string &way) const;
  [[nodiscard]] std::optional<double> processor_ratio(const subject &s, std::size_t size,
                                                      const std::string &way,
                                                      const std::string &what) const;
  [[nodiscard]] std::vector<subject> subjects() const;
  [[nodiscard]] std::set<std::size_t> sizes(const subject &s) const;
  [[nodiscard]] const results &all() const { return all_; }

private:
  void add_limits();
  results all_;
  std::set<std::pair<std::string, std::string>> places_; // network, MPI
};

overlap_results::overlap_results(const std::string &path) {
  std::ifstream in(path);
  if (!in)
    throw std::runtime_error("can't read " + path);
  std::map<std::pair<figure_key, int>, std::pair<std::string, std::vector<double>>> runs;
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    const auto j = nlohmann::json::parse(line, nullptr, false);
    if (!j.is_object())
      throw std::runtime_error(fmt::format("{}:{}: not a figure: {}", path, number, line));
    const subject s{j.at("network"), j.at("mpi"), j.at("collective")};
    places_.emplace(s.network, s.mpi);
    auto &[unit, values] =
        runs[{{s.section(), j.at("what"), j.at("size"), j.at("way")}, j.at("run")}];
    unit = j.at("unit");
    values.push_back(j.at("value"));
  }
  for (const auto &[which, run] : runs)
    all_.add_run(which.first, run.first, run.second);
  add_limits();
}

// As a contestant of its own, for the plot.
void overlap_results::add_limits() {
  for (const subject &s : subjects())
    for (const std::size_t size : sizes(s))
      if (const auto l = limit(s, size, ours); l && s.network == "host")
        all_.add_run({s.section(), "hidden", size, "limit"}, "share", {*l});
}

std::optional<double> overlap_results::limit(const subject &s, std::size_t size,
                                             const std::string &way) const {
  const auto copies = get(s, "copies", size, way), alone = get(s, "alone", size, way);
  if (!copies || !alone)
    return std::nullopt;
  return std::clamp(1 - *copies / *alone, 0.0, 1.0);
}

std::optional<double> overlap_results::processor_ratio(const subject &s, std::size_t size,
                                                       const std::string &way,
                                                       const std::string &what) const {
  const auto used = get(s, what, size, way), by = get(s, "processor", size, "blocking");
  return used && by && *by > 0 ? std::optional(*used / *by) : std::nullopt;
}

std::vector<subject> overlap_results::subjects() const {
  std::vector<subject> found;
  for (const auto &[network, mpi] : places_)
    for (const char *collective : collectives)
      found.push_back({network, mpi, collective});
  return found;
}

std::set<std::size_t> overlap_results::sizes(const subject &s) const {
  std::set<std::size_t> found;
  for (const auto &[key, values] : all_.all())
    if (key.section == s.section())
      found.insert(key.size);
  return found;
}

// --- the table ---

std::string number(std::optional<double> value, int digits = 2) {
  return value ? fmt::format("{:.{}f}", *value, digits) : "-";
}

std::string percent(std::optional<double> share) {
  return share ? fmt::format("{:.0f}", 100 * *share) : "-";
}

void print_row(const overlap_results &r, const subject &s, std::size_t size,
               const std::string &way) {
  const auto get = [&](const std::string &what) { return r.get(s, what, size, way); };
  if (!get("alone"))
    return;
  const bool wrong = get("wrong").value_or(0) > 0;
  fmt::print("{:<6} {:<11} {:<9} {:>8} {:<14} {:>10} {:>10} {:>10} {:>7} {:>6} {:>10} {:>10} "
             "{:>6} {:>6} {:>6} {:>6}{}\n",
             s.network, s.mpi, s.collective, size, way, number(get("alone")), number(get("work")),
             number(get("together")), percent(get("hidden")), percent(r.limit(s, size, way)),
             number(get("processor")), number(get("processor_together")),
             number(r.processor_ratio(s, size, way, "processor")),
             number(r.processor_ratio(s, size, way, "processor_together")), percent(get("ready")),
             percent(get("over")), wrong ? "  wrong data" : "");
}

void print_table(const overlap_results &r) {
  fmt::print(
      "\nOverlap, medians of all runs. Times of an epoch in us: the collective alone, the work\n"
      "alone, and both (start, work, wait), of the slowest rank. hidden: (alone + work - both) /\n"
      "min(alone, work); limit: 1 - one copy of the bytes / alone. CPU time of all threads of a\n"
      "rank without the work's, us, alone and beside work, and / the blocking collective's. "
      "ready:\n"
      "epochs whose data had come when the work ended; over: that were complete after long work,\n"
      "before any call. %\n"
      "{:<6} {:<11} {:<9} {:>8} {:<14} {:>10} {:>10} {:>10} {:>7} {:>6} {:>10} {:>10} {:>6} {:>6} "
      "{:>6} {:>6}\n",
      "net", "MPI", "what", "bytes", "way", "alone", "work", "both", "hidden", "limit", "CPU",
      "CPU both", "/block", "/block", "ready", "over");
  for (const subject &s : r.subjects())
    for (const std::size_t size : r.sizes(s))
      for (const char *way : ways)
        print_row(r, s, size, way);
}

// --- targets ---

constexpr std::size_t small = 4096; // bytes, the largest size of which targets speak

using figure = std::function<std::optional<double>(std::size_t)>;

// The worst of all small sizes; nothing if there is none.
std::optional<double> worst(const overlap_results &r, const subject &s, const figure &of,
                            bool greater_is_worse) {
  std::optional<double> found;
  for (const std::size_t size : r.sizes(s))
    if (const auto v = size <= small ? of(size) : std::nullopt)
      found = !found ? *v : greater_is_worse ? std::max(*found, *v) : std::min(*found, *v);
  return found;
}

void judge_subject(std::vector<verdict> &sheet, const overlap_results &r, const subject &s) {
  const auto at_least = [&](const std::string &what, const std::string &rule, double limit) {
    const auto v = worst(
        r, s, [&](std::size_t size) { return r.get(s, what, size, ours); }, false);
    if (v)
      sheet.push_back({fmt::format("{} {} {}, {}", s.network, s.mpi, s.collective, what), rule, *v,
                       limit, *v >= limit});
  };
  if (s.network == "relay")
    at_least("hidden", "0.8, to 4 KiB", 0.8);
  at_least("over", "all, to 4 KiB", 1);
  const auto ratio = worst(
      r, s,
      [&](std::size_t size) { return r.processor_ratio(s, size, ours, "processor_together"); },
      true);
  if (ratio)
    sheet.push_back({fmt::format("{} {} {}, CPU", s.network, s.mpi, s.collective),
                     "1.2 x blocking, to 4 KiB", *ratio, 1.2, *ratio <= 1.2});
  const std::size_t size = s.collective == "barrier" ? 0 : 8;
  const auto own = r.get(s, "alone", size, driven), theirs = r.get(s, "alone", size, "blocking");
  if (s.network == "host" && s.mpi == over_dpdkx && s.collective != "allgather" && own && theirs)
    sheet.push_back({fmt::format("{} {} {}, manual, us", s.network, s.mpi, s.collective),
                     "MPICH's over dpdkx", *own, *theirs, *own <= *theirs});
}

std::vector<verdict> judge_all(const overlap_results &r) {
  std::vector<verdict> sheet;
  for (const subject &s : r.subjects())
    judge_subject(sheet, r, s);
  return sheet;
}

std::vector<plot> plots_of(const overlap_results &r) {
  std::vector<plot> plots;
  for (const subject &s : r.subjects())
    if (s.collective != "barrier")
      plots.push_back({s.section(), "hidden",
                       fmt::format("{}, {}, {}: share of the time that is hidden behind work",
                                   s.network, s.mpi, s.collective),
                       "share", false});
  return plots;
}

int report(const std::string &path, const std::string &output, bool strict) {
  const overlap_results r(path);
  print_table(r);
  const auto verdicts = judge_all(r);
  print_verdicts(verdicts);
  write_csv(r.all(), output + ".csv");
  const bool plotted = write_svg(r.all(), output + ".svg", plots_of(r));
  fmt::print("\nwritten: {0}.csv{1}\n", output,
             plotted ? ", " + output + ".svg" : " (no plot: gnuplot is missing or failed)");
  return strict && !std::ranges::all_of(verdicts, &verdict::met) ? 1 : 0;
}

} // namespace

} // namespace fabtest

int main(int argc, char **argv) {
  fabtest::command_line app("Reports what `overlap` has measured.");
  std::string path, output = "overlap";
  bool strict = false;
  app.add("file", path, "figures, a JSON object a line").required();
  app.add("-o,--output", output, "name of the CSV and SVG files, without ending");
  app.add_flag("--strict", strict, "fail when a target is missed");
  if (const auto code = app.parse(argc, argv))
    return *code;
  try {
    return fabtest::report(path, output, strict);
  } catch (const std::exception &e) {
    fmt::print(stderr, "overlap_report: {}\n", e.what());
    return 2;
  }
}
