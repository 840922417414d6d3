// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/wait_set.h"

#include "fake.h"
#include "util_ext/cntr.h"
#include "util_ext/cq.h"
#include "util_ext/eq.h"

#include <chrono>
#include <poll.h>
#include <thread>

#include "unit/unit.h"

using namespace std::chrono_literals;
using util_ext::WaitSet;

namespace {

struct Set {
  explicit Set(fake::Fabric &fabric, fi_wait_obj object = FI_WAIT_UNSPEC) {
    fi_wait_attr attr{};
    attr.wait_obj = object;
    assert_int_equal(WaitSet::open(fabric, &attr, &set), 0);
  }
  ~Set() { assert_int_equal(fi_close(&set->fid), 0); }
  Set(const Set &) = delete;
  util_ext::WaitSet &impl() { return *WaitSet::from(&set->fid); }

  fid_wait *set = nullptr;
};

// A queue of each kind and a counter, all in one set.
struct Members {
  Members(fake::Fabric &fabric, fake::Domain &domain, Set &s) {
    fi_cq_attr cq_attr{};
    fi_cntr_attr cntr_attr{};
    fi_eq_attr eq_attr{};
    cq_attr.wait_obj = cntr_attr.wait_obj = eq_attr.wait_obj = FI_WAIT_SET;
    cq_attr.wait_set = cntr_attr.wait_set = eq_attr.wait_set = s.set;
    assert_int_equal(util_ext::Cq::open(domain, &cq_attr, &cq, nullptr), 0);
    assert_int_equal(util_ext::Cntr::open(domain, &cntr_attr, &cntr, nullptr), 0);
    assert_int_equal(util_ext::Eq::open(fabric, &eq_attr, &eq, nullptr), 0);
  }
  ~Members() {
    for (struct fid *f : {&cq->fid, &cntr->fid, &eq->fid})
      assert_int_equal(fi_close(f), 0);
  }
  Members(const Members &) = delete;
  void complete() { util_ext::Cq::from(&cq->fid)->write({}); }
  void count() { util_ext::Cntr::from(&cntr->fid)->add(1); }
  void event() { util_ext::Eq::from(&eq->fid)->write(FI_NOTIFY, "x", 1); }
  void read_all() {
    fi_cq_tagged_entry entry;
    fi_cq_read(cq, &entry, 1);
    fi_cntr_read(cntr);
    std::uint32_t kind;
    char text[8];
    fi_eq_read(eq, &kind, text, sizeof text, 0);
  }

