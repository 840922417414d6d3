// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/lang/parser.h"

#include "collc/lang/parser_base.h"

#include <algorithm>
#include <array>
#include <utility>

namespace collc {

namespace {

constexpr auto collectives =
    std::to_array<std::pair<const char *, collective>>({{"barrier", collective::barrier},
                                                        {"broadcast", collective::broadcast},
                                                        {"allgather", collective::allgather},
                                                        {"alltoall", collective::alltoall},
                                                        {"gather", collective::gather},
                                                        {"scatter", collective::scatter},
                                                        {"reduce", collective::reduce},
                                                        {"allreduce", collective::allreduce}});

constexpr auto readinesses =
    std::to_array<std::pair<const char *, readiness>>({{"each", readiness::each},
                                                       {"early", readiness::early},
                                                       {"once", readiness::once},
                                                       {"never", readiness::never}});

// 'a', 'b' or 'c'.
template <typename Table> std::string names_of(const Table &table) {
  std::string all;
  for (std::size_t i = 0; i < table.size(); ++i)
    all += std::string(i == 0                  ? ""
                       : i + 1 == table.size() ? " or "
                                               : ", ") +
           '\'' + table[i].first + '\'';
  return all;
}

class parser : parser_base {
public:
  parser(std::string_view text, const std::string &file) : parser_base(text, file) {
    out_.file = file;
  }

  algorithm run() {
    expect("collective");
    out_.what = choose(collectives);
    while (in_.peek().what != token::kind::end)
      if (!parse_header())
        out_.body.push_back(parse_statement());
    out_.slots = slots_;
    return std::move(out_);
  }

private:
  // Where a statement stands: what may stand there with it.
  enum class within : std::uint8_t { top, path, round };

  template <typename Table> typename Table::value_type::second_type choose(const Table &table) {
    for (const auto &[name, value] : table)
      if (accept(name))
        return value;
    expected(names_of(table));
  }

  template <typename T> void once(const T &set, const char *what) {
    if (set)
      refuse(in_.peek().at, std::string("expected one '") + what + "', found a second one");
  }

  bool parse_header() {
    const place at = in_.peek().at;
    if (next_is("about")) {
      once(!out_.about.empty(), "about");
      in_.take();
      out_.about = expect_text("what the algorithm is");
    } else if (accept("param")) {
      parse_parameter(at);
    } else if (next_is("rounds")) {
      once(out_.rounds != nullptr, "rounds");
      in_.take();
      out_.rounds = parse_uniform("'rounds'");
    } else if (next_is("ready")) {
      once(ready_set_, "ready");
      in_.take();
      out_.ready = choose(readinesses);
      ready_set_ = true;
    } else if (accept("scratch")) {
      const token name = expect_name("a name for the buffer");
      expect("[");
      out_.scratches.push_back({name.spelling, parse_expression()});
      expect("]");
      add_buffer(name);
    } else {
      return false;
    }
    return true;
  }

  void parse_parameter(place at) {
    parameter p;
    p.at = at;
    const token name = expect_name("a name for the parameter");
    p.name = name.spelling;
    expect("=");
    p.value = parse_uniform("a parameter");
    if (accept("in")) {
      p.least = parse_uniform("a parameter's range");
      expect("..");
      p.most = parse_uniform("a parameter's range");
    }
    p.variable = add_name(name, false);
    out_.parameters.push_back(std::move(p));
  }

  statement parse_statement() {
    statement s;
    s.at = in_.peek().at;
    if (++depth_ > deepest)
      refuse(s.at,
             "expected at most " + std::to_string(deepest) + " levels of nesting, found one more");
    dispatch(s);
    --depth_;
    return s;
  }

  void dispatch(statement &s) {
    if (accept("let"))
      parse_let(s);
    else if (accept("require"))
      parse_require(s);
    else if (accept("if"))
      parse_if(s);
    else if (accept("for"))
      parse_for(s);
    else if (next_is("start") || next_is("finish"))
      parse_copy(s);
    else if (next_is("path"))
      parse_block(s, statement::kind::path, within::path);
    else if (next_is("round"))
      parse_block(s, statement::kind::round, within::round);
    else if (where_ == within::round && next_is("send"))
      parse_send(s);
    else if (where_ == within::round && next_is("recv"))
      parse_receive(s);
    else if (where_ == within::round && next_is("combine"))
      parse_combine(s);
    else
      expected(allowed_here());
  }

  [[nodiscard]] std::string allowed_here() const {
    if (where_ == within::round)
      return "'send', 'recv', 'combine', 'let', 'require', 'if', 'for' or '}'";
    if (where_ == within::path)
      return "'round', 'let', 'require', 'if', 'for' or '}'";
    return std::string("'round', 'path', 'start', 'finish', 'let', 'require', 'if', 'for'") +
           (scope_depth_ > 0 ? " or '}'" : ", 'param', 'rounds', 'ready', 'scratch' or 'about'");
  }

  std::vector<statement> parse_body() {
    std::vector<statement> body;
    expect("{");
    open_scope();
    ++scope_depth_;
    while (!accept("}"))
      body.push_back(parse_statement());
    --scope_depth_;
    close_scope();
    return body;
  }

