// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "launcher.h"

#include "check.h"
#include "hub.h"
#include "rank_process.h"
#include "settings.h"

#include <csignal>
#include <sys/socket.h>
#include <sys/wait.h>

namespace fabtest {

namespace {

void start_local(hub &h, int rank, int ranks, const rank_body &body) {
  auto [ours, theirs] = make_channel_pair();
  const pid_t pid =
      start_rank(rank, ranks, body, [&, &theirs = theirs] { return std::move(theirs); });
  if (pid < 0)
    fail("fork failed");
  h.add_local(rank, std::move(ours), pid);
}

struct start_request {
  std::int32_t rank;
  std::int32_t ranks;
  std::int64_t limit_ms;
  std::uint64_t seed;
};

} // namespace

outcome run_ranks(int ranks, const rank_body &body, const run_limits &limits) {
  hub h(ranks, limits);
  for (int r = 0; r < ranks; ++r)
    start_local(h, r, ranks, body);
  return h.run();
}

launcher_group::launcher_group() {
  const auto &s = config();
  if (s.oob.empty() || s.hosts < 2)
    return;
  if (s.host_index != 0) {
    launchers_.push_back(connect_to(s.oob));
    launchers_.back().send(frame_kind::hello, s.host_index, {});
    return;
  }
  listener_ = listen_on(s.oob);
  launchers_.resize(static_cast<std::size_t>(s.hosts));
  for (int missing = s.hosts - 1; missing > 0; --missing) {
    channel ch(unique_fd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)));
    const auto hello = ch.receive();
    if (!hello || hello->rank < 1 || hello->rank >= s.hosts)
      fail("a launcher with a wrong --rank");
    launchers_[static_cast<std::size_t>(hello->rank)] = std::move(ch);
  }
}

bool launcher_group::coordinates() const {
  return config().oob.empty() || config().host_index == 0;
}

// One case after the other; a host may run several ranks of a case, each waited for in turn.
void launcher_group::serve(const body_lookup &lookup) {
  const auto &coordinator = launchers_.front();
  std::vector<std::pair<int, pid_t>> running;
  while (auto f = coordinator.receive()) {
    start_request request{};
    const auto parts = unpack(f->body);
    if (f->kind != frame_kind::start || parts.size() != 2 || parts[0].size() != sizeof request)
      continue;
    std::memcpy(&request, parts[0].data(), sizeof request);
    config().seed = request.seed;
    const auto body = lookup(to_text(parts[1]));
    const pid_t pid = start_rank(request.rank, request.ranks, body, [&] {
      alarm(static_cast<unsigned>(request.limit_ms / 1000) + 5);
      channel ch = connect_to(config().oob);
      ch.send(frame_kind::hello, request.rank, {});
      return ch;
    });
    running.emplace_back(request.rank, pid);
    if (f->rank != 0)
      continue; // more ranks of this case for us follow
    for (const auto &[rank, child] : running) {
      int status = 0;
      waitpid(child, &status, 0);
      coordinator.send(frame_kind::exited, rank, std::as_bytes(std::span(&status, 1)));
    }
    running.clear();
  }
}

outcome launcher_group::run(const std::string &name, int ranks, const rank_body &body,
                            const run_limits &limits) {
  if (launchers_.empty())
    return run_ranks(ranks, body, limits);
  const int hosts = static_cast<int>(launchers_.size());
  hub h(ranks, limits);
  h.accept_on(listener_.get());
  for (int r = 0; r < ranks; ++r) {
    const auto &launcher = launchers_[static_cast<std::size_t>(r % hosts)];
    if (r % hosts == 0) {
      start_local(h, r, ranks, body);
      continue;
    }
    const start_request request{r, ranks, limits.time.count(), config().seed};
    const auto *p = reinterpret_cast<const std::byte *>(&request);
    const std::vector<bytes> parts{bytes(p, p + sizeof request), to_bytes(name)};
    launcher.send(frame_kind::start, r + hosts < ranks ? 1 : 0, pack(parts));
    h.add_remote(r, &launcher);
  }
  return h.run();
}

} // namespace fabtest
