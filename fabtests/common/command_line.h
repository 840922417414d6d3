// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Options of a program. CLI11 does the work, in command_line.cpp alone: each file that includes it
// compiles all of it.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace fabtest {

// What else is true of an option.
class option {
public:
  explicit option(CLI::Option &cli) : cli_(&cli) {}

  option &comma_separated();
  option &required();
  option &expected(int values);
  option &between(int least, int most);
  option &one_of(std::initializer_list<std::string> values);
  option &environment(const std::string &name);
  [[nodiscard]] bool given() const; // after parse()

private:
  CLI::Option *cli_;
};

class command_line {
public:
  explicit command_line(const std::string &what_the_program_does);
  ~command_line();
  command_line(const command_line &) = delete;
  command_line &operator=(const command_line &) = delete;

  // "-o,--output", or "file" for one that is known by its place. What `value` is now is used where
  // it isn't given, and shown by --help. T: string, path, a number, or a vector of such.
  template <typename T> option add(const std::string &names, T &value, const std::string &text);
  option add_flag(const std::string &names, bool &value, const std::string &text);

  // The exit code, where the program is to end: all is said then.
  [[nodiscard]] std::optional<int> parse(int argc, char **argv);

private:
  std::unique_ptr<CLI::App> app_;
};

} // namespace fabtest
