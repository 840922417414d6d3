// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/lang/lexer.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace collc {

namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool begins_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool in_name(char c) { return begins_name(c) || is_digit(c); }

// Longer ones first.
constexpr std::array<std::string_view, 23> signs = {"..", "==", "!=", "<=", ">=", "<<", ">>", "{",
                                                    "}",  "[",  "]",  "(",  ")",  ":",  ",",  "=",
                                                    "+",  "-",  "*",  "/",  "%",  "<",  ">"};

std::string quoted(char c) {
  if (c >= ' ' && c <= '~')
    return std::string("'") + c + '\'';
  return "byte " + std::to_string(static_cast<unsigned char>(c));
}

} // namespace

std::string describe(const token &t) {
  switch (t.what) {
  case token::kind::number:
    return "number " + t.spelling;
  case token::kind::text:
    return "text \"" + t.spelling + '"';
  case token::kind::end:
    return "the end of the text";
  case token::kind::name:
  case token::kind::sign:
    break;
  }
  return '\'' + t.spelling + '\'';
}

lexer::lexer(std::string_view text, std::string file) : rest_(text), file_(std::move(file)) {
  next_ = read();
}

token lexer::take() {
  token t = std::move(next_);
  next_ = t.what == token::kind::end ? t : read();
  return t;
}

void lexer::advance(std::size_t characters) {
  for (const char c : rest_.substr(0, characters)) {
    if (c == '\n') {
      ++at_.line;
      at_.column = 1;
    } else {
      ++at_.column;
    }
  }
  rest_.remove_prefix(characters);
}

void lexer::skip_blanks() {
  while (!rest_.empty()) {
    if (rest_.front() == '#')
      advance(std::min(rest_.find('\n'), rest_.size()));
    else if (rest_.front() == ' ' || rest_.front() == '\t' || rest_.front() == '\n' ||
             rest_.front() == '\r')
      advance(1);
    else
      return;
  }
}

token lexer::read_number() {
  token t{token::kind::number, {}, 0, at_};
  std::size_t n = 0;
  while (n < rest_.size() && in_name(rest_[n]))
    ++n;
  t.spelling = rest_.substr(0, n);
  for (const char c : t.spelling) {
    if (!is_digit(c))
      throw text_error(file_, at_, "expected a decimal number, found '" + t.spelling + "'");
    if (__builtin_mul_overflow(t.value, 10, &t.value) ||
        __builtin_add_overflow(t.value, c - '0', &t.value))
      throw text_error(file_, at_,
                       "expected a number up to " +
                           std::to_string(std::numeric_limits<std::int64_t>::max()) + ", found " +
                           t.spelling);
  }
  advance(n);
  return t;
}

token lexer::read_text() {
  token t{token::kind::text, {}, 0, at_};
  const std::size_t end = rest_.find_first_of("\"\n", 1);
  if (end == std::string_view::npos || rest_[end] == '\n')
    throw text_error(file_, at_,
                     "expected '\"' at the end of this text, before the end of the line");
  t.spelling = rest_.substr(1, end - 1);
  advance(end + 1);
  return t;
}

token lexer::read() {
  skip_blanks();
  if (rest_.empty())
    return {token::kind::end, {}, 0, at_};
  if (is_digit(rest_.front()))
    return read_number();
  if (rest_.front() == '"')
    return read_text();
  token t{token::kind::name, {}, 0, at_};
  std::size_t n = 0;
  if (begins_name(rest_.front())) {
    while (n < rest_.size() && in_name(rest_[n]))
      ++n;
  } else {
    t.what = token::kind::sign;
    const auto *const sign =
        std::ranges::find_if(signs, [this](std::string_view s) { return rest_.starts_with(s); });
    if (sign != signs.end())
      n = sign->size();
    else
      throw text_error(file_, at_,
                       "expected a name, a number, a text or a sign, found " +
                           quoted(rest_.front()));
  }
  t.spelling = rest_.substr(0, n);
  advance(n);
  return t;
}

} // namespace collc
