// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Ranks that die, or fail: whoever waits for them gets an error in time, and from then on at once;
// the process goes on, and others of the same process do too.
#include "common/case.h"
#include "common/settings.h"
#include "functional/persistent_scene.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <rdma/fi_errno.h>
#include <unistd.h>

namespace fabtest {

namespace {

class temporary_folder {
public:
  temporary_folder() { CHECK(mkdtemp(name_.data()) != nullptr); }
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(name_, ignored);
  }
  [[nodiscard]] const std::string &path() const { return name_; }

private:
  std::string name_ = "/tmp/persistent-XXXXXX";
};

using clock = std::chrono::steady_clock;

[[noreturn]] void die() {
  raise(SIGKILL);
  fail("still alive");
}

collc_rt_settings impatient(collc_rt_mode mode) {
  collc_rt_settings s = settings_for(mode);
  s.probe_ms = 100;
  s.silence_ms = 3000;
  s.leave_ms = 2000;
  return s;
}

// It fails in time; after that all is refused at once, with the same error.
void expect_failure(const persistent_group &g, collc_rt_request *r) {
  const auto begin = clock::now();
  const auto limit = config().limit(config().death_limit);
  int rc = 0;
  do
    rc = collc_rt_wait(r, 500);
  while (rc == -FI_ETIMEDOUT && clock::now() - begin < limit);
  if (rc >= 0 || rc == -FI_ETIMEDOUT || rc != g.query().error)
    fail(fmt::format(
        "wait for a dead peer returned {} after {} ms", describe(rc),
        std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - begin).count()));
  const int error = g.query().error;
  const auto after = clock::now();
  CHECK_CODE(error, collc_rt_start(r));
  CHECK(std::strlen(collc_rt_error()) > 0);
  collc_rt_wait(r, -1); // whatever is left of it
  CHECK_CODE(error, collc_rt_start(r));
  CHECK_CODE(error, collc_rt_progress(g.get()));
  CHECK(clock::now() - after < config().limit(0.5));
}

// Some of a team, without those that have died.
struct survivors {
  team &t;
  std::vector<int> ranks;

  [[nodiscard]] std::int64_t rank() const {
    return std::ranges::find(ranks, t.rank()) - ranks.begin();
  }
  static int allgather(void *context, const void *mine, std::size_t size, void *all) {
    const auto &s = *static_cast<survivors *>(context);
    auto *to = static_cast<std::byte *>(all);
    const auto parts = s.t.allgather({static_cast<const std::byte *>(mine), size});
    for (const int r : s.ranks) {
      const bytes &part = parts[static_cast<std::size_t>(r)];
      if (part.size() != size)
        return -FI_EIO;
      std::memcpy(to, part.data(), size);
      to += size;
    }
    return 0;
  }
};

// They make a group anew, and it works.
void go_on(survivors s, collc_rt_mode mode) {
  const collc_rt_settings settings = impatient(mode);
  const collc_rt_exchange how{survivors::allgather, &s};
  collc_rt_group *g = nullptr;
  COLLC_OK(collc_rt_group_create(static_cast<std::int64_t>(s.ranks.size()), s.rank(), &how,
                                 &settings, &g));
  std::int64_t mine = 0, sum = 0, right = 0;
  collc_rt_collective c{};
  c.size = sizeof c;
  c.kind = COLLC_RT_ALLREDUCE;
  c.bytes = sizeof mine;
  c.in = &mine;
  c.out = &sum;
  c.type = "int64";
  collc_rt_request *r = nullptr;
  COLLC_OK(collc_rt_init(g, &c, &r));
  for (const int rank : s.ranks)
    right += rank + 1;
  for (int e = 0; e < 20; ++e) {
    mine = s.t.rank() + 1;
    COLLC_OK(collc_rt_start(r));
    COLLC_OK(collc_rt_wait(r, -1));
    CHECK_EQ(sum, right);
  }
  COLLC_OK(collc_rt_free(r));
  COLLC_OK(collc_rt_group_destroy(g, 0));
}

const form barrier{.kind = COLLC_RT_BARRIER};

// Rank 1 is killed after some epochs; the others are in the next one then.
void killed(team &t, collc_rt_mode mode, const form &f) {
  persistent_group g(t, impatient(mode));
  {
    persistent_request r(g, f);
    for (int e = 0; e < 5; ++e)
      r.run();
    t.barrier();
    if (t.rank() == 1)
      die();
    r.start();
    expect_failure(g, r.get());
  }
  CHECK(g.query().error < 0);
  go_on({t, {0, 2}}, mode);
}

void killed_in_barrier(team &t, collc_rt_mode mode) { killed(t, mode, barrier); }

