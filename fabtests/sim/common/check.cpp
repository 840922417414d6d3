// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "sim/common/check.h"

#include <cstring>
#include <mutex>
#include <utility>

namespace sim {

namespace {

std::mutex late_mutex;
std::string late_failures;

} // namespace

void fail(std::string_view text, Where at) {
  const char *slash = std::strrchr(at.file, '/');
  throw Failure(fmt::format("{}:{}: {}", slash ? slash + 1 : at.file, at.line, text));
}

void fail_later(std::string_view text) noexcept {
  const std::lock_guard lock(late_mutex);
  late_failures += text;
  late_failures += '\n';
}

std::string take_late_failures() {
  const std::lock_guard lock(late_mutex);
  return std::exchange(late_failures, {});
}

} // namespace sim
