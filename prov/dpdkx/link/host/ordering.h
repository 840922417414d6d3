// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Words in shared memory, and the order in which two processes see them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace dpdkx::link::host {

inline constexpr std::uint32_t cache_line = 64;

template <class T> T load_relaxed(const T *word) {
  return std::atomic_ref<T>(*const_cast<T *>(word)).load(std::memory_order_relaxed);
}
template <class T> T load_acquire(const T *word) {
  return std::atomic_ref<T>(*const_cast<T *>(word)).load(std::memory_order_acquire);
}
template <class T> void store_relaxed(T *word, T value) {
  std::atomic_ref<T>(*word).store(value, std::memory_order_relaxed);
}
template <class T> void store_release(T *word, T value) {
  std::atomic_ref<T>(*word).store(value, std::memory_order_release);
}

// Orders this thread's earlier stores before its later loads.
inline void full_fence() {
#ifdef __SANITIZE_THREAD__ // knows no fences, but knows this
  thread_local std::atomic<int> word;
  word.exchange(0, std::memory_order_seq_cst);
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

// Keeps the compiler, and only it, from moving a load before a store.
inline void compiler_fence() { std::atomic_signal_fence(std::memory_order_seq_cst); }

// Whether barrier_everywhere() reaches this process from others, and may be
// called here. Asks the system once a process.
bool has_barrier_everywhere();

// Makes every thread of every process that has_barrier_everywhere() execute a
// full fence now: the one who waits pays, so that those who send need not.
bool barrier_everywhere();

// ThreadSanitizer can't see that a word at two virtual addresses is one. Between
// threads of one process, these tell it what a ring orders.
#ifdef __SANITIZE_THREAD__
void tsan_release(std::uint64_t channel);
void tsan_acquire(std::uint64_t channel);
#else
inline void tsan_release(std::uint64_t) {}
inline void tsan_acquire(std::uint64_t) {}
#endif

} // namespace dpdkx::link::host