  void parse_let(statement &s) {
    const token name = expect_name("a name");
    expect("=");
    s.value = parse_expression();
    s.variable = add_name(name, s.value->varies); // not known within its own value
  }

  void parse_require(statement &s) {
    s.what = statement::kind::require;
    s.value = parse_uniform("what is required");
    expect(",");
    s.note = expect_text("what is wrong otherwise");
  }

  void parse_if(statement &s) {
    s.what = statement::kind::branch;
    s.value = parse_expression();
    s.body = parse_body();
    if (!accept("else"))
      return;
    if (next_is("if"))
      s.otherwise.push_back(parse_statement());
    else
      s.otherwise = parse_body();
  }

  void parse_for(statement &s) {
    s.what = statement::kind::loop;
    const token name = expect_name("a name");
    expect("in");
    s.value = parse_expression();
    expect("..");
    s.last = parse_expression();
    if (accept("step"))
      s.step = parse_expression();
    open_scope();
    s.variable = add_name(name, s.value->varies || s.last->varies || (s.step && s.step->varies));
    s.body = parse_body();
    close_scope();
  }

  void parse_block(statement &s, statement::kind what, within inside) {
    if (where_ == within::round || (where_ == within::path && inside == within::path))
      expected(allowed_here());
    in_.take();
    s.what = what;
    s.value = parse_expression();
    const within before = std::exchange(where_, inside);
    s.body = parse_body();
    where_ = before;
  }

  void parse_copy(statement &s) {
    if (where_ != within::top)
      expected(allowed_here());
    s.what = next_is("start") ? statement::kind::copy_at_start : statement::kind::copy_at_finish;
    in_.take();
    expect("copy");
    s.pieces.push_back(parse_piece());
  }

  void parse_send(statement &s) {
    s.what = statement::kind::send;
    in_.take();
    s.value = parse_expression();
    if (next_is_buffer())
      do
        s.pieces.push_back(parse_piece());
      while (accept(","));
    parse_clauses(s);
  }

  void parse_receive(statement &s) {
    s.what = statement::kind::receive;
    in_.take();
    s.value = parse_expression();
    if (next_is_buffer())
      do
        s.pieces.push_back({parse_range(), 0, {}});
      while (accept(","));
    parse_clauses(s);
  }

  void parse_clauses(statement &s) {
    if (next_is("combining") && !s.pieces.empty()) {
      in_.take();
      s.combines = true;
    }
    if (accept("after"))
      s.after = parse_expression();
    if (in_.peek().what == token::kind::text)
      s.note = in_.take().spelling;
  }

  void parse_combine(statement &s) {
    s.what = statement::kind::combine;
    in_.take();
    s.pieces.push_back(parse_piece());
    out_.combines_locally = true;
  }

  piece_text parse_piece() {
    piece_text p;
    p.from = parse_range();
    p.to_buffer = p.from.buffer;
    if (accept("to")) {
      p.to_buffer = parse_buffer();
      expect("[");
      p.to_offset = parse_expression();
      expect("]");
    }
    return p;
  }

  range_text parse_range() {
    range_text r;
    r.at = in_.peek().at;
    r.buffer = parse_buffer();
    expect("[");
    r.offset = parse_expression();
    expect(":");
    r.length = parse_expression();
    expect("]");
    return r;
  }

  [[nodiscard]] bool next_is_buffer() const {
    return next_is("input") || next_is("output") || next_is("data") ||
           std::ranges::any_of(out_.scratches, [this](const auto &b) { return next_is(b.name); });
  }

  int parse_buffer() {
    static constexpr const char *own[] = {"input", "output", "data"};
    for (int b = 0; b < first_scratch; ++b)
      if (next_is(own[b])) {
        const bool one = out_.what == collective::broadcast;
        if (out_.what == collective::barrier || one != (b == buffer_data))
          expected(std::string("a buffer of ") + name_of(out_.what) +
                   (out_.what == collective::barrier ? ", which has none but scratch"
                    : one                            ? ", which are 'data' and scratch"
                          : ", which are 'input', 'output' and scratch"));
        in_.take();
        return b;
      }
    for (std::size_t i = 0; i < out_.scratches.size(); ++i)
      if (accept(out_.scratches[i].name))
        return first_scratch + static_cast<int>(i);
    expected("'input', 'output', 'data' or the name of a scratch buffer");
  }

  static constexpr int deepest = 100;
  algorithm out_;
  within where_ = within::top;
  int depth_ = 0, scope_depth_ = 0;
  bool ready_set_ = false;
};

} // namespace

const char *name_of(collective c) { return collectives.at(static_cast<std::size_t>(c)).first; }

std::string algorithm::buffer_name(int b) const {
  if (b == first_scratch + static_cast<int>(scratches.size()))
    return "landing"; // see lower/landing.h
  if (b >= first_scratch)
    return scratches.at(static_cast<std::size_t>(b - first_scratch)).name;
  return b == buffer_input ? "input" : b == buffer_output ? "output" : "data";
}

algorithm parse(std::string_view text, const std::string &file) { return parser(text, file).run(); }

} // namespace collc
