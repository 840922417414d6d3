// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/report/program.h"

#include <nlohmann/json.hpp>

#include "unit/collc/compiled.h"

using namespace collc;

static void program__what_a_rank_does(void **) {
  unit::compiled c("allgather:bruck", 5);
  unit::expect_same(
      program_text(c->source(), c->program(3)),
      "rank 3 of 5\n"
      "buffer input: 8 bytes\n"
      "buffer output: 40 bytes\n"
      "start: copy input[0:8] to output[24]\n"
      "path 0\n"
      "  round 1: recv 4 output[32:8], from the start\n"
      "  round 2: recv 0 output[0:16], after what comes in rounds up to 1\n"
      "  round 3: recv 2 output[16:8], after what comes in rounds up to 2\n"
      "  round 1: send 2 output[24:8] to output[24], from the start\n"
      "  round 2: send 1 output[24:16] to output[24], after what comes in rounds up to 1\n"
      "  round 3: send 4 output[24:8] to output[24], after what comes in rounds up to 2\n");
}

static void program__json_has_the_same(void **) {
  unit::compiled c("allreduce:butterfly", 6);
  const auto j = program_json(c->source(), c->program(0));
  assert_true(j["buffers"]["stage"] == 24 && j["rounds"] == 4);
  const auto &operations = j["paths"][0]["operations"];
  assert_int_equal(operations.size(), 3 + 3 + 3); // received, sent, combined
  assert_true(operations[0]["what"] == "recv" && operations[0]["peer"] == 1);
  assert_true(operations[8]["what"] == "combine" && operations[8]["round"] == 3 &&
              operations[8]["pieces"][0]["to"] == "output");
}

static const CMUnitTest cases[] = {cmocka_unit_test(program__what_a_rank_does),
                                   cmocka_unit_test(program__json_has_the_same)};
static const unit::Group group{"program", cases};
