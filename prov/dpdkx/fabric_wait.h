// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What a thread blocks on until something that concerns event queues may have
// happened: everything that its sources wait for. They come and go while it waits.
#pragma once

#include "util_ext/wait.h"

#include <mutex>
#include <vector>

namespace dpdkx {

class FabricWait final : public util_ext::WaitSource {
public:
  FabricWait() = default;
  virtual ~FabricWait();
  FabricWait(const FabricWait &) = delete;

  int fd() override;
  bool arm() override;
  void disarm() override;

  void add(util_ext::WaitSource &);
  void remove(util_ext::WaitSource &);

private:
  int open(); // 0 or a negative errno; under the lock
  void watch(util_ext::WaitSource &, int operation) const;

  std::mutex mutex_;
  int epoll_ = -1;
  unsigned armed_ = 0; // arm() without disarm(): so often each source is armed
  std::vector<util_ext::WaitSource *> sources_;
  util_ext::Event kick_;
};

} // namespace dpdkx
