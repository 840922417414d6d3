// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The states of a connection, and what waits at a listener (connection.h).
#include "dpdkx/op/connection.h"

#include "unit/unit.h"

using namespace dpdkx;
using namespace dpdkx::op;
using wire::FrameType;
using State = Connection::State;
using Step = Connection::Step;

namespace {

constexpr std::uint64_t our_id = 77, other_id = 78;
constexpr FrameType all_frames[] = {FrameType::connect, FrameType::accept, FrameType::ready,
                                    FrameType::reject, FrameType::shutdown};

Connection in(State state) {
  Connection c;
  switch (state) {
  case State::idle:
    break;
  case State::calling:
    assert_true(c.call(our_id));
    break;
  case State::answering:
    assert_true(c.answer(our_id));
    break;
  case State::up:
  case State::leaving:
    assert_true(c.call(our_id));
    assert_true(c.on_frame(FrameType::accept, our_id, false) == Step::establish);
    if (state == State::leaving)
      assert_true(c.leave());
    break;
  case State::over:
    assert_true(c.call(our_id));
    c.on_loss();
    break;
  }
  assert_true(c.state() == state);
  return c;
}

constexpr State all_states[] = {State::idle, State::calling, State::answering,
                                State::up,   State::leaving, State::over};

void connection__comes_up_for_who_calls(void **) {
  Connection c = in(State::calling);
  assert_int_equal(c.id(), our_id);
  assert_true(c.on_frame(FrameType::accept, our_id, false) == Step::establish);
  assert_true(c.state() == State::up);
}

void connection__comes_up_for_who_answers(void **) {
  Connection c = in(State::answering);
  assert_true(c.on_frame(FrameType::ready, our_id, true) == Step::confirmed);
  assert_true(c.state() == State::up);
}

void connection__is_one_in_a_life(void **) {
  for (const State s : all_states) {
    Connection c = in(s);
    assert_int_equal(c.call(other_id), s == State::idle);
    Connection d = in(s);
    assert_int_equal(d.answer(other_id), s == State::idle);
  }
}

void connection__is_left_only_while_it_is_there(void **) {
  for (const State s : all_states) {
    Connection c = in(s);
    assert_int_equal(c.leave(), s == State::up);
    assert_true(c.state() == (s == State::up ? State::leaving : s));
  }
}

// Every frame in every state, from the partner and from others, with the right number and another:
// only what this table names changes anything.
void connection__minds_nothing_else(void **) {
  for (const State s : all_states)
    for (const FrameType type : all_frames)
      for (const bool partner : {false, true})
        for (const std::uint64_t id : {our_id, other_id}) {
          const bool ours = partner && id == our_id;
          Step step = Step::violation;
          State then = s;
          switch (type) {
          case FrameType::connect:
            step = Step::refuse;
            break;
          case FrameType::accept:
            step = s == State::calling && id == our_id ? Step::establish : Step::refuse;
            if (step == Step::establish)
              then = State::up;
            break;
          case FrameType::ready:
            if (s == State::answering && ours)
              step = Step::confirmed, then = State::up;
            break;
          case FrameType::reject:
            step = Step::ignore;
            if ((s == State::calling || s == State::answering) && ours)
              step = Step::refused, then = State::over;
            break;
          default:
            if ((s == State::up || s == State::leaving) && ours)
              step = Step::hang_up;
            break;
          }
          Connection c = in(s);
          assert_int_equal(static_cast<int>(c.on_frame(type, id, partner)), static_cast<int>(step));
          assert_int_equal(static_cast<int>(c.state()), static_cast<int>(then));
        }
}

void connection__ends_once(void **) {
  for (const State s : all_states) {
    Connection c = in(s);
    const Step expected = s == State::calling || s == State::answering ? Step::refused
                          : s == State::up || s == State::leaving      ? Step::ended
                                                                       : Step::ignore;
    assert_true(c.on_loss() == expected);
    assert_true(c.state() == State::over);
    assert_true(c.on_loss() == Step::ignore);
  }
}

// --- a listener's backlog

int alice, bob, carol; // callers, by address

Backlog::Number added(Backlog &b, int &caller, std::uint64_t id) {
  Backlog::Number n = 0;
  assert_true(b.add(&caller, id, n) == Backlog::Add::added);
  return n;
}

void backlog__gives_each_request_once(void **) {
  Backlog b(8);
  const auto first = added(b, alice, 5), second = added(b, bob, 5);
  assert_int_not_equal(first, second);
  const auto r = b.take(second);
  assert_true(r && r->caller == &bob && r->id == 5 && r->number == second);
  assert_false(b.take(second).has_value());
  assert_true(b.take(first).has_value());
  assert_int_equal(b.size(), 0);
}

void backlog__is_bounded(void **) {
  Backlog b(2);
  const auto first = added(b, alice, 1);
  added(b, bob, 2);
  Backlog::Number n = 0;
  assert_true(b.add(&carol, 3, n) == Backlog::Add::full);
  assert_true(b.take(first).has_value());
  added(b, carol, 3);
}

void backlog__takes_one_request_of_a_caller(void **) {
  Backlog b(8);
  const auto first = added(b, alice, 1);
  Backlog::Number n = 0;
  assert_true(b.add(&alice, 1, n) == Backlog::Add::repeated);
  assert_true(b.add(&alice, 2, n) == Backlog::Add::repeated);
  assert_true(b.take(first).has_value());
  added(b, alice, 2); // the first has been answered
}

// Who calls and goes, again and again, is bounded too.
void backlog__counts_callers_that_have_gone(void **) {
  Backlog b(2);
  const auto first = added(b, alice, 1);
  b.lost(&bob); // never heard of
  b.lost(&alice);
  assert_int_equal(b.size(), 1);
  added(b, alice, 2); // another session there
  Backlog::Number n = 0;
  assert_true(b.add(&bob, 3, n) == Backlog::Add::full);
  const auto r = b.take(first);
  assert_true(r && !r->caller);
  added(b, bob, 3);
}

const CMUnitTest cases[] = {
    cmocka_unit_test(connection__comes_up_for_who_calls),
    cmocka_unit_test(connection__comes_up_for_who_answers),
    cmocka_unit_test(connection__is_one_in_a_life),
    cmocka_unit_test(connection__is_left_only_while_it_is_there),
    cmocka_unit_test(connection__minds_nothing_else),
    cmocka_unit_test(connection__ends_once),
    cmocka_unit_test(backlog__gives_each_request_once),
    cmocka_unit_test(backlog__is_bounded),
    cmocka_unit_test(backlog__takes_one_request_of_a_caller),
    cmocka_unit_test(backlog__counts_callers_that_have_gone),
};
const unit::Group group{"connection", cases};

} // namespace
