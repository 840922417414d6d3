// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "common/command_line.h"

#include <cstdint>
#include <filesystem>
#include <vector>

#include <CLI/CLI.hpp>

namespace fabtest {

option &option::comma_separated() {
  cli_->delimiter(',');
  return *this;
}

option &option::required() {
  cli_->required();
  return *this;
}

option &option::expected(int values) {
  cli_->expected(values);
  return *this;
}

option &option::between(int least, int most) {
  cli_->check(CLI::Range(least, most));
  return *this;
}

option &option::one_of(std::initializer_list<std::string> values) {
  cli_->check(CLI::IsMember(std::vector<std::string>(values)));
  return *this;
}

option &option::environment(const std::string &name) {
  cli_->envname(name);
  return *this;
}

bool option::given() const { return cli_->count() > 0; }

command_line::command_line(const std::string &what_the_program_does)
    : app_(std::make_unique<CLI::App>(what_the_program_does)) {}

command_line::~command_line() = default;

template <typename T>
option command_line::add(const std::string &names, T &value, const std::string &text) {
  return option(*app_->add_option(names, value, text)->capture_default_str());
}

template option command_line::add(const std::string &, std::string &, const std::string &);
template option command_line::add(const std::string &, std::filesystem::path &,
                                  const std::string &);
template option command_line::add(const std::string &, int &, const std::string &);
template option command_line::add(const std::string &, std::uint32_t &, const std::string &);
template option command_line::add(const std::string &, std::uint64_t &, const std::string &);
template option command_line::add(const std::string &, double &, const std::string &);
template option command_line::add(const std::string &, std::vector<std::string> &,
                                  const std::string &);
template option command_line::add(const std::string &, std::vector<std::uint32_t> &,
                                  const std::string &);
template option command_line::add(const std::string &, std::vector<std::uint64_t> &,
                                  const std::string &);
template option command_line::add(const std::string &, std::vector<double> &, const std::string &);

option command_line::add_flag(const std::string &names, bool &value, const std::string &text) {
  return option(*app_->add_flag(names, value, text));
}

std::optional<int> command_line::parse(int argc, char **argv) {
  try {
    app_->parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError &e) {
    return app_->exit(e);
  }
}

} // namespace fabtest
