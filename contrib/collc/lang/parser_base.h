// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Tokens, names and expressions: what the parser of statements stands on.
#pragma once

#include "collc/lang/ast.h"
#include "collc/lang/lexer.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace collc {

class parser_base {
protected:
  parser_base(std::string_view text, const std::string &file);

  [[noreturn]] void refuse(place at, const std::string &what) const;
  [[noreturn]] void expected(const std::string &what) const; // and found the next token

  [[nodiscard]] bool next_is(std::string_view spelling) const;
  bool accept(std::string_view spelling);
  void expect(std::string_view spelling);
  std::string expect_text(const std::string &what);

  token expect_name(const std::string &what);
  // A new name; an error if it is a word of the language or known already.
  int add_name(const token &name, bool varies);
  void add_buffer(const token &name); // in no expression
  void open_scope() { scopes_.emplace_back(); }
  void close_scope() { scopes_.pop_back(); }

  expression_ptr parse_expression();
  // One that must be the same on all ranks, because `who` is.
  expression_ptr parse_uniform(const std::string &who);

  lexer in_;
  int slots_ = first_free_slot;

private:
  struct known {
    int slot;
    bool varies;
  };
  struct operation {
    std::string_view spelling;
    int level;
    expression::kind kind;
    bool swapped;
  };
  static const operation *operation_of(const token &t);
  void check_new(const token &name) const;
  [[nodiscard]] const known *look_up(const std::string &name) const;
  expression_ptr parse_binary(int level);
  expression_ptr parse_unary();
  expression_ptr parse_operand();
  expression_ptr parse_name();
  expression_ptr parse_call(const token &name);
  expression_ptr parse_choice();

  // Keeps hostile texts from using up the stack.
  class nesting;
  int depth_ = 0;
  std::vector<std::map<std::string, known>> scopes_;
};

bool is_word(const std::string &name);

} // namespace collc
