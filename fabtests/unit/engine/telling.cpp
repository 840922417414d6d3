// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The processed position by the link's word.
#include "dpdkx/engine/telling.h"

#include "lab.h"

#include <algorithm>

using namespace lab;

namespace {

void telling__is_of_one_session(void **) {
  using wire::Token;
  const Token mine{0x123456789abcdef0}, another{0x123456789abcdef1};
  const std::uint64_t word = engine::telling(mine, MessageNumber{77});
  MessageNumber processed;
  assert_true(engine::read_telling(word, mine, processed));
  assert_int_equal(processed.value, 77);
  assert_false(engine::read_telling(word, another, processed));
  assert_false(engine::read_telling(0, Token{0}, processed)); // nothing has been told
}

std::uint64_t sent(const World &w) { return w.host.counters().sent; }

void processed__is_told_without_a_packet(void **) {
  World w;
  Node &a = w.start(On::host), &b = w.start(On::host);
  w.exchange(0, 1);
  w.run_for(1ms);
  const std::uint64_t before = sent(w);
  Call &r = b.receive(100), &s = a.send(1, pattern(100), {.flags = FI_DELIVERY_COMPLETE});
  assert_true(w.finish({&r, &s}, 1ms));
  assert_true(r.ok() && s.ok());
  w.run_for(1ms);
  assert_int_equal(sent(w), before + 1);
}

// Who sleeps until something comes sees the word too.
void processed__is_something_to_do(void **) {
  World w;
  Node &a = w.start(On::host), &b = w.start(On::host);
  w.exchange(0, 1);
  w.run_for(1ms);
  a.computes = true;
  Call &s = a.send(1, pattern(100), {.flags = FI_DELIVERY_COMPLETE});
  assert_true(a.quiet());
  w.run_for(1ms); // b has buffered it
  assert_false(a.quiet());
  a.turn();
  assert_true(s.ok());
  assert_true(a.quiet());
  b.receive(100);
}

// The word is there before any packet: what says which operation has failed must be, too.
void processed__does_not_overtake_a_failure(void **) {
  World w;
  Node &a = w.start(On::host);
  w.start(On::host);
  w.exchange(0, 1);
  std::vector<Call *> calls;
  for (unsigned key = 0; key < 200; ++key) { // more than a turn takes
    Call &c = a.calls.emplace_back();
    while (a.endpoint->count({.dest = 1,
                              .key = key, // no counter is exported
                              .value = 1,
                              .flags = FI_ATOMIC | FI_WRITE | FI_COMPLETION,
                              .context = &c}) == -FI_EAGAIN)
      w.run_for(1us);
    calls.push_back(&c);
  }
  assert_true(w.run_until(
      [&] { return std::ranges::none_of(calls, [](const Call *c) { return c->open(); }); }, 10ms));
  for (const Call *c : calls)
    assert_int_equal(c->error(), FI_ENOKEY);
}

// What it had processed before it went is no failure.
void processed__is_heard_of_who_has_gone(void **) {
  for (const bool in_order : {false, true}) {
    World w;
    Node &a = w.start(On::host);
    w.start(On::host);
    w.exchange(0, 1);
    w.run_for(1ms);
    a.computes = true;
    Call &s = a.send(1, pattern(100), {.flags = FI_DELIVERY_COMPLETE});
    w.run_for(1ms);
    if (in_order)
      w.close(1);
    else
      w.kill(1);
    a.computes = false;
    w.run_for(1ms);
    assert_true(s.ok());
  }
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(telling__is_of_one_session),
    cmocka_unit_test(processed__is_told_without_a_packet),
    cmocka_unit_test(processed__is_something_to_do),
    cmocka_unit_test(processed__does_not_overtake_a_failure),
    cmocka_unit_test(processed__is_heard_of_who_has_gone),
};
static const unit::Group group{"telling", cases};
