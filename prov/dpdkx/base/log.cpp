// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/base/log.h"

#include <atomic>

namespace dpdkx {

namespace {
std::atomic<void (*)(LogLevel, std::string_view)> sink_{nullptr};
std::atomic<bool (*)(LogLevel)> filter_{nullptr};
} // namespace

void set_log_sink(void (*sink)(LogLevel, std::string_view)) { sink_.store(sink); }
void set_log_filter(bool (*enabled)(LogLevel)) { filter_.store(enabled); }

bool log_enabled(LogLevel level) {
  if (sink_.load(std::memory_order_relaxed) == nullptr)
    return false;
  const auto filter = filter_.load(std::memory_order_relaxed);
  return filter == nullptr || filter(level);
}

void log(LogLevel level, std::string_view text) {
  if (log_enabled(level))
    sink_.load()(level, text);
}

} // namespace dpdkx
