// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/session/window.h"

#include <new>

namespace dpdkx::session {

void WindowState::restart() {
  tx.restart();
  round = Round{};
  if (!rx.empty())
    rx = ReceiveWindow{};
  ack = OwedAck{};
  filled = false;
  asked_at = Time{};
}

WindowPool::~WindowPool() {
  while (WindowState *const w = free_) {
    free_ = w->next_free;
    delete w;
  }
}

WindowState *WindowPool::take() {
  if (free_ == nullptr)
    return new (std::nothrow) WindowState;
  WindowState *const w = free_;
  free_ = w->next_free;
  --kept_;
  return w;
}

void WindowPool::give_back(WindowState *w) {
  if (kept_ == most_kept) {
    delete w;
    return;
  }
  w->restart();
  w->next_free = free_;
  free_ = w;
  ++kept_;
}

} // namespace dpdkx::session
