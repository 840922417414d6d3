// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/undertaker.h"

#include "dpdkx/base/thread.h"

#include <chrono>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace dpdkx::daemon {

namespace {

constexpr auto patience = std::chrono::seconds(1);

// Who has been closing one for longer may go on for ever. So many may do so until nothing is closed
// any more.
constexpr Duration quick = std::chrono::milliseconds(10);
constexpr unsigned most_threads = 64;

} // namespace

Undertaker::~Undertaker() {
  if (!work_)
    return;
  std::unique_lock lock(work_->mutex);
  work_->over = true;
  work_->some.notify_all();
  work_->end.wait_for(lock, patience, [this] { return work_->threads == 0; });
}

int Undertaker::start(std::string &error) {
  if (work_)
    return 0;
  auto work = std::make_shared<Work>();
  if (const int rc = start_one(work, error))
    return rc;
  work_ = std::move(work);
  return 0;
}

int Undertaker::start_one(const std::shared_ptr<Work> &work, std::string &error) {
  std::thread thread;
  if (const int rc = start_thread(
          thread, [work] { run(*work); }, error))
    return rc;
  thread.detach(); // it may be stuck for good
  ++work->threads;
  return 0;
}

void Undertaker::run(Work &work) {
  std::unique_lock lock(work.mutex);
  for (;;) {
    ++work.idle;
    work.some.wait(lock, [&] { return work.over || !work.fds.empty(); });
    --work.idle;
    if (work.fds.empty())
      break;
    const int fd = work.fds.front().release();
    work.fds.pop_front();
    work.taken_at = SystemClock::instance().now();
    lock.unlock();
    if (fd >= 0)
      close(fd);
    lock.lock();
  }
  --work.threads;
  work.end.notify_one();
}

void Undertaker::take(link::host::Fd &&fd) {
  if (!work_ || !fd)
    return fd.reset();
  const std::lock_guard lock(work_->mutex);
  work_->fds.push_back(std::move(fd));
  work_->some.notify_one();
  if (work_->idle != 0 || work_->threads == most_threads ||
      SystemClock::instance().now() - work_->taken_at < quick)
    return;
  std::string error; // then those there are come to it
  (void)start_one(work_, error);
}

void Undertaker::take_socket(link::host::Fd &&fd) {
  if (fd)
    (void)shutdown(fd.get(), SHUT_RDWR);
  take(std::move(fd));
}

} // namespace dpdkx::daemon
