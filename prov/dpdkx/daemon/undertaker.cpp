// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/undertaker.h"

#include "dpdkx/base/thread.h"

#include <chrono>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace dpdkx::daemon {

namespace {

constexpr auto patience = std::chrono::seconds(1);

} // namespace

Undertaker::~Undertaker() {
  if (!work_)
    return;
  std::unique_lock lock(work_->mutex);
  work_->over = true;
  work_->some.notify_one();
  const bool done = work_->end.wait_for(lock, patience, [this] { return work_->done; });
  lock.unlock();
  if (done)
    thread_.join();
  else
    thread_.detach(); // it may be stuck for good
}

int Undertaker::start(std::string &error) {
  if (work_)
    return 0;
  auto work = std::make_shared<Work>();
  if (const int rc = start_thread(
          thread_, [work] { run(*work); }, error))
    return rc;
  work_ = std::move(work);
  return 0;
}

void Undertaker::run(Work &work) {
  std::unique_lock lock(work.mutex);
  for (;;) {
    work.some.wait(lock, [&] { return work.over || !work.fds.empty(); });
    if (work.fds.empty())
      break;
    std::vector<link::host::Fd> taken = std::exchange(work.fds, {});
    lock.unlock();
    for (link::host::Fd &fd : taken)
      if (const int last = fd.release(); last >= 0)
        close(last);
    lock.lock();
  }
  work.done = true;
  work.end.notify_one();
}

void Undertaker::take(link::host::Fd &&fd) {
  if (!work_ || !fd)
    return fd.reset();
  const std::lock_guard lock(work_->mutex);
  work_->fds.push_back(std::move(fd));
  work_->some.notify_one();
}

void Undertaker::take_socket(link::host::Fd &&fd) {
  if (fd)
    (void)shutdown(fd.get(), SHUT_RDWR);
  take(std::move(fd));
}

} // namespace dpdkx::daemon
