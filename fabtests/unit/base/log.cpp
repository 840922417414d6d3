// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/base/log.h"

#include <string>

#include "unit/unit.h"

using namespace dpdkx;

namespace {

std::string written;
void sink(LogLevel level, std::string_view text) {
  written += std::to_string(static_cast<int>(level)) + ":" + std::string(text) + ";";
}
bool only_warnings(LogLevel level) { return level == LogLevel::warn; }

int clean(void **) {
  set_log_sink(nullptr);
  set_log_filter(nullptr);
  written.clear();
  return 0;
}

void log__is_silent_without_a_sink(void **) {
  assert_false(log_enabled(LogLevel::warn));
  log(LogLevel::warn, "lost");
  set_log_sink(sink);
  assert_true(log_enabled(LogLevel::debug));
  assert_true(written.empty());
}

void log__goes_to_the_sink(void **) {
  set_log_sink(sink);
  log(LogLevel::warn, "one");
  log(LogLevel::debug, "two");
  assert_string_equal(written.c_str(), "0:one;2:two;");
}

void filter__says_what_is_worth_making(void **) {
  set_log_sink(sink);
  set_log_filter(only_warnings);
  assert_true(log_enabled(LogLevel::warn));
  assert_false(log_enabled(LogLevel::info) || log_enabled(LogLevel::debug));
}

const CMUnitTest cases[] = {
    cmocka_unit_test_setup_teardown(log__is_silent_without_a_sink, clean, clean),
    cmocka_unit_test_setup_teardown(log__goes_to_the_sink, clean, clean),
    cmocka_unit_test_setup_teardown(filter__says_what_is_worth_making, clean, clean),
};
const unit::Group group{"log", cases};

} // namespace
