// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/command_line.h"

#include "dpdkx/daemon/options.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <config.h> // the build's; this folder has one, too
#include <unistd.h>

namespace dpdkx::daemon {

namespace {

class Parser {
public:
  explicit Parser(CommandLine &out) : out_(out), values_(all_options().size()) {
    app_.set_version_flag("--version", "dpdkxd " PACKAGE_VERSION);
    app_.require_subcommand(0, 1);
    app_.add_option("--config", out.config,
                    std::string("read options from FILE in place of ") + default_config_file)
        ->type_name("FILE");
    app_.add_flag("--check", check_, "the same as: dpdkxd check");
    declare_options();
    app_.add_subcommand("check", "what it would do, and what is missing for that")->fallthrough();
    auto *status = app_.add_subcommand("status", "what the running dpdkxd does");
    status->fallthrough();
    status->add_flag("--json", out.json, "as JSON");
    status->add_option("--watch", out.watch, "again and again, with what happened meanwhile")
        ->type_name("SECONDS")
        ->check(CLI::Range(0.1, 86400.0));
    app_.add_subcommand("metrics", "the same as metrics of Prometheus")->fallthrough();
  }

  bool parse(int argc, const char *const *argv, std::string &error) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::CallForVersion &version) {
      out_.command = Command::tell;
      out_.text = std::string(version.what()) + "\n";
      return true;
    } catch (const CLI::Success &) { // --help
      out_.command = Command::tell;
      out_.text = app_.help();
      return true;
    } catch (const CLI::ParseError &fault) {
      error = std::string(fault.what()) + "; allowed: what dpdkxd --help tells";
      for (char &c : error) // one line
        c = c == '\n' ? ' ' : c;
      return false;
    }
    take_options();
    take_command();
    return true;
  }

private:
  void declare_options() {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const Option &option = all_options()[i];
      std::string text = option.text;
      if (*option.preset)
        text += std::string(" (default: ") + option.preset + ")";
      app_.add_option(std::string("--") + option.name, values_[i], text)
          ->type_name("VALUE")
          ->allow_extra_args(false);
    }
  }

  void take_options() {
    for (std::size_t i = 0; i < values_.size(); ++i)
      for (const std::string &value : values_[i]) {
        const std::string name = all_options()[i].name;
        out_.given.push_back({name, value, "--" + name});
      }
  }

  void take_command() {
    out_.command = check_ ? Command::check : Command::run;
    for (const CLI::App *chosen : app_.get_subcommands())
      out_.command = chosen->get_name() == "check"    ? Command::check
                     : chosen->get_name() == "status" ? Command::status
                                                      : Command::metrics;
  }

  CommandLine &out_;
  CLI::App app_{"Owns DPDK devices of a host, and forwards between them and its processes.",
                "dpdkxd"};
  std::vector<std::vector<std::string>> values_;
  bool check_ = false;
};

} // namespace

bool parse_command_line(int argc, const char *const *argv, CommandLine &out, std::string &error) {
  out = {};
  return Parser(out).parse(argc, argv, error);
}

bool read_given(const CommandLine &line, std::vector<Given> &file, std::string &error) {
  file.clear();
  if (line.config)
    return read_config_file(*line.config, file, error);
  if (access(default_config_file, F_OK) != 0 && errno == ENOENT)
    return true;
  return read_config_file(default_config_file, file, error);
}

} // namespace dpdkx::daemon
