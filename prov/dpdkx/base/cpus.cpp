// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/base/cpus.h"

#include <cerrno>
#include <cstddef>

namespace dpdkx {

namespace {

struct Cpus {
  cpu_set_t set;
  bool known = sched_getaffinity(0, sizeof(set), &set) == 0;

  bool has(int cpu) const {
    return known && cpu >= 0 && cpu < CPU_SETSIZE && CPU_ISSET(static_cast<std::size_t>(cpu), &set);
  }
};

bool set(pthread_t thread, const cpu_set_t &cpus) {
  errno = pthread_setaffinity_np(thread, sizeof(cpus), &cpus);
  return errno == 0;
}

} // namespace

bool may_run_on(int cpu) { return Cpus{}.has(cpu); }

std::string allowed_cpus() {
  const Cpus cpus{};
  std::string list;
  for (int first = 0; first < CPU_SETSIZE; ++first) {
    if (!cpus.has(first))
      continue;
    int last = first;
    while (cpus.has(last + 1))
      ++last;
    list += (list.empty() ? "" : ",") + std::to_string(first);
    if (last > first)
      list += "-" + std::to_string(last);
    first = last;
  }
  return cpus.known ? list : "0"; // the kernel has more than CPU_SETSIZE
}

bool pin(pthread_t thread, int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(cpu), &one);
  return set(thread, one);
}

Pinning::Pinning(pthread_t thread)
    : thread_(thread), known_(pthread_getaffinity_np(thread, sizeof(before_), &before_) == 0) {}

bool Pinning::to(int cpu) const {
  return cpu >= 0 ? pin(thread_, cpu) : !known_ || set(thread_, before_);
}

} // namespace dpdkx
