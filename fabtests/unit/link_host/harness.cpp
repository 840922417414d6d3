// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "unit/link_host/harness.h"

#include "dpdkx/base/log.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <dirent.h>
#include <fstream>
#include <grp.h>
#include <mutex>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

namespace link_host {

Time now() { return SystemClock::instance().now(); }

Address loopback(std::uint16_t port) { return Address::v4(0x7f000001, port); }

std::unique_ptr<Port> open_port(const HostOptions &options, std::uint16_t number) {
  std::unique_ptr<Port> port;
  std::string error;
  if (open_host_port(loopback(number), options, port, error) != 0)
    fail_msg("%s", error.c_str());
  return port;
}

PathEvent await_event(Port &port) {
  const Time deadline = now() + std::chrono::milliseconds(patience_ms);
  PathEvent event{};
  while (port.poll_events(&event, 1, now()) == 0) {
    if (now() > deadline)
      fail_msg("no event in time");
    sched_yield();
  }
  return event;
}

PathEvent await_event(Port &port, PathEventKind kind) {
  const PathEvent event = await_event(port);
  assert_int_equal(event.kind, kind);
  return event;
}

bool no_event(Port &port) {
  PathEvent event{};
  const Time later = now() + std::chrono::milliseconds(2);
  return port.poll_events(&event, 1, now()) == 0 && port.poll_events(&event, 1, later) == 0 &&
         port.poll_events(&event, 1, later + std::chrono::milliseconds(2)) == 0;
}

Pair::Pair(const HostOptions &options) : opener(open_port(options)), acceptor(open_port(options)) {
  assert_int_equal(opener->open_path(acceptor->address(), out), 0);
  assert_true(out == await_event(*opener, PathEventKind::up).path);
  in = await_event(*acceptor, PathEventKind::accepted).path;
}

bool send(Port &port, PathId path, const void *bytes, std::uint32_t len) {
  const TxRoom room = port.reserve(path, len);
  if (room.data == nullptr)
    return false;
  std::memcpy(room.data, bytes, len);
  port.commit(path, room, len);
  port.flush();
  return true;
}

bool send(Port &port, PathId path, const std::string &text) {
  return send(port, path, text.data(), static_cast<std::uint32_t>(text.size()));
}

bool fall_asleep(Port &port) {
  for (const Time end = now() + std::chrono::milliseconds(100); now() < end;)
    if (port.arm())
      return true;
  return false;
}

std::string receive(Port &port, PathId *from) {
  const Time deadline = now() + std::chrono::milliseconds(patience_ms);
  RxDatagram datagram;
  while (port.poll(&datagram, 1) == 0) {
    if (now() > deadline)
      fail_msg("no datagram in time");
    sched_yield();
  }
  std::string text(reinterpret_cast<const char *>(datagram.data), datagram.len);
  if (from != nullptr)
    *from = datagram.path;
  port.release(&datagram, 1);
  return text;
}

pid_t in_child(const std::function<bool()> &what) {
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    alarm(2 * patience_ms / 1000); // never outlives a test that failed
    _exit(what() ? 0 : 1);
  }
  return child;
}

bool succeeded(pid_t child) {
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void kill_hard(pid_t child) {
  assert_int_equal(kill(child, SIGKILL), 0);
  assert_int_equal(waitpid(child, nullptr, 0), child);
}

bool become_nobody() {
  return setgroups(0, nullptr) == 0 && setresgid(65534, 65534, 65534) == 0 &&
         setresuid(65534, 65534, 65534) == 0;
}

Signal::Signal() { assert_int_equal(pipe(fds_), 0); }
Signal::~Signal() {
  close(fds_[0]);
  close(fds_[1]);
}
void Signal::give(std::uint32_t value) {
  if (write(fds_[1], &value, sizeof(value)) != sizeof(value))
    _exit(2);
}
std::uint32_t Signal::await() {
  std::uint32_t value = 0;
  return read(fds_[0], &value, sizeof(value)) == sizeof(value) ? value : 0;
}

namespace {
std::mutex log_mutex;
std::vector<std::string> log_lines;
} // namespace

LogCapture::LogCapture() {
  log_lines.clear();
  set_log_sink([](LogLevel level, std::string_view text) {
    const std::scoped_lock lock(log_mutex);
    if (level == LogLevel::warn)
      log_lines.emplace_back(text);
  });
}
LogCapture::~LogCapture() { set_log_sink(nullptr); }

std::vector<std::string> LogCapture::lines() const {
  const std::scoped_lock lock(log_mutex);
  return log_lines;
}

bool LogCapture::contains(const std::string &text) const { return count(text) != 0; }

std::size_t LogCapture::count(const std::string &text) const {
  const std::vector<std::string> all = lines();
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(),
                    [&](const std::string &line) { return line.find(text) != std::string::npos; }));
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  DIR *const dir = opendir("/proc/self/fd");
  while (readdir(dir) != nullptr)
    ++count;
  closedir(dir);
  return count;
}

std::size_t ring_mappings() {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);)
    count += line.find("dpdkx-ring") != std::string::npos;
  return count;
}

std::size_t ring_resident_bytes() {
  std::ifstream maps("/proc/self/smaps");
  std::size_t kilobytes = 0;
  bool ours = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("dpdkx-ring") != std::string::npos)
      ours = true;
    else if (ours && line.rfind("Rss:", 0) == 0) {
      kilobytes += std::stoul(line.substr(4));
      ours = false;
    }
  }
  return kilobytes * 1024;
}

} // namespace link_host
