// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/object.h"

#include <rdma/fi_eq.h>

#include "unit/unit.h"

using util_ext::Hold;
using util_ext::Holdable;
using util_ext::Object;

namespace {

struct Owner final : Holdable {};

// A counter that does nothing but be open; `start_result` is what start() answers.
class Thing final : public Object<Thing, fid_cntr> {
public:
  static int open(Owner &owner, int start_result, fid_cntr **out) {
    return make(out, owner, start_result);
  }
  static inline int alive = 0;

private:
  friend Object;
  Thing(Owner &owner, int start_result) : owner_(owner), start_result_(start_result) {
    if (start_result > 0)
      throw std::bad_alloc();
    fid = {FI_CLASS_CNTR, nullptr, fid_ops()};
    ++alive;
  }
  ~Thing() {
    assert_true(owner_->in_use()); // as long as there is something of it
    --alive;
  }
  int start() { return start_result_; }
  static int control(struct fid *f, int command, void *) {
    return from(f)->start_result_ + command;
  }

  const Hold<Owner> owner_;
  const int start_result_;
};

void hold__ends_once_wherever_it_has_moved(void **) {
  Owner owner, other;
  {
    Hold<Owner> none, first(owner);
    assert_false(bool(none));
    assert_true(owner.in_use());
    Hold<Owner> second(std::move(first));
    none = std::move(second);
    assert_true(bool(none) && owner.in_use());
    assert_ptr_equal(&*none, &owner);
    none = Hold<Owner>(other);
    assert_false(owner.in_use());
    assert_true(other.in_use());
  }
  assert_false(other.in_use());
}

void object__lives_from_open_to_close_and_holds_its_owner(void **) {
  Owner owner;
  fid_cntr *cntr = nullptr;
  assert_int_equal(Thing::open(owner, 0, &cntr), 0);
  assert_int_equal(Thing::alive, 1);
  assert_true(owner.in_use());
  assert_int_equal(fi_close(&cntr->fid), 0);
  assert_int_equal(Thing::alive, 0);
  assert_false(owner.in_use());
}

void object__is_busy_while_it_is_held(void **) {
  Owner owner;
  fid_cntr *cntr = nullptr;
  assert_int_equal(Thing::open(owner, 0, &cntr), 0);
  {
    const Hold<Thing> one(*Thing::from(&cntr->fid)), two(*Thing::from(&cntr->fid));
    assert_int_equal(fi_close(&cntr->fid), -FI_EBUSY);
  }
  assert_int_equal(fi_close(&cntr->fid), 0);
}

void object__that_fails_to_start_leaves_nothing(void **) {
  Owner owner;
  fid_cntr *cntr = nullptr;
  assert_int_equal(Thing::open(owner, -FI_EMFILE, &cntr), -FI_EMFILE);
  assert_int_equal(Thing::open(owner, 1, &cntr), -FI_ENOMEM); // throws
  assert_null(cntr);
  assert_int_equal(Thing::alive, 0);
  assert_false(owner.in_use());
}

void object__has_the_operations_that_it_defines(void **) {
  Owner owner;
  fid_cntr *cntr = nullptr;
  assert_int_equal(Thing::open(owner, 0, &cntr), 0);
  assert_int_equal(cntr->fid.ops->control(&cntr->fid, 7, nullptr), 7);
  assert_int_equal(cntr->fid.ops->bind(&cntr->fid, nullptr, 0), -FI_ENOSYS);
  assert_int_equal(fi_close(&cntr->fid), 0);
}

const CMUnitTest cases[] = {
    cmocka_unit_test(hold__ends_once_wherever_it_has_moved),
    cmocka_unit_test(object__lives_from_open_to_close_and_holds_its_owner),
    cmocka_unit_test(object__is_busy_while_it_is_held),
    cmocka_unit_test(object__that_fails_to_start_leaves_nothing),
    cmocka_unit_test(object__has_the_operations_that_it_defines),
};
const unit::Group group{"object", cases};

} // namespace
