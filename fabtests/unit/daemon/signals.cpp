// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/signals.h"

#include <cerrno>
#include <future>
#include <unistd.h>

#include "unit/daemon/text.h"

using namespace dpdkx::daemon;

namespace {

void start(Signals &signals, std::function<void(int)> stop, std::function<void()> reload) {
  std::string error;
  if (signals.start(std::move(stop), std::move(reload), error))
    fail_msg("%s", error.c_str());
}

} // namespace

static void signals__become_calls(void **) {
  std::promise<int> stopped;
  std::promise<void> reloaded;
  Signals signals;
  start(
      signals, [&](int signal) { stopped.set_value(signal); }, [&] { reloaded.set_value(); });
  kill(getpid(), SIGHUP);
  reloaded.get_future().get();
  kill(getpid(), SIGTERM);
  assert_int_equal(stopped.get_future().get(), SIGTERM);
}

static void signals__of_before_the_start_are_not_lost(void **) {
  std::promise<int> stopped;
  Signals signals;
  kill(getpid(), SIGINT);
  start(
      signals, [&](int signal) { stopped.set_value(signal); }, [] {});
  assert_int_equal(stopped.get_future().get(), SIGINT);
}

static void signals__a_closed_pipe_stops_nothing(void **) {
  std::promise<int> stopped;
  Signals signals;
  start(
      signals, [&](int signal) { stopped.set_value(signal); }, [] {});
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  close(ends[0]);
  assert_int_equal(write(ends[1], "x", 1), -1);
  assert_int_equal(errno, EPIPE);
  close(ends[1]);
  kill(getpid(), SIGTERM);
  assert_int_equal(stopped.get_future().get(), SIGTERM);
}

// After the end one kills nobody, and the mask is as before.
static void signals__after_the_end_come_to_nothing(void **) {
  {
    Signals signals;
    start(
        signals, [](int) { fail_msg("called"); }, [] {});
    signals.end();
    kill(getpid(), SIGTERM);
  }
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  assert_int_equal(sigismember(&mask, SIGTERM), 0);
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(signals__become_calls),
    cmocka_unit_test(signals__of_before_the_start_are_not_lost),
    cmocka_unit_test(signals__a_closed_pipe_stops_nothing),
    cmocka_unit_test(signals__after_the_end_come_to_nothing),
};
static const unit::Group group{"signals", cases};
