// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Wait sets (fi_wait(3)): queues, counters and event queues that are waited for together.
#include "common/case.h"
#include "common/forms.h"

#include <array>
#include <poll.h>

namespace fabtest {

namespace {

constexpr int rounds = 500;

int wait_limit() { return static_cast<int>(default_wait().count()); }

// An endpoint with two queues and two counters in one set.
struct watched {
  explicit watched(fi_wait_obj object) {
    request r{.wait = FI_WAIT_SET, .separate_queues = true, .counters = true};
    base = std::make_shared<fabric_and_domain>(find_info(r));
    fi_wait_attr attr{};
    attr.wait_obj = object;
    const int rc = fi_wait_open(base->fabric.get(), &attr, set.out());
    if (rc == -FI_ENOSYS)
      skip("no wait sets");
    CHECK_OK(rc);
    r.wait_set = set.get();
    e = std::make_unique<endpoint>(base, r);
  }

  std::shared_ptr<fabric_and_domain> base;
  owned_fid<fid_wait> set; // before what is in it
  std::unique_ptr<endpoint> e;
};

// Waits for the set, and takes from the queue, until an entry has come.
template <class Sleep> void take_one(queue &q, Sleep &&sleep) {
  while (!q.kept() && !q.poll())
    sleep();
}

template <class Sleep> void ping_pong(team &t, watched &w, Sleep &&sleep) {
  endpoint &e = *w.e;
  e.meet(t);
  op sent, received;
  std::array<std::byte, 8> out{}, in{};
  for (std::uint64_t n = 0; n < rounds; ++n) {
    fill(out, n);
    e.trecv(in, n, received);
    if (!t.first())
      take_one(e.rx(), sleep);
    e.tsend(t.other(), out, n, sent);
    take_one(e.tx(), sleep);
    if (t.first())
      take_one(e.rx(), sleep);
    verify(in, n);
  }
  // A counter that changes ends a wait too: so they are read, now that all is done.
  fi_cntr_read(e.sent());
  fi_cntr_read(e.received());
  t.barrier();
}

void wait_in_calls(team &t, fi_wait_obj object) {
  watched w(object);
  ping_pong(t, w, [&] {
    const int rc = fi_wait(w.set.get(), wait_limit());
    if (rc != 0 && rc != -FI_EINTR)
      fail_call("fi_wait", rc);
    fi_cntr_read(w.e->sent());
    fi_cntr_read(w.e->received());
  });
}

} // namespace

CASE(unspecified) { wait_in_calls(t, FI_WAIT_UNSPEC); }
CASE(descriptor) { wait_in_calls(t, FI_WAIT_FD); }
CASE(mutex_and_condition) { wait_in_calls(t, FI_WAIT_MUTEX_COND); }
CASE(yield) { wait_in_calls(t, FI_WAIT_YIELD); }

CASE(trywait_and_poll) {
  watched w(FI_WAIT_FD);
  int fd = -1;
  CHECK_OK(fi_control(w.set.as_fid(), FI_GETWAIT, &fd));
  long sleeps = 0;
  ping_pong(t, w, [&] {
    fi_cntr_read(w.e->sent());
    fi_cntr_read(w.e->received());
    fid_t fids[] = {w.set.as_fid()};
    const int rc = fi_trywait(w.e->fabric(), fids, 1);
    if (rc == -FI_EAGAIN)
      return;
    CHECK_OK(rc);
    ++sleeps;
    pollfd p{fd, POLLIN, 0};
    if (poll(&p, 1, wait_limit()) == 0)
      fail("fi_trywait allowed to sleep, and nothing woke us");
  });
  CHECK(sleeps > 0);
}

CASE(times_out_and_closes_last, .ranks = 1) {
  watched w(FI_WAIT_UNSPEC);
  w.e->meet(t);
  for (const int limit : {0, 1, 50})
    CHECK_CODE(-FI_ETIMEDOUT, fi_wait(w.set.get(), limit));
  CHECK_CODE(-FI_EBUSY, fi_close(w.set.as_fid()));
  fi_cq_tagged_entry entry{};
  CHECK_CODE(-FI_ENOSYS, fi_cq_sread(w.e->rx().get(), &entry, 1, nullptr, 0));
  CHECK_CODE(-FI_ENOSYS, fi_cntr_wait(w.e->sent(), 1, 0));
  CHECK_OK(fi_cq_signal(w.e->rx().get()));
  CHECK_OK(fi_wait(w.set.get(), wait_limit()));
}

CASE(event_queue_in_a_set, .ranks = 1) {
  watched w(FI_WAIT_UNSPEC);
  fi_eq_attr attr{};
  attr.flags = FI_WRITE;
  attr.wait_obj = FI_WAIT_SET;
  attr.wait_set = w.set.get();
  owned_fid<fid_eq> eq;
  CHECK_OK(fi_eq_open(w.e->fabric(), &attr, eq.out(), nullptr));
  CHECK_CODE(-FI_ETIMEDOUT, fi_wait(w.set.get(), 0));
  const fi_eq_entry sent{};
  CHECK_EQ(fi_eq_write(eq.get(), FI_NOTIFY, &sent, sizeof sent, 0),
           static_cast<ssize_t>(sizeof sent));
  CHECK_OK(fi_wait(w.set.get(), wait_limit()));
}

CASE(sets_that_are_none, .ranks = 1) {
  const request r;
  fabric_and_domain base(find_info(r));
  fi_cq_attr attr{};
  attr.wait_obj = FI_WAIT_SET;
  fid_cq *cq = nullptr;
  CHECK_CODE(-FI_EINVAL, fi_cq_open(*base, &attr, &cq, nullptr));
  fi_wait_attr set_attr{};
  fid_wait *set = nullptr;
  for (const fi_wait_obj object : {FI_WAIT_NONE, FI_WAIT_SET}) {
    set_attr.wait_obj = object;
    CHECK_CODE(-FI_EINVAL, fi_wait_open(base.fabric.get(), &set_attr, &set));
  }
}

} // namespace fabtest
