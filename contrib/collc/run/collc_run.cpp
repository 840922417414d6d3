// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Runs a collective between processes of this host, checks what comes of it, and tells how long it
// takes: collc-run(1).
#include "collc/collc.h"
#include "collc/collc_runtime.h"
#include "collc/lang/builtin.h"
#include "collc/lang/error.h"
#include "collc/lang/setting.h"
#include "collc/run/data.h"
#include "collc/run/hub.h"
#include "config.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <iostream>
#include <map>
#include <sys/wait.h>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <rdma/fi_errno.h>

namespace collc::run {

namespace {

using clock = std::chrono::steady_clock;

const std::map<std::string, collc_rt_mode> modes = {
    {"auto", COLLC_RT_AUTO}, {"offload", COLLC_RT_OFFLOAD}, {"function", COLLC_RT_FUNCTION}};

struct options {
  std::string algorithm, provider = "dpdkx", mode = "auto";
  int ranks = 2;
  std::int64_t root = 0;
  std::uint64_t bytes = 8, epochs = 1000;
  std::vector<std::string> parameters; // NAME=VALUE
  bool automatic = false, direct = false, json = false;
};

// Kept until init has read them.
struct parameter_list {
  explicit parameter_list(const std::vector<std::string> &texts) {
    names.reserve(texts.size()); // pointers into it stay
    for (const std::string &text : texts) {
      auto [name, value] = parse_setting(text);
      names.push_back(std::move(name));
      all.push_back({names.back().c_str(), value});
    }
  }
  std::vector<std::string> names;
  std::vector<collc_parameter> all;
};

collc_rt_kind kind_of(collective c) {
  switch (c) {
  case collective::barrier:
    return COLLC_RT_BARRIER;
  case collective::broadcast:
    return COLLC_RT_BROADCAST;
  case collective::allgather:
    return COLLC_RT_ALLGATHER;
  case collective::alltoall:
    return COLLC_RT_ALLTOALL;
  case collective::gather:
    return COLLC_RT_GATHER;
  case collective::scatter:
    return COLLC_RT_SCATTER;
  case collective::reduce:
    return COLLC_RT_REDUCE;
  case collective::allreduce:
    return COLLC_RT_ALLREDUCE;
  }
  return COLLC_RT_BARRIER;
}

bool reduces(collective c) { return c == collective::reduce || c == collective::allreduce; }

void check_rt(const char *call, int rc) {
  if (rc != 0)
    throw error(fmt::format("{}: {}: {}", call, fi_strerror(-rc), collc_rt_error()));
}

// One rank: all epochs; what it reports.
class rank_run {
public:
  rank_run(const options &o, const shape &s, int rank, const line &l)
      : options_(o), line_(l), data_(s, rank) {
    const collc_rt_exchange exchange{allgather, this};
    collc_rt_settings settings{};
    settings.size = sizeof settings;
    settings.mode = modes.at(o.mode);
    settings.provider = o.provider.empty() ? nullptr : o.provider.c_str();
    settings.automatic = o.automatic;
    check_rt("collc_rt_group_create",
             collc_rt_group_create(s.ranks, rank, &exchange, &settings, &group_));
    const parameter_list parameters(o.parameters);
    collc_rt_collective c{};
    c.size = sizeof c;
    c.kind = kind_of(s.what);
    c.bytes = s.bytes;
    c.root = s.root;
    c.in = data_.in().data();
    c.out = data_.out().data();
    c.operation = "sum";
    c.type = "int64";
    c.algorithm = o.algorithm.c_str();
    c.parameters = parameters.all.data();
    c.parameter_count = parameters.all.size();
    c.flags = o.direct ? COLLC_RT_DIRECT : 0;
    check_rt("collc_rt_init", collc_rt_init(group_, &c, &request_));
  }

  nlohmann::json run() {
    std::vector<double> us;
    us.reserve(options_.epochs);
    for (std::uint64_t epoch = 0; epoch < options_.epochs; ++epoch) {
      data_.fill(epoch);
      const auto start = clock::now();
      check_rt("collc_rt_start", collc_rt_start(request_));
      check_rt("collc_rt_wait", collc_rt_wait(request_, -1));
      us.push_back(std::chrono::duration<double, std::micro>(clock::now() - start).count());
      if (!data_.right(epoch))
        throw error(fmt::format("epoch {}: the result is wrong", epoch));
    }
    nlohmann::json report = tell(us);
    check_rt("collc_rt_free", collc_rt_free(request_));
    check_rt("collc_rt_group_destroy", collc_rt_group_destroy(group_, 0));
    return report;
  }

private:
  static int allgather(void *context, const void *mine, std::size_t bytes, void *all) {
    return static_cast<rank_run *>(context)->line_.allgather(mine, bytes, all) ? 0
                                                                               : -FI_ECONNABORTED;
  }

  nlohmann::json tell(std::vector<double> us) {
    collc_rt_group_info group{};
    group.size = sizeof group;
    check_rt("collc_rt_group_query", collc_rt_group_query(group_, &group));
    collc_rt_request_info request{};
    request.size = sizeof request;
    check_rt("collc_rt_request_query", collc_rt_request_query(request_, &request));
    std::ranges::sort(us);
    return {{"median_us", us[us.size() / 2]},
            {"least_us", us.front()},
            {"most_us", us.back()},
            {"works", request.works},
            {"counters", request.counters},
            {"mode", group.mode == COLLC_RT_OFFLOAD ? "offload" : "function"},
            {"provider", group.provider}};
  }

