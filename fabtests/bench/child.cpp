// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "bench/child.h"

#include "common/channel.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fabtest {

namespace {

struct output_pipe {
  unique_fd read, write;
  output_pipe() {
    int fds[2] = {-1, -1};
    if (pipe2(fds, O_CLOEXEC) == 0) {
      read = unique_fd(fds[0]);
      write = unique_fd(fds[1]);
    }
  }
};

[[noreturn]] void become(const command &c, int out, int err) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  for (const auto &[name, value] : c.env)
    value.empty() ? unsetenv(name.c_str()) : setenv(name.c_str(), value.c_str(), 1);
  std::vector<char *> argv;
  for (const auto &word : c.words)
    argv.push_back(const_cast<char *>(word.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  _exit(127);
}

// Appends what is there; false at the end.
bool drain(unique_fd &fd, std::string &to) {
  char buffer[65536];
  const ssize_t n = read(fd.get(), buffer, sizeof buffer);
  if (n > 0)
    to.append(buffer, static_cast<std::size_t>(n));
  return n > 0 || (n < 0 && errno == EINTR);
}

} // namespace

child_result run_child(const command &c, std::chrono::seconds limit) {
  using clock = std::chrono::steady_clock;
  output_pipe out, err;
  child_result result;
  const auto start = clock::now();
  const pid_t pid = fork();
  if (pid == 0)
    become(c, out.write.get(), err.write.get());
  out.write.reset();
  err.write.reset();
  bool in_time = true;
  while ((out.read || err.read) && in_time) {
    pollfd fds[] = {{out.read.get(), POLLIN, 0}, {err.read.get(), POLLIN, 0}};
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(start + limit - clock::now());
    in_time = left.count() > 0 && poll(fds, 2, static_cast<int>(left.count())) != 0;
    if (fds[0].revents && !drain(out.read, result.out))
      out.read.reset();
    if (fds[1].revents && !drain(err.read, result.err))
      err.read.reset();
  }
  if (!in_time)
    kill(pid, SIGTERM); // its own children end with it
  int status = 0;
  waitpid(pid, &status, 0);
  result.took = clock::now() - start;
  result.status = in_time ? status : -1;
  return result;
}

} // namespace fabtest
