// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "functional/allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::uint64_t> count{0};

} // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

void *operator new(std::size_t size, const std::nothrow_t &) noexcept {
  ++count;
  return std::malloc(size);
}
void *operator new(std::size_t size) {
  ++count;
  if (void *const p = std::malloc(size))
    return p;
  throw std::bad_alloc();
}
void operator delete(void *p) noexcept { std::free(p); }
void operator delete(void *p, std::size_t) noexcept { std::free(p); }
void operator delete(void *p, const std::nothrow_t &) noexcept { std::free(p); }

#endif

namespace fabtest {

std::uint64_t allocations() { return count; }

} // namespace fabtest
