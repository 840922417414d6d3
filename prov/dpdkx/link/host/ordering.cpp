// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/host/ordering.h"

#include "dpdkx/link/host/fork_guard.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __SANITIZE_THREAD__
extern "C" void __tsan_acquire(void *);
extern "C" void __tsan_release(void *);
#endif

namespace dpdkx::link::host {

namespace {
int membarrier(int command) { return static_cast<int>(syscall(SYS_membarrier, command, 0, 0)); }
} // namespace

// Registering belongs to an address space, so a forked child asks again.
bool has_barrier_everywhere() {
  static bool asked = false, answer = false;
  static std::uint32_t generation = 0;
  const ForkHold lock; // a lock that a child never finds taken
  const std::uint32_t now = fork_generation.load(std::memory_order_relaxed);
  if (!asked || generation != now) {
    answer = membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0;
    asked = true;
    generation = now;
  }
  return answer;
}

bool barrier_everywhere() { return membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED) == 0; }

#ifdef __SANITIZE_THREAD__
namespace {
char channels[1024];
}
void tsan_release(std::uint64_t channel) { __tsan_release(&channels[channel % sizeof(channels)]); }
void tsan_acquire(std::uint64_t channel) { __tsan_acquire(&channels[channel % sizeof(channels)]); }
#endif

} // namespace dpdkx::link::host
