// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Waiting for completions: in a call, on a descriptor, from many threads.
#include "util_ext/cq.h"

#include "fake.h"

#include <chrono>
#include <csignal>
#include <poll.h>
#include <pthread.h>
#include <thread>

#include "cq_queue.h"

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

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
  struct sigaction action {
  }, old;
  action.sa_handler = [](int) {};
  sigaction(SIGUSR1, &action, &old);
  std::atomic<bool> ended{false};
  std::thread waiter([&] {
    fi_cq_tagged_entry e;
    assert_int_equal(fi_cq_sread(q.cq, &e, 1, nullptr, -1), -FI_EINTR);
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
static const unit::Group group{"cq_wait", cases};
