// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A program that only calls fi_getinfo doesn't notice the providers behind it.
#include "common/case.h"
#include "common/endpoint.h"
#include "common/process_state.h"
#include "common/settings.h"

#include <csignal>
#include <cstring>
#include <thread>

#include <sched.h>

namespace fabtest {

namespace {

info_ptr list_everything() {
  info_ptr list;
  const info_ptr hints = make_hints({});
  check_ok("fi_getinfo", get_info(hints.get(), {}, list));
  return list;
}

} // namespace

CASE(prints_nothing, .ranks = 1) {
  captured_output output;
  list_everything();
  fi_info *list = nullptr;
  fi_getinfo(FI_VERSION(1, 17), nullptr, nullptr, 0, nullptr, &list);
  fi_freeinfo(list);
  const std::string text = output.stop();
  if (!text.empty())
    fail(fmt::format("printed: {}", text));
}

CASE(starts_no_thread, .ranks = 1) {
  list_everything();
  CHECK_EQ(thread_count(), 1u);
}

CASE(leaves_affinity_and_signals, .ranks = 1) {
  cpu_set_t before, after;
  CHECK_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  struct sigaction actions[32] = {};
  for (int s = 1; s < 32; ++s)
    sigaction(s, nullptr, &actions[s]);
  list_everything();
  CHECK_EQ(sched_getaffinity(0, sizeof after, &after), 0);
  CHECK(CPU_EQUAL(&before, &after));
  for (int s = 1; s < 32; ++s) {
    struct sigaction now = {};
    sigaction(s, nullptr, &now);
    CHECK(now.sa_handler == actions[s].sa_handler);
  }
}

CASE(repeated_calls_leave_nothing, .ranks = 1) {
  for (int i = 0; i < 20; ++i)
    list_everything();
  const auto descriptors = open_descriptors(), memory = resident_bytes();
  for (int i = 0; i < 500; ++i)
    list_everything();
  CHECK_EQ(open_descriptors(), descriptors);
  CHECK(resident_bytes() < memory + (2u << 20));
}

// "Multiple threads may call fi_getinfo simultaneously, without any requirement for serialization."
CASE(from_several_threads, .ranks = 1) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([] {
      try {
        for (int n = 0; n < 50; ++n)
          list_everything();
      } catch (const std::exception &e) {
        fail_later(e.what());
      }
    });
  for (auto &thread : threads)
    thread.join();
}

} // namespace fabtest
