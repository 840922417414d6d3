// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/base/thread.h"

#include <cerrno>
#include <csignal>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/unit.h"

using namespace dpdkx;

static void thread__takes_no_signals(void **) {
  sigset_t inside, outside;
  std::thread thread;
  std::string error;
  assert_int_equal(start_thread(
                       thread, [&] { pthread_sigmask(SIG_SETMASK, nullptr, &inside); }, error),
                   0);
  thread.join();
  pthread_sigmask(SIG_SETMASK, nullptr, &outside);
  assert_true(sigismember(&inside, SIGINT));
  assert_false(sigismember(&outside, SIGINT));
  assert_true(error.empty());
}

// In a process that may have no further one: as somebody whom limits bind.
static void thread__that_the_limits_forbid(void **) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit none{0, 0};
    if (setrlimit(RLIMIT_NPROC, &none) != 0 || (geteuid() == 0 && setuid(65534) != 0))
      _exit(2);
    std::thread thread;
    std::string error;
    const int rc = start_thread(
        thread, [] {}, error);
    if (rc == 0)
      _exit(3);
    _exit(rc == -EAGAIN && error.find("RLIMIT_NPROC") != std::string::npos ? 0 : 4);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(thread__takes_no_signals),
    cmocka_unit_test(thread__that_the_limits_forbid),
};
static const unit::Group group{"thread", cases};
