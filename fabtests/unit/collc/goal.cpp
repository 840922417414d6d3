// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/report/goal.h"

#include <map>
#include <set>
#include <sstream>

#include "unit/collc/compiled.h"

using namespace collc;

namespace {

// As a simulator reads it: every label known, every message sent and received.
void expect_runs(const std::string &text) {
  std::istringstream in(text);
  std::map<std::string, int> balance; // by sender, receiver, tag and size
  std::set<std::string> labels;
  std::string rank, word;
  int ranks = 0, blocks = 0;
  in >> word >> ranks;
  assert_string_equal(word.c_str(), "num_ranks");
  while (in >> word) {
    if (word == "rank") {
      in >> rank >> word;
      labels.clear();
      ++blocks;
      continue;
    }
    if (word == "}")
      continue;
    std::string what, a, by, peer, tag, number;
    in >> what >> a;
    if (what == "requires") {
      assert_true(labels.count(word) == 1 && labels.count(a) == 1);
      continue;
    }
    assert_true(labels.insert(word.substr(0, word.size() - 1)).second);
    if (what == "calc")
      continue;
    in >> by >> peer >> tag >> number;
    const bool sends = what == "send";
    assert_string_equal(by.c_str(), sends ? "to" : "from");
    const std::string key = sends ? rank + '>' + peer : peer + '>' + rank;
    balance[key + ' ' + number + ' ' + a] += sends ? 1 : -1;
  }
  assert_int_equal(blocks, ranks);
  for (const auto &[key, n] : balance)
    if (n != 0)
      fail_msg("%s: %d too many", key.c_str(), n);
}

std::string goal(const std::string &name, std::int64_t ranks) {
  unit::compiled c(name, ranks);
  std::ostringstream out;
  write_goal(out, *c);
  return out.str();
}

} // namespace

static void goal__barrier_of_two(void **) {
  unit::expect_same(goal("barrier:butterfly", 2), "num_ranks 2\n\n"
                                                  "rank 0 {\n"
                                                  "l1: recv 1b from 1 tag 0\n"
                                                  "l2: calc 0\n"
                                                  "l2 requires l1\n"
                                                  "l3: send 1b to 1 tag 0\n"
                                                  "}\n\n"
                                                  "rank 1 {\n"
                                                  "l1: recv 1b from 0 tag 0\n"
                                                  "l2: calc 0\n"
                                                  "l2 requires l1\n"
                                                  "l3: send 1b to 0 tag 0\n"
                                                  "}\n");
}

static void goal__messages_match(void **) {
  for (const auto &b : builtins())
    for (const std::int64_t ranks : {1, 2, 8, 13})
      if (b.name != "alltoall:butterfly" || ranks != 13)
        expect_runs(goal(std::string(b.name), ranks));
}

static const CMUnitTest cases[] = {cmocka_unit_test(goal__barrier_of_two),
                                   cmocka_unit_test(goal__messages_match)};
static const unit::Group group{"goal", cases};
