// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "check.h"

#include <cstring>
#include <mutex>
#include <utility>

#include <rdma/fi_errno.h>

namespace fabtest {

namespace {

std::mutex late_lock;
std::string late_text;

std::string place(const where &at) {
  const char *slash = std::strrchr(at.file, '/');
  return fmt::format("{}:{}", slash ? slash + 1 : at.file, at.line);
}

} // namespace

std::string describe(long code) {
  if (code >= 0)
    return fmt::format("{}", code);
  return fmt::format("{} ({})", code, fi_strerror(static_cast<int>(-code)));
}

void fail(std::string_view text, where at) {
  throw failure(fmt::format("{}: {}", place(at), text));
}

void fail_call(std::string_view call, long code, where at) {
  throw failure(fmt::format("{}: {} returned {}", place(at), call, describe(code)));
}

void skip(std::string_view reason) { throw skipped(std::string(reason)); }

void fail_later(std::string_view text, where at) noexcept {
  std::lock_guard guard(late_lock);
  if (!late_text.empty())
    late_text += "; ";
  late_text += fmt::format("{}: {}", place(at), text);
}

std::string take_late_failures() {
  std::lock_guard guard(late_lock);
  return std::exchange(late_text, {});
}

} // namespace fabtest
