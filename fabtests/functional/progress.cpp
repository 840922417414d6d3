// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Who drives a transfer: with FI_PROGRESS_AUTO nobody needs to call the library; with manual
// progress a process that doesn't call it is slow, not dead.
#include "common/case.h"
#include "common/forms.h"
#include "common/settings.h"

#include <array>
#include <chrono>

#include <sched.h>
#include <time.h>

namespace fabtest {

namespace {

const request automatic{.caps = FI_MSG | FI_TAGGED, .progress = FI_PROGRESS_AUTO};
constexpr std::size_t sizes[] = {0, 100, 6'000, 100'000, 2'000'000};

} // namespace

// The receiver sleeps outside the library from posting until the sender has its completion.
CASE(auto_receiver_sleeps) {
  endpoint e(automatic, "FI_PROGRESS_AUTO");
  e.meet(t);
  for (const std::size_t size : sizes) {
    op o;
    if (t.first()) {
      const auto content = payload(size, size);
      t.barrier_without_progress();
      const iovec v{const_cast<std::byte *>(content.data()), size};
      post_sendmsg(e, kind::tagged, {&v, 1}, e.at(1), {.tag = size}, o,
                   FI_COMPLETION | FI_DELIVERY_COMPLETE);
      e.tx().wait_ok(o, fmt::format("delivery of {} bytes to a sleeper", size));
      t.barrier_without_progress();
    } else {
      guarded_buffer into(size);
      e.trecv(into.span(), size, o);
      t.barrier_without_progress();
      t.barrier_without_progress();
      verify(into.span(), size); // placed before we call anything
      CHECK_EQ(e.rx().wait_ok(o, "receive").len, size);
    }
  }
  t.barrier_without_progress();
}

// The sender posts and sleeps.
CASE(auto_sender_sleeps) {
  endpoint e(automatic, "FI_PROGRESS_AUTO");
  e.meet(t);
  for (const std::size_t size : sizes) {
    op o;
    if (t.first()) {
      const auto content = payload(size, size);
      e.tsend(1, content, size, o);
      t.barrier_without_progress();
      e.tx().wait_ok(o, "send");
    } else {
      guarded_buffer into(size);
      e.trecv(into.span(), size, o);
      e.rx().wait_ok(o, fmt::format("{} bytes of a sleeper", size));
      verify(into.span(), size);
      t.barrier_without_progress();
    }
  }
  t.barrier_without_progress();
}

// A ring of echoes while one side only ever sleeps in fi_cq_sread.
CASE(auto_with_sread) {
  request asked = automatic;
  asked.wait = FI_WAIT_UNSPEC;
  endpoint e(asked, "FI_PROGRESS_AUTO");
  e.meet(t);
  for (std::uint64_t i = 0; i < 500; ++i) {
    op o;
    std::array<std::byte, 64> buffer{};
    fill(buffer, i);
    if (t.first())
      e.tsend(1, buffer, i, o);
    else
      e.trecv(buffer, i, o);
    fi_cq_tagged_entry entry{};
    ssize_t rc = 0;
    const auto end = std::chrono::steady_clock::now() + default_wait();
    while ((rc = fi_cq_sread(e.rx().get(), &entry, 1, nullptr, 5000)) == -FI_EAGAIN)
      CHECK(std::chrono::steady_clock::now() < end);
    CHECK_EQ(rc, 1);
    CHECK(entry.op_context == &o);
  }
  t.barrier();
}

// A process that computes for longer than a dead one would be noticed is not dead.
CASE(long_computation, .seconds = 120, .slow = true) {
  endpoint e;
  e.meet(t);
  op sent, received;
  std::vector<std::byte> into(200'000);
  const auto content = payload(200'000, 1);
  if (t.first()) {
    e.tsend(1, content, 1, sent);
    e.tx().wait_ok(sent, "send to a process that computes", config().limit(90));
  } else {
    timespec rest{static_cast<time_t>(4 * config().death_limit), 0};
    nanosleep(&rest, nullptr); // stands for the computation; there is nothing to wait for
    e.trecv(into, 1, received);
    e.rx().wait_ok(received, "receive after a long computation");
    verify(into, 1);
  }
  t.barrier();
}

} // namespace fabtest
