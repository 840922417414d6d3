// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/deferred.h"

#include "util_ext/cntr.h"

#include <string>

#include "fake.h"

#include "unit/unit.h"

using util_ext::Cntr;
using util_ext::control_work;

namespace {

struct Fixture {
  Fixture() {
    fi_cntr_attr attr{};
    for (fid_cntr **c : {&a, &b})
      assert_int_equal(Cntr::open(domain, &attr, c, nullptr), 0);
    op = {b, 5};
    work.threshold = 1;
    work.triggering_cntr = a;
    work.op_type = FI_OP_CNTR_ADD;
    work.op.cntr = &op;
  }
  ~Fixture() {
    assert_int_equal(control_work(domain, FI_FLUSH_WORK, nullptr), 0);
    for (fid_cntr *c : {a, b})
      assert_int_equal(fi_close(&c->fid), 0);
    fake::take_log();
  }
  Fixture(const Fixture &) = delete;
  int queue() { return control_work(domain, FI_QUEUE_WORK, &work); }

  fake::Domain domain;
  fid_cntr *a = nullptr, *b = nullptr;
  fi_op_cntr op{};
  fi_deferred_work work{};
};

void queue__operations_on_counters(void **) {
  Fixture f;
  assert_int_equal(f.queue(), 0);
  f.op = {f.a, 99}; // it has been copied
  assert_int_equal(fi_cntr_read(f.b), 0);
  fi_cntr_add(f.a, 1);
  assert_int_equal(fi_cntr_read(f.b), 5);
  f.op = {f.b, 2};
  f.work.op_type = FI_OP_CNTR_SET;
  f.work.threshold = 0; // at once
  assert_int_equal(f.queue(), 0);
  assert_int_equal(fi_cntr_read(f.b), 2);
  f.op = {f.a, ~std::uint64_t{0}}; // its own triggering counter, and down
  f.work.op_type = FI_OP_CNTR_ADD;
  assert_int_equal(f.queue(), 0);
  assert_int_equal(fi_cntr_read(f.a), 0);
}

void queue__refuses_and_names_the_field(void **) {
  struct {
    void (*spoil)(Fixture &);
    int rc;
    const char *field;
  } const cases[] = {
      {[](Fixture &f) { f.work.triggering_cntr = nullptr; }, -FI_EINVAL, "triggering_cntr"},
      {[](Fixture &f) { f.work.completion_cntr = f.a; }, -FI_EINVAL, "completion_cntr"},
      {[](Fixture &f) { f.work.op.cntr = nullptr; }, -FI_EINVAL, "op.cntr"},
      {[](Fixture &f) { f.op.cntr = nullptr; }, -FI_EINVAL, "op.cntr"},
  };
  for (const auto &c : cases) {
    Fixture f;
    c.spoil(f);
    fake::take_log();
    assert_int_equal(f.queue(), c.rc);
    const auto log = fake::take_log();
    assert_int_equal(log.size(), 1);
    assert_true(log[0].find(c.field) != std::string::npos);
  }
}

void queue__counters_of_another_domain_are_refused(void **) {
  Fixture f, other;
  f.work.triggering_cntr = other.a;
  assert_int_equal(f.queue(), -FI_EINVAL);
  f.work.triggering_cntr = f.a;
  f.op.cntr = other.b;
  assert_int_equal(f.queue(), -FI_EINVAL);
  fid not_a_counter{FI_CLASS_CQ, nullptr, nullptr};
  f.work.triggering_cntr = reinterpret_cast<fid_cntr *>(&not_a_counter);
  assert_int_equal(f.queue(), -FI_EINVAL);
}

void queue__other_operations_are_the_provider_s(void **) {
  Fixture f;
  f.work.op_type = FI_OP_SEND;
  assert_int_equal(f.queue(), -FI_ENOSYS);
  fake::put_raw(f.work.op_type, 0x12345678);
  unsigned seen = 0;
  f.domain.on_make_work = [&](const fi_deferred_work &w, std::unique_ptr<util_ext::Work> &) {
    seen = util_ext::raw(w.op_type);
    return -FI_EOPNOTSUPP;
  };
  f.work.completion_cntr = f.b;
  assert_int_equal(f.queue(), -FI_EOPNOTSUPP);
  assert_int_equal(seen, 0x12345678);
}

void queue__beyond_the_limit(void **) {
  Fixture f;
  assert_int_equal(f.queue(), 0);
  f.domain.triggers.limit = 1;
  fi_deferred_work second = f.work;
  fake::take_log();
  assert_int_equal(control_work(f.domain, FI_QUEUE_WORK, &second), -FI_ENOSPC);
  assert_true(fake::take_log().at(0).find("1 are queued") != std::string::npos);
  fi_cntr_add(f.a, 1);
  assert_int_equal(fi_cntr_read(f.b), 5); // once
}

void cancel__and_flush(void **) {
  Fixture f;
  assert_int_equal(control_work(f.domain, FI_CANCEL_WORK, &f.work), -FI_ENOENT);
  assert_int_equal(control_work(f.domain, FI_CANCEL_WORK, nullptr), -FI_EINVAL);
  assert_int_equal(control_work(f.domain, FI_QUEUE_WORK, nullptr), -FI_EINVAL);
  assert_int_equal(control_work(f.domain, FI_GETWAIT, nullptr), -FI_ENOSYS);
  f.queue();
  assert_int_equal(control_work(f.domain, FI_CANCEL_WORK, &f.work), 0);
  f.queue();
  assert_int_equal(control_work(f.domain, FI_FLUSH_WORK, f.b), 0);
  assert_int_equal(f.domain.triggers.queued(), 1); // another's
  assert_int_equal(control_work(f.domain, FI_FLUSH_WORK, f.a), 0);
  assert_int_equal(f.domain.triggers.queued(), 0);
  Fixture other;
  assert_int_equal(control_work(f.domain, FI_FLUSH_WORK, other.a), -FI_EINVAL);
  fi_cntr_add(f.a, 1);
  assert_int_equal(fi_cntr_read(f.b), 0);
}

void close__is_busy_while_work_names_a_counter(void **) {
  Fixture f;
  f.queue();
  assert_int_equal(fi_close(&f.a->fid), -FI_EBUSY);
  assert_int_equal(fi_close(&f.b->fid), -FI_EBUSY);
}

const CMUnitTest cases[] = {
    cmocka_unit_test(queue__operations_on_counters),
    cmocka_unit_test(queue__refuses_and_names_the_field),
    cmocka_unit_test(queue__counters_of_another_domain_are_refused),
    cmocka_unit_test(queue__other_operations_are_the_provider_s),
    cmocka_unit_test(queue__beyond_the_limit),
    cmocka_unit_test(cancel__and_flush),
    cmocka_unit_test(close__is_busy_while_work_names_a_counter),
};
const unit::Group group{"deferred", cases};

} // namespace
