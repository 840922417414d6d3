// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Counters (fi_cntr(3)): by hand, and bound to endpoints.
#include "common/case.h"
#include "common/forms.h"
#include "common/settings.h"

#include <array>
#include <atomic>
#include <thread>

#include <sched.h>
#include <time.h>

namespace fabtest {

namespace {

using clock = std::chrono::steady_clock;

int wait_limit() { return static_cast<int>(default_wait().count()); }

// Updates may take a moment to show (fi_cntr(3), NOTES).
template <class Read>
void expect(std::string_view what, Read &&read, std::uint64_t value, where at) {
  const auto end = clock::now() + default_wait();
  while (read() != value) {
    if (clock::now() > end)
      fail(fmt::format("{} is {}, expected {}", what, read(), value), at);
    drive_progress();
    sched_yield();
  }
}

void expect_value(fid_cntr *cntr, std::uint64_t value, where at = where::current()) {
  expect(
      "the counter", [cntr] { return fi_cntr_read(cntr); }, value, at);
}

void expect_errors(fid_cntr *cntr, std::uint64_t value, where at = where::current()) {
  expect(
      "the error counter", [cntr] { return fi_cntr_readerr(cntr); }, value, at);
}

struct lone_counter {
  fabric_and_domain base;
  owned_fid<fid_cntr> cntr;

