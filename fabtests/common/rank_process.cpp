// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "rank_process.h"

#include "check.h"
#include "settings.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fabtest {

namespace {

void pin_to_own_processor(int rank) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
    return;
  int wanted = rank % CPU_COUNT(&allowed);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || wanted-- > 0)
      continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

// As `ip netns exec` does it: /sys must show the namespace's own interfaces.
void enter_namespace(const std::string &name) {
  const std::string path = "/run/netns/" + name;
  const unique_fd ns(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!ns || setns(ns.get(), CLONE_NEWNET) != 0 || unshare(CLONE_NEWNS) != 0)
    fail(fmt::format("entering {}: {}", path, std::strerror(errno)));
  mount("", "/", "none", MS_SLAVE | MS_REC, nullptr);
  umount2("/sys", MNT_DETACH);
  mount(name.c_str(), "/sys", "sysfs", 0, nullptr);
}

void set_environment(int rank) {
  const std::string mine = std::to_string(rank) + ":";
  for (const auto &setting : config().rank_env) {
    const auto equals = setting.find('=');
    if (setting.starts_with(mine) && equals != std::string::npos)
      setenv(setting.substr(mine.size(), equals - mine.size()).c_str(),
             setting.substr(equals + 1).c_str(), 1);
  }
}

template <class T> const T &in_turn(const std::vector<T> &all, int rank) {
  return all[static_cast<std::size_t>(rank) % all.size()];
}

void settle(int rank) {
  auto &s = config();
  set_environment(rank);
  if (!s.nodes.empty())
    s.node = in_turn(s.nodes, rank);
  if (!s.netns.empty())
    enter_namespace(in_turn(s.netns, rank));
  if (s.pin)
    pin_to_own_processor(rank);
}

int run_body(team &t, const rank_body &body) {
  try {
    body(t);
    const std::string late = take_late_failures();
    t.report(late.empty(), false, late);
    return late.empty() ? 0 : 1;
  } catch (const skipped &s) {
    t.report(false, true, s.what());
    return 0;
  } catch (const std::exception &e) {
    std::string late = take_late_failures();
    t.report(false, false, e.what() + (late.empty() ? late : "; then " + late));
    return 1;
  }
}

} // namespace

pid_t start_rank(int rank, int ranks, const rank_body &body, const channel_source &to_hub) {
  std::fflush(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid != 0)
    return pid;

  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(1); // the launcher ended before we could ask to be told
  int status = 1;
  {
    team t(rank, ranks, to_hub());
    status = run_body(t, [&](team &self) {
      settle(rank);
      body(self);
    });
  }
  std::exit(status); // not _exit: libfabric's own shutdown is under test too
}

std::string explain_exit(int rank, int status, bool may_die) {
  if (WIFSIGNALED(status)) {
    if (may_die && WTERMSIG(status) == SIGKILL)
      return {};
    return fmt::format("rank {} ended by signal {} ({})", rank, WTERMSIG(status),
                       strsignal(WTERMSIG(status)));
  }
  if (WEXITSTATUS(status) != 0)
    return fmt::format("rank {} ended with status {}", rank, WEXITSTATUS(status));
  return {};
}

} // namespace fabtest
