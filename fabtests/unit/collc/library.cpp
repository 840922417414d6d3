// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The C interface: the same as the compiler behind it.
#include "collc/collc.h"

#include <cstring>

#include "unit/collc/compiled.h"

using namespace collc;

namespace {

collc_request asked(std::int64_t ranks) {
  collc_request r{};
  r.size = sizeof r;
  r.ranks = ranks;
  r.bytes = 8;
  return r;
}

std::string refused(const char *name, const collc_request &r) {
  collc_compiler *c = nullptr;
  char *message = nullptr;
  assert_int_equal(collc_open(name, &r, &c, &message), -1);
  assert_null(c);
  std::string text = message;
  collc_free_message(message);
  return text;
}

} // namespace

static void library__a_rank_as_the_table_has_it(void **) {
  const collc_request r = asked(8);
  collc_compiler *c = nullptr;
  assert_int_equal(collc_open("allgather:butterfly", &r, &c, nullptr), 0);
  collc_schedule *s = nullptr;
  assert_int_equal(collc_lower(c, 5, &s, nullptr), 0);
  collc_close(c);
  const collc_work *works = nullptr;
  const std::size_t count = collc_works(s, &works);
  unit::compiled direct("allgather:butterfly", 8);
  const rank_schedule wanted = direct->schedule(5);
  assert_int_equal(count, wanted.works.size());
  for (std::size_t i = 0; i < count; ++i) {
    assert_int_equal(works[i].threshold, wanted.works[i].threshold);
    assert_int_equal(works[i].value, wanted.works[i].value);
    assert_int_equal(works[i].peer, wanted.works[i].peer);
    assert_int_equal(works[i].length, wanted.works[i].moved.from.length);
    assert_int_equal(works[i].trigger.kind, COLLC_TANK);
    assert_int_equal(works[i].completion.kind, COLLC_TRANSFERS);
  }
  assert_int_equal(works[1].operation, COLLC_WRITE);
  const collc_tank *tanks = nullptr;
  assert_int_equal(collc_tanks(s, &tanks), 1);
  assert_true(tanks[0].full == 63 && tanks[0].emptied);
  const collc_copy *copies = nullptr;
  assert_int_equal(collc_start_copies(s, &copies), 1);
  assert_true(copies[0].to.buffer == 1 && copies[0].to.offset == 40 && copies[0].length == 8);
  assert_int_equal(collc_finish_copies(s, &copies), 0);
  const std::uint64_t *scratch = nullptr;
  assert_int_equal(collc_scratch(s, &scratch), 0);
  collc_free_schedule(s);
}

static void library__options(void **) {
  collc_request r = asked(9);
  const collc_parameter segments{"segments", 5};
  r.parameters = &segments;
  r.parameter_count = 1;
  r.flags = COLLC_ADD_ARRIVALS;
  r.most_works = 6;
  collc_compiler *c = nullptr;
  assert_int_equal(collc_open("broadcast:chain", &r, &c, nullptr), 0);
  collc_schedule *s = nullptr;
  assert_int_equal(collc_lower(c, 1, &s, nullptr), 0);
  const collc_work *works = nullptr;
  assert_int_equal(collc_works(s, &works), 11); // 5 segments, each with a word after it; and one
  assert_int_equal(works[10].window, 1);
  const collc_tank *tanks = nullptr;
  assert_int_equal(collc_tanks(s, &tanks), 1);
  assert_true(tanks[0].full == 5 && !tanks[0].emptied);
  collc_free_schedule(s);
  collc_close(c);

  r = asked(8);
  r.scheme = COLLC_PREMATCHED;
  assert_int_equal(collc_open("allreduce:butterfly", &r, &c, nullptr), 0);
  assert_int_equal(collc_lower(c, 0, &s, nullptr), 0);
  assert_true(collc_works(s, &works) > 0 && works[0].trigger.kind >= COLLC_ROUND_READY);
  const std::uint64_t *scratch = nullptr;
  assert_int_equal(collc_scratch(s, &scratch), 1);
  assert_int_equal(scratch[0], 32);
  collc_free_schedule(s);
  collc_close(c);
}

static void library__landing(void **) {
  collc_request r = asked(3);
  r.flags = COLLC_LANDING;
  collc_compiler *c = nullptr;
  assert_int_equal(collc_open("scatter:flat", &r, &c, nullptr), 0);
  collc_schedule *root = nullptr, *leaf = nullptr;
  assert_int_equal(collc_lower(c, 0, &root, nullptr), 0);
  assert_int_equal(collc_lower(c, 1, &leaf, nullptr), 0);
  collc_close(c);
  assert_int_equal(collc_turns(root), 4);
  const collc_tank *tanks = nullptr;
  assert_int_equal(collc_tanks(root, &tanks), 1);
  assert_true(tanks[0].told == 2 && tanks[0].ahead == 2 && tanks[0].full == 2);
  const collc_work *works = nullptr;
  assert_int_equal(collc_works(leaf, &works), 2);
  assert_true(works[0].ahead == 2 && works[1].ahead == 0);
  const std::uint64_t *scratch = nullptr;
  assert_int_equal(collc_scratch(leaf, &scratch), 1);
  assert_int_equal(scratch[0], 8);
  const collc_copy *copies = nullptr;
  assert_int_equal(collc_finish_copies(leaf, &copies), 1);
  assert_true(copies[0].from.buffer == 3 && copies[0].to.buffer == 1);
  collc_free_schedule(leaf);
  collc_free_schedule(root);
  unit::expect_part(refused("reduce:flat", r), "data of reduce:flat can't land: ");
}

static void library__refuses_with_a_message(void **) {
  unit::expect_part(refused("none", asked(8)), "algorithm 'none' is neither a file");
  unit::expect_part(refused("barrier:butterfly", asked(0)), "ranks is 0; allowed: 1 to");
  collc_request r = asked(8);
  r.size = 8;
  unit::expect_part(refused("barrier:butterfly", r), "collc_request.size is 8; at least ");
  r = asked(8);
  r.operation = "maxloc";
  unit::expect_part(refused("reduce:flat", r), "operation is 'maxloc'");
  r = asked(8);
  collc_compiler *c = nullptr;
  collc_schedule *s = nullptr;
  char *message = nullptr;
  assert_int_equal(collc_open("barrier:butterfly", &r, &c, &message), 0);
  assert_int_equal(collc_lower(c, 8, &s, &message), -1);
  assert_null(s);
  assert_string_equal(message, "rank is 8; allowed: 0 to 7");
  collc_free_message(message);
  collc_close(c);
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(library__a_rank_as_the_table_has_it), cmocka_unit_test(library__options),
    cmocka_unit_test(library__landing), cmocka_unit_test(library__refuses_with_a_message)};
static const unit::Group group{"library", cases};
