// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// An application that forks with endpoints open: the child leaves the library alone, and nothing
// happens to the parent, however the child ends.
#include "common/case.h"
#include "common/forms.h"

#include <algorithm>
#include <cstdlib>

#include <sys/wait.h>
#include <unistd.h>

namespace fabtest {

namespace {

void exchange(team &t, endpoint &e, std::uint64_t n) {
  op sent, received;
  std::vector<std::byte> into(30'000);
  const auto content = payload(into.size(), n * 2 + static_cast<std::uint64_t>(t.rank()));
  e.trecv(into, n, received);
  e.tsend(t.other(), content, n, sent);
  e.rx().wait_ok(received, "receive");
  e.tx().wait_ok(sent, "send");
  verify(into, n * 2 + static_cast<std::uint64_t>(t.other()));
}

template <class F> void with_child(const F &child, int expected_status) {
  const pid_t pid = fork();
  CHECK(pid >= 0);
  if (pid == 0) {
    child();
    _exit(1);
  }
  int status = 0;
  CHECK_EQ(waitpid(pid, &status, 0), pid);
  CHECK(WIFEXITED(status));
  CHECK_EQ(WEXITSTATUS(status), expected_status);
}

// The child that lives between two exchanges changes nothing for them.
template <class F> void exchange_around(team &t, const F &child) {
  endpoint e;
  e.meet(t);
  exchange(t, e, 1);
  with_child(child, 0);
  exchange(t, e, 2);
  t.barrier();
}

} // namespace

CASE(child_ends_at_once) {
  endpoint e;
  e.meet(t);
  for (std::uint64_t n = 0; n < 20; ++n) {
    exchange(t, e, n);
    with_child([] { _exit(0); }, 0);
  }
  exchange(t, e, 99);
  t.barrier();
}

// Static destructors run in the child, the library's among them.
CASE(child_calls_exit) {
  exchange_around(t, [] { std::exit(0); });
}

CASE(child_runs_a_program) {
  exchange_around(t, [] { execl("/bin/true", "true", static_cast<char *>(nullptr)); });
}

// The child writes over all it inherited; the parent's buffers, posted or not, stay its own.
CASE(child_writes_over_its_memory) {
  endpoint e;
  e.meet(t);
  op sent, received;
  std::vector<std::byte> into(50'000);
  auto content = payload(into.size(), static_cast<std::uint64_t>(t.rank()));
  e.trecv(into, 1, received);
  with_child(
      [&] {
        std::ranges::fill(into, std::byte{0xff});
        std::ranges::fill(content, std::byte{0xff});
        _exit(0);
      },
      0);
  e.tsend(t.other(), content, 1, sent);
  e.rx().wait_ok(received, "receive");
  e.tx().wait_ok(sent, "send");
  verify(into, static_cast<std::uint64_t>(t.other()));
  t.barrier();
}

} // namespace fabtest
