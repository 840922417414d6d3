// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "hub.h"

#include "check.h"
#include "rank_process.h"

#include <algorithm>
#include <csignal>

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fabtest {

namespace {

using clock = std::chrono::steady_clock;

// After one rank failed the others may say what they saw; most only wait for it in vain.
constexpr std::chrono::milliseconds grace{500};

} // namespace

hub::hub(int ranks, const run_limits &limits)
    : members_(static_cast<std::size_t>(ranks)), limits_(limits) {}

void hub::add_local(int rank, channel ch, pid_t pid) {
  auto &m = members_[static_cast<std::size_t>(rank)];
  m.ch = std::move(ch);
  m.pid = pid;
  m.pidfd = unique_fd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
}

void hub::add_remote(int rank, const channel *launcher) {
  members_[static_cast<std::size_t>(rank)].launcher = launcher;
}

outcome hub::run() {
  const auto end = clock::now() + limits_.time;
  while (!all_ended()) {
    auto until = end;
    if (first_failure_)
      until = std::min(until, *first_failure_ + grace);
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - clock::now());
    if (left.count() <= 0) {
      if (!first_failure_)
        note_failure(fmt::format("not done after {} s", limits_.time.count() / 1000.0));
      end_all();
      break;
    }
    wait_for_events(left);
    finish_gather();
  }
  return outcome_;
}

void hub::wait_for_events(std::chrono::milliseconds limit) {
  std::vector<pollfd> fds;
  std::vector<std::function<void()>> actions;
  auto watch = [&](int fd, std::function<void()> action) {
    fds.push_back({fd, POLLIN, 0});
    actions.push_back(std::move(action));
  };
  std::vector<const channel *> launchers;
  for (int r = 0; r < static_cast<int>(members_.size()); ++r) {
    auto &m = members_[static_cast<std::size_t>(r)];
    if (m.ch)
      watch(m.ch.fd(), [this, r] { read_member(r); });
    if (m.pidfd && !m.ended)
      watch(m.pidfd.get(), [this, r] { reap(r); });
    if (m.launcher && !m.ended && std::ranges::count(launchers, m.launcher) == 0) {
      launchers.push_back(m.launcher);
      watch(m.launcher->fd(), [this, l = m.launcher] { read_launcher(*l); });
    }
  }
  if (listener_ >= 0)
    watch(listener_, [this] { accept_member(); });
  if (poll(fds.data(), fds.size(), static_cast<int>(limit.count()) + 1) <= 0)
    return;
  // Channels come before the exits in each member's turn: a last result is read before its end.
  for (std::size_t i = 0; i < fds.size(); ++i)
    if (fds[i].revents)
      actions[i]();
}

void hub::accept_member() {
  unique_fd fd(accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC));
  if (!fd)
    return;
  channel ch(std::move(fd));
  const auto hello = ch.receive();
  if (hello && hello->kind == frame_kind::hello && hello->rank >= 0 &&
      hello->rank < static_cast<int>(members_.size()))
    members_[static_cast<std::size_t>(hello->rank)].ch = std::move(ch);
}

void hub::read_member(int rank) {
  auto &m = members_[static_cast<std::size_t>(rank)];
  if (!m.ch)
    return;
  auto f = m.ch.receive();
  if (!f)
    m.ch.close();
  else if (f->kind == frame_kind::gather)
    m.part = std::move(f->body);
  else if (f->kind == frame_kind::result)
    note_result(rank, f->body);
}

void hub::read_launcher(const channel &launcher) {
  const auto f = launcher.receive();
  if (!f) {
    note_failure("another launcher is gone");
    for (auto &m : members_)
      if (m.launcher == &launcher)
        m.ended = true;
    return;
  }
  int status = 0;
  if (f->kind == frame_kind::exited && f->body.size() == sizeof status) {
    std::memcpy(&status, f->body.data(), sizeof status);
    note_exit(f->rank, status);
  }
}

void hub::note_result(int rank, const bytes &body) {
  if (body.empty())
    return;
  const auto code = static_cast<int>(body.front());
  const std::string text = to_text(std::span(body).subspan(1));
  if (code == 2) {
    note_failure(fmt::format("rank {}: {}", rank, text));
  } else if (code == 1 && outcome_.result == outcome::verdict::passed) {
    outcome_ = {outcome::verdict::skipped, text};
  }
}

void hub::note_exit(int rank, int status) {
  auto &m = members_[static_cast<std::size_t>(rank)];
  while (m.ch)
    read_member(rank);
  m.ended = true;
  const bool may_die = (limits_.may_die >> rank & 1u) != 0;
  const std::string text = explain_exit(rank, status, may_die);
  if (!text.empty() && outcome_.result != outcome::verdict::failed)
    note_failure(text);
}

void hub::reap(int rank) {
  auto &m = members_[static_cast<std::size_t>(rank)];
  int status = 0;
  if (m.ended || waitpid(m.pid, &status, WNOHANG) != m.pid)
    return;
  // A grandchild may still hold the channel open: take what is there, then stop listening.
  pollfd p{m.ch.fd(), POLLIN, 0};
  while (m.ch && poll(&p, 1, 0) > 0)
    read_member(rank);
  m.ch.close();
  note_exit(rank, status);
}

void hub::finish_gather() {
  const bool anyone = std::ranges::any_of(members_, [](auto &m) { return m.part.has_value(); });
  const bool complete =
      std::ranges::all_of(members_, [](auto &m) { return m.part.has_value() || m.ended; });
  if (!anyone || !complete)
    return;
  std::vector<bytes> parts;
  for (auto &m : members_)
    parts.push_back(m.part ? std::move(*m.part) : bytes{});
  const bytes packed = pack(parts);
  for (auto &m : members_) {
    if (m.part && m.ch)
      m.ch.send(frame_kind::gathered, -1, packed);
    m.part.reset();
  }
}

void hub::note_failure(const std::string &text) {
  if (outcome_.result == outcome::verdict::failed)
    outcome_.text += "\n        " + text;
  else
    outcome_ = {outcome::verdict::failed, text};
  if (!first_failure_)
    first_failure_ = clock::now();
}

void hub::end_all() {
  for (auto &m : members_) {
    if (m.ended || m.pid <= 0)
      continue; // a remote rank's launcher has the same limit
    kill(m.pid, SIGKILL);
    waitpid(m.pid, nullptr, 0);
    m.ended = true;
  }
}

bool hub::all_ended() const {
  return std::ranges::all_of(members_, [](auto &m) { return m.ended; });
}

} // namespace fabtest
