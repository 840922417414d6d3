// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/lang/parser_base.h"

#include <algorithm>
#include <array>
#include <utility>

namespace collc {

namespace {

using kind = expression::kind;

constexpr int deepest = 200;
constexpr int no_value = -1; // slot of a buffer's name

constexpr auto words = std::to_array<std::string_view>(
    {"about",  "after",   "and",   "bytes", "collective", "combine", "combining", "copy",
     "data",   "each",    "early", "else",  "finish",     "for",     "if",        "in",
     "input",  "let",     "never", "not",   "once",       "or",      "output",    "param",
     "path",   "rank",    "ranks", "ready", "recv",       "require", "root",      "round",
     "rounds", "scratch", "send",  "start", "step",       "then",    "to",        "xor"});

struct function {
  std::string_view name;
  kind what;
  bool two;
};
constexpr auto functions =
    std::to_array<function>({{"min", kind::minimum, true},
                             {"max", kind::maximum, true},
                             {"log2", kind::log2, false},
                             {"ceil_log2", kind::ceiling_log2, false},
                             {"trailing_zeros", kind::trailing_zeros, false}});

expression_ptr make(kind what, place at, expression_ptr a = {}, expression_ptr b = {},
                    expression_ptr c = {}) {
  auto e = std::make_unique<expression>();
  e->what = what;
  e->at = at;
  e->varies = (a && a->varies) || (b && b->varies) || (c && c->varies);
  e->a = std::move(a);
  e->b = std::move(b);
  e->c = std::move(c);
  return e;
}

} // namespace

bool is_word(const std::string &name) {
  return std::ranges::find(words, name) != words.end() ||
         std::ranges::find(functions, name, &function::name) != functions.end();
}

class parser_base::nesting {
public:
  nesting(parser_base &p, place at) : p_(p) {
    if (p_.depth_ == deepest)
      p_.refuse(at, "expected at most " + std::to_string(deepest) +
                        " levels of nesting, found one more");
    ++p_.depth_;
  }
  ~nesting() { --p_.depth_; }
  nesting(const nesting &) = delete;
  nesting &operator=(const nesting &) = delete;

private:
  parser_base &p_;
};

parser_base::parser_base(std::string_view text, const std::string &file)
    : in_(text, file), scopes_{{{"ranks", {slot_ranks, false}},
                                {"rank", {slot_rank, true}},
                                {"root", {slot_root, false}},
                                {"bytes", {slot_bytes, false}}}} {}

void parser_base::refuse(place at, const std::string &what) const {
  throw text_error(in_.file(), at, what);
}

void parser_base::expected(const std::string &what) const {
  refuse(in_.peek().at, "expected " + what + ", found " + describe(in_.peek()));
}

bool parser_base::next_is(std::string_view spelling) const {
  const token &t = in_.peek();
  return (t.what == token::kind::name || t.what == token::kind::sign) && t.spelling == spelling;
}

bool parser_base::accept(std::string_view spelling) {
  if (!next_is(spelling))
    return false;
  in_.take();
  return true;
}

void parser_base::expect(std::string_view spelling) {
  if (!accept(spelling))
    expected('\'' + std::string(spelling) + '\'');
}

std::string parser_base::expect_text(const std::string &what) {
  if (in_.peek().what != token::kind::text)
    expected(what + " in quotes");
  return in_.take().spelling;
}

token parser_base::expect_name(const std::string &what) {
  if (in_.peek().what != token::kind::name)
    expected(what);
  return in_.take();
}

void parser_base::check_new(const token &name) const {
  if (is_word(name.spelling))
    refuse(name.at, "expected a name of your own, found '" + name.spelling +
                        "', which is a word of the language");
  if (look_up(name.spelling) != nullptr)
    refuse(name.at, "expected a new name, found '" + name.spelling + "', which is in use here");
}

int parser_base::add_name(const token &name, bool varies) {
  check_new(name);
  scopes_.back().emplace(name.spelling, known{slots_, varies});
  return slots_++;
}

void parser_base::add_buffer(const token &name) {
  check_new(name);
  scopes_.back().emplace(name.spelling, known{no_value, false});
}

const parser_base::known *parser_base::look_up(const std::string &name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (const auto found = scope->find(name); found != scope->end())
      return &found->second;
  return nullptr;
}

expression_ptr parser_base::parse_expression() { return parse_binary(0); }

expression_ptr parser_base::parse_uniform(const std::string &who) {
  auto e = parse_expression();
  if (e->varies)
    refuse(e->at, "expected an expression without 'rank', since " + who +
                      " is the same on all ranks, found one that depends on it");
  return e;
}

const parser_base::operation *parser_base::operation_of(const token &t) {
  static constexpr auto operations = std::to_array<operation>({
      {"or", 0, kind::logical_or, false},
      {"and", 1, kind::logical_and, false},
      {"==", 2, kind::equal, false},
      {"!=", 2, kind::unequal, false},
      {"<", 2, kind::less, false},
      {"<=", 2, kind::less_or_equal, false},
      {">", 2, kind::less, true},
      {">=", 2, kind::less_or_equal, true},
      {"xor", 3, kind::bit_xor, false},
      {"<<", 4, kind::shift_left, false},
      {">>", 4, kind::shift_right, false},
      {"+", 5, kind::add, false},
      {"-", 5, kind::subtract, false},
      {"*", 6, kind::multiply, false},
      {"/", 6, kind::divide, false},
      {"%", 6, kind::modulo, false},
  });
  if (t.what != token::kind::name && t.what != token::kind::sign)
    return nullptr;
  const auto *const o = std::ranges::find(operations, t.spelling, &operation::spelling);
  return o == operations.end() ? nullptr : &*o;
}

expression_ptr parser_base::parse_binary(int level) {
  constexpr int levels = 7, level_of_comparisons = 2;
  if (level == levels)
    return parse_unary();
  if (level == level_of_comparisons && next_is("not")) {
    const place at = in_.peek().at;
    const nesting deeper(*this, at);
    in_.take();
    return make(kind::invert, at, parse_binary(level));
  }
  auto left = parse_binary(level + 1);
  int links = 0;
  for (const operation *o = operation_of(in_.peek()); o != nullptr && o->level == level;
       o = operation_of(in_.peek())) {
    const place at = in_.take().at;
    // A long chain makes a deep tree on the left.
    if (++links > deepest)
      refuse(at, "expected at most " + std::to_string(deepest) +
                     " operators of one kind in a row, found one more");
    auto right = parse_binary(level + 1);
    left = o->swapped ? make(o->kind, at, std::move(right), std::move(left))
                      : make(o->kind, at, std::move(left), std::move(right));
  }
  return left;
}

expression_ptr parser_base::parse_unary() {
  const place at = in_.peek().at;
  const nesting deeper(*this, at);
  if (accept("-"))
    return make(kind::negate, at, parse_unary());
  return parse_operand();
}

expression_ptr parser_base::parse_operand() {
  const token &t = in_.peek();
  if (t.what == token::kind::number) {
    auto e = make(kind::number, t.at);
    e->value = in_.take().value;
    return e;
  }
  if (accept("(")) {
    auto e = parse_expression();
    expect(")");
    return e;
  }
  if (next_is("if"))
    return parse_choice();
  if (t.what != token::kind::name)
    expected("an expression");
  return parse_name();
}

expression_ptr parser_base::parse_choice() {
  const place at = in_.take().at;
  auto condition = parse_expression();
  expect("then");
  auto yes = parse_expression();
  expect("else");
  auto no = parse_expression();
  return make(kind::choice, at, std::move(condition), std::move(yes), std::move(no));
}

expression_ptr parser_base::parse_name() {
  const known *k = look_up(in_.peek().spelling);
  if (k == nullptr &&
      std::ranges::find(functions, in_.peek().spelling, &function::name) != functions.end())
    return parse_call(in_.take());
  if (k == nullptr || k->slot == no_value)
    expected("an expression of known names");
  auto e = make(kind::variable, in_.take().at);
  e->value = k->slot;
  e->varies = k->varies;
  return e;
}

expression_ptr parser_base::parse_call(const token &name) {
  const auto *const f = std::ranges::find(functions, name.spelling, &function::name);
  expect("(");
  auto a = parse_expression();
  expression_ptr b;
  if (f->two) {
    expect(",");
    b = parse_expression();
  }
  expect(")");
  return make(f->what, name.at, std::move(a), std::move(b));
}

} // namespace collc