  const options &options_;
  const line &line_;
  data data_;
  collc_rt_group *group_ = nullptr; // ends with the process, if it isn't destroyed
  collc_rt_request *request_ = nullptr;
};

void body(const options &o, const shape &s, int rank, const line &l) {
  nlohmann::json report;
  try {
    report = rank_run(o, s, rank, l).run();
  } catch (const std::exception &e) {
    report = {{"error", e.what()}};
  }
  (void)l.report(report.dump());
}

std::string how_it_ended(const ending &e) {
  if (WIFSIGNALED(e.status))
    return fmt::format("ended by signal {} ({})", WTERMSIG(e.status),
                       strsignal(WTERMSIG(e.status)));
  return fmt::format("ended with exit code {}, and said nothing", WEXITSTATUS(e.status));
}

int tell(const options &o, const std::vector<ending> &endings) {
  nlohmann::json all = {{"algorithm", o.algorithm}, {"ranks", o.ranks},   {"root", o.root},
                        {"bytes", o.bytes},         {"epochs", o.epochs}, {"of_rank", {}}};
  int status = 0;
  std::vector<double> medians;
  for (std::size_t rank = 0; rank < endings.size(); ++rank) {
    const ending &e = endings[rank];
    auto report =
        e.reported ? nlohmann::json::parse(e.report) : nlohmann::json{{"error", how_it_ended(e)}};
    if (report.contains("error")) {
      status = 1;
      std::cerr << "collc-run: rank " << rank << ": " << report["error"].get<std::string>() << '\n';
    } else {
      medians.push_back(report["median_us"]);
    }
    all["of_rank"].push_back(std::move(report));
  }
  if (o.json) {
    std::cout << all.dump(2) << '\n';
    return status;
  }
  if (status != 0)
    return status;
  const auto &first = all["of_rank"][0];
  std::cout << fmt::format("{}: {} ranks, {} bytes, {} epochs: all right\n", o.algorithm, o.ranks,
                           o.bytes, o.epochs)
            << fmt::format("{} over {}\n", first["mode"].get<std::string>(),
                           first["provider"].get<std::string>())
            << "rank    median us     least      most  works  counters\n";
  for (std::size_t rank = 0; rank < endings.size(); ++rank) {
    const auto &r = all["of_rank"][rank];
    std::cout << fmt::format("{:>4} {:>12.2f} {:>9.2f} {:>9.2f} {:>6} {:>9}\n", rank,
                             r["median_us"].get<double>(), r["least_us"].get<double>(),
                             r["most_us"].get<double>(), r["works"].get<std::uint64_t>(),
                             r["counters"].get<std::uint64_t>());
  }
  return 0;
}

int run(const options &o) {
  const collective what = load(o.algorithm).what;
  const shape s{what, o.ranks, o.root, what == collective::barrier ? 0 : o.bytes};
  if (reduces(s.what) && o.bytes % sizeof(std::int64_t) != 0)
    throw error(
        fmt::format("--bytes {}: a reduction adds int64; allowed: multiples of 8", o.bytes));
  if (o.root < 0 || o.root >= o.ranks)
    throw error(fmt::format("--root {}: allowed: 0 to {}", o.root, o.ranks - 1));
  (void)parameter_list(o.parameters); // told once, and not by each rank
  return tell(o, run_ranks(o.ranks, [&](int rank, const line &l) { body(o, s, rank, l); }));
}

} // namespace

} // namespace collc::run

int main(int argc, char **argv) {
  CLI::App app("Runs a collective between processes of this host: collc-run(1).");
  collc::run::options o;
  std::vector<std::string> mode_names;
  for (const auto &[name, mode] : collc::run::modes)
    mode_names.push_back(name);
  app.set_version_flag("--version", PACKAGE_VERSION);
  app.add_option("algorithm", o.algorithm, "COLLECTIVE:VARIANT, or a file")->required();
  app.add_option("--ranks", o.ranks, "processes")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--root", o.root, "of collectives that have one")->capture_default_str();
  app.add_option("--bytes", o.bytes, "of each rank's block, or of what is broadcast")
      ->capture_default_str();
  app.add_option("--set", o.parameters, "a parameter of the algorithm: NAME=VALUE")
      ->allow_extra_args(false);
  app.add_option("--epochs", o.epochs, "how often it is started")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--mode", o.mode, "who advances it")
      ->check(CLI::IsMember(mode_names))
      ->capture_default_str();
  app.add_option("--provider", o.provider, "of libfabric; empty: the first that serves")
      ->capture_default_str();
  app.add_flag("--auto", o.automatic, "FI_PROGRESS_AUTO");
  app.add_flag("--direct", o.direct, "data land nowhere but where they belong");
  app.add_flag("--json", o.json, "as JSON");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success &e) { // --help
    return app.exit(e);
  } catch (const CLI::ParseError &e) {
    std::cerr << "collc-run: " << e.what() << "\nTry: collc-run --help\n";
    return 2;
  }
  try {
    return collc::run::run(o);
  } catch (const std::exception &e) {
    std::cerr << "collc-run: " << e.what() << '\n';
    return 2;
  }
}
