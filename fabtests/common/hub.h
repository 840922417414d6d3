// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The meeting point of a case's ranks: completes their allgathers, collects how they ended.
#pragma once

#include "launcher.h"

#include <optional>

namespace fabtest {

class hub {
public:
  hub(int ranks, const run_limits &limits);

  // A rank of this host, which is a child of the caller.
  void add_local(int rank, channel ch, pid_t pid);
  // A rank of another host: it connects by itself; its launcher says how it ended.
  void add_remote(int rank, const channel *launcher);
  void accept_on(int listener) { listener_ = listener; }

  outcome run();

private:
  struct member {
    channel ch;
    pid_t pid = -1;
    unique_fd pidfd;
    const channel *launcher = nullptr;
    bool ended = false;
    std::optional<bytes> part; // its contribution to the allgather that is open
  };

  void wait_for_events(std::chrono::milliseconds limit);
  void accept_member();
  void read_member(int rank);
  void read_launcher(const channel &launcher);
  void note_result(int rank, const bytes &body);
  void note_exit(int rank, int status);
  void reap(int rank);
  void finish_gather();
  void note_failure(const std::string &text);
  void end_all();
  [[nodiscard]] bool all_ended() const;

  std::vector<member> members_;
  run_limits limits_;
  int listener_ = -1;
  outcome outcome_;
  std::optional<std::chrono::steady_clock::time_point> first_failure_;
};

} // namespace fabtest
