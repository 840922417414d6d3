// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A text as tokens. "#" begins a comment, to the end of the line; line ends and blanks only part
// tokens from each other.
#pragma once

#include "collc/lang/error.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace collc {

struct token {
  enum class kind : std::uint8_t { name, number, text, sign, end };
  kind what = kind::end;
  std::string spelling; // of a text: what is between the quotes
  std::int64_t value = 0;
  place at;
};

// As messages have it: 'round', number 7, end of the text.
std::string describe(const token &t);

class lexer {
public:
  lexer(std::string_view text, std::string file);
  [[nodiscard]] const token &peek() const { return next_; }
  token take(); // and read the next
  [[nodiscard]] const std::string &file() const { return file_; }

private:
  void skip_blanks();
  void advance(std::size_t characters);
  token read();
  token read_number();
  token read_text();

  std::string_view rest_;
  std::string file_;
  place at_;
  token next_;
};

} // namespace collc
