// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/console.h"

#include <cstdlib>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/daemon/captured.h"
#include "unit/daemon/text.h"

using namespace dpdkx;
using namespace dpdkx::daemon;

static void console__levels(void **) {
  const Captured captured(STDERR_FILENO);
  log_to_console(LogLevel::info);
  log(LogLevel::warn, "a");
  log(LogLevel::info, "b");
  log(LogLevel::debug, "c");
  log_to_console(LogLevel::warn);
  log(LogLevel::info, "d");
  log_to_console(LogLevel::debug);
  log(LogLevel::debug, "e");
  set_log_sink(nullptr);
  expect_equal(captured.text(), "dpdkxd: warning: a\ndpdkxd: b\ndpdkxd: debug: e\n");
}

static void console__a_text_is_a_line(void **) {
  const Captured captured(STDERR_FILENO);
  log_to_console(LogLevel::info);
  log(LogLevel::info, "two\nlines\x1b[31m");
  set_log_sink(nullptr);
  put_error("wrong");
  expect_equal(captured.text(), "dpdkxd: two lines [31m\ndpdkxd: wrong\n");
}

static void console__journald_is_told_priorities(void **) {
  const Captured captured(STDERR_FILENO);
  struct stat now {};
  fstat(STDERR_FILENO, &now);
  const std::string stream = std::to_string(now.st_dev) + ":" + std::to_string(now.st_ino);
  setenv("JOURNAL_STREAM", stream.c_str(), 1);
  log_to_console(LogLevel::debug);
  for (const auto level : {LogLevel::warn, LogLevel::info, LogLevel::debug})
    log(level, "x");
  setenv("JOURNAL_STREAM", "1:1", 1);
  log_to_console(LogLevel::debug);
  log(LogLevel::info, "y");
  unsetenv("JOURNAL_STREAM");
  set_log_sink(nullptr);
  expect_equal(captured.text(), "<4>x\n<6>x\n<7>x\ndpdkxd: y\n");
}

static void console__output(void **) {
  const Captured captured(STDOUT_FILENO);
  const bool put = put_out("text");
  assert_true(put);
  expect_equal(captured.text(), "text");
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(console__levels),
    cmocka_unit_test(console__a_text_is_a_line),
    cmocka_unit_test(console__journald_is_told_priorities),
    cmocka_unit_test(console__output),
};
static const unit::Group group{"console", cases};
