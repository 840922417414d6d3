// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/config_file.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>

namespace dpdkx::daemon {

namespace {

constexpr std::size_t max_size = 1 << 20;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const auto first = text.find_first_not_of(blanks);
  return first == std::string_view::npos
             ? std::string_view{}
             : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// What of a line isn't comment; `quote` is that of a string that has not ended, or 0.
std::string_view without_comment(std::string_view line, char &quote) {
  quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i)
    if (quote)
      quote = line[i] == quote ? '\0' : quote;
    else if (line[i] == '"' || line[i] == '\'')
      quote = line[i];
    else if (line[i] == '#')
      return line.substr(0, i);
  return line;
}

// CLI11 reads each statement by itself, so that its line is known.
class Statements {
public:
  Statements(std::string_view text, const std::string &file) : text_(text), file_(file) {}

  // False at the end, or with a fault.
  bool next(std::string &statement) {
    statement.clear();
    while (fault_.empty() && !text_.empty()) {
      const auto line = take_line();
      if (statement.empty())
        first_line_ = line_;
      else
        statement += ' ';
      statement += line;
      if (!statement.empty() && !is_open(statement))
        return fault_.empty();
    }
    if (fault_.empty() && !statement.empty())
      fail(statement, "name = [value, ...] with an end, ']'");
    return false;
  }

  void fail(std::string_view what, std::string_view allowed) {
    fault_ = where() + ": '" + std::string(what) + "'; allowed: " + std::string(allowed);
  }
  const std::string &fault() const { return fault_; }
  std::string where() const { return file_ + ":" + std::to_string(first_line_); }

private:
  std::string_view take_line() {
    const auto end = std::min(text_.find('\n'), text_.size());
    const auto line = text_.substr(0, end);
    text_.remove_prefix(std::min(end + 1, text_.size()));
    ++line_;
    char quote;
    const auto used = trimmed(without_comment(line, quote));
    if (quote) {
      first_line_ = line_;
      fail(used, std::string("a string that ends on its line, with ") + quote);
    }
    return used;
  }

  // "name = [" without its end.
  static bool is_open(std::string_view statement) {
    const auto value = trimmed(statement.substr(std::min(statement.find('='), statement.size())));
    return value.starts_with('=') && trimmed(value.substr(1)).starts_with('[') &&
           !value.ends_with(']');
  }

  std::string_view text_;
  const std::string &file_;
  unsigned line_ = 0, first_line_ = 0;
  std::string fault_;
};

// What CLI11 would take for several values, or for none.
std::string_view allowed_instead(std::string_view name, std::string_view value) {
  if (name.empty() || name.find_first_of(" \t[].\"'") != std::string_view::npos)
    return "name = value, without sections: each name is that of an option";
  if (value.empty())
    return "name = value";
  const char first = value.front();
  if (first != '[' && first != '"' && first != '\'' &&
      value.find_first_of(", \t") != std::string_view::npos)
    return "name = \"value\": with quotes, as it has blanks or commas";
  if ((first == '"' || first == '\'') && value.find(first, 1) != value.size() - 1)
    return "name = \"value\", or name = [\"value\", ...]";
  return {};
}

bool parse_statement(Statements &statements, const std::string &statement,
                     std::vector<Given> &out) {
  const auto equals = std::min(statement.find('='), statement.size());
  const auto name = trimmed(std::string_view(statement).substr(0, equals));
  const auto value =
      trimmed(std::string_view(statement).substr(std::min(equals + 1, statement.size())));
  if (const auto allowed = allowed_instead(name, value); !allowed.empty()) {
    statements.fail(statement, allowed);
    return false;
  }
  const auto where = statements.where() + ": " + std::string(name);
  std::istringstream input(statement);
  CLI::ConfigTOML toml;
  toml.comment('\0'); // which is done
  for (const auto &item : toml.from_config(input))
    for (const auto &text : item.inputs)
      out.push_back({item.name, text, where});
  return true;
}

} // namespace

bool parse_config(std::string_view text, const std::string &file, std::vector<Given> &out,
                  std::string &error) {
  Statements statements(text, file);
  for (std::string statement; statements.next(statement);)
    if (!parse_statement(statements, statement, out))
      break;
  error = statements.fault();
  return error.empty();
}

bool read_config_file(const std::string &file, std::vector<Given> &out, std::string &error) {
  errno = 0;
  std::ifstream input(file, std::ios::binary);
  std::string text(max_size + 1, '\0');
  input.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(input.gcount()));
  if (!input.is_open() || input.bad()) {
    error = "config: '" + file + "': " + std::strerror(errno ? errno : EIO) +
            "; allowed: a file that can be read";
    return false;
  }
  if (text.size() > max_size || text.find('\0') != std::string::npos) {
    error = "config: '" + file + "'; allowed: a text of 1MiB at most";
    return false;
  }
  return parse_config(text, file, out, error);
}

} // namespace dpdkx::daemon
