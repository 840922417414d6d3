// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Event queues (fi_eq(3)) with events that the application writes itself.
#include "common/case.h"
#include "common/endpoint.h"
#include "common/settings.h"

#include <chrono>
#include <cstring>
#include <thread>

#include <poll.h>
#include <time.h>

namespace fabtest {

namespace {

using clock = std::chrono::steady_clock;

struct lone_queue {
  info_ptr info;
  owned_fid<fid_fabric> fabric;
  owned_fid<fid_eq> eq;

  explicit lone_queue(fi_wait_obj object = FI_WAIT_UNSPEC, std::size_t size = 0)
      : info(find_info({.threading = FI_THREAD_SAFE})) {
    CHECK_OK(fi_fabric(info->fabric_attr, fabric.out(), nullptr));
    fi_eq_attr attr{};
    attr.flags = FI_WRITE;
    attr.wait_obj = object;
    attr.size = size;
    CHECK_OK(fi_eq_open(fabric.get(), &attr, eq.out(), nullptr));
  }

  void write(std::uint64_t data) const {
    fi_eq_entry entry{};
    entry.fid = &eq->fid;
    entry.data = data;
    entry.context = this->eq.get();
    CHECK_CODE(static_cast<long>(sizeof entry),
               fi_eq_write(eq.get(), FI_NOTIFY, &entry, sizeof entry, 0));
  }

  void expect(std::uint64_t data, std::uint64_t flags = 0) const {
    fi_eq_entry entry{};
    std::uint32_t event = 0;
    CHECK_CODE(static_cast<long>(sizeof entry),
               fi_eq_read(eq.get(), &event, &entry, sizeof entry, flags));
    CHECK_EQ(event, static_cast<std::uint32_t>(FI_NOTIFY));
    CHECK_EQ(entry.data, data);
    CHECK(entry.fid == &eq->fid);
    CHECK(entry.context == eq.get());
  }

  void expect_nothing() const {
    fi_eq_entry entry{};
    std::uint32_t event = 0;
    CHECK_CODE(-FI_EAGAIN, fi_eq_read(eq.get(), &event, &entry, sizeof entry, 0));
  }
};

} // namespace

CASE(write_and_read, .ranks = 1) {
  const lone_queue q;
  q.expect_nothing();
  q.write(1);
  q.expect(1);
  q.expect_nothing();
}

CASE(many_in_order, .ranks = 1) {
  const lone_queue q(FI_WAIT_UNSPEC, 2000);
  for (std::uint64_t i = 0; i < 2000; ++i)
    q.write(i);
  for (std::uint64_t i = 0; i < 2000; ++i)
    q.expect(i);
  q.expect_nothing();
}

CASE(peek, .ranks = 1) {
  const lone_queue q;
  q.write(7);
  q.write(8);
  q.expect(7, FI_PEEK);
  q.expect(7, FI_PEEK);
  q.expect(7);
  q.expect(8);
  q.expect_nothing();
}

// An event that doesn't fit is refused and kept, or cut; nothing is written behind the buffer.
CASE(buffer_too_small, .ranks = 1) {
  const lone_queue q;
  q.write(3);
  char small[8] = {0, 0, 0, 0, 'x', 'x', 'x', 'x'};
  std::uint32_t event = 0;
  const ssize_t rc = fi_eq_read(q.eq.get(), &event, small, 4, 0);
  CHECK(rc == -FI_ETOOSMALL || rc == 4);
  CHECK(std::memcmp(small + 4, "xxxx", 4) == 0);
  if (rc == -FI_ETOOSMALL)
    q.expect(3);
}

CASE(no_error_waits, .ranks = 1) {
  const lone_queue q;
  fi_eq_err_entry error{};
  CHECK_CODE(-FI_EAGAIN, fi_eq_readerr(q.eq.get(), &error, 0));
}

CASE(strerror, .ranks = 1) {
  const lone_queue q;
  char buffer[64] = "";
  CHECK(fi_eq_strerror(q.eq.get(), FI_ECONNREFUSED, nullptr, buffer, sizeof buffer) != nullptr);
  CHECK(std::memchr(buffer, 0, sizeof buffer) != nullptr);
}

CASE(sread_times_out, .ranks = 1) {
  const lone_queue q;
  fi_eq_entry entry{};
  std::uint32_t event = 0;
  for (const int limit : {0, 1, 100}) {
    const auto start = clock::now();
    CHECK_CODE(-FI_EAGAIN, fi_eq_sread(q.eq.get(), &event, &entry, sizeof entry, limit, 0));
    const auto took = std::chrono::duration<double, std::milli>(clock::now() - start).count();
    CHECK(took >= limit - 2 && took < limit + 1000);
  }
}

CASE(sread_is_woken, .ranks = 1) {
  const lone_queue q;
  for (std::uint64_t i = 0; i < 20; ++i) {
    std::thread writer([&] {
      const timespec pause{0, 5'000'000};
      nanosleep(&pause, nullptr);
      q.write(i);
    });
    fi_eq_entry entry{};
    std::uint32_t event = 0;
    ssize_t rc = 0;
    const auto end = clock::now() + std::chrono::seconds(5);
    while ((rc = fi_eq_sread(q.eq.get(), &event, &entry, sizeof entry, 5000, 0)) == -FI_EAGAIN)
      CHECK(clock::now() < end);
    writer.join();
    CHECK_EQ(rc, static_cast<ssize_t>(sizeof entry));
    CHECK_EQ(entry.data, i);
  }
}

CASE(descriptor, .ranks = 1) {
  const lone_queue q(FI_WAIT_FD);
  int fd = -1;
  CHECK_OK(fi_control(&q.eq->fid, FI_GETWAIT, &fd));
  fid_t fids[] = {&q.eq->fid};
  for (std::uint64_t i = 0; i < 50; ++i) {
    CHECK_OK(fi_trywait(q.fabric.get(), fids, 1));
    pollfd p{fd, POLLIN, 0};
    CHECK_EQ(poll(&p, 1, 0), 0);
    q.write(i);
    const int ready = fi_trywait(q.fabric.get(), fids, 1);
    CHECK(ready == -FI_EAGAIN || (ready == 0 && poll(&p, 1, 1000) == 1));
    q.expect(i);
  }
}

// The events about an endpoint go with it; others stay, in their order.
CASE(events_of_a_closed_endpoint, .ranks = 1) {
  endpoint e({.enable = false});
  fi_eq_attr attr{};
  attr.flags = FI_WRITE;
  owned_fid<fid_eq> eq;
  CHECK_OK(fi_eq_open(e.fabric(), &attr, eq.out(), nullptr));
  CHECK_OK(fi_ep_bind(e.ep(), &eq->fid, 0));
  std::uint64_t number = 0;
  for (fid_t about : {&eq->fid, &e.ep()->fid, &e.av()->fid, &e.ep()->fid, &eq->fid}) {
    const fi_eq_entry entry{about, nullptr, number++};
    CHECK_CODE(static_cast<long>(sizeof entry),
               fi_eq_write(eq.get(), FI_NOTIFY, &entry, sizeof entry, 0));
  }
  e.close_ep();
  fi_eq_entry entry{};
  std::uint32_t event = 0;
  for (const std::uint64_t left : {0, 2, 4}) {
    CHECK_CODE(static_cast<long>(sizeof entry),
               fi_eq_read(eq.get(), &event, &entry, sizeof entry, 0));
    CHECK_EQ(entry.data, left);
  }
  CHECK_CODE(-FI_EAGAIN, fi_eq_read(eq.get(), &event, &entry, sizeof entry, 0));
}

} // namespace fabtest
