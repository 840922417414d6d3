// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/eq.h"

#include "fake.h"

#include <chrono>
#include <cstring>
#include <poll.h>
#include <thread>

#include "unit/unit.h"

using util_ext::Eq;
using util_ext::EventError;

namespace {

class Queue {
public:
  explicit Queue(fake::Fabric &fabric, fi_wait_obj wait = FI_WAIT_NONE, std::size_t size = 0,
                 std::uint64_t flags = FI_WRITE) {
    fi_eq_attr attr{};
    attr.size = size;
    attr.flags = flags;
    attr.wait_obj = wait;
    assert_int_equal(Eq::open(fabric, &attr, &eq, this), 0);
  }
  ~Queue() { fi_close(&eq->fid); }
  Queue(const Queue &) = delete;
  Eq &impl() { return *Eq::from(&eq->fid); }

  ssize_t put(std::uint64_t data) {
    fi_eq_entry e{&eq->fid, this, data};
    return fi_eq_write(eq, FI_NOTIFY, &e, sizeof e, 0);
  }
  ssize_t get(fi_eq_entry &e, std::uint64_t flags = 0) {
    std::uint32_t event = 99;
    const ssize_t rc = fi_eq_read(eq, &event, &e, sizeof e, flags);
    if (rc > 0)
      assert_int_equal(event, FI_NOTIFY);
    return rc;
  }

