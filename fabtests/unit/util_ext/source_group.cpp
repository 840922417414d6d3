// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/source_group.h"

#include "fake.h"

#include <poll.h>

#include "unit/unit.h"

using util_ext::SourceGroup;

namespace {

bool readable(int fd) {
  pollfd p{fd, POLLIN, 0};
  return poll(&p, 1, 0) == 1;
}

void arm__arms_all_and_sees_any(void **) {
  fake::Source a, b;
  SourceGroup group;
  assert_int_equal(group.open(), 0);
  assert_int_equal(group.add(a), 0);
  assert_int_equal(group.add(b), 0);
  assert_true(group.arm());
  assert_false(readable(group.fd()));
  b.arrive();
  assert_true(readable(group.fd()));
  group.disarm();
  assert_false(group.arm()); // it has something still
  group.disarm();
  assert_int_equal(a.armed(), 0);
  assert_int_equal(b.armed(), 0);
}

void add__and_remove_while_armed(void **) {
  fake::Source a, b;
  SourceGroup group;
  assert_int_equal(group.open(), 0);
  assert_true(group.arm());
  assert_true(group.arm()); // two threads
  assert_int_equal(group.add(a), 0);
  assert_int_equal(group.add(a), 0); // two queues of one domain
  assert_int_equal(group.add(b), 0);
  assert_int_equal(a.armed(), 2);
  group.remove(a);
  assert_int_equal(a.armed(), 2);
  a.arrive();
  assert_true(readable(group.fd()));
  group.remove(a);
  assert_int_equal(a.armed(), 0);
  assert_false(readable(group.fd()));
  group.remove(a); // not in it
  group.disarm();
  group.disarm();
  assert_int_equal(b.armed(), 0);
}

void add__refuses_what_cannot_wake(void **) {
  fake::Source blind;
  blind.blind = true;
  SourceGroup group;
  assert_int_equal(group.open(), 0);
  assert_int_equal(group.add(blind), -FI_ENOSYS);
  assert_true(group.arm());
  assert_int_equal(blind.armed(), 0);
  group.disarm();
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(arm__arms_all_and_sees_any),
    cmocka_unit_test(add__and_remove_while_armed),
    cmocka_unit_test(add__refuses_what_cannot_wake),
};
static const unit::Group group{"source_group", cases};
