// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>
#include <utility>

namespace {

std::atomic<std::size_t> live_blocks = 0; // the rest is for programs while they have one thread
bool no_memory = false, watched = false;
std::size_t counted_ = 0, fail_from = 0, fail_before = 0;

bool fails() {
  return watched && fail_before != 0 && ++counted_ > fail_from && counted_ <= fail_before;
}

void *allocate(std::size_t size) noexcept {
  if (fails())
    return nullptr;
  void *p = std::malloc(size ? size : 1);
  live_blocks.fetch_add(p != nullptr, std::memory_order_relaxed);
  return p;
}

void *allocate(std::size_t size, std::align_val_t align) noexcept {
  if (fails())
    return nullptr;
  const auto a = static_cast<std::size_t>(align);
  void *p = std::aligned_alloc(a, (size + a - 1) / a * a);
  live_blocks.fetch_add(p != nullptr, std::memory_order_relaxed);
  return p;
}

void release(void *p) noexcept {
  live_blocks.fetch_sub(p != nullptr, std::memory_order_relaxed);
  std::free(p);
}

void *or_throw(void *p) {
  if (!p)
    throw std::bad_alloc();
  return p;
}

} // namespace

namespace allocations {
std::size_t live() { return live_blocks; }
NoMemory::NoMemory() { no_memory = true; }
NoMemory::~NoMemory() { no_memory = false; }

Shortage::Shortage(std::size_t first, std::size_t count) {
  counted_ = 0;
  fail_from = first;
  fail_before = first + count;
}
Shortage::~Shortage() { fail_before = 0; }
std::size_t Shortage::counted() { return counted_; }

Watch::Watch(bool on) : before_(std::exchange(watched, on)) {}
Watch::~Watch() { watched = before_; }
} // namespace allocations

void *operator new(std::size_t n) { return or_throw(allocate(n)); }
void *operator new[](std::size_t n) { return or_throw(allocate(n)); }
void *operator new(std::size_t n, std::align_val_t a) { return or_throw(allocate(n, a)); }
void *operator new[](std::size_t n, std::align_val_t a) { return or_throw(allocate(n, a)); }
void *operator new(std::size_t n, const std::nothrow_t &) noexcept {
  return no_memory ? nullptr : allocate(n);
}
void *operator new[](std::size_t n, const std::nothrow_t &) noexcept {
  return no_memory ? nullptr : allocate(n);
}
void *operator new(std::size_t n, std::align_val_t a, const std::nothrow_t &) noexcept {
  return no_memory ? nullptr : allocate(n, a);
}
void operator delete(void *p) noexcept { release(p); }
void operator delete[](void *p) noexcept { release(p); }
void operator delete(void *p, std::size_t) noexcept { release(p); }
void operator delete[](void *p, std::size_t) noexcept { release(p); }
void operator delete(void *p, std::align_val_t) noexcept { release(p); }
void operator delete[](void *p, std::align_val_t) noexcept { release(p); }
void operator delete(void *p, std::size_t, std::align_val_t) noexcept { release(p); }
void operator delete[](void *p, std::size_t, std::align_val_t) noexcept { release(p); }
