// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/console.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace dpdkx::daemon {

namespace {

std::atomic<LogLevel> level_{LogLevel::info};
std::atomic<bool> journal_{false};

bool put(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

// JOURNAL_STREAM names what journald gave; a program between may have put another in its place.
bool journald_reads() {
  struct stat now {};
  const char *stream = std::getenv("JOURNAL_STREAM");
  return stream != nullptr && fstat(STDERR_FILENO, &now) == 0 &&
         std::to_string(now.st_dev) + ":" + std::to_string(now.st_ino) == stream;
}

std::string_view priority(LogLevel level) {
  return level == LogLevel::warn ? "<4>" : level == LogLevel::info ? "<6>" : "<7>";
}

std::string_view word(LogLevel level) {
  return level == LogLevel::warn ? "warning: " : level == LogLevel::debug ? "debug: " : "";
}

void sink(LogLevel level, std::string_view text) {
  std::string line;
  const bool journal = journal_.load(std::memory_order_relaxed);
  line += journal ? priority(level) : "dpdkxd: ";
  line += journal ? std::string_view{} : word(level);
  for (const char c : text) // one line, whatever a driver has said
    line += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  line += '\n';
  put(STDERR_FILENO, line);
}

bool wanted(LogLevel level) { return level <= level_.load(std::memory_order_relaxed); }

} // namespace

bool put_out(std::string_view text) { return put(STDOUT_FILENO, text); }

void put_error(std::string_view text) { put(STDERR_FILENO, "dpdkxd: " + std::string(text) + "\n"); }

void log_to_console(LogLevel level) {
  level_ = level;
  journal_ = journald_reads();
  set_log_filter(wanted);
  set_log_sink(sink);
}

} // namespace dpdkx::daemon
