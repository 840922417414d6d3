// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/report/graph.h"

#include <regex>

#include "unit/collc/compiled.h"

using namespace collc;

namespace {

std::ptrdiff_t count(const std::string &text, const char *what) {
  const std::regex r(what);
  return std::distance(std::sregex_iterator(text.begin(), text.end(), r), std::sregex_iterator());
}

} // namespace

static void graph__works_and_what_they_wait_for(void **) {
  unit::compiled c("barrier:butterfly", 2);
  unit::expect_same(graph_text(world(*c)), "digraph collective {\n"
                                           "  rankdir=LR\n"
                                           "  node [shape=box]\n"
                                           "  subgraph cluster_0 {\n"
                                           "    label=\"rank 0\"\n"
                                           "    w0 [label=\"SIG1\\nREMOTE_CNTR_ADD at 0\"]\n"
                                           "    w1 [label=\"FIN\\nREMOTE_CNTR_ADD at 1\"]\n"
                                           "    w0 -> w1 [style=dotted]\n"
                                           "  }\n"
                                           "  subgraph cluster_1 {\n"
                                           "    label=\"rank 1\"\n"
                                           "    w2 [label=\"SIG1\\nREMOTE_CNTR_ADD at 0\"]\n"
                                           "    w3 [label=\"FIN\\nREMOTE_CNTR_ADD at 1\"]\n"
                                           "    w2 -> w3 [style=dotted]\n"
                                           "  }\n"
                                           "  w2 -> w1\n"
                                           "  w0 -> w3\n"
                                           "}\n");
}

// A thing that comes is waited for by one work first: 6 of 8 ranks' tanks.
static void graph__an_arrow_for_each_bucket(void **) {
  unit::compiled c("allgather:butterfly", 8);
  assert_int_equal(count(graph_text(world(*c)), "w[0-9]+ -> w[0-9]+\n"), 6 * 8);
}

static void timeline__a_line_for_each_rank_and_an_arrow_for_each_work(void **) {
  unit::compiled c("allgather:butterfly", 4);
  const std::string svg = timeline_text(world(*c));
  assert_int_equal(count(svg, "<text "), 4);
  assert_int_equal(count(svg, "marker-end"), 4 * 6); // and FIN, to itself
  assert_int_equal(count(svg, "<circle "), 4);
  // RTR1 at the left, DAT2 three messages later.
  unit::expect_part(svg, "M80 30L160 70\" stroke=\"#888\"");
  unit::expect_part(svg, "M350 30L430 110\" stroke=\"#036\"");
  assert_int_equal(count(svg, "<svg"), count(svg, "</svg>"));
}

// What deadlocks is drawn as far as it gets.
static void timeline__of_what_never_fires(void **) {
  unit::compiled c(unit::text("collective barrier let peer = 1 - rank round 1 { recv peer } "
                              "round 2 { send peer }"),
                   2);
  assert_int_equal(count(timeline_text(world(*c)), "marker-end"), 0);
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(graph__works_and_what_they_wait_for),
    cmocka_unit_test(graph__an_arrow_for_each_bucket),
    cmocka_unit_test(timeline__a_line_for_each_rank_and_an_arrow_for_each_work),
    cmocka_unit_test(timeline__of_what_never_fires)};
static const unit::Group group{"graph", cases};
