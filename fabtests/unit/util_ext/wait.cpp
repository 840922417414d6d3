// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/wait.h"

#include "fake.h"

#include <chrono>
#include <fcntl.h>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

#include "unit/unit.h"

using namespace std::chrono_literals;
using util_ext::Deadline;
using util_ext::Wait;

namespace {

void deadline__passes(void **) {
  const Deadline now(0), soon(5), never(-1);
  assert_true(now.passed());
  assert_true(now.left() == 0ns);
  assert_true(soon.left() <= 5ms);
  assert_false(never.passed());
  assert_true(never.forever());
}

void supported__are_the_kinds_without_a_wait_set(void **) {
  for (const fi_wait_obj w : {FI_WAIT_NONE, FI_WAIT_UNSPEC, FI_WAIT_FD, FI_WAIT_YIELD})
    assert_true(Wait::supported(w));
  for (const fi_wait_obj w : {FI_WAIT_SET, FI_WAIT_MUTEX_COND, FI_WAIT_POLLFD})
    assert_false(Wait::supported(w));
}

void sleeper__wakes_on_what_came_before_it_slept(void **) {
  Wait wait(nullptr, FI_WAIT_UNSPEC);
  Wait::Sleeper sleeper(wait);
  wait.notify();
  const auto start = std::chrono::steady_clock::now();
  assert_int_equal(sleeper.sleep(Deadline(30000)), 0);
  assert_true(std::chrono::steady_clock::now() - start < 20s);
}

void notify__wakes_every_sleeper(void **) {
  Wait wait(nullptr, FI_WAIT_UNSPEC);
  std::atomic<int> value{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      while (value.load() == 0) {
        Wait::Sleeper sleeper(wait);
        if (value.load() == 0)
          sleeper.sleep(Deadline(-1));
      }
    });
  value.store(1);
  wait.notify();
  for (auto &t : threads)
    t.join();
}

void sleeper__does_not_block_when_the_source_has_something(void **) {
  fake::Source source;
  source.arrive();
  Wait wait(&source, FI_WAIT_UNSPEC);
  Wait::Sleeper sleeper(wait);
  assert_int_equal(sleeper.sleep(Deadline(-1)), 0);
  assert_int_equal(source.armed(), 0);
}

void open__tells_when_there_are_no_descriptors(void **) {
  rlimit old, none;
  getrlimit(RLIMIT_NOFILE, &old);
  const int highest = open("/dev/null", O_RDONLY); // lowest free number
  close(highest);
  none = {static_cast<rlim_t>(highest), old.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none);
  Wait fd(nullptr, FI_WAIT_FD), unspec(nullptr, FI_WAIT_UNSPEC);
  const int fd_rc = fd.open(), unspec_rc = unspec.open();
  const int try_rc = unspec.try_wait([] { return true; });
  setrlimit(RLIMIT_NOFILE, &old);
  assert_int_equal(fd_rc, -FI_EMFILE);
  assert_int_equal(unspec_rc, 0); // takes one when it needs it
  assert_int_equal(try_rc, -FI_EMFILE);
  assert_int_equal(unspec.try_wait([] { return true; }), 0);
}

void sleeper__without_descriptors_does_not_block(void **) {
  std::thread([] { // that has no event yet
    rlimit old, none;
    getrlimit(RLIMIT_NOFILE, &old);
    const int highest = open("/dev/null", O_RDONLY);
    close(highest);
    none = {static_cast<rlim_t>(highest), old.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    Wait wait(nullptr, FI_WAIT_UNSPEC);
    Wait::Sleeper sleeper(wait);
    assert_int_equal(sleeper.sleep(Deadline(-1)), 0);
    setrlimit(RLIMIT_NOFILE, &old);
  })
      .join();
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(deadline__passes),
    cmocka_unit_test(supported__are_the_kinds_without_a_wait_set),
    cmocka_unit_test(sleeper__wakes_on_what_came_before_it_slept),
    cmocka_unit_test(notify__wakes_every_sleeper),
    cmocka_unit_test(sleeper__does_not_block_when_the_source_has_something),
    cmocka_unit_test(open__tells_when_there_are_no_descriptors),
    cmocka_unit_test(sleeper__without_descriptors_does_not_block),
};
static const unit::Group group{"wait", cases};
