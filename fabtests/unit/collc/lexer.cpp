// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/lang/lexer.h"
#include "unit/property.h"

#include "unit/collc/compiled.h"

using namespace collc;

static void lexer__tokens_with_their_places(void **) {
  lexer in("for r in 1 .. 10 { # all\n  send \"a b\" <= }", "f");
  const char *const spellings[] = {"for", "r",    "in",  "1",  "..", "10",
                                   "{",   "send", "a b", "<=", "}"};
  const int columns[] = {1, 5, 7, 10, 12, 15, 18, 3, 8, 14, 17};
  for (std::size_t i = 0; i < std::size(spellings); ++i) {
    const token t = in.take();
    assert_string_equal(t.spelling.c_str(), spellings[i]);
    assert_int_equal(t.at.line, i < 7 ? 1 : 2);
    assert_int_equal(t.at.column, columns[i]);
  }
  assert_true(in.take().what == token::kind::end);
  assert_true(in.take().what == token::kind::end); // and stays there
}

static void lexer__numbers_up_to_the_largest(void **) {
  lexer in("9223372036854775807", "f");
  assert_true(in.take().value == INT64_MAX);
  unit::expect_same(
      unit::complaint([] { lexer("9223372036854775808", "f"); }),
      "f:1:1: expected a number up to 9223372036854775807, found 9223372036854775808");
  unit::expect_same(unit::complaint([] { lexer("\n 12ab", "f"); }),
                    "f:2:2: expected a decimal number, found '12ab'");
}

static void lexer__refuses_what_is_no_token(void **) {
  unit::expect_same(unit::complaint([] { lexer("  $", "f"); }),
                    "f:1:3: expected a name, a number, a text or a sign, found '$'");
  unit::expect_part(unit::complaint([] { lexer("\x80", "f"); }), "found byte 128");
  unit::expect_part(unit::complaint([] { lexer("\"open\n", "f"); }), "f:1:1: expected '\"'");
  unit::expect_part(unit::complaint([] { lexer("\"open", "f"); }), "f:1:1: expected '\"'");
}

static void lexer__any_bytes_end(void **) {
  assert_true(rc::check("tokens or an error", [](const std::string &text) {
    unit::complaint([&] {
      lexer in(text, "f");
      for (std::size_t i = 0; i <= text.size(); ++i)
        if (in.take().what == token::kind::end)
          return;
      RC_FAIL("more tokens than bytes");
    });
  }));
}

static const CMUnitTest cases[] = {cmocka_unit_test(lexer__tokens_with_their_places),
                                   cmocka_unit_test(lexer__numbers_up_to_the_largest),
                                   cmocka_unit_test(lexer__refuses_what_is_no_token),
                                   cmocka_unit_test(lexer__any_bytes_end)};
static const unit::Group group{"lexer", cases};
