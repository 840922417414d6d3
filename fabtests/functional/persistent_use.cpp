// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The runtime's interface: from C, with arguments that are wrong, and without memory of its own
// between init and free.
#include "common/case.h"
#include "common/sanitized.h"
#include "functional/allocations.h"
#include "functional/persistent_c.h"
#include "functional/persistent_scene.h"

#include <cstring>

#include <rdma/fi_errno.h>

namespace fabtest {

namespace {

int no_allgather(void *, const void *, std::size_t, void *) { return -FI_EIO; }

void from_c(team &t, collc_rt_mode mode) {
  const collc_rt_settings s = settings_for(mode);
  const collc_rt_exchange how = exchange_of(t);
  if (const char *const wrong = c_allgather(t.size(), t.rank(), &how, &s, 100)) {
    if (mode == COLLC_RT_OFFLOAD && std::strstr(wrong, "no provider") != nullptr)
      skip(wrong);
    fail(wrong);
  }
}

void start_allocates_nothing(team &t, collc_rt_mode mode) {
  if (sanitized)
    skip("allocations are the sanitizer's");
  persistent_group g(t, mode);
  bytes in(20'000), out(20'000 * static_cast<std::size_t>(t.size()));
  collc_rt_collective c{};
  c.size = sizeof c;
  c.kind = COLLC_RT_ALLGATHER;
  c.bytes = in.size();
  c.in = in.data();
  c.out = out.data();
  collc_rt_request *r = nullptr;
  COLLC_OK(collc_rt_init(g.get(), &c, &r));
  CHECK(allocations() > 0); // it counts
  for (int e = 0; e < 10; ++e) {
    const std::uint64_t before = allocations();
    const int rc = collc_rt_start(r), rc2 = collc_rt_wait(r, -1);
    CHECK_EQ(allocations(), before);
    CHECK_EQ(rc, 0);
    CHECK_EQ(rc2, 0);
  }
  COLLC_OK(collc_rt_free(r));
  g.leave();
}

#define REFUSED(call, text)                                                                        \
  do {                                                                                             \
    CHECK_CODE(-FI_EINVAL, call);                                                                  \
    CHECK_EQ(std::string(collc_rt_error()), std::string(text));                                    \
  } while (false)

} // namespace

CASE_IN_BOTH_MODES(from_c, .ranks = 3)
CASE_IN_BOTH_MODES(start_allocates_nothing, .ranks = 2)

CASE(chosen_mode, .ranks = 2) {
  persistent_group g(t, COLLC_RT_AUTO);
  const collc_rt_group_info i = g.query();
  CHECK(i.mode == COLLC_RT_OFFLOAD || i.mode == COLLC_RT_FUNCTION);
  CHECK(std::strcmp(i.provider, "dpdkx") != 0 || i.mode == COLLC_RT_OFFLOAD);
  CHECK_EQ(i.ranks, 2);
  CHECK_EQ(i.rank, t.rank());
  CHECK_EQ(i.requests, 0u);
  persistent_request r(g, {.kind = COLLC_RT_BARRIER});
  r.run();
  collc_rt_request_info q{};
  q.size = sizeof q;
  COLLC_OK(collc_rt_request_query(r.get(), &q));
  CHECK_EQ(std::string(q.algorithm), std::string("barrier:butterfly"));
  CHECK_EQ(q.starts, 1u);
  CHECK(q.works > 0 && q.counters > 0 && q.active == 0);
  CHECK_EQ(g.query().requests, 1u);
  r.free();
  g.leave();
}

// Ranks ask for different modes, or one can't have what all ask for: all are told.
CASE(modes_that_differ, .ranks = 3) {
  const collc_rt_settings s = settings_for(t.rank() == 2 ? COLLC_RT_AUTO : COLLC_RT_FUNCTION);
  const collc_rt_exchange how = exchange_of(t);
  collc_rt_group *g = nullptr;
  const int rc = collc_rt_group_create(t.size(), t.rank(), &how, &s, &g);
  CHECK_EQ(rc, -FI_EINVAL);
  CHECK(std::strstr(collc_rt_error(), "the ranks' settings differ: mode of rank 2") != nullptr);
}

CASE(provider_of_one_rank, .ranks = 3) {
  collc_rt_settings s = settings_for(COLLC_RT_FUNCTION);
  if (t.rank() == 1)
    s.provider = "none";
  const collc_rt_exchange how = exchange_of(t);
  collc_rt_group *g = nullptr;
  CHECK_CODE(t.rank() == 1 ? -FI_ENODATA : -FI_ECONNABORTED,
             collc_rt_group_create(t.size(), t.rank(), &how, &s, &g));
  CHECK(g == nullptr);
  CHECK(std::strstr(collc_rt_error(), "no provider named none") != nullptr);
}

CASE(wrong_arguments, .ranks = 1) {
  const collc_rt_exchange how = exchange_of(t), without{nullptr, nullptr};
  collc_rt_settings s = settings_for(COLLC_RT_FUNCTION);
  collc_rt_group *g = nullptr;
  REFUSED(collc_rt_group_create(1, 0, &how, &s, nullptr), "group is null");
  REFUSED(collc_rt_group_create(1, 0, nullptr, &s, &g), "exchange is null");
  REFUSED(collc_rt_group_create(1, 0, &without, &s, &g), "exchange.allgather is null");
  REFUSED(collc_rt_group_create(0, 0, &how, &s, &g), "ranks is 0; allowed: 1 to 2147483647");
  REFUSED(collc_rt_group_create(2, 2, &how, &s, &g), "rank is 2; allowed: 0 to 1");
  REFUSED(collc_rt_group_create(2, -1, &how, &s, &g), "rank is -1; allowed: 0 to 1");
  s.mode = static_cast<collc_rt_mode>(3);
  REFUSED(collc_rt_group_create(1, 0, &how, &s, &g),
          "collc_rt_settings.mode is 3; allowed: COLLC_RT_AUTO (0), COLLC_RT_OFFLOAD (1), "
          "COLLC_RT_FUNCTION (2)");
  s = settings_for(COLLC_RT_FUNCTION);
  s.size = 4;
  CHECK_CODE(-FI_EINVAL, collc_rt_group_create(1, 0, &how, &s, &g));
  s = settings_for(COLLC_RT_FUNCTION);
  const collc_rt_exchange broken{no_allgather, nullptr};
  CHECK_CODE(-FI_EIO, collc_rt_group_create(1, 0, &broken, &s, &g));
  CHECK(g == nullptr);

  int done = 0;
  REFUSED(collc_rt_start(nullptr), "request is null");
  REFUSED(collc_rt_wait(nullptr, 0), "request is null");
  REFUSED(collc_rt_test(nullptr, &done), "request is null");
  REFUSED(collc_rt_free(nullptr), "request is null");
  REFUSED(collc_rt_group_destroy(nullptr, 0), "group is null");
  REFUSED(collc_rt_init(nullptr, nullptr, nullptr), "group is null");

  persistent_group one(t, COLLC_RT_FUNCTION);
  collc_rt_request *r = nullptr;
  REFUSED(collc_rt_init(one.get(), nullptr, &r), "collc_rt_init: the collective is null");
  REFUSED(collc_rt_init(one.get(), nullptr, nullptr), "request is null");
  REFUSED(collc_rt_group_destroy(one.get(), 2), "flags are 0x2; allowed: COLLC_RT_ALONE");
  collc_rt_group_info i{};
  REFUSED(collc_rt_group_query(one.get(), &i),
          "collc_rt_group_info.size is 0; at least 8 is needed");
  i.size = 16; // an older program's
  i.rank = 77;
  COLLC_OK(collc_rt_group_query(one.get(), &i));
  CHECK_EQ(i.ranks, 1);
  CHECK_EQ(i.rank, 77);
  one.leave();
}

} // namespace fabtest