  fid_eq *eq = nullptr;
};

void open__refuses_what_it_cannot_do_and_says_so(void **) {
  fake::Fabric fabric;
  fid_eq *eq;
  fi_eq_attr attr{};
  attr.wait_obj = FI_WAIT_SET; // which?
  assert_int_equal(Eq::open(fabric, &attr, &eq, nullptr), -FI_EINVAL);
  attr = {};
  attr.flags = FI_MORE;
  assert_int_equal(Eq::open(fabric, &attr, &eq, nullptr), -FI_EINVAL);
  assert_int_equal(fake::take_log().size(), 2);
  assert_false(fabric.in_use());
  assert_int_equal(Eq::open(fabric, nullptr, &eq, nullptr), 0);
  assert_true(fabric.in_use());
  assert_int_equal(fi_close(&eq->fid), 0);
  assert_false(fabric.in_use());
}

void close__is_busy_while_something_is_bound(void **) {
  fake::Fabric fabric;
  Queue q(fabric);
  q.impl().acquire();
  assert_int_equal(fi_close(&q.eq->fid), -FI_EBUSY);
  q.impl().release();
}

void write__needs_the_flag_and_room(void **) {
  fake::Fabric fabric;
  Queue readonly(fabric, FI_WAIT_NONE, 0, 0), q(fabric, FI_WAIT_NONE, 2);
  assert_int_equal(readonly.put(1), -FI_EINVAL);
  assert_int_equal(fake::take_log().size(), 1);
  assert_int_equal(q.put(1), sizeof(fi_eq_entry));
  assert_int_equal(q.put(2), sizeof(fi_eq_entry));
  assert_int_equal(q.put(3), -FI_EAGAIN);
  assert_int_equal(q.impl().write(FI_NOTIFY, "x", 1), 0); // the provider's own always fit
}

void read__peeks_and_takes_in_order(void **) {
  fake::Fabric fabric;
  Queue q(fabric);
  fi_eq_entry e{};
  assert_int_equal(q.get(e), -FI_EAGAIN);
  q.put(1);
  q.put(2);
  for (int i = 0; i < 2; ++i) {
    assert_int_equal(q.get(e, FI_PEEK), sizeof e);
    assert_int_equal(e.data, 1);
    assert_ptr_equal(e.context, &q);
    assert_ptr_equal(e.fid, &q.eq->fid);
  }
  assert_int_equal(q.get(e), sizeof e);
  assert_int_equal(q.get(e), sizeof e);
  assert_int_equal(e.data, 2);
  assert_int_equal(q.get(e), -FI_EAGAIN);
}

void read__keeps_an_event_that_does_not_fit(void **) {
  fake::Fabric fabric;
  Queue q(fabric);
  q.put(1);
  std::uint32_t event;
  char small[4];
  assert_int_equal(fi_eq_read(q.eq, &event, small, sizeof small, 0), -FI_ETOOSMALL);
  fi_eq_entry e;
  assert_int_equal(q.get(e), sizeof e);
}

void readerr__comes_in_its_place(void **) {
  fake::Fabric fabric;
  Queue q(fabric);
  EventError error;
  error.fid = &q.eq->fid;
  error.context = &error;
  error.data = 3;
  error.err = FI_EINVAL;
  error.prov_errno = 4;
  error.err_data = "abc";
  error.err_data_size = 3;
  q.put(1);
  q.impl().write_error(error);
  q.put(2);
  fi_eq_entry e;
  fi_eq_err_entry err{};
  assert_int_equal(fi_eq_readerr(q.eq, &err, 0), -FI_EAGAIN);
  assert_int_equal(q.get(e), sizeof e);
  assert_int_equal(q.get(e), -FI_EAVAIL);
  for (const std::uint64_t flags : {FI_PEEK, 0ULL}) {
    err = {};
    assert_int_equal(fi_eq_readerr(q.eq, &err, flags), sizeof err);
    assert_true(err.fid == &q.eq->fid && err.context == &error && err.data == 3 &&
                err.err == FI_EINVAL && err.prov_errno == 4 && err.err_data_size == 3);
    assert_memory_equal(err.err_data, "abc", 3);
  }
  assert_int_equal(q.get(e), sizeof e);
  assert_int_equal(e.data, 2);
}

void readerr__gives_old_applications_the_providers_buffer(void **) {
  fake::Fabric fabric(FI_VERSION(1, 4));
  Queue q(fabric);
  EventError error;
  error.err_data = "abc";
  error.err_data_size = 3;
  q.impl().write_error(error);
  char own[8];
  fi_eq_err_entry err{};
  err.err_data = own;
  err.err_data_size = sizeof own;
  assert_int_equal(fi_eq_readerr(q.eq, &err, 0), sizeof err);
  assert_ptr_not_equal(err.err_data, own);
  assert_int_equal(err.err_data_size, 3);
}

void forget__drops_what_is_about_a_closed_object(void **) {
  fake::Fabric fabric;
  Queue q(fabric), other(fabric);
  EventError error;
  error.fid = &other.eq->fid;
  fi_eq_entry about_other{&other.eq->fid, nullptr, 0};
  q.impl().write_error(error);
  q.impl().write(FI_NOTIFY, &about_other, sizeof about_other);
  q.put(5);
  q.impl().forget(&other.eq->fid);
  fi_eq_entry e;
  assert_int_equal(q.get(e), sizeof e);
  assert_int_equal(e.data, 5);
  assert_int_equal(q.get(e), -FI_EAGAIN);
}

void sread__waits(void **) {
  fake::Fabric fabric;
  Queue none(fabric), q(fabric, FI_WAIT_FD);
  fi_eq_entry e;
  std::uint32_t event;
  assert_int_equal(fi_eq_sread(none.eq, &event, &e, sizeof e, 0, 0), -FI_ENOSYS);
  const auto start = std::chrono::steady_clock::now();
  assert_int_equal(fi_eq_sread(q.eq, &event, &e, sizeof e, 15, 0), -FI_EAGAIN);
  assert_true(std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(15));

  std::thread writer([&] {
    for (std::uint64_t i = 0; i < 100; ++i)
      q.put(i);
  });
  for (std::uint64_t i = 0; i < 100; ++i) {
    assert_int_equal(fi_eq_sread(q.eq, &event, &e, sizeof e, 30000, FI_PEEK), sizeof e);
    assert_int_equal(fi_eq_sread(q.eq, &event, &e, sizeof e, 30000, 0), sizeof e);
    assert_int_equal(e.data, i);
  }
  writer.join();
}

void try_wait__arms_the_descriptor(void **) {
  fake::Fabric fabric;
  Queue q(fabric, FI_WAIT_FD);
  int fd;
  assert_int_equal(fi_control(&q.eq->fid, FI_GETWAIT, &fd), 0);
  pollfd p{fd, POLLIN, 0};
  assert_int_equal(q.impl().try_wait(), 0);
  assert_int_equal(poll(&p, 1, 0), 0);
  q.put(1);
  assert_int_equal(poll(&p, 1, 0), 1);
  assert_int_equal(q.impl().try_wait(), -FI_EAGAIN);
}

void strerror__explains_the_providers_number(void **) {
  fake::Fabric fabric;
  Queue q(fabric);
  char buf[4];
  assert_non_null(fi_eq_strerror(q.eq, FI_EINVAL, nullptr, nullptr, 0));
  assert_int_equal(std::strlen(fi_eq_strerror(q.eq, FI_EINVAL, nullptr, buf, sizeof buf)), 3);
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(open__refuses_what_it_cannot_do_and_says_so),
    cmocka_unit_test(close__is_busy_while_something_is_bound),
    cmocka_unit_test(write__needs_the_flag_and_room),
    cmocka_unit_test(read__peeks_and_takes_in_order),
    cmocka_unit_test(read__keeps_an_event_that_does_not_fit),
    cmocka_unit_test(readerr__comes_in_its_place),
    cmocka_unit_test(readerr__gives_old_applications_the_providers_buffer),
    cmocka_unit_test(forget__drops_what_is_about_a_closed_object),
    cmocka_unit_test(sread__waits),
    cmocka_unit_test(try_wait__arms_the_descriptor),
    cmocka_unit_test(strerror__explains_the_providers_number),
};
static const unit::Group group{"eq", cases};
