// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "bench/report.h"

#include "bench/child.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ostream.h>

namespace fabtest {

namespace {

// What is under test first, then the others, floors last.
constexpr const char *column_order[] = {
    "dpdkx",      "shm",          "tcp;ofi_rxm", "udp;ofi_rxd", "net",     "raw",
    "kernel_udp", "kernel_tcp",   "flag",        "ring",        "offload", "offload-manual",
    "function",   "non-blocking", "persistent",  "blocking",    "limit"};

struct table {
  std::string section, what, unit;
  std::set<std::size_t> sizes;
  std::vector<std::string> columns;

  // Those that a ratio is shown against: not the first itself, nor what carries no messages.
  [[nodiscard]] std::vector<std::string> compared() const {
    std::vector<std::string> names;
    for (const auto &c : columns)
      if (c != columns.front() && c != "flag" && c != "ring" && c != "kernel_udp")
        names.push_back(c);
    return names;
  }
};

std::vector<table> tables_of(const results &r) {
  std::vector<table> all;
  for (const auto &[key, s] : r.all()) {
    auto it = std::ranges::find_if(
        all, [&, &key = key](auto &t) { return t.section == key.section && t.what == key.what; });
    if (it == all.end())
      it = all.insert(all.end(), {key.section, key.what, s.unit, {}, {}});
    it->sizes.insert(key.size);
    if (std::ranges::count(it->columns, key.contestant) == 0)
      it->columns.push_back(key.contestant);
  }
  const auto place = [](const std::string &name) {
    return std::ranges::find(column_order, name) - std::begin(column_order);
  };
  for (auto &t : all)
    std::ranges::sort(t.columns, {}, place);
  return all;
}

void print_row(const results &r, const table &t, std::size_t size) {
  const auto own = r.median(t.section, t.what, size, t.columns.front());
  fmt::print("{:>9}", size);
  for (const auto &column : t.columns) {
    const series *s = r.find({t.section, t.what, size, column});
    if (s)
      fmt::print("  {:>8.3f} {:>9}", s->median(), fmt::format("({:.3f})", s->best_tenth()));
    else
      fmt::print("  {:>18}", "-");
  }
  for (const auto &name : t.compared()) {
    const auto other = r.median(t.section, t.what, size, name);
    fmt::print("  {:>12}", own && other ? fmt::format("{:.2f}", *own / *other) : "-");
  }
  fmt::print("\n");
}

// False if there is nothing to plot.
bool add_plot(std::ostream &script, const results &r, const plot &p) {
  std::vector<std::string> curves;
  std::string data;
  for (const auto &t : tables_of(r)) {
    if (t.section != p.section || t.what != p.what)
      continue;
    for (const auto &column : t.columns) {
      const auto block = fmt::format("$data{}", curves.size());
      data += block + " << end\n";
      for (const std::size_t size : t.sizes)
        if (const auto v = r.median(t.section, t.what, size, column))
          data += fmt::format("{} {}\n", std::max<std::size_t>(size, 1), *v);
      data += "end\n";
      curves.push_back(
          fmt::format("{} using 1:2 with linespoints title '{}' noenhanced", block, column));
    }
  }
  if (curves.empty())
    return false;
  fmt::print(script, "{}unset logscale\nset logscale {} 2\nset xlabel '{}'\nset ylabel '{}'\n",
             data, p.logarithmic ? "xy" : "x", p.sizes, p.unit);
  fmt::print(script, "set title '{}' noenhanced\nplot {}\n", p.title, fmt::join(curves, ", "));
  return true;
}

} // namespace

void print_tables(const results &r) {
  for (const auto &t : tables_of(r)) {
    fmt::print("\n{}: {} [{}], median (best 10 %), then {} / each other\n{:>9}", t.section, t.what,
               t.unit, t.columns.front(), "bytes");
    for (const auto &column : t.columns)
      fmt::print("  {:>18}", column);
    for (const auto &name : t.compared())
      fmt::print("  {:>12}", "/" + name);
    fmt::print("\n");
    for (const std::size_t size : t.sizes)
      print_row(r, t, size);
  }
}

void print_verdicts(const std::vector<verdict> &verdicts) {
  if (verdicts.empty())
    return;
  fmt::print("\n{:<30} {:>10} {:>10}  {:<28}\n", "target", "value", "limit", "rule");
  for (const auto &v : verdicts)
    fmt::print("{:<30} {:>10.3f} {:>10.3f}  {:<28} {}\n", v.figure, v.value, v.limit, v.rule,
               v.met ? "met" : "MISSED");
}

void write_csv(const results &r, const std::string &path) {
  std::ofstream out(path);
  fmt::print(out, "section,what,bytes,contestant,unit,runs,median,best_tenth\n");
  for (const auto &[key, s] : r.all())
    fmt::print(out, "{},{},{},{},{},{},{},{}\n", key.section, key.what, key.size, key.contestant,
               s.unit, s.run_medians.size(), s.median(), s.best_tenth());
}

bool write_svg(const results &r, const std::string &path, const std::vector<plot> &plots) {
  std::ostringstream drawn;
  const auto count =
      std::ranges::count_if(plots, [&](const plot &p) { return add_plot(drawn, r, p); });
  const std::string script_path = path + ".gnuplot";
  {
    std::ofstream script(script_path);
    fmt::print(script,
               "set terminal svg size 900,{} dynamic\nset output '{}'\nset multiplot layout {},1\n"
               "set grid\nset key left top\n{}",
               430 * std::max<std::ptrdiff_t>(count, 1), path, std::max<std::ptrdiff_t>(count, 1),
               drawn.str());
  }
  const auto plotted = run_child({{"gnuplot", script_path}, {}}, std::chrono::seconds(60));
  std::remove(script_path.c_str());
  return plotted.status == 0;
}

} // namespace fabtest
