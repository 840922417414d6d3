// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The collective schedule compiler: collc(1).
#include "collc/check/check.h"
#include "collc/check/reuse.h"
#include "collc/command/options.h"
#include "collc/command/simulation.h"
#include "collc/lang/builtin.h"
#include "collc/report/goal.h"
#include "collc/report/graph.h"
#include "collc/report/program.h"
#include "collc/report/resources.h"
#include "collc/report/simulation.h"
#include "collc/report/table.h"
#include "config.h"

#include <functional>
#include <iostream>
#include <new>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace collc {

namespace {

// A subcommand, and what it does once the command line has been read; the exit code.
using action = std::function<int()>;

class command_line {
public:
  command_line() {
    app_.require_subcommand(1);
    app_.set_version_flag("--version", PACKAGE_VERSION);
    declare_list();
    declare_show();
    declare_table();
    declare_resources();
    declare_check();
    declare_simulate();
    declare_program();
    declare_drawings();
  }

  int run(int argc, char **argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::Success &e) { // --help
      return app_.exit(e);
    } catch (const CLI::ParseError &e) {
      std::cerr << "collc: " << e.what() << "\nTry: collc --help\n";
      return 2;
    }
    return chosen_();
  }

private:
  CLI::App *add(const char *name, const char *about, action what) {
    CLI::App *command = app_.add_subcommand(name, about);
    command->callback([this, what = std::move(what)] { chosen_ = what; });
    return command;
  }

  // One that compiles: loads the algorithm first.
  CLI::App *add_compiling(const char *name, const char *about,
                          std::function<int(compiler &)> what) {
    CLI::App *command = add(name, about, [this, what = std::move(what)] {
      options_.finish();
      const algorithm a = load(options_.algorithm);
      options_.finish(a.what);
      compiler c(a, options_.asked, options_.how);
      return what(c);
    });
    options_.declare(*command);
    return command;
  }

  void add_json(CLI::App *command) { command->add_flag("--json", options_.json, "as JSON"); }

  void declare_list() {
    CLI::App *command = add("list", "the algorithms that come with the compiler", [this] {
      auto all = nlohmann::json::array();
      std::string text;
      for (const auto &b : builtins()) {
        const algorithm a = parse_builtin(b);
        text += fmt::format("{:<24}{}\n", b.name, a.about);
        all.push_back({{"name", b.name}, {"about", a.about}});
      }
      put(options_, options_.json ? all.dump(2) + '\n' : text);
      return 0;
    });
    add_json(command);
  }

  static algorithm parse_builtin(const builtin &b) { return load(std::string(b.name)); }

  void declare_show() {
    CLI::App *command = add("show", "an algorithm's text", [this] {
      put(options_, text_of(options_.algorithm));
      return 0;
    });
    command->add_option("algorithm", options_.algorithm, "COLLECTIVE:VARIANT, or a file")
        ->required();
  }

  void declare_table() {
    CLI::App *command = add_compiling("table", "a rank's deferred works", [this](compiler &c) {
      const rank_schedule s = c.schedule(rank_);
      put(options_, options_.json ? table_json(c, s).dump(2) + '\n' : table_text(c, s, with_data_));
      return 0;
    });
    command->add_option("--rank", rank_, "whose")->capture_default_str();
    command->add_flag("--data", with_data_, "also what is moved");
    add_json(command);
  }

  void declare_resources() {
    CLI::App *command = add_compiling(
        "resources", "counters, deferred works and bytes of all ranks", [this](compiler &c) {
          const resources r = measure(c);
          put(options_, options_.json ? resources_json(c, r).dump(2) + '\n' : resources_text(c, r));
          return 0;
        });
    add_json(command);
  }

  void declare_check() {
    CLI::App *command = add_compiling("check", "find what is wrong", [this](compiler &c) {
      if (!replay_.empty()) {
        std::string text;
        for (const auto &line : replay(world(c), reuse_, replay_))
          text += line + '\n';
        put(options_, text);
        return 0;
      }
      reuse_result r{check(c)};
      if (r.found.empty() && reuse_.epochs > 1)
        r = check_reuse(world(c), reuse_);
      put(options_, options_.json ? findings_json(c, r.found).dump(2) + '\n'
                                  : findings_text(c, r.found) + searched(r));
      return r.found.empty() ? 0 : 1;
    });
    command->add_option("--epochs", reuse_.epochs, "so many starts, in every order of events")
        ->check(CLI::Range(1, 255))
        ->capture_default_str();
    command->add_option("--max-states", reuse_.most_states, "of --epochs")->capture_default_str();
    command->add_option("--replay", replay_, "one order of events, as --epochs found it");
    add_json(command);
  }

  [[nodiscard]] std::string searched(const reuse_result &r) const {
    if (r.states == 0 || !r.found.empty())
      return {};
    return fmt::format("reuse: nothing found in {} epochs, {} states\n", reuse_.epochs, r.states);
  }

  void declare_simulate() {
    CLI::App *command = add_compiling(
        "simulate", "how long it takes, triggered and driven by a CPU", [this](compiler &c) {
          simulated_.finish();
          const simulation s =
              simulate(c, simulated_.model, simulated_.triggered(), simulated_.driven());
          put(options_, options_.json ? simulation_json(c, simulated_.model, s).dump(2) + '\n'
                                      : simulation_text(c, simulated_.model, s));
          return 0;
        });
    simulated_.declare(*command);
    add_json(command);
  }

  void declare_program() {
    CLI::App *command =
        add_compiling("ir", "what a rank does, and what it waits for", [this](compiler &c) {
          const rank_program p = c.program(rank_);
          put(options_, options_.json ? program_json(c.source(), p).dump(2) + '\n'
                                      : program_text(c.source(), p));
          return 0;
        });
    command->add_option("--rank", rank_, "whose")->capture_default_str();
    add_json(command);
  }

  void declare_drawings() {
    add_compiling("graph", "works and what they wait for, for Graphviz", [this](compiler &c) {
      put(options_, graph_text(world(c)));
      return 0;
    });
    add_compiling("timeline", "messages between ranks, as SVG", [this](compiler &c) {
      put(options_, timeline_text(world(c)));
      return 0;
    });
    add_compiling("goal", "messages of all ranks, for LogGOPSim", [this](compiler &c) {
      std::ostringstream text;
      write_goal(text, c);
      put(options_, text.str());
      return 0;
    });
  }

  CLI::App app_{"Compiles collective communication into deferred work on counters."};
  common_options options_;
  std::int64_t rank_ = 0;
  bool with_data_ = false;
  reuse_options reuse_{.epochs = 1};
  simulation_options simulated_;
  std::string replay_;
  action chosen_;
};

int guarded(int argc, char **argv) {
  try {
    return command_line().run(argc, argv);
  } catch (const error &e) {
    std::cerr << "collc: " << e.what() << '\n';
  } catch (const std::bad_alloc &) {
    std::cerr << "collc: out of memory\n";
  }
  return 2;
}

} // namespace

} // namespace collc

int main(int argc, char **argv) { return collc::guarded(argc, argv); }
