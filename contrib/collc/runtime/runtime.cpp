// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The C interface.
#include "collc/collc_runtime.h"

#include "collc/runtime/registry.h"
#include "collc/runtime/request.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include <fmt/format.h>

struct collc_rt_group {
  collc::rt::group inside;
};

struct collc_rt_request {
  collc::rt::request inside;
};

namespace collc::rt {

namespace {

using clock = std::chrono::steady_clock;

void check_given(bool given, const char *name) {
  if (!given)
    fail(-FI_EINVAL, fmt::format("{} is null", name));
}

void check_ranks(std::int64_t ranks, std::int64_t rank) {
  if (ranks < 1 || ranks > INT32_MAX)
    fail(-FI_EINVAL, fmt::format("ranks is {}; allowed: 1 to {}", ranks, INT32_MAX));
  if (rank < 0 || rank >= ranks)
    fail(-FI_EINVAL, fmt::format("rank is {}; allowed: 0 to {}", rank, ranks - 1));
}

// Whether it is inactive now.
bool test(request &r, bool drive) {
  group &g = r.owner();
  const std::lock_guard lock(g.mutex);
  if (!r.active() || r.test())
    return true;
  if (!drive)
    return false;
  g.progress();
  return r.test();
}

// When a waiting loop gives its processor to others: seldom where nobody wants it, as that costs a
// system call; with each turn where a yield has turned out to let somebody run, who may be the
// peer.
class waiting {
public:
  // True: it has done so.
  bool pass() {
    if (calm_ >= calm_yields && ++turns_ % busy_turns != 0)
      return false;
    const auto before = clock::now();
    std::this_thread::yield();
    calm_ = clock::now() - before < busy_yield ? std::min(calm_ + 1, calm_yields) : 0;
    return true;
  }

private:
  static constexpr unsigned busy_turns = 64, calm_yields = 64;
  static constexpr auto busy_yield = std::chrono::microseconds(1);
  unsigned turns_ = 0, calm_ = calm_yields;
};

void wait(request &r, int timeout_ms) {
  thread_local waiting loop;
  const auto timeout = std::chrono::milliseconds(timeout_ms);
  clock::time_point begun{};
  while (!test(r, true)) {
    drive_others(&r.owner());
    if (!loop.pass() && timeout_ms != 0)
      continue;
    const auto now = clock::now();
    if (begun == clock::time_point())
      begun = now;
    if (timeout_ms >= 0 && now - begun >= timeout)
      fail(-FI_ETIMEDOUT, fmt::format("not complete after {} ms", timeout_ms));
  }
}

// The caller's structure may be an older, shorter one.
template <class T, class Fill> void answer(T *to, const char *name, Fill fill) {
  check_given(to != nullptr, name);
  const std::size_t size = to->size;
  if (size < sizeof size)
    fail(-FI_EINVAL, fmt::format("{}.size is {}; at least {} is needed", name, size, sizeof size));
  T whole{};
  fill(whole);
  whole.size = size;
  std::memcpy(to, &whole, size < sizeof whole ? size : sizeof whole);
}

} // namespace

} // namespace collc::rt

using namespace collc::rt;

#pragma GCC visibility push(default)

int collc_rt_group_create(std::int64_t ranks, std::int64_t rank, const collc_rt_exchange *how,
                          const collc_rt_settings *settings, collc_rt_group **made) {
  return guarded([&] {
    check_given(made != nullptr, "group");
    *made = nullptr;
    check_given(how != nullptr, "exchange");
    check_given(how->allgather != nullptr, "exchange.allgather");
    check_ranks(ranks, rank);
    auto g = std::unique_ptr<collc_rt_group>(
        new collc_rt_group{{exchange(ranks, rank, *how), read_options(settings)}});
    g->inside.make_leaving();
    enlist(g->inside);
    *made = g.release();
  });
}

int collc_rt_group_destroy(collc_rt_group *g, unsigned flags) {
  int rc = 0;
  const int refused = guarded([&] {
    check_given(g != nullptr, "group");
    if ((flags & ~COLLC_RT_ALONE) != 0)
      fail(-FI_EINVAL, fmt::format("flags are {:#x}; allowed: COLLC_RT_ALONE", flags));
    {
      const std::lock_guard lock(g->inside.mutex);
      if (g->inside.has_requests())
        fail(-FI_EBUSY, "the group has requests that have not been freed");
    }
    strike_off(g->inside);
    rc = g->inside.leave((flags & COLLC_RT_ALONE) != 0);
    delete g;
  });
  return refused != 0 ? refused : rc;
}

int collc_rt_init(collc_rt_group *g, const collc_rt_collective *asked, collc_rt_request **made) {
  return guarded([&] {
    check_given(g != nullptr, "group");
    check_given(made != nullptr, "request");
    *made = nullptr;
    const std::lock_guard one(g->inside.initialising);
    *made = new collc_rt_request{{g->inside, asked}};
  });
}

int collc_rt_start(collc_rt_request *r) {
  return guarded([&] {
    check_given(r != nullptr, "request");
    const std::lock_guard lock(r->inside.owner().mutex);
    r->inside.start();
  });
}

int collc_rt_test(collc_rt_request *r, int *done) {
  return guarded([&] {
    check_given(r != nullptr, "request");
    check_given(done != nullptr, "done");
    *done = 0;
    drive_others(&r->inside.owner());
    *done = test(r->inside, true) ? 1 : 0;
  });
}

int collc_rt_wait(collc_rt_request *r, int timeout_ms) {
  return guarded([&] {
    check_given(r != nullptr, "request");
    wait(r->inside, timeout_ms);
  });
}

int collc_rt_free(collc_rt_request *r) {
  return guarded([&] {
    check_given(r != nullptr, "request");
    {
      group &g = r->inside.owner();
      const std::lock_guard lock(g.mutex);
      if (r->inside.active() && !g.failed())
        fail(-FI_EBUSY, "the request is active");
    }
    delete r;
  });
}

int collc_rt_progress(collc_rt_group *g) {
  return guarded([&] {
    if (g == nullptr)
      return drive_others(nullptr);
    const std::lock_guard lock(g->inside.mutex);
    g->inside.progress();
    g->inside.check();
  });
}

const char *collc_rt_error(void) { return remembered(); }

int collc_rt_group_query(collc_rt_group *g, collc_rt_group_info *info) {
  return guarded([&] {
    check_given(g != nullptr, "group");
    answer(info, "collc_rt_group_info", [&](collc_rt_group_info &i) {
      const std::lock_guard lock(g->inside.mutex);
      g->inside.query(i);
    });
  });
}

int collc_rt_request_query(collc_rt_request *r, collc_rt_request_info *info) {
  return guarded([&] {
    check_given(r != nullptr, "request");
    answer(info, "collc_rt_request_info", [&](collc_rt_request_info &i) {
      const std::lock_guard lock(r->inside.owner().mutex);
      r->inside.query(i);
    });
  });
}

#pragma GCC visibility pop
