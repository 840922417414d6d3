// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/cond_signaller.h"

#include "fake.h"
#include "util_ext/cq.h"

#include <chrono>
#include <thread>

#include "cq_queue.h"

using util_ext::CondSignaller;

namespace {

// What an application does, with its own flag in place of a queue.
void broadcast__comes_after_each_watch(void **) {
  util_ext::Event event;
  assert_int_equal(event.open(), 0);
  CondSignaller signaller;
  assert_int_equal(signaller.start(event.fd()), 0);
  assert_int_equal(signaller.start(event.fd()), 0); // runs already
  for (int i = 0; i < 500; ++i) {
    std::thread other([&] { event.set(); });
    pthread_mutex_lock(signaller.mutex());
    signaller.watch();
    pthread_cond_wait(signaller.cond(), signaller.mutex());
    pthread_mutex_unlock(signaller.mutex());
    other.join();
    event.clear();
  }
}

void close__ends_a_thread_that_watches(void **) {
  util_ext::Event event;
  assert_int_equal(event.open(), 0);
  { CondSignaller never_started; }
  CondSignaller idle, watching;
  assert_int_equal(idle.start(event.fd()), 0);
  assert_int_equal(watching.start(event.fd()), 0);
  watching.watch();
}

// Threads write while the reader holds the mutex and asks: no wake-up is lost, and nobody waits
// for the mutex with a queue's lock held.
void trywait__on_a_queue_loses_no_wake_up(void **) {
  for (const fi_progress p : {FI_PROGRESS_MANUAL, FI_PROGRESS_AUTO}) {
    fake::Domain domain(FI_THREAD_SAFE, p);
    Queue q(domain, FI_WAIT_MUTEX_COND);
    fi_mutex_cond object{};
    assert_int_equal(fi_control(&q.cq->fid, FI_GETWAIT, &object), 0);
    fi_wait_obj kind;
    assert_int_equal(fi_control(&q.cq->fid, FI_GETWAITOBJ, &kind), 0);
    assert_int_equal(kind, FI_WAIT_MUTEX_COND);
    constexpr std::uint64_t count = 500;
    std::thread writer([&] {
      for (std::uint64_t i = 0; i < count; ++i)
        q.write(i);
    });
    for (std::uint64_t i = 0; i < count;) {
      fi_cq_tagged_entry e;
      if (fi_cq_read(q.cq, &e, 1) == 1) {
        assert_int_equal(e.tag, i++);
        continue;
      }
      pthread_mutex_lock(object.mutex);
      if (q.impl().try_wait() == 0)
        pthread_cond_wait(object.cond, object.mutex);
      pthread_mutex_unlock(object.mutex);
    }
    writer.join();
  }
}

void trywait__is_woken_by_the_domains_source(void **) {
  fake::Domain domain;
  Queue q(domain, FI_WAIT_MUTEX_COND);
  fi_mutex_cond object{};
  assert_int_equal(fi_control(&q.cq->fid, FI_GETWAIT, &object), 0);
  domain.on_progress = [&] {
    if (domain.source.take())
      q.write(1);
  };
  for (int i = 0; i < 100; ++i) {
    std::thread peer([&] { domain.source.arrive(); });
    fi_cq_tagged_entry e;
    while (fi_cq_read(q.cq, &e, 1) != 1) {
      pthread_mutex_lock(object.mutex);
      if (q.impl().try_wait() == 0)
        pthread_cond_wait(object.cond, object.mutex);
      pthread_mutex_unlock(object.mutex);
    }
    peer.join();
  }
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(broadcast__comes_after_each_watch),
    cmocka_unit_test(close__ends_a_thread_that_watches),
    cmocka_unit_test(trywait__on_a_queue_loses_no_wake_up),
    cmocka_unit_test(trywait__is_woken_by_the_domains_source),
};
static const unit::Group group{"cond_signaller", cases};
