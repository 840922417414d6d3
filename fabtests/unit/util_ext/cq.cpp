// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/cq.h"

#include "fake.h"

#include <chrono>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <pthread.h>
#include <thread>

#include "unit/unit.h"

using util_ext::Completion;
using util_ext::CompletionError;
using util_ext::Cq;

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

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
    assert_int_equal(Cq::open(domain, &attr, &cq, this), 0);
  }
  ~Queue() { fi_close(&cq->fid); }
  Queue(const Queue &) = delete;

  Cq &impl() { return *Cq::from(&cq->fid); }
  void write(std::uint64_t tag) {
    Completion c;
    c.tag = tag;
    impl().write(c);
  }
  void write_failure(int err) {
    CompletionError e;
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
  for (const fi_wait_obj w : {FI_WAIT_SET, FI_WAIT_MUTEX_COND, FI_WAIT_POLLFD}) {
    fi_cq_attr attr{};
    attr.wait_obj = w;
    assert_int_equal(open_with(domain, attr), -FI_ENOSYS);
  }
  fi_cq_attr attr{};
  attr.flags = FI_MORE;
  assert_int_equal(open_with(domain, attr), -FI_EINVAL);
  attr = {};
  attr.format = static_cast<fi_cq_format>(9);
  assert_int_equal(open_with(domain, attr), -FI_EINVAL);
  attr = {};
  attr.wait_obj = FI_WAIT_FD;
  attr.wait_cond = static_cast<fi_cq_wait_cond>(9);
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
    assert_true(e.op_context == &context && e.flags == c.flags && e.len == 11 &&
                e.buf == c.buf && e.data == 22);
  }
  {
    Queue q(domain);
    fi_cq_tagged_entry e{};
    fi_addr_t src = 0;
    q.impl().write(c);
    assert_int_equal(fi_cq_readfrom(q.cq, &e, 1, &src), 1);
    assert_true(e.op_context == &context && e.flags == c.flags && e.len == 11 &&
                e.buf == c.buf && e.data == 22 && e.tag == 33 && src == 44);
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

// ---- blocking

void sread__is_not_for_queues_without_a_wait_object(void **) {
  fake::Domain domain;
  Queue q(domain);
  fi_cq_tagged_entry e;
  assert_int_equal(fi_cq_sread(q.cq, &e, 1, nullptr, 0), -FI_ENOSYS);
  assert_int_equal(fi_cq_signal(q.cq), -FI_ENOSYS);
}

void sread__times_out(void **) {
  for (const fi_wait_obj w : {FI_WAIT_UNSPEC, FI_WAIT_FD, FI_WAIT_YIELD}) {
    fake::Domain domain;
    Queue q(domain, w);
    fi_cq_tagged_entry e;
    const auto start = Clock::now();
    assert_int_equal(fi_cq_sread(q.cq, &e, 1, nullptr, 20), -FI_EAGAIN);
    const auto took = Clock::now() - start;
    assert_true(took >= 20ms && took < 5s);
    assert_true(domain.progressed.load() >= 1);
    assert_int_equal(domain.source.armed(), 0);
  }
}

void sread__returns_at_once_what_is_there(void **) {
  fake::Domain domain;
  Queue q(domain, FI_WAIT_UNSPEC);
  q.write(5);
  fi_cq_tagged_entry e;
  assert_int_equal(fi_cq_sread(q.cq, &e, 1, nullptr, -1), 1);
  q.write_failure(FI_EIO);
  assert_int_equal(fi_cq_sread(q.cq, &e, 1, nullptr, -1), -FI_EAVAIL);
}

void sread__is_woken_by_a_write(void **) {
  for (const fi_progress p : {FI_PROGRESS_MANUAL, FI_PROGRESS_AUTO}) {
    fake::Domain domain(FI_THREAD_SAFE, p);
    Queue q(domain, FI_WAIT_UNSPEC);
    std::thread writer([&] {
      for (std::uint64_t i = 0; i < 200; ++i)
        q.write(i);
    });
    fi_cq_tagged_entry e;
    for (std::uint64_t i = 0; i < 200; ++i) {
      assert_int_equal(fi_cq_sread(q.cq, &e, 1, nullptr, 30000), 1);
      assert_int_equal(e.tag, i);
    }
    writer.join();
  }
}

void sread__is_woken_by_the_domains_source(void **) {
  fake::Domain domain;
  Queue q(domain, FI_WAIT_UNSPEC);
  std::uint64_t next = 0;
  domain.on_progress = [&] {
    if (domain.source.take())
      q.write(next++);
  };
  for (std::uint64_t i = 0; i < 50; ++i) {
    std::thread peer([&] { domain.source.arrive(); });
    fi_cq_tagged_entry e;
    assert_int_equal(fi_cq_sread(q.cq, &e, 1, nullptr, 30000), 1);
    assert_int_equal(e.tag, i);
    peer.join();
  }
  assert_int_equal(domain.source.armed(), 0);
}

void sread__polls_a_source_that_cannot_block(void **) {
  fake::Domain domain;
  domain.source.blind = true;
  Queue q(domain, FI_WAIT_UNSPEC);
  int turns = 0;
  domain.on_progress = [&] {
    if (++turns == 100)
      q.write(1);
  };
  fi_cq_tagged_entry e;
  assert_int_equal(fi_cq_sread(q.cq, &e, 1, nullptr, 30000), 1);
}

void sread__waits_for_the_threshold_or_an_error(void **) {
  fake::Domain domain;
  Queue q(domain, FI_WAIT_UNSPEC, 8, FI_CQ_FORMAT_TAGGED, FI_CQ_COND_THRESHOLD);
  fi_cq_tagged_entry e[8];
  std::size_t threshold = 3;
  std::thread writer([&] {
    for (std::uint64_t i = 0; i < 3; ++i)
      q.write(i);
  });
  assert_int_equal(fi_cq_sread(q.cq, e, 8, &threshold, 30000), 3);
  writer.join();

  q.write(1); // too few: what is there comes when the time is up
  assert_int_equal(fi_cq_sread(q.cq, e, 8, &threshold, 10), 1);
  assert_int_equal(fi_cq_sread(q.cq, e, 8, &threshold, 10), -FI_EAGAIN);

  q.write(1);
  q.write_failure(FI_EIO);
  assert_int_equal(fi_cq_sread(q.cq, e, 8, &threshold, -1), 1);
  assert_int_equal(fi_cq_sread(q.cq, e, 8, &threshold, -1), -FI_EAVAIL);

  fi_cq_err_entry err{};
  fi_cq_readerr(q.cq, &err, 0);
  threshold = 1000; // beyond the size: the size
  for (std::uint64_t i = 0; i < 8; ++i)
    q.write(i);
  assert_int_equal(fi_cq_sread(q.cq, e, 8, &threshold, -1), 8);
}

void signal__ends_the_next_sread_if_none_waits(void **) {
  fake::Domain domain;
  Queue q(domain, FI_WAIT_UNSPEC);
  fi_cq_tagged_entry e;
  assert_int_equal(fi_cq_signal(q.cq), 0);
  const auto start = Clock::now();
  assert_int_equal(fi_cq_sread(q.cq, &e, 1, nullptr, 30000), -FI_EAGAIN);
  assert_true(Clock::now() - start < 20s);
  assert_int_equal(fi_cq_sread(q.cq, &e, 1, nullptr, 10), -FI_EAGAIN); // used up
  assert_true(Clock::now() - start >= 10ms);
}

void signal__ends_every_sread_that_waits(void **) {
  fake::Domain domain(FI_THREAD_SAFE, FI_PROGRESS_AUTO);
  Queue q(domain, FI_WAIT_UNSPEC);
  std::atomic<int> ended{0};
  std::vector<std::thread> waiters;
  for (int i = 0; i < 3; ++i)
    waiters.emplace_back([&] {
      fi_cq_tagged_entry e;
      assert_int_equal(fi_cq_sread(q.cq, &e, 1, nullptr, -1), -FI_EAGAIN);
      ended.fetch_add(1);
    });
  while (ended.load() < 3) { // a thread may come to wait only after a signal
    fi_cq_signal(q.cq);
    std::this_thread::yield();
  }
  for (auto &w : waiters)
    w.join();
}

void sread__ends_when_a_signal_handler_ran(void **) {
  fake::Domain domain(FI_THREAD_SAFE, FI_PROGRESS_AUTO);
  Queue q(domain, FI_WAIT_UNSPEC);
  struct sigaction action {}, old;
  action.sa_handler = [](int) {};
  sigaction(SIGUSR1, &action, &old);
  std::atomic<bool> ended{false};
  std::thread waiter([&] {
    fi_cq_tagged_entry e;
    assert_int_equal(fi_cq_sread(q.cq, &e, 1, nullptr, -1), -FI_EAGAIN);
    ended = true;
  });
  while (!ended) {
    pthread_kill(waiter.native_handle(), SIGUSR1);
    std::this_thread::yield();
  }
  waiter.join();
  sigaction(SIGUSR1, &old, nullptr);
}

// ---- descriptors

bool readable(int fd) {
  pollfd p{fd, POLLIN, 0};
  return poll(&p, 1, 0) == 1;
}

int fd_of(Queue &q) {
  int fd = -1;
  assert_int_equal(fi_control(&q.cq->fid, FI_GETWAIT, &fd), 0);
  return fd;
}

void control__knows_the_wait_object(void **) {
  fake::Domain domain;
  Queue none(domain), unspec(domain, FI_WAIT_UNSPEC), fd(domain, FI_WAIT_FD),
      yield(domain, FI_WAIT_YIELD);
  fi_wait_obj w;
  int i;
  assert_int_equal(fi_control(&none.cq->fid, FI_GETWAITOBJ, &w), 0);
  assert_int_equal(w, FI_WAIT_NONE);
  assert_int_equal(fi_control(&fd.cq->fid, FI_GETWAITOBJ, &w), 0);
  assert_int_equal(w, FI_WAIT_FD);
  assert_int_equal(fi_control(&unspec.cq->fid, FI_GETWAITOBJ, &w), 0);
  assert_int_equal(w, FI_WAIT_FD);
  assert_int_equal(fi_control(&none.cq->fid, FI_GETWAIT, &i), -FI_ENODATA);
  assert_int_equal(fi_control(&yield.cq->fid, FI_GETWAIT, &i), -FI_ENODATA);
  assert_int_equal(fi_control(&fd.cq->fid, FI_GETWAIT, nullptr), -FI_EINVAL);
  assert_int_equal(fi_control(&fd.cq->fid, FI_ENABLE, &i), -FI_ENOSYS);
  assert_true(fd_of(unspec) >= 0);
}

void try_wait__arms_the_descriptor(void **) {
  fake::Domain domain;
  Queue q(domain, FI_WAIT_FD);
  const int fd = fd_of(q);
  assert_int_equal(q.impl().try_wait(), 0);
  assert_false(readable(fd));
  q.write(1);
  assert_true(readable(fd));
  assert_int_equal(q.impl().try_wait(), -FI_EAGAIN);
  assert_true(readable(fd));
  q.read_tag();
  assert_int_equal(q.impl().try_wait(), 0);
  assert_false(readable(fd)); // drained, and it does not spin
}

void try_wait__watches_the_domains_source_until_the_next_read(void **) {
  fake::Domain domain;
  Queue q(domain, FI_WAIT_FD);
  domain.on_progress = [&] {
    if (domain.source.take())
      q.write(1);
  };
  const int fd = fd_of(q);
  assert_int_equal(q.impl().try_wait(), 0);
  assert_int_equal(domain.source.armed(), 1);
  assert_false(readable(fd));
  domain.source.arrive();
  assert_true(readable(fd));
  assert_int_equal(q.read_tag(), 1);
  assert_int_equal(domain.source.armed(), 0);
  assert_int_equal(q.impl().try_wait(), 0);
  assert_false(readable(fd));

  domain.source.arrive(); // before it is asked
  fi_cq_tagged_entry e;
  domain.on_progress = nullptr;
  assert_int_equal(fi_cq_read(q.cq, &e, 1), -FI_EAGAIN);
  assert_int_equal(q.impl().try_wait(), -FI_EAGAIN);
  assert_int_equal(domain.source.armed(), 0);
}

void try_wait__leaves_nothing_armed_after_close(void **) {
  fake::Domain domain;
  {
    Queue q(domain, FI_WAIT_FD);
    assert_int_equal(q.impl().try_wait(), 0);
  }
  assert_int_equal(domain.source.armed(), 0);
}

void try_wait__under_auto_progress_needs_no_source(void **) {
  fake::Domain domain(FI_THREAD_SAFE, FI_PROGRESS_AUTO);
  Queue q(domain, FI_WAIT_FD);
  assert_int_equal(q.impl().try_wait(), 0);
  assert_int_equal(domain.source.armed(), 0);
  q.write(1);
  assert_true(readable(fd_of(q)));
}

void try_wait__is_for_descriptors(void **) {
  fake::Domain domain;
  Queue none(domain), yield(domain, FI_WAIT_YIELD);
  assert_int_equal(none.impl().try_wait(), -FI_EINVAL);
  assert_int_equal(yield.impl().try_wait(), -FI_EINVAL);
}

// A second thread in poll() is not forgotten when the first one reads.
void read__wakes_another_thread_that_polls(void **) {
  fake::Domain domain;
  Queue q(domain, FI_WAIT_FD);
  const int fd = fd_of(q);
  assert_int_equal(q.impl().try_wait(), 0);
  fi_cq_tagged_entry e;
  assert_int_equal(fi_cq_read(q.cq, &e, 1), -FI_EAGAIN); // disarms the source
  assert_true(readable(fd));
}

// ---- many threads

void threads__lose_no_entry_and_no_wake_up(void **) {
  fake::Domain domain(FI_THREAD_SAFE, FI_PROGRESS_AUTO);
  Queue q(domain, FI_WAIT_FD);
  constexpr int writers = 2, each = 20000, total = writers * each;
  std::atomic<int> read{0};
  std::atomic<std::uint64_t> sum{0};
  std::vector<std::thread> threads;
  const auto take = [&](ssize_t n, const fi_cq_tagged_entry *e) {
    for (ssize_t i = 0; i < n; ++i)
      sum.fetch_add(e[i].tag);
    if (n > 0 && read.fetch_add(static_cast<int>(n)) + n == total)
      for (std::uint64_t i = 0; i < 2; ++i)
        q.write(0); // one more for each reader, to go home
  };
  threads.emplace_back([&] {
    fi_cq_tagged_entry e[7];
    while (read.load() < total)
      take(fi_cq_sread(q.cq, e, 7, nullptr, 30000), e);
  });
  threads.emplace_back([&] {
    fi_cq_tagged_entry e[3];
    while (read.load() < total) {
      if (q.impl().try_wait() == 0) {
        pollfd p{fd_of(q), POLLIN, 0};
        assert_int_equal(poll(&p, 1, 30000), 1);
      }
      take(fi_cq_read(q.cq, e, 3), e);
    }
  });
  for (int w = 0; w < writers; ++w)
    threads.emplace_back([&] {
      for (int i = 0; i < each; ++i)
        q.write(1);
    });
  for (auto &t : threads)
    t.join();
  assert_int_equal(sum.load(), total);
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
    cmocka_unit_test(sread__is_not_for_queues_without_a_wait_object),
    cmocka_unit_test(sread__times_out),
    cmocka_unit_test(sread__returns_at_once_what_is_there),
    cmocka_unit_test(sread__is_woken_by_a_write),
    cmocka_unit_test(sread__is_woken_by_the_domains_source),
    cmocka_unit_test(sread__polls_a_source_that_cannot_block),
    cmocka_unit_test(sread__waits_for_the_threshold_or_an_error),
    cmocka_unit_test(signal__ends_the_next_sread_if_none_waits),
    cmocka_unit_test(signal__ends_every_sread_that_waits),
    cmocka_unit_test(sread__ends_when_a_signal_handler_ran),
    cmocka_unit_test(control__knows_the_wait_object),
    cmocka_unit_test(try_wait__arms_the_descriptor),
    cmocka_unit_test(try_wait__watches_the_domains_source_until_the_next_read),
    cmocka_unit_test(try_wait__leaves_nothing_armed_after_close),
    cmocka_unit_test(try_wait__under_auto_progress_needs_no_source),
    cmocka_unit_test(try_wait__is_for_descriptors),
    cmocka_unit_test(read__wakes_another_thread_that_polls),
    cmocka_unit_test(threads__lose_no_entry_and_no_wake_up),
};
static const unit::Group group{"cq", cases};
