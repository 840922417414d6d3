// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A rank's view of the processes it runs with: who they are, and how to agree with them without the
// fabric under test.
#pragma once

#include "channel.h"

#include <cstring>
#include <type_traits>
#include <vector>

#include <sys/types.h>

namespace fabtest {

class team {
public:
  team(int rank, int size, channel to_hub);

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] bool first() const { return rank_ == 0; }
  // The other rank, in a team of two.
  [[nodiscard]] int other() const { return 1 - rank_; }

  // Everybody's part, in the order of ranks; empty for a rank that has ended. Endpoints of this
  // process keep making progress meanwhile: with manual progress a peer may depend on it.
  std::vector<bytes> allgather(std::span<const std::byte> mine);
  void barrier() { allgather({}); }

  // Waits in the kernel: this process makes no call that drives a provider.
  void barrier_without_progress();

  template <class T> std::vector<T> exchange(const T &mine) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> all;
    for (const auto &part : allgather(std::as_bytes(std::span(&mine, 1)))) {
      T value{};
      if (part.size() == sizeof value)
        std::memcpy(&value, part.data(), sizeof value);
      all.push_back(value);
    }
    return all;
  }

  // Process ids by rank; collective.
  std::vector<pid_t> pids();

  void report(bool passed, bool skipped, const std::string &text);

private:
  std::vector<bytes> await_parts(bool progress);

  int rank_;
  int size_;
  channel hub_;
};

} // namespace fabtest
