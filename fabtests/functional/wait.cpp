// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Waiting instead of polling: sread, sreadfrom, signal, FI_WAIT_FD with fi_trywait. A lost wake-up
// shows as a wait that takes its whole time limit though a message is there.
#include "common/case.h"
#include "common/forms.h"
#include "common/settings.h"

#include <atomic>
#include <csignal>
#include <thread>

#include <poll.h>
#include <pthread.h>
#include <sys/time.h>
#include <time.h>

namespace fabtest {

namespace {

using clock = std::chrono::steady_clock;
constexpr int rounds = 2000;

double elapsed_ms(clock::time_point since) {
  return std::chrono::duration<double, std::milli>(clock::now() - since).count();
}

request waiting(fi_wait_obj object) {
  request r;
  r.wait = object;
  return r;
}

// Reads one completion with fi_cq_sread; an early -FI_EAGAIN is allowed, a late one is not.
void sread_one(endpoint &e, bool from) {
  if (e.rx().kept())
    return;
  fi_cq_tagged_entry entry{};
  fi_addr_t source = 0;
  const auto start = clock::now();
  const int limit = static_cast<int>(default_wait().count());
  for (;;) {
    const ssize_t rc = from ? fi_cq_sreadfrom(e.rx().get(), &entry, 1, &source, nullptr, limit)
                            : fi_cq_sread(e.rx().get(), &entry, 1, nullptr, limit);
    if (rc == 1)
      return;
    if (rc != -FI_EAGAIN && rc != -FI_EINTR)
      fail_call(from ? "fi_cq_sreadfrom" : "fi_cq_sread", rc);
    if (elapsed_ms(start) >= limit)
      fail("fi_cq_sread waited in vain");
  }
}

// One message back and forth, both sides asleep in between.
void ping_pong(team &t, endpoint &e, const std::function<void()> &wait_for_one) {
  op sent, received;
  std::array<std::byte, 8> out{}, in{};
  for (int i = 0; i < rounds; ++i) {
    const auto n = static_cast<std::uint64_t>(i);
    fill(out, n);
    e.trecv(in, n, received);
    if (t.first())
      e.tsend(1, out, n, sent);
    else
      wait_for_one();
    if (!t.first()) {
      verify(in, n);
      e.tsend(0, out, n, sent);
    }
    wait_for_one();
    if (t.first()) {
      wait_for_one();
      verify(in, n);
    }
  }
  t.barrier();
}

void sread_ping_pong(team &t, fi_wait_obj object, bool from) {
  endpoint e(waiting(object));
  e.meet(t);
  ping_pong(t, e, [&] { sread_one(e, from); });
}

int wait_fd(fid_t object) {
  int fd = -1;
  CHECK_OK(fi_control(object, FI_GETWAIT, &fd));
  CHECK(fd >= 0);
  return fd;
}

class fd_waiter {
public:
  explicit fd_waiter(endpoint &e) : e_(e), fd_(wait_fd(&e.rx().get()->fid)) {}

  void one() {
    if (e_.rx().kept())
      return;
    fi_cq_tagged_entry entry{};
    for (;;) {
      const ssize_t rc = fi_cq_read(e_.rx().get(), &entry, 1);
      if (rc == 1)
        return;
      if (rc != -FI_EAGAIN)
        fail_call("fi_cq_read", rc);
      sleep_until_signalled();
    }
  }

  [[nodiscard]] long sleeps() const { return sleeps_; }

private:
  void sleep_until_signalled() {
    fid_t fids[] = {&e_.rx().get()->fid};
    const int rc = fi_trywait(e_.fabric(), fids, 1);
    if (rc == -FI_EAGAIN)
      return;
    CHECK_OK(rc);
    ++sleeps_;
    pollfd p{fd_, POLLIN, 0};
    if (poll(&p, 1, static_cast<int>(default_wait().count())) == 0)
      fail("fi_trywait allowed to sleep, and nothing woke us");
  }