void killed_receiver(team &t, collc_rt_mode mode) {
  killed(t, mode, {.kind = COLLC_RT_ALLGATHER, .bytes = 100'000});
}

void killed_root(team &t, collc_rt_mode mode) {
  killed(t, mode, {.kind = COLLC_RT_SCATTER, .bytes = 1000, .root = 1});
}

// Rank 1 has done nothing in the group but make it when it is killed.
void killed_early(team &t, collc_rt_mode mode) {
  persistent_group g(t, impatient(mode));
  {
    persistent_request r(g, {.kind = COLLC_RT_BROADCAST, .bytes = 100, .root = 1});
    if (t.rank() == 1)
      die();
    t.barrier();
    r.start();
    expect_failure(g, r.get());
  }
  go_on({t, {0, 2}}, mode);
}

// A rank whose request is wrong: no rank gets one, and the group serves on.
void wrong_on_one(team &t, collc_rt_mode mode) {
  persistent_group g(t, mode);
  std::int64_t in = 0, out = 0;
  collc_rt_collective c{};
  c.size = sizeof c;
  c.kind = COLLC_RT_ALLREDUCE;
  c.bytes = sizeof in;
  c.in = t.rank() == 1 ? nullptr : &in;
  c.out = &out;
  c.type = "int64";
  collc_rt_request *r = nullptr;
  CHECK_CODE(t.rank() == 1 ? -FI_EINVAL : -FI_ECONNABORTED, collc_rt_init(g.get(), &c, &r));
  CHECK(r == nullptr);
  const std::string told = collc_rt_error();
  CHECK(told.find("in is null; 8 bytes are needed") != std::string::npos);
  CHECK_EQ(told.starts_with("rank 1: "), t.rank() != 1);
  persistent_request(g, barrier).run();
  g.leave();
}

// Each rank is told what it is that differs.
void different(team &t, collc_rt_mode mode) {
  persistent_group g(t, mode);
  bytes in(800), out(800);
  collc_rt_collective same{};
  same.size = sizeof same;
  same.kind = COLLC_RT_REDUCE;
  same.bytes = 80;
  same.in = in.data();
  same.out = out.data();
  same.type = "int64";
  const auto refuse = [&](const char *what, auto change) {
    collc_rt_collective c = same;
    if (t.rank() == t.size() - 1)
      change(c);
    collc_rt_request *r = nullptr;
    CHECK_CODE(-FI_EINVAL, collc_rt_init(g.get(), &c, &r));
    CHECK_EQ(std::string(collc_rt_error()),
             fmt::format("the ranks' requests differ: {} of rank {} is not that of rank 0", what,
                         t.size() - 1));
  };
  refuse("kind", [](auto &c) { c.kind = COLLC_RT_GATHER; });
  refuse("bytes", [](auto &c) { c.bytes = 88; });
  refuse("root", [](auto &c) { c.root = 1; });
  refuse("operation and type", [](auto &c) { c.operation = "max"; });
  refuse("operation and type", [](auto &c) { c.type = "uint64"; });
  refuse("algorithm", [](auto &c) { c.algorithm = "reduce:flat"; });
  refuse("ready", [](auto &c) { c.ready = 1; });
  refuse("flags", [](auto &c) { c.flags = COLLC_RT_DIRECT; });
  persistent_request(g, {.kind = COLLC_RT_REDUCE, .bytes = 80}).run();
  g.leave();
}

// Two texts under the same name.
void different_texts(team &t, collc_rt_mode mode) {
  persistent_group g(t, mode);
  const temporary_folder folder;
  const std::string file = folder.path() + "/mine.coll";
  const auto write = [&](const char *rounds) {
    std::ofstream(file) << "collective barrier\n"
                        << rounds
                        << "for r in 1 .. ceil_log2(ranks) {\n"
                           "  round r { send (rank + (1 << (r - 1))) % ranks\n"
                           "            recv (rank - (1 << (r - 1))) % ranks }\n}\n";
  };
  collc_rt_collective c{};
  c.size = sizeof c;
  c.kind = COLLC_RT_BARRIER;
  const std::string relative = "./mine.coll";
  c.algorithm = relative.c_str();
  CHECK_EQ(chdir(folder.path().c_str()), 0);
  collc_rt_request *r = nullptr;
  write(t.first() ? "" : "rounds ceil_log2(ranks)\n");
  CHECK_CODE(-FI_EINVAL, collc_rt_init(g.get(), &c, &r));
  CHECK_EQ(std::string(collc_rt_error()),
           std::string("the ranks' requests differ: algorithm of rank 1 is not that of rank 0"));
  write("");
  COLLC_OK(collc_rt_init(g.get(), &c, &r));
  for (int e = 0; e < 10; ++e) {
    COLLC_OK(collc_rt_start(r));
    COLLC_OK(collc_rt_wait(r, -1));
  }
  COLLC_OK(collc_rt_free(r));
  g.leave();
}

// A rank that doesn't come is waited for so long as leave_ms says.
void left_alone(team &t, collc_rt_mode mode) {
  collc_rt_settings s = impatient(mode);
  s.leave_ms = 300;
  persistent_group g(t, s);
  if (t.first()) {
    const auto begin = clock::now();
    CHECK_CODE(-FI_ETIMEDOUT, g.try_to_leave());
    CHECK(clock::now() - begin >= std::chrono::milliseconds(300));
  }
  t.barrier();
}

} // namespace

CASE_IN_BOTH_MODES(killed_in_barrier, .ranks = 3, .seconds = 60, .may_die = 0b010)
CASE_IN_BOTH_MODES(killed_receiver, .ranks = 3, .seconds = 60, .may_die = 0b010)
CASE_IN_BOTH_MODES(killed_root, .ranks = 3, .seconds = 60, .may_die = 0b010)
CASE_IN_BOTH_MODES(killed_early, .ranks = 3, .seconds = 60, .may_die = 0b010)
CASE_IN_BOTH_MODES(wrong_on_one, .ranks = 3, .seconds = 60)
CASE_IN_BOTH_MODES(different, .ranks = 3, .seconds = 60)
CASE_IN_BOTH_MODES(different_texts, .ranks = 2, .seconds = 60)
CASE_IN_BOTH_MODES(left_alone, .ranks = 2, .seconds = 60)

} // namespace fabtest