  explicit lone_counter(fi_wait_obj object = FI_WAIT_UNSPEC,
                        fi_threading threading = FI_THREAD_UNSPEC)
      : base(find_info({.threading = threading})) {
    fi_cntr_attr attr{};
    attr.wait_obj = object;
    CHECK_OK(fi_cntr_open(*base, &attr, cntr.out(), nullptr));
  }
};

} // namespace

CASE(by_hand, .ranks = 1) {
  const lone_counter c(FI_WAIT_NONE);
  expect_value(c.cntr.get(), 0);
  expect_errors(c.cntr.get(), 0);
  CHECK_OK(fi_cntr_add(c.cntr.get(), 5));
  expect_value(c.cntr.get(), 5);
  CHECK_OK(fi_cntr_add(c.cntr.get(), 3));
  expect_value(c.cntr.get(), 8);
  CHECK_OK(fi_cntr_set(c.cntr.get(), 2));
  expect_value(c.cntr.get(), 2);
  CHECK_OK(fi_cntr_adderr(c.cntr.get(), 4));
  expect_errors(c.cntr.get(), 4);
  CHECK_OK(fi_cntr_seterr(c.cntr.get(), 1));
  expect_errors(c.cntr.get(), 1);
  expect_value(c.cntr.get(), 2);
  CHECK_OK(fi_cntr_set(c.cntr.get(), 0));
  CHECK_OK(fi_cntr_seterr(c.cntr.get(), 0));
  expect_value(c.cntr.get(), 0);
  expect_errors(c.cntr.get(), 0);
}

// fi_cntr(3) knows the commands; there are no flags yet that it defines for them.
CASE(default_flags, .ranks = 1) {
  const lone_counter c;
  std::uint64_t flags = ~std::uint64_t{0};
  CHECK_OK(fi_control(&c.cntr->fid, FI_GETOPSFLAG, &flags));
  CHECK_EQ(flags, 0u);
  CHECK_OK(fi_control(&c.cntr->fid, FI_SETOPSFLAG, &flags));
  flags = FI_COMPLETION;
  CHECK(fi_control(&c.cntr->fid, FI_SETOPSFLAG, &flags) < 0);
}

CASE(wait_for_what_is_there, .ranks = 1) {
  const lone_counter c;
  CHECK_OK(fi_cntr_wait(c.cntr.get(), 0, 0));
  CHECK_OK(fi_cntr_set(c.cntr.get(), 7));
  expect_value(c.cntr.get(), 7);
  CHECK_OK(fi_cntr_wait(c.cntr.get(), 7, 0));
  CHECK_OK(fi_cntr_wait(c.cntr.get(), 3, 1000));
}

CASE(wait_times_out, .ranks = 1) {
  const lone_counter c;
  for (const int limit : {0, 1, 100}) {
    const auto start = clock::now();
    CHECK_CODE(-FI_ETIMEDOUT, fi_cntr_wait(c.cntr.get(), 1, limit));
    const auto took = std::chrono::duration<double, std::milli>(clock::now() - start).count();
    CHECK(took >= limit - 2 && took < limit + 1000);
  }
  expect_errors(c.cntr.get(), 0);
}

// Another thread changes the value, or the error value; either ends the wait.
CASE(wait_is_woken, .ranks = 1) {
  const lone_counter c(FI_WAIT_UNSPEC, FI_THREAD_SAFE);
  for (const bool error : {false, true}) {
    std::thread other([&] {
      const timespec pause{0, 50'000'000};
      nanosleep(&pause, nullptr);
      if (error)
        fi_cntr_adderr(c.cntr.get(), 1);
      else
        fi_cntr_add(c.cntr.get(), 1);
    });
    const auto start = clock::now();
    const int rc = fi_cntr_wait(c.cntr.get(), error ? 2 : 1, 8'000);
    other.join();
    CHECK(clock::now() - start < std::chrono::seconds(6));
    if (error)
      CHECK(rc != 0 && rc != -FI_ETIMEDOUT);
    else
      CHECK_EQ(rc, 0);
  }
}

CASE(many_counters, .ranks = 1) {
  fabric_and_domain base(find_info({}));
  std::vector<owned_fid<fid_cntr>> all(200);
  std::uint64_t n = 0;
  for (auto &c : all) {
    fi_cntr_attr attr{};
    CHECK_OK(fi_cntr_open(*base, &attr, c.out(), nullptr));
    CHECK_OK(fi_cntr_set(c.get(), n++));
  }
  n = 0;
  for (auto &c : all)
    expect_value(c.get(), n++);
}

// All forms of sending and receiving count, whether they write a completion or not.
CASE(bound_to_endpoint) {
  endpoint e({.caps = FI_MSG | FI_TAGGED, .counters = true});
  e.meet(t);
  std::uint64_t count = 0;
  for (const auto k : {kind::msg, kind::tagged}) {
    for (const auto form : all_send_forms) {
      if (carries_data(form) && e.info().domain_attr->cq_data_size == 0)
        continue;
      op o;
      std::array<std::byte, 16> content{};
      const envelope env{.tag = count};
      if (t.first()) {
        post_send(e, k, form, 1, content, env, o);
        if (!is_inject(form))
          e.tx().wait_ok(o, "send");
      } else {
        post_recv(e, k, recv_form::plain, content, env, o);
        e.rx().wait_ok(o, "receive");
      }
      ++count;
      expect_value(t.first() ? e.sent() : e.received(), count);
    }
  }
  expect_value(t.first() ? e.received() : e.sent(), 0);
  expect_errors(e.sent(), 0);
  expect_errors(e.received(), 0);
  t.barrier();
}

// The receiver calls nothing but fi_cntr_wait.
CASE(wait_makes_progress) {
  endpoint e({.caps = FI_MSG | FI_TAGGED, .counters = true});
  e.meet(t);
  constexpr std::size_t count = 50;
  constexpr std::size_t size = 30'000;
  std::vector<op> ops(count);
  std::vector<std::vector<std::byte>> buffers;
  for (std::size_t i = 0; i < count; ++i) {
    buffers.push_back(t.first() ? payload(size, i) : std::vector<std::byte>(size));
    if (!t.first())
      e.trecv(buffers[i], i, ops[i]);
  }
  t.barrier();
  if (t.first()) {
    for (std::size_t i = 0; i < count; ++i)
      e.tsend(1, buffers[i], i, ops[i]);
    CHECK_OK(fi_cntr_wait(e.sent(), count, wait_limit()));
  } else {
    CHECK_OK(fi_cntr_wait(e.received(), count, wait_limit()));
    for (std::size_t i = 0; i < count; ++i)
      verify(buffers[i], i);
  }
  t.barrier();
}

// MPICH's way: many short waits with a limit of 0, which must drive the endpoint.
CASE(wait_with_no_time_makes_progress) {
  endpoint e({.caps = FI_MSG | FI_TAGGED, .counters = true});
  e.meet(t);
  op o;
  std::vector<std::byte> content(200'000);
  const auto end = clock::now() + default_wait();
  if (t.first()) {
    fill(content, 1);
    e.tsend(1, content, 1, o);
  } else {
    e.trecv(content, 1, o);
  }
  fid_cntr *cntr = t.first() ? e.sent() : e.received();
  int rc = 0;
  while ((rc = fi_cntr_wait(cntr, 1, 0)) == -FI_ETIMEDOUT) {
    CHECK(clock::now() < end);
    sched_yield();
  }
  CHECK_EQ(rc, 0);
  if (!t.first())
    verify(content, 1);
  t.barrier();
}

// An operation that fails counts as an error and not as a success.
CASE(errors_count_apart, .ranks = 1) {
  endpoint e({.caps = FI_MSG | FI_TAGGED, .counters = true});
  e.meet(t);
  op truncated, sent, good, sent_too;
  std::array<std::byte, 4> small{};
  std::array<std::byte, 32> content{}, into{};
  e.trecv(small, 1, truncated);
  e.tsend(0, content, 1, sent);
  CHECK(e.rx().wait(truncated, "truncated receive").err != 0);
  e.trecv(into, 2, good);
  e.tsend(0, content, 2, sent_too);
  e.rx().wait_ok(good, "receive");
  expect_errors(e.received(), 1);
  expect_value(e.received(), 1);
  expect_value(e.sent(), 2);
  expect_errors(e.sent(), 0);
}

} // namespace fabtest
