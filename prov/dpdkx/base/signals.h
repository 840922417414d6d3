// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#pragma once

#include <csignal>

namespace dpdkx {

// Threads that start while it exists get no signals: they inherit the mask of the
// one that starts them.
class AllSignalsBlocked {
public:
  AllSignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~AllSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  AllSignalsBlocked(const AllSignalsBlocked &) = delete;

private:
  sigset_t before_;
};

} // namespace dpdkx
