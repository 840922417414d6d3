// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/cntr.h"

#include "fake.h"

#include <poll.h>
#include <thread>

#include "unit/unit.h"

using util_ext::Cntr;

namespace {

class Counter {
public:
  explicit Counter(fake::Domain &domain, fi_wait_obj wait = FI_WAIT_UNSPEC) {
    fi_cntr_attr attr{};
    attr.wait_obj = wait;
    assert_int_equal(Cntr::open(domain, &attr, &cntr, this), 0);
  }
  ~Counter() { fi_close(&cntr->fid); }
  Counter(const Counter &) = delete;
  Cntr &impl() { return *Cntr::from(&cntr->fid); }

  fid_cntr *cntr = nullptr;
};

void open__refuses_what_it_cannot_do_and_says_so(void **) {
  fake::Domain domain;
  fid_cntr *cntr;
  fi_cntr_attr attr{};
  fake::put_raw(attr.events, 1); // bytes, in newer headers
  assert_int_equal(Cntr::open(domain, &attr, &cntr, nullptr), -FI_ENOSYS);
  attr = {};
  attr.wait_obj = FI_WAIT_SET;
  assert_int_equal(Cntr::open(domain, &attr, &cntr, nullptr), -FI_EINVAL); // which set?
  attr = {};
  attr.flags = 1;
  assert_int_equal(Cntr::open(domain, &attr, &cntr, nullptr), -FI_EINVAL);
  assert_int_equal(fake::take_log().size(), 3);
  assert_false(domain.in_use());
}

void open__as_many_as_the_limit_says(void **) {
  fake::Domain domain;
  domain.limits.cntrs = 1;
  fid_cntr *second;
  fi_cntr_attr attr{};
  {
    Counter c(domain);
    fake::take_log();
    assert_int_equal(Cntr::open(domain, &attr, &second, nullptr), -FI_ENOSPC);
    assert_int_equal(fake::take_log().size(), 1);
  }
  Counter again(domain);
}

void close__is_busy_while_an_endpoint_holds_it(void **) {
  fake::Domain domain;
  Counter c(domain);
  c.impl().acquire();
  assert_int_equal(fi_close(&c.cntr->fid), -FI_EBUSY);
  c.impl().release();
}

void values__are_added_and_set_modulo_2_64(void **) {
  for (const fi_threading t : {FI_THREAD_DOMAIN, FI_THREAD_SAFE}) {
    fake::Domain domain(t);
    Counter c(domain);
    assert_int_equal(fi_cntr_set(c.cntr, 10), 0);
    assert_int_equal(fi_cntr_seterr(c.cntr, 20), 0);
    assert_int_equal(fi_cntr_add(c.cntr, 5), 0);
    assert_int_equal(fi_cntr_adderr(c.cntr, ~std::uint64_t{0} - 6), 0);
    c.impl().add(1);
    c.impl().add_error(2);
    assert_int_equal(fi_cntr_read(c.cntr), 16);
    assert_int_equal(fi_cntr_readerr(c.cntr), 15);
    assert_int_equal(c.impl().value(), 16);
    assert_int_equal(c.impl().errors(), 15);
  }
}

void read__drives_progress(void **) {
  fake::Domain domain;
  Counter c(domain);
  domain.on_progress = [&] { c.impl().add(1); };
  assert_int_equal(fi_cntr_read(c.cntr), 1);
  assert_int_equal(fi_cntr_read(c.cntr), 2);
  fake::Domain automatic(FI_THREAD_SAFE, FI_PROGRESS_AUTO);
  Counter d(automatic);
  fi_cntr_read(d.cntr);
  assert_int_equal(automatic.progressed.load(), 0);
  assert_int_equal(automatic.in_vain.load(), 1);
}

void wait__ends_at_the_threshold_an_error_or_the_time(void **) {
  for (const fi_wait_obj w : {FI_WAIT_UNSPEC, FI_WAIT_FD, FI_WAIT_YIELD}) {
    fake::Domain domain;
    Counter c(domain, w);
    fi_cntr_set(c.cntr, 5);
    assert_int_equal(fi_cntr_wait(c.cntr, 5, -1), 0);
    assert_int_equal(fi_cntr_wait(c.cntr, 6, 0), -FI_ETIMEDOUT);
    assert_int_equal(fi_cntr_wait(c.cntr, 6, 5), -FI_ETIMEDOUT);
    fi_cntr_adderr(c.cntr, 1); // before it was called: not a change
    assert_int_equal(fi_cntr_wait(c.cntr, 6, 5), -FI_ETIMEDOUT);
    std::atomic<bool> ended{false};
    std::thread other([&] {
      while (!ended) // the first may come before the wait begins
        c.impl().add_error(1);
    });
    assert_int_equal(fi_cntr_wait(c.cntr, 6, 30000), -FI_EAVAIL);
    ended = true;
    other.join();
  }
}

void wait__makes_progress(void **) {
  fake::Domain domain;
  Counter c(domain);
  domain.on_progress = [&] { c.impl().add(1); };
  assert_int_equal(fi_cntr_wait(c.cntr, 1, 0), 0);
  domain.on_progress = [&] { c.impl().add_error(1); };
  assert_int_equal(fi_cntr_wait(c.cntr, 100, -1), -FI_EAVAIL);
}

void wait__is_for_counters_without_a_wait_object_too(void **) {
  fake::Domain domain;
  Counter c(domain, FI_WAIT_NONE);
  assert_int_equal(fi_cntr_wait(c.cntr, 0, 0), 0);
  assert_int_equal(fi_cntr_wait(c.cntr, 1, 10), -FI_ETIMEDOUT);
  std::thread other([&] { c.impl().add(1); });
  assert_int_equal(fi_cntr_wait(c.cntr, 1, -1), 0);
  other.join();
}

void wait__is_woken_each_time(void **) {
  for (const fi_progress p : {FI_PROGRESS_MANUAL, FI_PROGRESS_AUTO}) {
    fake::Domain domain(FI_THREAD_SAFE, p);
    Counter there(domain), back(domain);
    std::thread other([&] {
      for (std::uint64_t i = 1; i <= 500; ++i) {
        assert_int_equal(fi_cntr_wait(there.cntr, i, 30000), 0);
        back.impl().add(1);
      }
    });
    for (std::uint64_t i = 1; i <= 500; ++i) {
      there.impl().add(1);
      assert_int_equal(fi_cntr_wait(back.cntr, i, 30000), 0);
    }
    other.join();
  }
}

// Each waits for another value: what wakes one must not be lost for the other.
void wait__by_several_threads(void **) {
  fake::Domain domain(FI_THREAD_SAFE, FI_PROGRESS_AUTO);
  Counter c(domain);
  std::vector<std::thread> waiters;
  for (std::uint64_t n = 1; n <= 4; ++n)
    waiters.emplace_back([&c, n] { assert_int_equal(fi_cntr_wait(c.cntr, n * 1000, 30000), 0); });
  for (int i = 0; i < 4000; ++i)
    c.impl().add(1);
  for (auto &w : waiters)
    w.join();
}

bool readable(int fd) {
  pollfd p{fd, POLLIN, 0};
  return poll(&p, 1, 0) == 1;
}

void try_wait__arms_the_descriptor(void **) {
  fake::Domain domain;
  Counter c(domain, FI_WAIT_FD);
  int fd;
  assert_int_equal(fi_control(&c.cntr->fid, FI_GETWAIT, &fd), 0);
  assert_int_equal(c.impl().try_wait(), 0);
  assert_false(readable(fd));
  c.impl().add(1);
  assert_true(readable(fd));
  assert_int_equal(c.impl().try_wait(), -FI_EAGAIN); // not read yet
  assert_int_equal(fi_cntr_read(c.cntr), 1);
  assert_int_equal(c.impl().try_wait(), 0);
  assert_false(readable(fd));
  c.impl().add_error(1);
  assert_true(readable(fd));
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(open__refuses_what_it_cannot_do_and_says_so),
    cmocka_unit_test(open__as_many_as_the_limit_says),
    cmocka_unit_test(close__is_busy_while_an_endpoint_holds_it),
    cmocka_unit_test(values__are_added_and_set_modulo_2_64),
    cmocka_unit_test(read__drives_progress),
    cmocka_unit_test(wait__ends_at_the_threshold_an_error_or_the_time),
    cmocka_unit_test(wait__makes_progress),
    cmocka_unit_test(wait__is_for_counters_without_a_wait_object_too),
    cmocka_unit_test(wait__is_woken_each_time),
    cmocka_unit_test(wait__by_several_threads),
    cmocka_unit_test(try_wait__arms_the_descriptor),
};
static const unit::Group group{"cntr", cases};
