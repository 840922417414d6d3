// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A completion queue for the tests of cq.cpp and cq_wait.cpp.
#pragma once

#include "fake.h"
#include "util_ext/cq.h"

#include "unit/unit.h"

// A queue, closed at the end.
class Queue {
public:
  explicit Queue(fake::Domain &domain, fi_wait_obj wait = FI_WAIT_NONE, std::size_t size = 0,
                 fi_cq_format format = FI_CQ_FORMAT_TAGGED,
                 fi_cq_wait_cond cond = FI_CQ_COND_NONE) {
    fi_cq_attr attr{};
    attr.size = size;
    attr.format = format;
    attr.wait_obj = wait;
    attr.wait_cond = cond;
    assert_int_equal(util_ext::Cq::open(domain, &attr, &cq, this), 0);
  }
  ~Queue() { fi_close(&cq->fid); }
  Queue(const Queue &) = delete;

  util_ext::Cq &impl() { return *util_ext::Cq::from(&cq->fid); }
  void write(std::uint64_t tag) {
    util_ext::Completion c;
    c.tag = tag;
    impl().write(c);
  }
  void write_failure(int err) {
    util_ext::CompletionError e;
    e.err = err;
    impl().write_error(e);
  }
  std::uint64_t read_tag() {
    fi_cq_tagged_entry e{};
    assert_int_equal(fi_cq_read(cq, &e, 1), 1);
    return e.tag;
  }

  fid_cq *cq = nullptr;
};
