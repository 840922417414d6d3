// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/poll_set.h"

#include "fake.h"
#include "util_ext/cntr.h"
#include "util_ext/eq.h"

#include "cq_queue.h"

using util_ext::PollSet;

namespace {

struct Set {
  explicit Set(fake::Domain &domain) { assert_int_equal(PollSet::open(domain, nullptr, &set), 0); }
  ~Set() { assert_int_equal(fi_close(&set->fid), 0); }
  Set(const Set &) = delete;
  int add(struct fid *f) { return fi_poll_add(set, f, 0); }
  int remove(struct fid *f) { return fi_poll_del(set, f, 0); }
  int poll() { return fi_poll(set, found, 8); }

  fid_poll *set = nullptr;
  void *found[8];
};

struct Counter {
  explicit Counter(fake::Domain &domain) {
    fi_cntr_attr attr{};
    assert_int_equal(util_ext::Cntr::open(domain, &attr, &cntr, this), 0);
  }
  ~Counter() { assert_int_equal(fi_close(&cntr->fid), 0); }
  Counter(const Counter &) = delete;
  util_ext::Cntr &impl() { return *util_ext::Cntr::from(&cntr->fid); }

  fid_cntr *cntr = nullptr;
};

void open__knows_no_flags(void **) {
  fake::Domain domain;
  fi_poll_attr attr{};
  attr.flags = 1;
  fid_poll *set;
  assert_int_equal(PollSet::open(domain, &attr, &set), -FI_EINVAL);
  assert_int_equal(fake::take_log().size(), 1);
  assert_false(domain.in_use());
}

void add__takes_queues_and_counters_of_the_domain_once(void **) {
  fake::Fabric fabric;
  fake::Domain domain, other;
  Queue q(domain), foreign(other);
  Counter c(domain);
  Set s(domain);
  fid_eq *eq;
  assert_int_equal(util_ext::Eq::open(fabric, nullptr, &eq, nullptr), 0);
  assert_int_equal(s.add(&eq->fid), -FI_EINVAL);
  assert_int_equal(s.add(&foreign.cq->fid), -FI_EINVAL);
  assert_int_equal(fi_poll_add(s.set, &q.cq->fid, 1), -FI_EINVAL);
  assert_int_equal(fake::take_log().size(), 3);
  assert_int_equal(s.add(nullptr), -FI_EINVAL);
  assert_int_equal(s.remove(&q.cq->fid), -FI_EINVAL);
  assert_int_equal(s.add(&q.cq->fid), 0);
  assert_int_equal(s.add(&q.cq->fid), -FI_EALREADY);
  assert_int_equal(s.add(&c.cntr->fid), 0);
  for (struct fid *f : {&s.set->fid, &q.cq->fid, &c.cntr->fid})
    assert_int_equal(fi_close(f), -FI_EBUSY);
  assert_int_equal(s.remove(&q.cq->fid), 0);
  assert_int_equal(s.remove(&c.cntr->fid), 0);
  assert_int_equal(fi_close(&eq->fid), 0);
}

void poll__tells_of_queues_until_they_are_empty(void **) {
  fake::Domain domain;
  Queue a(domain), b(domain);
  Set s(domain);
  assert_int_equal(s.poll(), 0);
  assert_int_equal(s.add(&a.cq->fid), 0);
  assert_int_equal(s.add(&b.cq->fid), 0);
  const int before = domain.progressed.load();
  assert_int_equal(s.poll(), 0);
  assert_int_equal(domain.progressed.load(), before + 1);
  domain.on_progress = [&] { b.write(1); }; // what progress finds is told at once
  assert_int_equal(s.poll(), 1);
  domain.on_progress = nullptr;
  assert_ptr_equal(s.found[0], &b);
  assert_int_equal(s.poll(), 1);
  b.read_tag();
  assert_int_equal(s.poll(), 0);
  a.write_failure(FI_EIO);
  assert_int_equal(s.poll(), 1);
  assert_ptr_equal(s.found[0], &a);
  assert_int_equal(s.remove(&a.cq->fid), 0);
  assert_int_equal(s.remove(&b.cq->fid), 0);
}

void poll__of_too_few_places_forgets_nobody(void **) {
  fake::Domain domain;
  Queue a(domain), b(domain);
  Counter c(domain);
  Set s(domain);
  for (struct fid *f : {&a.cq->fid, &c.cntr->fid, &b.cq->fid})
    assert_int_equal(s.add(f), 0);
  a.write(1);
  b.write(1);
  c.impl().add(1);
  void *found;
  const void *const expected[] = {&a, &c, &b, &a, &b};
  for (const void *e : expected) { // the counter has not changed again
    assert_int_equal(fi_poll(s.set, &found, 1), 1);
    assert_ptr_equal(found, e);
  }
  assert_int_equal(fi_poll(s.set, nullptr, 0), 0);
  assert_int_equal(fi_poll(s.set, nullptr, 1), -FI_EINVAL);
  assert_int_equal(fi_poll(s.set, &found, -1), -FI_EINVAL);
  for (struct fid *f : {&a.cq->fid, &c.cntr->fid, &b.cq->fid})
    assert_int_equal(s.remove(f), 0);
}

void poll__tells_of_counters_that_changed_otherwise_than_by_hand(void **) {
  fake::Domain domain;
  Counter c(domain);
  Set s(domain), t(domain);
  c.impl().add(5);
  assert_int_equal(s.add(&c.cntr->fid), 0);
  assert_int_equal(t.add(&c.cntr->fid), 0);
  assert_int_equal(s.poll(), 1);
  assert_ptr_equal(s.found[0], &c);
  assert_int_equal(s.poll(), 0);
  assert_int_equal(t.poll(), 1); // each set for itself

  fi_cntr_add(c.cntr, 3);
  fi_cntr_set(c.cntr, 0);
  fi_cntr_adderr(c.cntr, 3);
  fi_cntr_seterr(c.cntr, 1);
  assert_int_equal(s.poll(), 0);
  c.impl().add(5); // the value that it had when the set saw it last
  assert_int_equal(s.poll(), 1);
  c.impl().add_error(1);
  assert_int_equal(s.poll(), 1);
  assert_int_equal(s.poll(), 0);
  assert_int_equal(s.remove(&c.cntr->fid), 0);
  assert_int_equal(t.remove(&c.cntr->fid), 0);
}

void poll__in_vain_leaves_progress_to_its_thread(void **) {
  fake::Domain domain(FI_THREAD_SAFE, FI_PROGRESS_AUTO);
  Set s(domain);
  assert_int_equal(s.poll(), 0);
  assert_int_equal(domain.progressed.load(), 0);
  assert_int_equal(domain.in_vain.load(), 1);
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(open__knows_no_flags),
    cmocka_unit_test(add__takes_queues_and_counters_of_the_domain_once),
    cmocka_unit_test(poll__tells_of_queues_until_they_are_empty),
    cmocka_unit_test(poll__of_too_few_places_forgets_nobody),
    cmocka_unit_test(poll__tells_of_counters_that_changed_otherwise_than_by_hand),
    cmocka_unit_test(poll__in_vain_leaves_progress_to_its_thread),
};
static const unit::Group group{"poll_set", cases};