  fid_cq *cq = nullptr;
  fid_cntr *cntr = nullptr;
  fid_eq *eq = nullptr;
};

void open__refuses_what_is_no_wait_object(void **) {
  fake::Fabric fabric;
  fid_wait *set;
  fi_wait_attr attr{};
  assert_int_equal(WaitSet::open(fabric, nullptr, &set), -FI_EINVAL);
  for (const unsigned object : {FI_WAIT_NONE + 0U, FI_WAIT_SET + 0U, FI_WAIT_POLLFD + 1U}) {
    fake::put_raw(attr.wait_obj, object);
    assert_int_equal(WaitSet::open(fabric, &attr, &set), -FI_EINVAL);
  }
  attr.wait_obj = FI_WAIT_FD;
  attr.flags = 1;
  assert_int_equal(WaitSet::open(fabric, &attr, &set), -FI_EINVAL);
  assert_int_equal(fake::take_log().size(), 4);
  assert_false(fabric.in_use());
}

void close__is_busy_while_something_is_in_it(void **) {
  fake::Fabric fabric;
  fake::Domain domain;
  Set s(fabric);
  assert_true(fabric.in_use());
  const Members m(fabric, domain, s);
  assert_int_equal(fi_close(&s.set->fid), -FI_EBUSY);
}

void wait__returns_for_any_member_and_until_all_are_read(void **) {
  for (const fi_wait_obj object : {FI_WAIT_UNSPEC, FI_WAIT_FD, FI_WAIT_MUTEX_COND, FI_WAIT_YIELD}) {
    fake::Fabric fabric;
    fake::Domain domain;
    Set s(fabric, object);
    Members m(fabric, domain, s);
    for (const auto happen : {&Members::complete, &Members::count, &Members::event}) {
      assert_int_equal(fi_wait(s.set, 0), -FI_ETIMEDOUT);
      (m.*happen)();
      assert_int_equal(fi_wait(s.set, -1), 0);
      assert_int_equal(fi_wait(s.set, -1), 0);
      m.read_all();
    }
    const auto start = std::chrono::steady_clock::now();
    assert_int_equal(fi_wait(s.set, 15), -FI_ETIMEDOUT);
    assert_true(std::chrono::steady_clock::now() - start >= 15ms);
    assert_int_equal(domain.source.armed(), 0);
    assert_true(domain.progressed.load() > 0);
  }
}

void wait__is_woken_from_another_thread(void **) {
  for (const fi_progress p : {FI_PROGRESS_MANUAL, FI_PROGRESS_AUTO}) {
    fake::Fabric fabric;
    fake::Domain domain(FI_THREAD_SAFE, p);
    Set s(fabric);
    Members m(fabric, domain, s);
    for (int i = 0; i < 300; ++i) {
      std::thread other([&] { i % 3 == 0 ? m.complete() : i % 3 == 1 ? m.count() : m.event(); });
      assert_int_equal(fi_wait(s.set, -1), 0);
      other.join();
      m.read_all();
    }
  }
}

void wait__is_woken_by_the_sources_of_all_domains(void **) {
  fake::Fabric fabric;
  fake::Domain domains[2];
  Set s(fabric);
  Members m(fabric, domains[0], s), n(fabric, domains[1], s);
  domains[0].on_progress = [&] {
    if (domains[0].source.take())
      m.complete();
  };
  domains[1].on_progress = [&] {
    if (domains[1].source.take())
      n.count();
  };
  for (int i = 0; i < 100; ++i) {
    std::thread peer([&] { domains[i % 2].source.arrive(); });
    assert_int_equal(fi_wait(s.set, -1), 0);
    peer.join();
    m.read_all();
    n.read_all();
  }
  assert_int_equal(domains[0].source.armed(), 0);
}

void wait__sees_a_member_that_comes_meanwhile(void **) {
  fake::Fabric fabric;
  fake::Domain domain;
  Set s(fabric);
  domain.source.arrive();
  std::unique_ptr<Members> m;
  std::atomic<Members *> there{nullptr};
  domain.on_progress = [&] {
    if (Members *members = there.load(); members && domain.source.take())
      members->complete();
  };
  std::thread waiter([&] { assert_int_equal(fi_wait(s.set, -1), 0); });
  m = std::make_unique<Members>(fabric, domain, s);
  there = m.get();
  m->count(); // whatever the waiter has missed of its coming
  waiter.join();
}

void signal__of_a_member_wakes_the_set(void **) {
  fake::Fabric fabric;
  fake::Domain domain;
  Set s(fabric);
  Members m(fabric, domain, s);
  fi_cq_entry e;
  assert_int_equal(fi_cq_sread(m.cq, &e, 1, nullptr, -1), -FI_ENOSYS);
  assert_int_equal(fi_cntr_wait(m.cntr, 1, -1), -FI_ENOSYS);
  assert_int_equal(fi_cq_signal(m.cq), 0);
  assert_int_equal(fi_wait(s.set, -1), 0);
  assert_int_equal(fi_wait(s.set, 0), -FI_ETIMEDOUT); // used up
}

void trywait__of_the_set_or_a_member(void **) {
  fake::Fabric fabric;
  fake::Domain domain;
  Set s(fabric, FI_WAIT_FD);
  Members m(fabric, domain, s);
  int fd;
  assert_int_equal(fi_control(&s.set->fid, FI_GETWAIT, &fd), 0);
  fi_wait_obj object;
  assert_int_equal(fi_control(&m.cq->fid, FI_GETWAITOBJ, &object), 0);
  assert_int_equal(object, FI_WAIT_SET);
  pollfd p{fd, POLLIN, 0};
  struct fid *all[] = {&s.set->fid, &m.cq->fid, &m.cntr->fid, &m.eq->fid};
  for (struct fid *&f : all) {
    assert_int_equal(util_ext::Fabric::trywait(nullptr, &f, 1), 0);
    assert_int_equal(poll(&p, 1, 0), 0);
    m.count();
    assert_int_equal(poll(&p, 1, 0), 1);
    assert_int_equal(util_ext::Fabric::trywait(nullptr, &f, 1), -FI_EAGAIN);
    m.read_all();
  }
  assert_int_equal(util_ext::Fabric::trywait(nullptr, all, 4), 0);
  domain.source.arrive();
  assert_int_equal(poll(&p, 1, 0), 1);
  m.read_all(); // back from poll(): nothing need watch any more
  assert_int_equal(domain.source.armed(), 0);
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(open__refuses_what_is_no_wait_object),
    cmocka_unit_test(close__is_busy_while_something_is_in_it),
    cmocka_unit_test(wait__returns_for_any_member_and_until_all_are_read),
    cmocka_unit_test(wait__is_woken_from_another_thread),
    cmocka_unit_test(wait__is_woken_by_the_sources_of_all_domains),
    cmocka_unit_test(wait__sees_a_member_that_comes_meanwhile),
    cmocka_unit_test(signal__of_a_member_wakes_the_set),
    cmocka_unit_test(trywait__of_the_set_or_a_member),
};
static const unit::Group group{"wait_set", cases};
