// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/op_flags.h"

#include "unit/unit.h"

using namespace dpdkx;

static void op_flags__without_selection_all_complete(void **) {
  assert_int_equal(flags::of_send(0, false), FI_COMPLETION);
  assert_int_equal(flags::of_receive(0, false), FI_COMPLETION);
}

static void op_flags__with_selection_those_that_ask(void **) {
  assert_int_equal(flags::of_send(0, true), 0);
  assert_int_equal(flags::of_send(FI_COMPLETION, true), FI_COMPLETION);
  assert_int_equal(flags::of_receive(FI_MULTI_RECV, true), FI_MULTI_RECV);
  assert_int_equal(flags::of_receive(FI_COMPLETION, true), FI_COMPLETION);
}

static void op_flags__a_peek_is_always_answered(void **) {
  assert_int_equal(flags::of_receive(FI_PEEK, true), FI_PEEK | FI_COMPLETION);
}

static void op_flags__the_strongest_level_counts(void **) {
  assert_int_equal(flags::of_send(FI_INJECT_COMPLETE | FI_DELIVERY_COMPLETE, true),
                   FI_DELIVERY_COMPLETE);
  assert_int_equal(flags::of_send(FI_TRANSMIT_COMPLETE | FI_INJECT_COMPLETE | FI_FENCE, true),
                   FI_TRANSMIT_COMPLETE | FI_FENCE);
  assert_int_equal(flags::of_send(FI_MATCH_COMPLETE | FI_DELIVERY_COMPLETE, true),
                   FI_MATCH_COMPLETE);
}

static void op_flags__nothing_is_matched_by_rma(void **) {
  assert_int_equal(flags::of_write(FI_MATCH_COMPLETE | FI_INJECT, true),
                   FI_DELIVERY_COMPLETE | FI_INJECT);
  assert_int_equal(flags::of_write(FI_TRANSMIT_COMPLETE | FI_INJECT_COMPLETE, false),
                   FI_TRANSMIT_COMPLETE | FI_COMPLETION);
  assert_int_equal(flags::check(FI_MATCH_COMPLETE, flags::writemsg), -FI_EINVAL);
  assert_int_equal(flags::check(FI_COMMIT_COMPLETE, flags::writemsg), -FI_EOPNOTSUPP);
  assert_int_equal(flags::check(flags::writemsg, flags::writemsg), 0);
}

// Its data are the completion, and come from elsewhere.
static void op_flags__a_read_has_neither_level_nor_injection(void **) {
  assert_int_equal(flags::of_read(flags::tx_defaults | FI_FENCE, true),
                   FI_COMPLETION | FI_TRIGGER | FI_FENCE);
  assert_int_equal(flags::of_read(FI_DELIVERY_COMPLETE, true), 0);
  assert_int_equal(flags::of_read(0, false), FI_COMPLETION);
  // A fetch has operands.
  assert_int_equal(flags::of_fetch(flags::tx_defaults, true),
                   FI_COMPLETION | FI_TRIGGER | FI_INJECT);
  assert_int_equal(flags::check_atomic(FI_INJECT | FI_FENCE, flags::fetchmsg), 0);
  assert_int_equal(flags::check_atomic(FI_TAGGED, flags::fetchmsg), -FI_EOPNOTSUPP);
  assert_int_equal(flags::check(FI_DELIVERY_COMPLETE | FI_MORE, flags::readmsg), 0);
  assert_int_equal(flags::check(FI_INJECT, flags::readmsg), -FI_EINVAL);
  assert_int_equal(flags::check(FI_REMOTE_CQ_DATA, flags::readmsg), -FI_EINVAL);
}

static void op_flags__what_is_not_there_is_told_apart_from_nonsense(void **) {
  assert_int_equal(flags::check(flags::sendmsg, flags::sendmsg), 0);
  assert_int_equal(flags::check(FI_TRIGGER, flags::sendmsg), 0);
  assert_int_equal(flags::check(FI_TRIGGER, flags::counting), -FI_EOPNOTSUPP);
  assert_int_equal(flags::check(FI_COMMIT_COMPLETE, flags::sendmsg), -FI_EOPNOTSUPP);
  assert_int_equal(flags::check(FI_PEEK, flags::sendmsg), -FI_EINVAL);
  assert_int_equal(flags::check(FI_INJECT, flags::recvmsg), -FI_EINVAL);
  assert_int_equal(flags::check_trecvmsg(FI_PEEK | FI_CLAIM), 0);
  assert_int_equal(flags::check_trecvmsg(FI_CLAIM | FI_DISCARD), 0);
  assert_int_equal(flags::check_trecvmsg(FI_DISCARD), -FI_EINVAL);
  assert_int_equal(flags::check_trecvmsg(FI_MULTI_RECV), -FI_EINVAL);
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(op_flags__without_selection_all_complete),
    cmocka_unit_test(op_flags__with_selection_those_that_ask),
    cmocka_unit_test(op_flags__a_peek_is_always_answered),
    cmocka_unit_test(op_flags__the_strongest_level_counts),
    cmocka_unit_test(op_flags__nothing_is_matched_by_rma),
    cmocka_unit_test(op_flags__a_read_has_neither_level_nor_injection),
    cmocka_unit_test(op_flags__what_is_not_there_is_told_apart_from_nonsense),
};
static const unit::Group group{"op_flags", cases};
