// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/run/hub.h"

#include <cerrno>
#include <sys/socket.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace collc::run {

namespace {

enum class word : std::uint64_t { gather, report };

struct header {
  word what = word::gather;
  std::uint64_t bytes = 0;
};

// All bytes, by calls that take or give some: `call(at, bytes)`.
template <class Byte, class Call> bool move_all(Byte *at, std::size_t bytes, Call &&call) {
  while (bytes > 0) {
    const ssize_t n = call(at, bytes);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    at += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

bool send_all(int fd, const void *from, std::size_t bytes) {
  return move_all(static_cast<const char *>(from), bytes,
                  [fd](const char *at, std::size_t n) { return send(fd, at, n, MSG_NOSIGNAL); });
}

bool receive_all(int fd, void *to, std::size_t bytes) {
  return move_all(static_cast<char *>(to), bytes,
                  [fd](char *at, std::size_t n) { return recv(fd, at, n, 0); });
}

bool send_word(int fd, word what, const void *from, std::size_t bytes) {
  const header h{what, bytes};
  return send_all(fd, &h, sizeof h) && send_all(fd, from, bytes);
}

// The parent's side: all ranks say the same kind of thing in turn, each as much as the others,
// until they report. Who falls out of that takes all with it.
class hub {
public:
  explicit hub(std::vector<int> fds) : fds_(std::move(fds)) {}
  ~hub() {
    for (const int fd : fds_)
      close(fd);
  }
  hub(const hub &) = delete;

  void serve(std::vector<ending> &out) {
    while (turn(out)) {
    }
  }

private:
  bool turn(std::vector<ending> &out) {
    std::vector<char> all;
    std::size_t reports = 0;
    for (std::size_t rank = 0; rank < fds_.size(); ++rank) {
      header h;
      if (!receive_all(fds_[rank], &h, sizeof h))
        return rest(out);
      const std::size_t at = all.size();
      all.resize(at + h.bytes);
      if (!receive_all(fds_[rank], all.data() + at, h.bytes))
        return rest(out);
      if (h.what == word::report) {
        ++reports;
        out[rank] = {true, std::string(all.data() + at, h.bytes), 0};
        all.resize(at);
      }
    }
    if (reports == fds_.size())
      return false;
    if (reports != 0)
      return rest(out);
    for (const int fd : fds_)
      (void)send_all(fd, all.data(), all.size()); // of who has gone the next turn tells
    return true;
  }

  // One has gone: those who gather are told, and may still say why they end.
  bool rest(std::vector<ending> &out) {
    for (const int fd : fds_)
      shutdown(fd, SHUT_WR);
    for (std::size_t rank = 0; rank < fds_.size(); ++rank) {
      header h;
      std::string text;
      while (receive_all(fds_[rank], &h, sizeof h)) {
        text.resize(h.bytes);
        if (!receive_all(fds_[rank], text.data(), text.size()))
          break;
        if (h.what == word::report)
          out[rank] = {true, text, 0};
      }
    }
    return false;
  }

  std::vector<int> fds_;
};

} // namespace

bool line::allgather(const void *mine, std::size_t bytes, void *all) const {
  return send_word(fd_, word::gather, mine, bytes) &&
         receive_all(fd_, all, bytes * static_cast<std::size_t>(ranks_));
}

bool line::report(const std::string &text) const {
  return send_word(fd_, word::report, text.data(), text.size());
}

std::vector<ending> run_ranks(int ranks, const std::function<void(int, const line &)> &body) {
  std::vector<int> fds;
  std::vector<pid_t> pids;
  std::vector<ending> out(static_cast<std::size_t>(ranks));
  int failure = 0;
  for (int rank = 0; rank < ranks && failure == 0; ++rank) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
      failure = errno;
      break;
    }
    const pid_t pid = fork();
    if (pid == 0) {
      for (const int fd : fds) // the other ranks'
        close(fd);
      close(pair[0]);
      body(rank, line(pair[1], ranks));
      _exit(0);
    }
    close(pair[1]);
    if (pid < 0) {
      failure = errno;
      close(pair[0]);
      break;
    }
    fds.push_back(pair[0]);
    pids.push_back(pid);
  }
  {
    hub h(std::move(fds)); // if one can't be made, the others see its end
    if (failure == 0)
      h.serve(out);
  }
  for (std::size_t i = 0; i < pids.size(); ++i)
    while (waitpid(pids[i], &out[i].status, 0) < 0 && errno == EINTR) {
    }
  if (failure != 0)
    throw std::system_error(failure, std::generic_category(), "a process for a rank");
  return out;
}

} // namespace collc::run
