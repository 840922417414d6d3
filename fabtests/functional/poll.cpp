// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Poll sets (fi_poll(3)): one call drives and looks at queues and counters of a domain.
#include "common/case.h"
#include "common/forms.h"

#include <array>
#include <chrono>
#include <set>

namespace fabtest {

namespace {

struct polled {
  explicit polled(team &t) : e({.separate_queues = true, .counters = true}) {
    const int rc = fi_poll_open(e.domain(), nullptr, set.out());
    if (rc == -FI_ENOSYS)
      skip("no poll sets");
    CHECK_OK(rc);
    e.meet(t);
    for (const fid_t f : members())
      CHECK_OK(fi_poll_add(set.get(), f, 0));
  }
  ~polled() {
    for (const fid_t f : members())
      if (fi_poll_del(set.get(), f, 0) != 0)
        fail_later("fi_poll_del fails");
  }

  [[nodiscard]] std::array<fid_t, 4> members() {
    return {&e.tx().get()->fid, &e.rx().get()->fid, &e.sent()->fid, &e.received()->fid};
  }

  // Until the set has told of all of these, which nothing else drives.
  void expect(std::set<void *> wanted, where at = where::current()) {
    const auto end = std::chrono::steady_clock::now() + default_wait();
    while (!wanted.empty()) {
      std::array<void *, 4> found{};
      const int n = fi_poll(set.get(), found.data(), static_cast<int>(found.size()));
      if (n < 0)
        fail_call("fi_poll", n, at);
      for (int i = 0; i < n; ++i)
        wanted.erase(found[static_cast<std::size_t>(i)]);
      if (std::chrono::steady_clock::now() > end)
        fail("fi_poll does not tell of what has happened", at);
    }
  }

  endpoint e;
  owned_fid<fid_poll> set;
};

} // namespace

CASE(queues_and_counters) {
  polled p(t);
  endpoint &e = p.e;
  op sent, received;
  const auto content = payload(100, 7);
  std::vector<std::byte> into(100);
  for (int i = 0; i < 50; ++i) {
    e.trecv(into, 1, received);
    e.tsend(t.other(), content, 1, sent);
    p.expect({e.tx().get()->fid.context, e.rx().get()->fid.context, e.sent()->fid.context,
              e.received()->fid.context});
    e.tx().wait_ok(sent, "send");
    e.rx().wait_ok(received, "receive");
    verify(into, 7);
    t.barrier();
  }
}

CASE(members, .ranks = 1) {
  polled p(t);
  const fid_t queue = &p.e.tx().get()->fid;
  CHECK_CODE(-FI_EALREADY, fi_poll_add(p.set.get(), queue, 0));
  CHECK_CODE(-FI_EINVAL, fi_poll_add(p.set.get(), &p.e.av()->fid, 0));
  CHECK_CODE(-FI_EINVAL, fi_poll_add(p.set.get(), queue, FI_MORE));
  CHECK_CODE(-FI_EBUSY, fi_close(p.set.as_fid()));
  CHECK_OK(fi_poll_del(p.set.get(), queue, 0));
  CHECK_CODE(-FI_EINVAL, fi_poll_del(p.set.get(), queue, 0));
  CHECK_OK(fi_poll_add(p.set.get(), queue, 0));
}

CASE(nothing_to_tell, .ranks = 1) {
  polled p(t);
  void *found = nullptr;
  CHECK_EQ(fi_poll(p.set.get(), &found, 1), 0);
  CHECK_EQ(fi_poll(p.set.get(), nullptr, 0), 0);
  CHECK_OK(fi_cntr_add(p.e.sent(), 5)); // by hand is no news
  CHECK_EQ(fi_poll(p.set.get(), &found, 1), 0);
}

} // namespace fabtest
