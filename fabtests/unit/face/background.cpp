// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/background.h"

#include <atomic>
#include <csignal>
#include <cstring>
#include <pthread.h>
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
    cmocka_unit_test(background__a_processor_that_is_not_there),
    cmocka_unit_test(background__a_forked_child_does_not_wait_for_it),
};
static const unit::Group group{"background", cases};
