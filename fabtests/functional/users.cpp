// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Two users on one host: what one sends to a port of the other's is refused. Run by root alone,
// who can become somebody else.
#include "common/case.h"
#include "common/endpoint.h"

#include <chrono>

#include <grp.h>
#include <unistd.h>

namespace fabtest {

namespace {

constexpr unsigned other_user = 65534; // nobody

} // namespace

CASE(refused_by_the_other, .seconds = 60) {
  if (geteuid() != 0)
    skip("not root");
  if (!t.first()) {
    CHECK_EQ(setgroups(0, nullptr), 0);
    CHECK_EQ(setresgid(other_user, other_user, other_user), 0);
    CHECK_EQ(setresuid(other_user, other_user, other_user), 0);
  }
  endpoint e;
  e.meet(t);
  std::byte into{}, out{1};
  op received, sent;
  e.trecv({&into, 1}, 0, received, ~0ull);
  e.tsend(t.other(), {&out, 1}, 1, sent);
  CHECK_EQ(e.tx().wait(sent, "send to another user").err, FI_EPERM);
  t.barrier();
  e.rx().expect_silence(std::chrono::milliseconds(50));
}

} // namespace fabtest
