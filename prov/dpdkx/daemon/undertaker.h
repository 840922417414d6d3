// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Closes descriptors that others have passed, and sockets where some may lie
// unread. The last close of one can take as long as whoever opened it likes (a
// TCP socket that lingers, a file system of their own), and the thread that
// forwards would wait for that. Threads here may; while one does, another takes
// what comes next.
#pragma once

#include "dpdkx/base/clock.h"
#include "dpdkx/link/host/fork_guard.h"

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

namespace dpdkx::daemon {

class Undertaker {
public:
  Undertaker() = default;
  ~Undertaker(); // waits for what is quick, and leaves the rest
  Undertaker(const Undertaker &) = delete;

  // 0, or a negative errno with a text. Before that, take() closes by itself.
  int start(std::string &error);
  void take(link::host::Fd &&);
  // A socket of messages: the other end is told at once, and can still read what was sent to it.
  void take_socket(link::host::Fd &&);
  // Some of what it was given lately is still open: its descriptor will soon be there again.
  bool closes_soon() const;

private:
  struct Taken {
    link::host::Fd fd;
    bool socket;
  };
  struct Work {
    std::mutex mutex;
    std::condition_variable some, end;
    std::deque<Taken> taken;
    unsigned threads = 0, idle = 0;
    Time given_at{}, taken_at{}; // when there was something, and one took something, the last time
    bool over = false;
  };
  static int start_one(const std::shared_ptr<Work> &, std::string &error);
  static void run(Work &);
  void take(Taken &&);

  std::shared_ptr<Work> work_; // the threads', too; null: there is none
};

} // namespace dpdkx::daemon
