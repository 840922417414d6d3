// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/ir/expand.h"

#include "unit/collc/compiled.h"

using namespace collc;

namespace {

void refused(const std::string &t, const std::string &why, const request &q = {}) {
  const algorithm a = unit::text("collective " + t);
  unit::expect_part(unit::complaint([&] {
                      check_request(a, q);
                      for (std::int64_t rank = 0; rank < q.ranks; ++rank)
                        expand(a, q, rank);
                    }),
                    why);
}

} // namespace

static void expand__a_rank_alone(void **) {
  request q;
  q.ranks = std::int64_t{1} << 31; // nothing is made for the others
  const rank_program p = expand(load("allgather:butterfly"), q, 5);
  assert_int_equal(p.rounds, 31);
  assert_int_equal(p.paths.front().sends.size(), 31);
  const sending &s = p.paths.front().sends[1];
  assert_int_equal(s.peer, 7);
  assert_true(s.pieces.front() == (piece{{buffer_output, 32, 16}, buffer_output, 32}));
}

static void expand__messages_are_numbered_by_rounds(void **) {
  const algorithm a = unit::text("collective barrier if rank == 0 { round 2 { send 1 } "
                                 "round 1 { send 2 send 1 } }");
  const rank_program p = expand(a, {}, 0);
  const auto &s = p.paths.front().sends;
  assert_int_equal(s.size(), 3);
  assert_true(s[0].peer == 2 && s[0].round == 1 && s[0].ordinal == 0);
  assert_true(s[1].peer == 1 && s[1].round == 1 && s[1].ordinal == 0);
  assert_true(s[2].peer == 1 && s[2].round == 2 && s[2].ordinal == 1);
}

static void expand__a_round_has_one_message_for_each_peer(void **) {
  const algorithm a = unit::text("collective alltoall if rank == 0 { round 1 { for i in 0 .. 2 { "
                                 "send 1 input[i * 8 : 8] send 2 input[i * 8 : 0] } } }");
  const rank_program p = expand(a, {}, 0);
  const auto &s = p.paths.front().sends;
  assert_int_equal(s.size(), 2);
  assert_int_equal(s[0].pieces.size(), 3);
  assert_true(s[1].has_data && s[1].pieces.empty()); // no bytes, but a message all the same
  refused("alltoall round 1 { send (rank + 1) % ranks send (rank + 1) % ranks input[0:1] }",
          "t:1:55: expected the same kind of message as the one before for rank 1 in round 1");
}

static void expand__refuses_places_outside_buffers(void **) {
  refused("gather round 1 { if rank == 1 { send 0 input[4 : 8] to output[0] } }",
          "t:1:51: input[4:8] at rank 1: expected a part of 8 bytes");
  refused("gather round 1 { if rank == 1 { recv 0 output[0 : 1] } }",
          "output[0:1] at rank 1: expected a part of 0 bytes");
  refused("gather scratch s[8] start copy input[0 : 8] to s[1]",
          "s[1:8] at rank 0: expected a part of 8 bytes");
  refused("gather round 1 { if rank == 1 { send 0 input[-1 : 1] } }", "input[-1:1] at rank 1");
  refused("gather round 1 { if rank == 1 { send 0 input[0 : 1] to output[-1] } }",
          "expected an offset of at least 0, found -1");
  refused("gather scratch s[0 - 1]", "expected a size of at least 0 for 's', found -1");
}

static void expand__refuses_ranks_and_rounds_that_are_none(void **) {
  refused("barrier round 1 { send ranks }", "rank 0: expected another rank from 0 to 7, found 8");
  refused("barrier round 1 { recv 0 - 1 }", "rank 0: expected another rank from 0 to 7, found -1");
  refused("barrier round 1 { send rank }", "rank 0: expected another rank from 0 to 7, found 0");
  refused("barrier round 0 { }", "expected a round from 1 to 4294967295, found 0");
  refused("barrier rounds 2 round 3 { }", "expected a round from 1 to 2, found 3");
  refused("barrier rounds 0 - 1 round 1 { }",
          "expected a number of rounds of at least 0, found -1");
  refused("barrier path 0 - 1 { }", "expected a path from 0 to 4294967295, found -1");
  refused("barrier for i in 1 .. 2 step 0 { }", "expected a step other than 0");
  refused("barrier require ranks == 9, \"nine are needed\"",
          "nine are needed; ranks is 8, root 0, bytes 8");
}

static void expand__refuses_what_has_no_end(void **) {
  request q;
  q.most_steps = 1000;
  refused("barrier for i in 1 .. 1 << 60 { }",
          "rank 0: expected an end after 1000 steps (--max-steps), found one more", q);
}

static void expand__refuses_requests(void **) {
  request q;
  q.ranks = 0;
  refused("barrier", "ranks is 0; allowed: 1 to 2147483648", q);
  q = {};
  q.bytes = -1;
  refused("gather", "bytes is -1; allowed with 8 ranks: 0 to 576460752303423488", q);
  q = {};
  q.root = 8;
  refused("gather", "root is 8; allowed: 0 to 7", q);
  q = {};
  q.root = 1;
  refused("allgather", "root is 1; allgather has none", q);
  q = {};
  q.parameters["x"] = 1;
  refused("gather param y = 1 param z = 1", "parameter 'x' is none of t; it has: y, z", q);
  refused("gather", "parameter 'x' is none of t, which has no parameters", q);
  q.parameters = {{"y", 5}};
  refused("gather param y = 1 in 1 .. 4", "t:1:19: parameter 'y' is 5; allowed: 1 to 4", q);
}

static const CMUnitTest cases[] = {cmocka_unit_test(expand__a_rank_alone),
                                   cmocka_unit_test(expand__messages_are_numbered_by_rounds),
                                   cmocka_unit_test(expand__a_round_has_one_message_for_each_peer),
                                   cmocka_unit_test(expand__refuses_places_outside_buffers),
                                   cmocka_unit_test(expand__refuses_ranks_and_rounds_that_are_none),
                                   cmocka_unit_test(expand__refuses_what_has_no_end),
                                   cmocka_unit_test(expand__refuses_requests)};
static const unit::Group group{"expand", cases};
