// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/undertaker.h"

#include "dpdkx/base/thread.h"

#include <chrono>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace dpdkx::daemon {

namespace {

constexpr auto patience = std::chrono::seconds(1);

// Who has been closing one for longer may go on for ever. So many may do so until nothing is closed
// any more.
constexpr Duration quick = std::chrono::milliseconds(10);
constexpr unsigned most_threads = 64;

// So many messages fit into a socket, and more.
constexpr unsigned most_messages = 1024;

// A socket that is closed with messages in it makes the other end's next call fail, whatever that
// has yet to read.
void close_for_good(link::host::Fd &&fd, bool socket) {
  const int number = fd.release();
  if (number < 0)
    return;
  for (unsigned i = 0; socket && i < most_messages; ++i)
    if (recv(number, nullptr, 0, MSG_DONTWAIT) < 0)
      break;
  close(number);
}

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
    work.some.wait(lock, [&] { return work.over || !work.taken.empty(); });
    --work.idle;
    if (work.taken.empty())
      break;
    Taken last = std::move(work.taken.front());
    work.taken.pop_front();
    work.taken_at = SystemClock::instance().now();
    lock.unlock();
    close_for_good(std::move(last.fd), last.socket);
    lock.lock();
  }
  --work.threads;
  work.end.notify_one();
}

void Undertaker::take(Taken &&last) {
  if (!last.fd)
    return;
  if (!work_)
    return close_for_good(std::move(last.fd), last.socket);
  const std::lock_guard lock(work_->mutex);
  work_->taken.push_back(std::move(last));
  work_->given_at = SystemClock::instance().now();
  work_->some.notify_one();
  if (work_->idle != 0 || work_->threads == most_threads ||
      work_->given_at - work_->taken_at < quick)
    return;
  std::string error; // then those there are come to it
  (void)start_one(work_, error);
}

bool Undertaker::closes_soon() const {
  if (!work_)
    return false;
  const std::lock_guard lock(work_->mutex);
  return (!work_->taken.empty() || work_->idle < work_->threads) &&
         SystemClock::instance().now() - work_->given_at < quick;
}

void Undertaker::take(link::host::Fd &&fd) { take(Taken{std::move(fd), false}); }

void Undertaker::take_socket(link::host::Fd &&fd) {
  if (fd)
    (void)shutdown(fd.get(), SHUT_RDWR);
  take(Taken{std::move(fd), true});
}

} // namespace dpdkx::daemon
