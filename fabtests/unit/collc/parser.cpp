// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/lang/parser.h"
#include "unit/property.h"

#include "collc/ir/expand.h"

#include "unit/collc/compiled.h"

using namespace collc;

namespace {

void refused(const std::string &text, const std::string &why) {
  unit::expect_same(unit::complaint([&] { parse(text, "t"); }), "t:" + why);
}

} // namespace

static void parser__headers(void **) {
  const algorithm a = unit::text("collective gather about \"x\" param f = 3 in 1 .. ranks\n"
                                 "rounds f + 1 ready once scratch s[f * bytes]");
  assert_true(a.what == collective::gather && a.ready == readiness::once);
  assert_string_equal(a.about.c_str(), "x");
  assert_int_equal(a.parameters.size(), 1);
  assert_non_null(a.rounds.get());
  assert_string_equal(a.buffer_name(first_scratch).c_str(), "s");
}

static void parser__says_what_it_expected(void **) {
  refused("", "1:1: expected 'collective', found the end of the text");
  refused("collective ring", "1:12: expected 'barrier', 'broadcast', 'allgather', 'alltoall', "
                             "'gather', 'scatter', 'reduce' or 'allreduce', found 'ring'");
  refused("collective barrier\nround 1 { send rank + }", "2:23: expected an expression, found '}'");
  refused("collective barrier round 1 { send peer }",
          "1:35: expected an expression of known names, found 'peer'");
  refused("collective barrier round 1 { send 1", "1:36: expected 'send', 'recv', 'combine', 'let', "
                                                 "'require', 'if', 'for' or '}', found the end of "
                                                 "the text");
  refused("collective barrier send 1",
          "1:20: expected 'round', 'path', 'start', 'finish', 'let', 'require', 'if', 'for', "
          "'param', 'rounds', 'ready', 'scratch' or 'about', found 'send'");
  refused("collective gather round 1 { send 1 data[0:1] }",
          "1:36: expected a buffer of gather, which are 'input', 'output' and scratch, found "
          "'data'");
  refused("collective gather round 1 { send 1 input[0 1] }", "1:44: expected ':', found number 1");
  refused("collective barrier ready soon",
          "1:26: expected 'each', 'early', 'once' or 'never', found 'soon'");
  refused("collective barrier require 1 0", "1:30: expected ',', found number 0");
  refused("collective barrier about 7",
          "1:26: expected what the algorithm is in quotes, found number 7");
}

static void parser__names_are_new_and_known_where_they_stand(void **) {
  refused("collective barrier let rank = 1",
          "1:24: expected a name of your own, found 'rank', which is a word of the language");
  refused("collective barrier let a = 1 let a = 2",
          "1:34: expected a new name, found 'a', which is in use here");
  refused("collective barrier if 1 { let a = 1 } let b = a",
          "1:47: expected an expression of known names, found 'a'");
  refused("collective barrier let a = a", "1:28: expected an expression of known names, found 'a'");
  refused("collective gather scratch s[1] let a = s",
          "1:40: expected an expression of known names, found 's'");
  parse("collective barrier if 1 { let a = 1 } if 1 { let a = 2 }", "t");
}

static void parser__what_all_ranks_share_does_not_depend_on_rank(void **) {
  refused("collective barrier let a = rank + 1 rounds a",
          "1:44: expected an expression without 'rank', since 'rounds' is the same on all ranks, "
          "found one that depends on it");
  refused("collective barrier for i in 0 .. rank { require i, \"x\" }",
          "1:49: expected an expression without 'rank', since what is required is the same on all "
          "ranks, found one that depends on it");
  refused("collective barrier rounds 1 rounds 2",
          "1:29: expected one 'rounds', found a second one");
}

static void parser__nesting_has_an_end(void **) {
  const std::string deep(100000, '(');
  unit::expect_part(unit::complaint([&] { parse("collective barrier let a = " + deep, "t"); }),
                    "expected at most 200 levels of nesting, found one more");
  std::string blocks = "collective barrier";
  for (int i = 0; i < 100000; ++i)
    blocks += " if 1 {";
  unit::expect_part(unit::complaint([&] { parse(blocks, "t"); }),
                    "expected at most 100 levels of nesting, found one more");
  std::string sum = "collective barrier let a = 1";
  for (int i = 0; i < 100000; ++i)
    sum += " + 1";
  unit::expect_part(unit::complaint([&] { parse(sum, "t"); }),
                    "expected at most 200 operators of one kind in a row, found one more");
}

// Texts that are nearly right: a built-in one with a token left out, repeated or exchanged.
static void parser__any_text_is_read_or_refused(void **) {
  assert_true(unit::holds("an algorithm or an error with a place", [] {
    const auto all = builtins();
    std::string t(all[*rc::gen::inRange<std::size_t>(0, all.size())].text);
    const int changes = *rc::gen::inRange(1, 4);
    for (int i = 0; i < changes; ++i) {
      const auto at = *rc::gen::inRange<std::size_t>(0, t.size());
      const auto length = *rc::gen::inRange<std::size_t>(0, 20);
      const auto from = *rc::gen::inRange<std::size_t>(0, t.size());
      t.replace(at, length, t.substr(from, *rc::gen::inRange<std::size_t>(0, 20)));
    }
    const std::string said = unit::complaint([&] {
      const algorithm a = parse(t, "t");
      request q;
      q.ranks = 5;
      q.most_steps = 10000;
      check_request(a, q);
      for (std::int64_t rank = 0; rank < q.ranks; ++rank)
        expand(a, q, rank);
    });
    RC_ASSERT(said.empty() || said.starts_with("t:") || said.starts_with("root"));
  }));
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(parser__headers),
    cmocka_unit_test(parser__says_what_it_expected),
    cmocka_unit_test(parser__names_are_new_and_known_where_they_stand),
    cmocka_unit_test(parser__what_all_ranks_share_does_not_depend_on_rank),
    cmocka_unit_test(parser__nesting_has_an_end),
    cmocka_unit_test(parser__any_text_is_read_or_refused)};
static const unit::Group group{"parser", cases};
