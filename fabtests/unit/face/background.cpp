// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/background.h"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/unit.h"

using namespace dpdkx;

static void background__blocks_signals_and_has_a_name(void **) {
  sigset_t mask, before, after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  std::string name, error;
  {
    Background thread;
    assert_int_equal(thread.start(
                         "dpdkx-test", -1,
                         [&] {
                           pthread_sigmask(SIG_SETMASK, nullptr, &mask);
                           char text[16] = "";
                           // The starter sets the name after the thread has begun.
                           while (std::strcmp(text, "dpdkx-test") != 0)
                             pthread_getname_np(pthread_self(), text, sizeof(text));
                           name = text;
                         },
                         error),
                     0);
  }
  for (const int signal : {SIGINT, SIGTERM, SIGALRM, SIGUSR1, SIGCHLD})
    assert_int_equal(sigismember(&mask, signal), 1);
  assert_string_equal(name.c_str(), "dpdkx-test");
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  assert_int_equal(sigismember(&after, SIGUSR1), sigismember(&before, SIGUSR1));
}

// What the kernel says of the calling thread's slice, in nanoseconds; 0 where it has none.
static std::uint64_t slice_of_this_thread() {
  struct {
    std::uint32_t size, policy;
    std::uint64_t flags;
    std::int32_t nice;
    std::uint32_t priority;
    std::uint64_t runtime, deadline, period;
  } a{};
  syscall(SYS_sched_getattr, 0, &a, sizeof a, 0);
  return a.runtime;
}

// Linux before 6.12 takes no slice, and tells none.
static bool kernel_has_slices() {
  utsname u{};
  int major = 0, minor = 0;
  uname(&u);
  return std::sscanf(u.release, "%d.%d", &major, &minor) == 2 &&
         (major > 6 || (major == 6 && minor >= 12));
}

static void background__is_run_soon_after_it_wakes(void **) {
  if (!kernel_has_slices() || sched_getscheduler(0) != SCHED_OTHER)
    skip();
  std::uint64_t slice = 0;
  std::string error;
  {
    Background thread;
    assert_int_equal(thread.start(
                         "dpdkx-test", -1, [&] { slice = slice_of_this_thread(); }, error),
                     0);
  }
  assert_int_equal(slice, 100'000);
  assert_true(slice_of_this_thread() > slice); // the application's is as it was
}

static void background__a_processor_that_is_not_there(void **) {
  Background thread;
  std::string error;
  assert_int_equal(thread.start(
                       "dpdkx-test", 1023, [] {}, error),
                   -EINVAL);
  assert_non_null(std::strstr(error.c_str(), "FI_DPDKX_PROGRESS_CPU: '1023'; allowed: "));
  assert_false(thread.running());
}

// The thread is not there in the child: waiting for it would last forever.
static void background__a_forked_child_does_not_wait_for_it(void **) {
  std::atomic<bool> stop{false};
  std::string error;
  Background thread;
  assert_int_equal(thread.start(
                       "dpdkx-test", -1,
                       [&] {
                         while (!stop)
                           sched_yield();
                       },
                       error),
                   0);
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    thread.join();
    _exit(0);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  stop = true;
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(background__blocks_signals_and_has_a_name),
    cmocka_unit_test(background__is_run_soon_after_it_wakes),
    cmocka_unit_test(background__a_processor_that_is_not_there),
    cmocka_unit_test(background__a_forked_child_does_not_wait_for_it),
};
static const unit::Group group{"background", cases};
