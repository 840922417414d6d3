// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/cq.h"

#include "fake.h"

#include <cstring>

#include "cq_queue.h"

using util_ext::Completion;
using util_ext::CompletionError;
using util_ext::Cq;

namespace {

int context;

Completion sample() {
  Completion c;
  c.op_context = &context;
  c.flags = FI_RECV | FI_TAGGED | FI_REMOTE_CQ_DATA;
  c.len = 11;
  c.buf = &c;
  c.data = 22;
  c.tag = 33;
  c.src = 44;
  return c;
}

// ---- open

int open_with(fake::Domain &domain, const fi_cq_attr &attr) {
  fid_cq *cq = nullptr;
  const int rc = Cq::open(domain, &attr, &cq, nullptr);
  if (rc == 0)
    fi_close(&cq->fid);
  return rc;
}

void open__refuses_what_it_cannot_do_and_says_so(void **) {
  fake::Domain domain;
  fi_cq_attr attr{};
  fake::put_raw(attr.wait_obj, FI_WAIT_POLLFD + 1);
  assert_int_equal(open_with(domain, attr), -FI_EINVAL);
  fid_wait foreign{};
  for (fid_wait *set : {static_cast<fid_wait *>(nullptr), &foreign}) {
    attr = {};
    attr.wait_obj = FI_WAIT_SET;
    attr.wait_set = set;
    assert_int_equal(open_with(domain, attr), -FI_EINVAL);
  }
  attr = {};
  attr.flags = FI_MORE;
  assert_int_equal(open_with(domain, attr), -FI_EINVAL);
  attr = {};
  fake::put_raw(attr.format, 9);
  assert_int_equal(open_with(domain, attr), -FI_EINVAL);
  attr = {};
  attr.wait_obj = FI_WAIT_FD;
  fake::put_raw(attr.wait_cond, 9);
  assert_int_equal(open_with(domain, attr), -FI_EINVAL);
  attr = {};
  attr.size = ~std::size_t{0};
  assert_int_equal(open_with(domain, attr), -FI_EINVAL);
  assert_int_equal(fake::take_log().size(), 7);
  assert_false(domain.in_use());

  attr = {};
  attr.wait_obj = FI_WAIT_FD;
  domain.source.blind = true;
  assert_int_equal(open_with(domain, attr), -FI_ENOSYS);
  fake::take_log();
}

void open__takes_the_affinity_hint(void **) {
  fake::Domain domain;
  fi_cq_attr attr{};
  attr.flags = FI_AFFINITY;
  attr.signaling_vector = 1;
  assert_int_equal(open_with(domain, attr), 0);
}

void close__is_busy_while_an_endpoint_holds_it(void **) {
  fake::Domain domain;
  Queue q(domain);
  q.impl().acquire();
  assert_int_equal(fi_close(&q.cq->fid), -FI_EBUSY);
  assert_true(domain.in_use());
  q.impl().release();
}

// ---- read

void read__gives_the_format_that_was_asked_for(void **) {
  fake::Domain domain;
  const Completion c = sample();
  {
    Queue q(domain, FI_WAIT_NONE, 0, FI_CQ_FORMAT_CONTEXT);
    fi_cq_entry e[2]{};
    q.impl().write(c);
    assert_int_equal(fi_cq_read(q.cq, e, 2), 1);
    assert_ptr_equal(e[0].op_context, &context);
    assert_null(e[1].op_context);
  }
  {
    Queue q(domain, FI_WAIT_NONE, 0, FI_CQ_FORMAT_MSG);
    fi_cq_msg_entry e{};
    q.impl().write(c);
    assert_int_equal(fi_cq_read(q.cq, &e, 1), 1);
    assert_true(e.op_context == &context && e.flags == c.flags && e.len == 11);
  }
  {
    Queue q(domain, FI_WAIT_NONE, 0, FI_CQ_FORMAT_DATA);
    fi_cq_data_entry e{};
    q.impl().write(c);
    assert_int_equal(fi_cq_read(q.cq, &e, 1), 1);
    assert_true(e.op_context == &context && e.flags == c.flags && e.len == 11 && e.buf == c.buf &&
                e.data == 22);
  }
  {
    Queue q(domain);
    fi_cq_tagged_entry e{};
    fi_addr_t src = 0;
    q.impl().write(c);
    assert_int_equal(fi_cq_readfrom(q.cq, &e, 1, &src), 1);
    assert_true(e.op_context == &context && e.flags == c.flags && e.len == 11 && e.buf == c.buf &&
                e.data == 22 && e.tag == 33 && src == 44);
  }
}

void read__of_an_unspecified_format_fits_any_buffer(void **) {
  fake::Domain domain;
  Queue q(domain, FI_WAIT_NONE, 0, FI_CQ_FORMAT_UNSPEC);
  q.impl().write(sample());
  void *one[2] = {nullptr, &one};
  assert_int_equal(fi_cq_read(q.cq, one, 1), 1);
  assert_ptr_equal(one[0], &context);
  assert_ptr_equal(one[1], &one);
}

void readfrom__has_no_address_of_an_unknown_source(void **) {
  fake::Domain domain;
  Queue q(domain);
  q.write(1);
  fi_cq_tagged_entry e;
  fi_addr_t src = 0;
  assert_int_equal(fi_cq_readfrom(q.cq, &e, 1, &src), 1);
  assert_true(src == FI_ADDR_NOTAVAIL);
}

void read__keeps_order_over_many_chunks(void **) {
  fake::Domain domain(FI_THREAD_DOMAIN);
  Queue q(domain);
  for (std::uint64_t i = 0; i < 1000; ++i)
    q.write(i);
  fi_cq_tagged_entry e[300];
  std::uint64_t next = 0;
  for (ssize_t n; (n = fi_cq_read(q.cq, e, 300)) > 0;)
    for (ssize_t i = 0; i < n; ++i)
      assert_int_equal(e[i].tag, next++);
  assert_int_equal(next, 1000);
}

void read__serves_first_and_drives_progress_now_and_then(void **) {
  fake::Domain domain;
  Queue q(domain);
  for (std::uint64_t i = 0; i < 64; ++i)
    q.write(i);
  for (std::uint64_t i = 0; i < 32; ++i)
    assert_int_equal(q.read_tag(), i);
  assert_int_equal(domain.progressed.load(), 2);
}

void read__of_an_empty_queue_drives_progress_once_and_looks_again(void **) {
  fake::Domain domain;
  Queue q(domain);
  fi_cq_tagged_entry e;
  assert_int_equal(fi_cq_read(q.cq, &e, 1), -FI_EAGAIN);
  assert_int_equal(domain.progressed.load(), 1);
  domain.on_progress = [&] { q.write(7); };
  assert_int_equal(q.read_tag(), 7);
  assert_int_equal(domain.progressed.load(), 2);
}

void read__of_none_only_drives_progress(void **) {
  fake::Domain domain;
  Queue q(domain);
  assert_int_equal(fi_cq_read(q.cq, nullptr, 0), -FI_EAGAIN);
  q.write(1);
  assert_int_equal(fi_cq_read(q.cq, nullptr, 0), 0);
  assert_int_equal(domain.progressed.load(), 2);
  assert_int_equal(q.read_tag(), 1);
}

void read__leaves_progress_to_the_thread_that_has_it(void **) {
  fake::Domain domain(FI_THREAD_SAFE, FI_PROGRESS_AUTO);
  Queue q(domain);
  fi_cq_tagged_entry e;
  assert_int_equal(fi_cq_read(q.cq, &e, 1), -FI_EAGAIN);
  assert_int_equal(domain.progressed.load(), 0);
  assert_int_equal(domain.in_vain.load(), 1); // the thread may be waiting for this processor
  q.write(1);
  assert_int_equal(fi_cq_read(q.cq, &e, 1), 1);
  assert_int_equal(domain.in_vain.load(), 1);
  fake::Domain manual;
  Queue own(manual);
  assert_int_equal(fi_cq_read(own.cq, &e, 1), -FI_EAGAIN);
  assert_int_equal(manual.in_vain.load(), 0);
}

// ---- errors

void readerr__comes_in_its_place(void **) {
  fake::Domain domain;
  Queue q(domain);
  fi_cq_tagged_entry e[8];
  fi_cq_err_entry err{};
  q.write(1);
  q.write_failure(FI_EIO);
  q.write(2);
  assert_int_equal(fi_cq_readerr(q.cq, &err, 0), -FI_EAGAIN); // the first is none
  assert_int_equal(fi_cq_read(q.cq, e, 8), 1);
  assert_int_equal(fi_cq_read(q.cq, e, 8), -FI_EAVAIL);
  assert_int_equal(fi_cq_read(q.cq, e, 8), -FI_EAVAIL);
  assert_int_equal(fi_cq_readerr(q.cq, &err, 0), 1);
  assert_int_equal(err.err, FI_EIO);
  assert_int_equal(fi_cq_read(q.cq, e, 8), 1);
  assert_int_equal(e[0].tag, 2);
  assert_int_equal(fi_cq_readerr(q.cq, &err, 0), -FI_EAGAIN);
}

void readerr__reports_every_field(void **) {
  fake::Domain domain;
  Queue q(domain);
  CompletionError error;
  error.entry = sample();
  error.olen = 5;
  error.err = FI_ETRUNC;
  error.prov_errno = 6;
  error.err_data = "abc";
  error.err_data_size = 3;
  q.impl().write_error(error);
  fi_cq_err_entry e{};
  assert_int_equal(fi_cq_readerr(q.cq, &e, 0), 1);
  assert_ptr_equal(e.op_context, &context);
  assert_true(e.flags == error.entry.flags && e.len == 11 && e.buf == error.entry.buf &&
              e.data == 22 && e.tag == 33 && e.olen == 5 && e.err == FI_ETRUNC &&
              e.prov_errno == 6);
  assert_int_equal(e.err_data_size, 3);
  assert_memory_equal(e.err_data, "abc", 3);
}

void readerr__copies_into_the_callers_buffer(void **) {
  fake::Domain domain;
  Queue q(domain);
  CompletionError error;
  error.err = FI_EADDRNOTAVAIL;
  error.err_data = "abcdef";
  error.err_data_size = 6;
  char small[4] = "...", large[16];
  fi_cq_err_entry e{};
  q.impl().write_error(error);
  e.err_data = small;
  e.err_data_size = 3;
  assert_int_equal(fi_cq_readerr(q.cq, &e, 0), 1);
  assert_ptr_equal(e.err_data, small);
  assert_int_equal(e.err_data_size, 3);
  assert_string_equal(small, "abc");

  q.impl().write_error(error);
  e.err_data = large;
  e.err_data_size = sizeof large;
  assert_int_equal(fi_cq_readerr(q.cq, &e, 0), 1);
  assert_int_equal(e.err_data_size, 6);
  assert_memory_equal(large, "abcdef", 6);
}

// A structure of before 1.5 ends with err_data.
void readerr__writes_no_more_than_an_old_application_knows(void **) {
  fake::Domain domain(FI_THREAD_SAFE, FI_PROGRESS_MANUAL, FI_VERSION(1, 4));
  Queue q(domain);
  CompletionError error;
  error.err = FI_EIO;
  error.err_data = "abc";
  error.err_data_size = 3;
  q.impl().write_error(error);
  fi_cq_err_entry e{};
  std::memset(&e, 0xee, sizeof e);
  assert_int_equal(q.cq->ops->readerr(q.cq, &e, 0), 1);
  assert_memory_equal(e.err_data, "abc", 3);
  unsigned char rest[sizeof e];
  std::memset(rest, 0xee, sizeof rest);
  const std::size_t end = offsetof(fi_cq_err_entry, err_data_size);
  assert_memory_equal(reinterpret_cast<unsigned char *>(&e) + end, rest, sizeof e - end);
}

void strerror__explains_the_providers_number(void **) {
  fake::Domain domain;
  Queue q(domain);
  char buf[64];
  assert_string_equal(fi_cq_strerror(q.cq, FI_ETRUNC, nullptr, buf, sizeof buf),
                      fi_strerror(FI_ETRUNC));
  assert_non_null(fi_cq_strerror(q.cq, ETIMEDOUT, nullptr, nullptr, 0));
}

// ---- room, overrun

void room__is_there_up_to_the_size_and_nothing_is_lost_beyond(void **) {
  fake::Domain domain;
  Queue q(domain, FI_WAIT_NONE, 3);
  for (std::uint64_t i = 0; i < 3; ++i) {
    assert_true(q.impl().room());
    q.write(i);
  }
  assert_false(q.impl().room());
  for (std::uint64_t i = 3; i < 500; ++i)
    q.write(i);
  for (std::uint64_t i = 0; i < 500; ++i)
    assert_int_equal(q.read_tag(), i);
  assert_true(q.impl().room());
}

void room__of_a_queue_that_left_its_size_open(void **) {
  fake::Domain domain;
  domain.limits.cq_size = 2;
  Queue q(domain);
  q.write(0);
  assert_true(q.impl().room());
  q.write(0);
  assert_false(q.impl().room());
}

void overrun__is_told_once_and_is_final(void **) {
  fake::Domain domain;
  domain.limits.cq_overrun = 2;
  domain.limits.cq_overrun_advice = "ask for a larger one";
  Queue q(domain, FI_WAIT_NONE, 2);
  fake::take_log();
  for (std::uint64_t i = 0; i < 4; ++i)
    q.write(i);
  assert_int_equal(fake::take_log().size(), 0);
  q.write(4);
  q.write_failure(FI_EIO);
  const auto log = fake::take_log();
  assert_int_equal(log.size(), 1);
  assert_non_null(std::strstr(log[0].c_str(), "size 2"));
  assert_non_null(std::strstr(log[0].c_str(), "ask for a larger one"));

  for (std::uint64_t i = 0; i < 4; ++i)
    assert_int_equal(q.read_tag(), i);
  q.write(9);
  assert_false(q.impl().room());
  fi_cq_tagged_entry e;
  for (int i = 0; i < 2; ++i) {
    assert_int_equal(fi_cq_read(q.cq, &e, 1), -FI_EAVAIL);
    fi_cq_err_entry err{};
    assert_int_equal(fi_cq_readerr(q.cq, &err, 0), 1);
    assert_int_equal(err.err, FI_EOVERRUN);
  }
  fake::take_log();
}

void overrun__for_want_of_memory(void **) {
  fake::Domain domain;
  fi_cq_err_entry err{};
  Queue q(domain);
  {
    const fake::NoMemory none;
    q.write(1);
  }
  assert_int_equal(fake::take_log().size(), 1);
  assert_int_equal(fi_cq_readerr(q.cq, &err, 0), 1);
  assert_int_equal(err.err, FI_EOVERRUN);
}

// That it failed is told, if not all about it.
void error__without_memory_keeps_its_number(void **) {
  fake::Domain domain;
  Queue q(domain);
  q.write(1);
  {
    const fake::NoMemory none;
    const std::uint64_t data = 5;
    q.impl().write_error({.entry = {.op_context = &domain, .tag = 7},
                          .olen = 3,
                          .err = FI_ETRUNC,
                          .prov_errno = -12,
                          .err_data = &data,
                          .err_data_size = sizeof data});
  }
  assert_int_equal(fake::take_log().size(), 0);
  q.read_tag();
  fi_cq_err_entry err{};
  assert_int_equal(fi_cq_readerr(q.cq, &err, 0), 1);
  assert_int_equal(err.err, FI_ETRUNC);
  assert_int_equal(err.prov_errno, -12);
  assert_int_equal(err.tag, 7);
  assert_ptr_equal(err.op_context, &domain);
  assert_int_equal(err.olen, 0);
  assert_int_equal(err.err_data_size, 0);
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(open__refuses_what_it_cannot_do_and_says_so),
    cmocka_unit_test(open__takes_the_affinity_hint),
    cmocka_unit_test(close__is_busy_while_an_endpoint_holds_it),
    cmocka_unit_test(read__gives_the_format_that_was_asked_for),
    cmocka_unit_test(read__of_an_unspecified_format_fits_any_buffer),
    cmocka_unit_test(readfrom__has_no_address_of_an_unknown_source),
    cmocka_unit_test(read__keeps_order_over_many_chunks),
    cmocka_unit_test(read__serves_first_and_drives_progress_now_and_then),
    cmocka_unit_test(read__of_an_empty_queue_drives_progress_once_and_looks_again),
    cmocka_unit_test(read__of_none_only_drives_progress),
    cmocka_unit_test(read__leaves_progress_to_the_thread_that_has_it),
    cmocka_unit_test(readerr__comes_in_its_place),
    cmocka_unit_test(readerr__reports_every_field),
    cmocka_unit_test(readerr__copies_into_the_callers_buffer),
    cmocka_unit_test(readerr__writes_no_more_than_an_old_application_knows),
    cmocka_unit_test(strerror__explains_the_providers_number),
    cmocka_unit_test(room__is_there_up_to_the_size_and_nothing_is_lost_beyond),
    cmocka_unit_test(room__of_a_queue_that_left_its_size_open),
    cmocka_unit_test(overrun__is_told_once_and_is_final),
    cmocka_unit_test(overrun__for_want_of_memory),
    cmocka_unit_test(error__without_memory_keeps_its_number),
};
static const unit::Group group{"cq", cases};
