// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/wait.h"

#include "fake.h"

#include <chrono>
#include <fcntl.h>
#include <poll.h>
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

void control__gives_what_applications_may_block_on(void **) {
  int fd = -1;
  fi_wait_obj object;
  for (const fi_wait_obj w : {FI_WAIT_NONE, FI_WAIT_YIELD}) {
    Wait wait(nullptr, w);
    assert_int_equal(wait.control(FI_GETWAIT, &fd), -FI_ENODATA);
    assert_int_equal(wait.control(FI_GETWAITOBJ, &object), 0);
    assert_int_equal(object, w);
    assert_int_equal(wait.control(FI_GETWAIT, nullptr), -FI_EINVAL);
    assert_int_equal(wait.control(FI_GETFIDFLAG, nullptr), -FI_ENOSYS);
  }
  for (const fi_wait_obj w : {FI_WAIT_UNSPEC, FI_WAIT_FD}) {
    Wait wait(nullptr, w);
    assert_int_equal(wait.control(FI_GETWAIT, &fd), 0);
    assert_true(fcntl(fd, F_GETFD) >= 0);
    assert_int_equal(wait.control(FI_GETWAITOBJ, &object), 0);
    assert_int_equal(object, FI_WAIT_FD);
  }
}

void control__gives_pollfds(void **) {
  Wait wait(nullptr, FI_WAIT_POLLFD);
  assert_int_equal(wait.open(), 0);
  fi_wait_pollfd out{};
  assert_int_equal(wait.control(FI_GETWAIT, &out), -FI_ETOOSMALL); // how many?
  assert_int_equal(out.nfds, 1);
  assert_int_equal(wait.control(FI_GETWAIT, &out), -FI_EINVAL); // nowhere to put it
  pollfd fd{};
  out.fd = &fd;
  const auto index = out.change_index;
  assert_int_equal(wait.control(FI_GETWAIT, &out), 0);
  assert_int_equal(out.change_index, index);
  assert_int_equal(wait.try_wait([] { return true; }), 0);
  assert_int_equal(poll(&fd, 1, 0), 0);
  wait.notify();
  assert_int_equal(poll(&fd, 1, 0), 1);
}

void set__is_told_of_its_members_and_nobody_waits_there(void **) {
  Wait set(nullptr, FI_WAIT_UNSPEC), member(set);
  assert_false(member.blocking());
  assert_int_equal(member.try_wait([] { return true; }), -FI_EINVAL);
  assert_int_equal(set.try_wait([] { return true; }), 0);
  int fd;
  assert_int_equal(set.control(FI_GETWAIT, &fd), 0);
  assert_int_equal(member.control(FI_GETWAIT, &fd), -FI_ENODATA);
  pollfd p{fd, POLLIN, 0};
  assert_int_equal(poll(&p, 1, 0), 0);
  member.notify();
  assert_int_equal(poll(&p, 1, 0), 1);
  const std::uint64_t mark = set.mark();
  member.interrupt();
  assert_true(set.interrupted(mark));
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

void patience__ends_at_the_deadline_and_sooner(void **) {
  fake::Source source;
  const Wait driven(&source, FI_WAIT_UNSPEC), told(nullptr, FI_WAIT_UNSPEC);
  const Deadline at_once(0), never(-1);
  assert_false(Wait::Patience(driven, at_once).left());
  const auto looks = [&never](const Wait &wait) {
    unsigned n = 0;
    for (Wait::Patience patience(wait, never); patience.left(); ++n)
      std::this_thread::yield();
    return n;
  };
  assert_in_range(looks(told), 0, 15); // what it waits for comes from elsewhere
  const auto start = std::chrono::steady_clock::now();
  looks(driven);
  assert_true(std::chrono::steady_clock::now() - start >= 20us);
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
    cmocka_unit_test(control__gives_what_applications_may_block_on),
    cmocka_unit_test(control__gives_pollfds),
    cmocka_unit_test(set__is_told_of_its_members_and_nobody_waits_there),
    cmocka_unit_test(sleeper__wakes_on_what_came_before_it_slept),
    cmocka_unit_test(notify__wakes_every_sleeper),
    cmocka_unit_test(patience__ends_at_the_deadline_and_sooner),
    cmocka_unit_test(sleeper__does_not_block_when_the_source_has_something),
    cmocka_unit_test(open__tells_when_there_are_no_descriptors),
    cmocka_unit_test(sleeper__without_descriptors_does_not_block),
};
static const unit::Group group{"wait", cases};
