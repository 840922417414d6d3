// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "fake.h"

#include <cstdarg>
#include <cstdio>
#include <new>
#include <rdma/providers/fi_log.h>

namespace fake {

static fi_provider make_provider() {
  fi_provider p{};
  p.name = "fake";
  return p;
}

const fi_provider provider = make_provider();

static std::mutex log_mutex;
static std::vector<std::string> log_lines;

std::vector<std::string> take_log() {
  std::lock_guard lock(log_mutex);
  return std::exchange(log_lines, {});
}

static std::atomic<bool> no_memory{false};

NoMemory::NoMemory() { no_memory = true; }
NoMemory::~NoMemory() { no_memory = false; }

// The library's throwing one, unless there is to be no memory.
template <class F> static void *allocate(F &&f) noexcept {
  try {
    return no_memory ? nullptr : f();
  } catch (const std::bad_alloc &) {
    return nullptr;
  }
}

} // namespace fake

void *operator new(std::size_t size, const std::nothrow_t &) noexcept {
  return fake::allocate([=] { return ::operator new(size); });
}
void *operator new[](std::size_t size, const std::nothrow_t &) noexcept {
  return fake::allocate([=] { return ::operator new[](size); });
}
void *operator new(std::size_t size, std::align_val_t align, const std::nothrow_t &) noexcept {
  return fake::allocate([=] { return ::operator new(size, align); });
}

// In place of libfabric's.
extern "C" int fi_log_enabled(const fi_provider *, fi_log_level, fi_log_subsys) { return 1; }

extern "C" void fi_log(const fi_provider *, fi_log_level, fi_log_subsys, const char *, int,
                       const char *format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  std::vsnprintf(text, sizeof text, format, args);
  va_end(args);
  std::lock_guard lock(fake::log_mutex);
  fake::log_lines.emplace_back(text);
}