  endpoint &e_;
  int fd_;
  long sleeps_ = 0;
};

} // namespace

CASE(sread_unspecified) { sread_ping_pong(t, FI_WAIT_UNSPEC, false); }
CASE(sreadfrom_unspecified) { sread_ping_pong(t, FI_WAIT_UNSPEC, true); }
CASE(sread_fd) { sread_ping_pong(t, FI_WAIT_FD, false); }

CASE(trywait_and_poll) {
  endpoint e(waiting(FI_WAIT_FD));
  e.meet(t);
  fd_waiter waiter(e);
  ping_pong(t, e, [&] { waiter.one(); });
  CHECK(waiter.sleeps() > 0);
}

CASE(trywait_and_condition) {
  endpoint e(waiting(FI_WAIT_MUTEX_COND));
  e.meet(t);
  fi_mutex_cond object{};
  const fid_t fid = &e.rx().get()->fid;
  CHECK_OK(fi_control(fid, FI_GETWAIT, &object));
  ping_pong(t, e, [&] {
    fi_cq_tagged_entry entry{};
    while (!e.rx().kept() && fi_cq_read(e.rx().get(), &entry, 1) == -FI_EAGAIN) {
      timespec end{};
      clock_gettime(CLOCK_REALTIME, &end);
      end.tv_sec += default_wait().count() / 1000;
      pthread_mutex_lock(object.mutex);
      fid_t fids[] = {fid};
      const bool woken = fi_trywait(e.fabric(), fids, 1) != 0 ||
                         pthread_cond_timedwait(object.cond, object.mutex, &end) == 0;
      pthread_mutex_unlock(object.mutex);
      if (!woken)
        fail("fi_trywait allowed to sleep, and nothing woke us");
    }
  });
}

// A message that is much larger needs several wake-ups on both sides.
CASE(large_message_asleep) {
  endpoint e(waiting(FI_WAIT_FD));
  e.meet(t);
  fd_waiter waiter(e);
  for (std::uint64_t n = 0; n < 20; ++n) {
    op o;
    const std::size_t size = 100'000 * n;
    auto content = payload(size, n);
    if (t.first()) {
      e.tsend(1, content, n, o);
      waiter.one();
    } else {
      std::vector<std::byte> into(size);
      e.trecv(into, n, o);
      waiter.one();
      verify(into, n);
    }
  }
  t.barrier();
}

// Nothing happens: the descriptor stays quiet, and waiting costs no processor time.
CASE(quiet_descriptor) {
  endpoint e(waiting(FI_WAIT_FD));
  e.meet(t);
  op o;
  const auto content = payload(10, 1);
  if (t.first()) {
    e.tsend(1, content, 1, o);
    e.tx().wait_ok(o, "send");
  } else {
    guarded_buffer into(10);
    e.trecv(into.span(), 1, o);
    e.rx().wait_ok(o, "receive");
  }
  t.barrier();
  const int fd = wait_fd(&e.rx().get()->fid);
  timespec before{}, after{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
  const auto start = clock::now();
  int wakeups = 0;
  while (elapsed_ms(start) < 300) {
    fid_t fids[] = {&e.rx().get()->fid};
    e.rx().poll();
    if (fi_trywait(e.fabric(), fids, 1) != 0)
      continue;
    pollfd p{fd, POLLIN, 0};
    wakeups += poll(&p, 1, 300 - static_cast<int>(elapsed_ms(start)) + 1) > 0;
  }
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
  const double used = static_cast<double>(after.tv_sec - before.tv_sec) * 1e3 +
                      static_cast<double>(after.tv_nsec - before.tv_nsec) / 1e6;
  CHECK(wakeups < 30);
  CHECK(used < 100);
  t.barrier_without_progress();
}

CASE(sread_times_out, .ranks = 1) {
  endpoint e(waiting(FI_WAIT_UNSPEC));
  e.meet(t);
  fi_cq_tagged_entry entry{};
  fi_addr_t source = 0;
  for (const int limit : {0, 1, 50, 200}) {
    auto start = clock::now();
    CHECK_CODE(-FI_EAGAIN, fi_cq_sread(e.rx().get(), &entry, 1, nullptr, limit));
    const double first = elapsed_ms(start);
    start = clock::now();
    CHECK_CODE(-FI_EAGAIN, fi_cq_sreadfrom(e.rx().get(), &entry, 1, &source, nullptr, limit));
    const double second = elapsed_ms(start);
    CHECK(first >= limit - 2 && second >= limit - 2);
    CHECK(first < limit + 1000 && second < limit + 1000);
  }
}

CASE(signal_from_another_thread, .ranks = 1) {
  request asked = waiting(FI_WAIT_UNSPEC);
  asked.threading = FI_THREAD_SAFE;
  endpoint e(asked);
  e.meet(t);
  for (int i = 0; i < 20; ++i) {
    std::atomic<bool> awake{false};
    std::thread waker([&] {
      // Signals again until it helped: one that comes before the wait may be spent on nothing.
      const timespec pause{0, 5'000'000};
      while (!awake) {
        nanosleep(&pause, nullptr);
        if (fi_cq_signal(e.rx().get()) != 0)
          break;
      }
    });
    fi_cq_tagged_entry entry{};
    const auto start = clock::now();
    const ssize_t rc = fi_cq_sread(e.rx().get(), &entry, 1, nullptr, 5'000);
    awake = true;
    waker.join();
    CHECK(rc == -FI_EAGAIN || rc == -FI_EINTR);
    CHECK(elapsed_ms(start) < 4'000);
  }
}

// A handler that runs meanwhile ends each kind of wait, as it does with other providers.
CASE(signal_handler_ends_waits, .ranks = 1) {
  request asked = waiting(FI_WAIT_UNSPEC);
  asked.counters = true;
  endpoint e(asked);
  e.meet(t);
  struct sigaction action {};
  action.sa_handler = [](int) {};
  CHECK_EQ(sigaction(SIGALRM, &action, nullptr), 0);
  const itimerval often{{0, 20'000}, {0, 20'000}}, off{};
  owned_fid<fid_eq> eq;
  fi_eq_attr attr{};
  attr.wait_obj = FI_WAIT_UNSPEC;
  CHECK_OK(fi_eq_open(e.fabric(), &attr, eq.out(), nullptr));
  fi_cq_tagged_entry entry{};
  fi_eq_entry event{};
  std::uint32_t kind = 0;
  CHECK_EQ(setitimer(ITIMER_REAL, &often, nullptr), 0);
  CHECK_CODE(-FI_EINTR, fi_cq_sread(e.rx().get(), &entry, 1, nullptr, 20'000));
  CHECK_CODE(-FI_EINTR, fi_cntr_wait(e.received(), 1, 20'000));
  CHECK_CODE(-FI_EINTR, fi_eq_sread(eq.get(), &kind, &event, sizeof event, 20'000, 0));
  CHECK_EQ(setitimer(ITIMER_REAL, &off, nullptr), 0);
}

// Errors wake a waiter too.
CASE(error_wakes, .ranks = 1) {
  endpoint e(waiting(FI_WAIT_UNSPEC));
  e.meet(t);
  op o;
  std::array<std::byte, 8> into{};
  e.trecv(into, 1, o);
  CHECK_OK(fi_cancel(&e.ep()->fid, &o));
  fi_cq_tagged_entry entry{};
  CHECK_CODE(-FI_EAVAIL, fi_cq_sread(e.rx().get(), &entry, 1, nullptr, 5'000));
  CHECK_EQ(e.rx().wait(o, "cancelled receive").err, FI_ECANCELED);
}

// Completions that are there already are no reason to wait.
CASE(sread_finds_what_is_there, .ranks = 1) {
  request asked = waiting(FI_WAIT_UNSPEC);
  asked.separate_queues = true;
  endpoint e(asked);
  e.meet(t);
  constexpr std::size_t count = 10;
  op sends[count], receives[count];
  std::array<std::byte, 8> buffer{};
  for (std::size_t i = 0; i < count; ++i)
    e.trecv(buffer, i, receives[i]);
  for (std::size_t i = 0; i < count; ++i)
    e.tsend(0, buffer, i, sends[i]);
  e.tx().drop(count, "sends"); // nothing reads the other queue meanwhile
  std::array<fi_cq_tagged_entry, count> entries{};
  const auto start = clock::now();
  for (std::size_t got = 0; got < count;) {
    const ssize_t rc = fi_cq_sread(e.rx().get(), entries.data(), count, nullptr, 5'000);
    if (rc != -FI_EAGAIN)
      got += static_cast<std::size_t>(CHECK_OK(rc));
  }
  CHECK(elapsed_ms(start) < 4'000);
}

} // namespace fabtest
