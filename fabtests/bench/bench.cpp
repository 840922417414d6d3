// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Runs all contestants in turn, again and again, and reports medians beside the floors and targets.
#include "bench/plan.h"
#include "bench/report.h"
#include "common/command_line.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace fabtest {

namespace {

struct bench_command {
  plan_options plan;
  int runs = 9;
  std::vector<std::string> sections; // empty: all
  std::string output = "bench";      // .csv and .svg
  bool strict = false;

  [[nodiscard]] bool wants(const std::string &name) const {
    return sections.empty() || std::ranges::count(sections, name) > 0;
  }
};

// A floor's figure is of its own kind; beside latencies it stands in a column with its name.
figure_key key_of(const section &s, const contestant &c, const nlohmann::json &line) {
  const std::string what = line.at("what");
  const auto size = line.at("size").get<std::size_t>();
  if (!c.names_itself)
    return {s.name, what, size, c.name};
  if (what == "ring_rate")
    return {s.name, "rate", size, "ring"};
  return {s.name, "latency", size, what};
}

// False if there are none.
bool read_figures(results &r, const section &s, const contestant &c, const std::string &text) {
  std::istringstream in(text);
  bool any = false;
  for (std::string line; std::getline(in, line);) {
    const auto j = nlohmann::json::parse(line, nullptr, false);
    if (j.is_object() && j.contains("values")) {
      r.add_run(key_of(s, c, j), j.at("unit"), j.at("values").get<std::vector<double>>());
      any = true;
    }
  }
  return any;
}

// What a failed child said, without the thousands of lines in which some repeat themselves.
std::string complaint_of(const child_result &done) {
  std::size_t end = 0;
  for (int lines = 0; lines < 10 && end < done.err.size(); ++lines)
    end = std::min(done.err.find('\n', end), done.err.size() - 1) + 1;
  return end == 0 ? "failed" : done.err.substr(0, end);
}

// What a run leaves, a socket's name above all, would be in the way of the next.
void empty(const std::string &folder) {
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    std::filesystem::remove_all(entry);
}

// What failed: said at once, and again at the end, where it is read.
class failures {
public:
  void add(const std::string &where, const std::string &what) {
    fmt::print(stderr, "{}: {}\n", where, what);
    lines_.push_back(fmt::format("{}: {}", where, what));
  }
  // Something of our own doesn't work; the rest is others' and only worth a line.
  void add_ours(const std::string &where, const std::string &what) {
    add(where, what);
    ours_ = true;
  }
  [[nodiscard]] bool ours() const { return ours_; }
  void print() const {
    for (const auto &line : lines_)
      fmt::print("failed: {}\n", line);
  }

private:
  std::vector<std::string> lines_;
  bool ours_ = false;
};

// Each run starts with another contestant, so that no one always follows the same neighbour.
// Others' failures count when they never could be measured: a raw device or a socket may fail now
// and then through no fault of dpdkx's.
void run_section(results &r, failures &failed, const section &s, const bench_command &b) {
  std::map<std::string, int> complaints;
  for (int run = 0; run < b.runs; ++run) {
    for (std::size_t i = 0; i < s.contestants.size(); ++i) {
      const auto &c = s.contestants[(i + static_cast<std::size_t>(run)) % s.contestants.size()];
      empty(b.plan.scratch);
      const auto done = run_child(c.run, std::chrono::seconds(300));
      const bool measured = read_figures(r, s, c, done.out);
      if (done.status == 0 && measured)
        continue;
      const int times = ++complaints[c.name];
      const std::string where = fmt::format("{}, {}, run {}", s.name, c.name, run + 1);
      if (c.name == dpdkx_name || times == b.runs)
        failed.add_ours(where, complaint_of(done));
      else if (times == 1)
        failed.add(where, complaint_of(done));
    }
    fmt::print(stderr, "{}: run {} of {}\n", s.name, run + 1, b.runs);
  }
}

int getinfo_runs(const bench_command &b) { return b.plan.quick ? 10 : 50; }

// One row of the table: what a process's one call of fi_getinfo costs with dpdkx installed and
// without, in turn. `filter`: FI_PROVIDER; empty: none.
void run_getinfo_with(failures &failed, const bench_command &b, const std::string &filter) {
  const std::string program = b.plan.folder + "/getinfo_cost";
  const command with{{program}, {{"FI_PROVIDER", filter}}};
  const command without{{program}, {{"FI_PROVIDER", filter}, {"FI_PROVIDER_PATH", "/nonexistent"}}};
  std::vector<double> took[2];
  bool complained = false;
  for (int i = 0; i < getinfo_runs(b); ++i)
    for (const int which : {0, 1}) {
      const child_result done = run_child(which == 0 ? with : without, std::chrono::seconds(20));
      if (done.status != 0 && !std::exchange(complained, true))
        failed.add_ours("getinfo", complaint_of(done));
      took[which].push_back(done.took.count() * 1e3);
    }
  const double a = median_of(took[0]), c = median_of(took[1]);
  fmt::print("{:<20} {:>10.3f} {:>10.3f} {:>11.3f}\n",
             filter.empty() ? "all" : "FI_PROVIDER=" + filter, a, c, a - c);
}

// What libfabric does with dpdkx in that call, done alone: to load it, and to be told that it has
// nothing for who doesn't name it.
void run_getinfo_alone(failures &failed, const bench_command &b) {
  const char *const path = std::getenv("FI_PROVIDER_PATH");
  const command alone{
      {b.plan.folder + "/getinfo_cost", fmt::format("{}/libdpdkx-fi.so", path ? path : "")}, {}};
  std::vector<double> took;
  for (int i = 0; i < getinfo_runs(b); ++i) {
    const child_result done = run_child(alone, std::chrono::seconds(20));
    double loaded = 0, asked = 0;
    if (done.status != 0 || !(std::istringstream(done.out) >> loaded >> asked)) {
      failed.add_ours("getinfo, dpdkx alone", complaint_of(done));
      return;
    }
    took.push_back(asked);
  }
  const double median = median_of(took);
  fmt::print("{:<20} {:>33.3f}  limit 1: {}\n", "dpdkx alone", median,
             median <= 1 ? "met" : "MISSED");
}

// Other providers take hundreds of milliseconds, and vary by more than dpdkx adds: that is timed
// alone as well.
void run_getinfo(failures &failed, const bench_command &b) {
  fmt::print(
      "\ngetinfo: a process that calls fi_getinfo once and does not name dpdkx, from start "
      "to end [ms],\nmedians of {}, with dpdkx installed and without; and dpdkx's part alone\n"
      "{:<20} {:>10} {:>10} {:>11}\n",
      getinfo_runs(b), "providers asked", "with", "without", "difference");
  for (const char *filter : {"", "tcp"})
    run_getinfo_with(failed, b, filter);
  run_getinfo_alone(failed, b);
}

// Growth of an endpoint's memory by peers that were contacted and have fallen silent, as the
// simulation's test of it says.
void run_memory(failures &failed, const bench_command &b) {
  const command scale{{b.plan.folder + "/../sim/scale", "--only", "scale__idle_peer"}, {}};
  const child_result done = run_child(scale, std::chrono::seconds(300));
  fmt::print("\nmemory, growth by each of 10,000 idle peers, limit 256 B: {}\n{}",
             done.status == 0 ? "met" : "MISSED", done.out);
  if (done.status != 0)
    failed.add_ours("memory", done.out + complaint_of(done));
}

// What needs two namespaces, and so root.
void run_devices(results &r, failures &failed, const bench_command &b) {
  if (!b.wants("memif") && !b.wants("veth") && !b.wants("remote_veth") && !b.wants("jumbo"))
    return;
  if (geteuid() != 0) {
    fmt::print(stderr, "memif, veth, remote_veth and jumbo need root; left out\n");
    return;
  }
  namespace_pair ns;
  if (!ns.ok()) {
    fmt::print(stderr, "memif, veth, remote_veth and jumbo left out: {}\n", ns.error());
    return;
  }
  if (b.wants("memif"))
    run_section(r, failed, memif_section(b.plan, ns), b);
  if (b.wants("veth"))
    run_section(r, failed, veth_section(b.plan, ns), b);
  if (b.wants("remote_veth"))
    run_section(r, failed, remote_veth_section(b.plan, ns), b);
  if (b.wants("jumbo") && ns.set_mtu(jumbo_mtu))
    run_section(r, failed, jumbo_section(b.plan, ns), b);
  if (!ns.ok())
    failed.add_ours("namespaces", ns.error());
}

class scratch_folder {
public:
  scratch_folder()
      : path_(std::filesystem::temp_directory_path() / ("fbench" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
  }
  scratch_folder(const scratch_folder &) = delete;
  scratch_folder &operator=(const scratch_folder &) = delete;
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string path() const { return path_; }

private:
  std::filesystem::path path_;
};

int run(const bench_command &b) {
  results r;
  failures failed;
  if (b.wants("host"))
    run_section(r, failed, host_section(b.plan), b);
  if (b.wants("remote"))
    run_section(r, failed, remote_section(b.plan), b);
  if (b.wants("triggers"))
    run_section(r, failed, triggers_section(b.plan), b);
  run_devices(r, failed, b);
  print_tables(r);
  const auto verdicts = judge(r);
  print_verdicts(verdicts);
  if (b.wants("getinfo"))
    run_getinfo(failed, b);
  if (b.wants("memory"))
    run_memory(failed, b);
  write_csv(r, b.output + ".csv");
  std::vector<plot> plots;
  for (const std::string section : {"host", "memif", "veth"})
    plots.push_back({section, "latency", section + ": tagged latency, one way", "us"});
  const bool plotted = write_svg(r, b.output + ".svg", plots);
  fmt::print("\nwritten: {0}.csv{1}\n", b.output,
             plotted ? ", " + b.output + ".svg" : " (no plot: gnuplot is missing or failed)");
  const bool all_met = std::ranges::all_of(verdicts, &verdict::met);
  failed.print();
  return failed.ours() || (b.strict && !all_met) ? 1 : 0;
}

// As built, nothing needs to be said of where dpdkx is.
void find_provider(const std::string &programs) {
  const auto built = std::filesystem::path(programs) / "../../.libs";
  if (std::filesystem::exists(built / "libdpdkx-fi.so"))
    setenv("FI_PROVIDER_PATH", built.lexically_normal().c_str(), 0);
}

} // namespace

} // namespace fabtest

int main(int argc, char **argv) {
  fabtest::command_line app("Measures dpdkx beside other providers and the floors, in turn.");
  fabtest::bench_command b;
  std::error_code unknown; // then --programs has to say it
  b.plan.folder = std::filesystem::canonical("/proc/self/exe", unknown).parent_path();
  app.add_flag("--quick", b.plan.quick, "short, for CI: figures are rough");
  const auto runs = app.add("--runs", b.runs, "how often each contestant runs");
  app.add("--sections", b.sections,
          "host, remote, triggers, memif, veth, remote_veth, jumbo, getinfo, memory")
      .comma_separated();
  app.add("-o,--output", b.output, "name of the CSV and SVG files, without ending");
  app.add("--programs", b.plan.folder, "folder of the measuring programs");
  app.add_flag("--strict", b.strict, "fail when a target is missed");
  if (const auto code = app.parse(argc, argv))
    return *code;
  if (b.plan.quick && !runs.given())
    b.runs = 3;
  fabtest::find_provider(b.plan.folder);
  try {
    const fabtest::scratch_folder scratch;
    b.plan.scratch = scratch.path();
    return fabtest::run(b);
  } catch (const std::exception &e) {
    fmt::print(stderr, "{}\n", e.what());
    return 2;
  }
}
