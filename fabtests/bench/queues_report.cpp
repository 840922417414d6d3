// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What the runs of `queues` have measured: tables, limits, CSV and SVG.
//   queues_report [--strict] -o NAME FILE
// Each line of FILE is one figure of fabtests/queues/bursts, bench/burst_perf, bench/rate_perf,
// queues/daemon_cost or mpi/latency, to which its experiment was added, and what that program
// doesn't know.
#include "bench/report.h"
#include "common/command_line.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace fabtest {

namespace {

using nlohmann::json;

// --- bursts ---

// A row of their table; its columns are the pool's numbers of queues.
struct burst_key {
  std::string nic, traffic;
  std::uint64_t bulk = 0;
  double compute = 0; // ms
  std::uint32_t count = 0;
  std::string mode;
  auto operator<=>(const burst_key &) const = default;
};

struct burst_figures {
  std::vector<double> lost, in_ring, last, median, resent, bulk;
};

using bursts = std::map<burst_key, std::map<std::uint32_t, burst_figures>>;

void add_burst(bursts &all, results &r, const json &j) {
  const burst_key key{j.at("nic"),        j.at("traffic"), j.value("bulk", std::uint64_t{0}),
                      j.at("compute_ms"), j.at("count"),   j.at("mode")};
  const std::uint32_t queues = j.at("queues");
  burst_figures &f = all[key][queues];
  const auto section =
      fmt::format("{} {} {}ms bulk{}", key.nic, key.traffic, key.compute, key.bulk);
  const auto who = fmt::format("{} x {}", key.mode, queues);
  const auto take = [&](const char *name, std::vector<double> &into, const char *what,
                        const char *unit) {
    if (!j.contains(name))
      return;
    into.push_back(j.at(name));
    r.add_run({section, what, key.count, who}, unit, {into.back()});
  };
  take("lost", f.lost, "lost", "packets");
  take("lost_in_ring", f.in_ring, "lost_in_ring", "packets");
  take("resent", f.resent, "resent", "packets");
  take("median_us", f.median, "median", "us");
  take("last_us", f.last, "last", "us");
  take("bulk_us", f.bulk, "bulk", "us");
}

std::set<std::uint32_t> pools_of(const bursts &all) {
  std::set<std::uint32_t> pools;
  for (const auto &[key, row] : all)
    for (const auto &[queues, f] : row)
      pools.insert(queues);
  return pools;
}

std::string cell(const std::vector<double> &values, int digits) {
  return values.empty() ? "-" : fmt::format("{:.{}f}", median_of(values), digits);
}

void print_bursts(const bursts &all) {
  if (all.empty())
    return;
  const auto pools = pools_of(all);
  fmt::print(
      "\nBursts of small messages to a rank that computes from then on. Datagrams: nothing holds\n"
      "senders back or is sent again; messages: reliable. By queues of the pool: packets lost at\n"
      "the NIC (and by the daemon, as the rank's ring was full), then us from the end of "
      "computing\n"
      "until half of what comes has come, and all. Medians of all runs.\n"
      "{:<10} {:<9} {:>8} {:>9} {:>6} {:<12}",
      "NIC", "traffic", "bulk, B", "compute", "burst", "polled by");
  for (const auto queues : pools)
    fmt::print(" | {:>12} {:>9} {:>9}", fmt::format("lost x{}", queues), "half", "all");
  fmt::print("\n");
  const auto after = [](const burst_key &key, std::vector<double> us) {
    for (double &v : us)
      v -= 1000 * key.compute;
    return us;
  };
  for (const auto &[key, row] : all) {
    fmt::print("{:<10} {:<9} {:>8} {:>6} ms {:>6} {:<12}", key.nic, key.traffic, key.bulk,
               key.compute, key.count, key.mode);
    for (const auto queues : pools) {
      const auto it = row.find(queues);
      if (it == row.end()) {
        fmt::print(" | {:>12} {:>9} {:>9}", "-", "-", "-");
        continue;
      }
      const burst_figures &f = it->second;
      const bool in_ring = std::ranges::any_of(f.in_ring, [](double v) { return v > 0; });
      fmt::print(" | {:>12} {:>9} {:>9}",
                 in_ring ? fmt::format("{} ({})", cell(f.lost, 0), cell(f.in_ring, 0))
                         : cell(f.lost, 0),
                 cell(after(key, f.median), 1), cell(after(key, f.last), 1));
    }
    fmt::print("\n");
  }
}

// Whatever the pool: it changes nothing there.
void print_bulk(const bursts &all) {
  bool first = true;
  for (const auto &[key, row] : all) {
    const burst_figures &f = row.begin()->second;
    if (f.bulk.empty())
      continue;
    if (std::exchange(first, false))
      fmt::print("\nThe large message to the neighbour meanwhile\n");
    fmt::print("{:>8} B, burst {:>5}, compute {:>4} ms, {:<12} {:>9} us\n", key.bulk, key.count,
               key.compute, key.mode, cell(f.bulk, 1));
  }
}

// --- what the daemon costs ---

struct cost_key {
  std::string what;
  unsigned ranks = 1;
  std::string way;
  auto operator<=>(const cost_key &) const = default;
};

struct cost {
  std::string unit;
  std::string crowd; // where more are busy than there are processors
  std::map<unsigned, double> by_run;
  [[nodiscard]] double median() const {
    std::vector<double> values;
    for (const auto &[run, value] : by_run)
      values.push_back(value);
    return median_of(values);
  }
};

using costs = std::map<cost_key, cost>;

void add_cost(costs &all, results &r, const json &j) {
  const cost_key key{j.at("what"), j.at("ranks"), j.at("way")};
  cost &c = all[key];
  c.unit = j.at("unit");
  c.by_run[j.at("run")] = j.at("value");
  r.add_run({"memory", key.what, key.ranks, key.way}, c.unit, {j.at("value")});
}

// Over a NIC: both hosts' ranks are busy, and their daemons.
void add_rate(costs &all, results &r, const json &j) {
  const std::size_t size = j.at("size");
  const std::string nic = j.at("nic"), way = j.at("way");
  const unsigned pairs = j.at("pairs"), processors = j.at("processors");
  const double rate = 1e-6 * j.at("rate").get<double>();
  const unsigned busy = 2 * pairs + (way == "daemon" ? 2 : 0);
  cost &c = all[{fmt::format("rate over {}, {} B", nic, size), pairs, way}];
  c.unit = "M/s";
  if (busy > processors)
    c.crowd = fmt::format(", {} busy on {}", busy, processors);
  c.by_run[j.at("run")] = rate;
  r.add_run({nic, "rate", size, fmt::format("{} x{}", way, pairs)}, c.unit, {rate});
}

void print_costs(const costs &all) {
  if (all.empty())
    return;
  fmt::print(
      "\nWhat the daemon costs, medians of all runs. On a device in memory that reflects "
      "datagrams:\n"
      "a round trip through the daemon is what a message pays one way between hosts with one "
      "each;\n"
      "rates with a device that takes so long of its user's time for a datagram, each way. Over a\n"
      "NIC: messages between two hosts, of all pairs of ranks.\n"
      "{:<30} {:>5} {:<26} {:>10}\n",
      "", "ranks", "", "");
  for (const auto &[key, c] : all)
    fmt::print("{:<30} {:>5} {:<26} {:>10.3f} {}\n", key.what, key.ranks, key.way, c.median(),
               c.unit);
}

// Of each run by itself: what disturbs a run disturbs both.
std::optional<double> compared(const costs &all, const cost_key &a, const cost_key &b,
                               double (*how)(double, double)) {
  const auto first = all.find(a), second = all.find(b);
  if (first == all.end() || second == all.end())
    return std::nullopt;
  std::vector<double> values;
  for (const auto &[run, value] : first->second.by_run)
    if (const auto other = second->second.by_run.find(run); other != second->second.by_run.end())
      values.push_back(how(value, other->second));
  if (values.empty())
    return std::nullopt;
  return median_of(values);
}

void judge_costs(std::vector<verdict> &sheet, const costs &all) {
  if (const auto v = compared(all, {"round trip", 1, "daemon"}, {"round trip", 1, "rank-polled"},
                              [](double a, double b) { return a - b; }))
    sheet.push_back({"daemons' latency one way, us", "over rank-polled", *v, 1.0, *v <= 1.0});
  for (const auto &[key, c] : all)
    if (key.what.starts_with("rate") && key.way == "daemon")
      if (const auto v = compared(all, key, {key.what, 1, "rank-polled"},
                                  [](double a, double b) { return a / b; }))
        sheet.push_back(
            {fmt::format("{}, {} rank{}", key.what, key.ranks, key.ranks == 1 ? "" : "s"),
             "of one that polls the device" + c.crowd, *v, 0.8, *v >= 0.8});
  for (const auto &[key, c] : all) {
    if (key.what == "idle")
      sheet.push_back({"idle " + key.way, "% of a processor", c.median(), 2, c.median() < 2});
    if (key.what == "crowded round trip")
      sheet.push_back(
          {"three busy on two, us", "one way, two daemons", c.median(), 40, c.median() < 40});
  }
}

void judge_bursts(std::vector<verdict> &sheet, const bursts &all) {
  for (const auto &[key, row] : all)
    for (const auto &[queues, f] : row)
      if (key.nic == "simulated" && key.compute >= 1000 && key.mode != "rank-polled") {
        const double lost = median_of(f.lost) + (f.in_ring.empty() ? 0 : median_of(f.in_ring));
        sheet.push_back({fmt::format("{:g} s, {} x{}, {} {}", key.compute / 1000, key.mode, queues,
                                     key.count, key.traffic),
                         "lost", lost, 0, lost == 0});
      }
}

// --- figure 11 ---

struct latency_key {
  std::string way, protocol;
  [[nodiscard]] std::string name() const { return way + " " + protocol; }
};

const char *const latency = "latency of MPI";

void add_latency(results &r, const json &j) {
  const latency_key key{j.at("way"), j.at("protocol")};
  r.add_run({latency, "latency", j.at("bytes"), key.name()}, "us", {j.at("us")});
}

void print_latency(const results &r) {
  std::set<std::size_t> sizes;
  std::set<std::string> names;
  for (const auto &[key, s] : r.all())
    if (key.section == latency) {
      sizes.insert(key.size);
      names.insert(key.contestant);
    }
  if (sizes.empty())
    return;
  fmt::print(
      "\nOne way between two MPI ranks, us, medians of all runs; the least of dpdkx against\n"
      "the least of TCP\n{:>8}",
      "bytes");
  for (const auto &name : names)
    fmt::print(" {:>22}", name);
  fmt::print(" {:>8}\n", "less");
  for (const std::size_t size : sizes) {
    fmt::print("{:>8}", size);
    std::optional<double> tcp, ours;
    for (const auto &name : names) {
      const auto v = r.median(latency, "latency", size, name);
      fmt::print(" {:>22}", v ? fmt::format("{:.2f}", *v) : "-");
      auto &least = name.starts_with("tcp") ? tcp : ours;
      if (v)
        least = least ? std::min(*least, *v) : *v;
    }
    fmt::print(" {:>8}\n", tcp && ours ? fmt::format("{:.0f} %", 100 * (1 - *ours / *tcp)) : "-");
  }
}

// --- all of it ---

std::vector<plot> plots_of(const bursts &all) {
  std::vector<plot> plots{{latency, "latency", "One way between two MPI ranks", "us"}};
  std::set<std::string> seen;
  for (const auto &[key, row] : all) {
    if (key.compute != 10 || key.bulk != 0)
      continue;
    const auto section = fmt::format("{} {} 10ms bulk0", key.nic, key.traffic);
    if (!seen.insert(section).second)
      continue;
    const auto title =
        fmt::format("{} NIC, {}: bursts to a rank that computes for 10 ms", key.nic, key.traffic);
    plots.push_back({section, "lost", title + ", lost", "packets", false, "messages of a burst"});
    plots.push_back(
        {section, "last", title + ", until the last has come", "us", true, "messages of a burst"});
  }
  return plots;
}

int report(const std::string &path, const std::string &output, bool strict) {
  std::ifstream in(path);
  if (!in)
    throw std::runtime_error("can't read " + path);
  results r;
  bursts b;
  costs c;
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    const auto j = json::parse(line, nullptr, false);
    const std::string experiment = j.is_object() ? j.value("experiment", "") : "";
    if (experiment == "bursts")
      add_burst(b, r, j);
    else if (experiment == "cost")
      add_cost(c, r, j);
    else if (experiment == "rate")
      add_rate(c, r, j);
    else if (experiment == "latency")
      add_latency(r, j);
    else
      throw std::runtime_error(fmt::format("{}:{}: not a figure: {}", path, number, line));
  }
  print_bursts(b);
  print_bulk(b);
  print_costs(c);
  print_latency(r);
  std::vector<verdict> sheet;
  judge_bursts(sheet, b);
  judge_costs(sheet, c);
  print_verdicts(sheet);
  write_csv(r, output + ".csv");
  const bool plotted = write_svg(r, output + ".svg", plots_of(b));
  fmt::print("\nwritten: {0}.csv{1}\n", output,
             plotted ? ", " + output + ".svg" : " (no plot: gnuplot is missing or failed)");
  return strict && !std::ranges::all_of(sheet, &verdict::met) ? 1 : 0;
}

} // namespace

} // namespace fabtest

int main(int argc, char **argv) {
  fabtest::command_line app("Reports what `queues` has measured.");
  std::string path, output = "queues";
  bool strict = false;
  app.add("file", path, "figures, a JSON object a line").required();
  app.add("-o,--output", output, "name of the CSV and SVG files, without ending");
  app.add_flag("--strict", strict, "fail when a limit is missed");
  if (const auto code = app.parse(argc, argv))
    return *code;
  try {
    return fabtest::report(path, output, strict);
  } catch (const std::exception &e) {
    fmt::print(stderr, "queues_report: {}\n", e.what());
    return 2;
  }
}
