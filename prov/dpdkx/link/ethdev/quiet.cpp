// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/ethdev/quiet.h"

#include "dpdkx/base/log.h"

#include <cstdio>
#include <mutex>
#include <new>
#include <rte_log.h>
#include <string_view>
#include <utility>
#include <vector>

namespace dpdkx::link {

namespace {

// stdio's stdout and stderr are variables: while a Quiet exists they name
// streams that look at who writes. File descriptors 1 and 2 stay as they are.
// The streams are never closed, as another thread may have one in hand.
struct Streams {
  FILE *dpdk = nullptr;
  FILE *filter[2] = {}, *real[2] = {};
};

std::mutex mutex_;
Streams streams_;
unsigned users_ = 0;

thread_local unsigned quiet_here_ = 0;
// Said on this thread since its first Quiet: logged after the last, as whoever
// logs may well write to stderr himself.
thread_local std::vector<std::string> said_;
thread_local std::string first_error_;

void take(std::string_view text, bool is_error) {
  while (!text.empty()) {
    auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.empty())
      continue;
    if (quiet_here_ == 0) { // a thread of DPDK's own
      log(LogLevel::info, line);
      continue;
    }
    try {
      said_.emplace_back(line);
      if (is_error && first_error_.empty())
        first_error_ = line;
    } catch (const std::bad_alloc &) { // C code is below: the line is lost
    }
  }
}

ssize_t write_dpdk(void *, const char *text, size_t size) {
  take({text, size}, rte_log_cur_msg_loglevel() <= static_cast<int>(RTE_LOG_ERR));
  return static_cast<ssize_t>(size);
}

ssize_t write_filtered(void *real, const char *text, size_t size) {
  if (quiet_here_ == 0)
    return static_cast<ssize_t>(std::fwrite(text, 1, size, *static_cast<FILE **>(real)));
  take({text, size}, false);
  return static_cast<ssize_t>(size);
}

FILE *open_stream(void *cookie, cookie_write_function_t *write) {
  return fopencookie(cookie, "w", {nullptr, write, nullptr, nullptr});
}

void swap_in(FILE *&variable, int i) {
  if (streams_.filter[i] == nullptr) {
    streams_.filter[i] = open_stream(&streams_.real[i], &write_filtered);
    if (streams_.filter[i] != nullptr) // unbuffered: written by the thread whose text it is
      std::setvbuf(streams_.filter[i], nullptr, _IONBF, 0);
  }
  streams_.real[i] = variable;
  if (streams_.filter[i] != nullptr)
    variable = streams_.filter[i];
}

void swap_out(FILE *&variable, int i) {
  if (variable != streams_.filter[i])
    return; // the application has set it meanwhile
  std::fflush(variable);
  variable = streams_.real[i];
}

} // namespace

Quiet::Quiet() {
  std::lock_guard lock(mutex_);
  if (users_++ == 0) {
    swap_in(stdout, 0);
    swap_in(stderr, 1);
  }
  if (quiet_here_++ == 0)
    first_error_.clear();
}

Quiet::~Quiet() {
  {
    std::lock_guard lock(mutex_);
    if (--users_ == 0) {
      swap_out(stdout, 0);
      swap_out(stderr, 1);
    }
  }
  if (--quiet_here_ == 0)
    for (const auto &line : std::exchange(said_, {}))
      log(LogLevel::info, line);
}

void Quiet::take_dpdk_log() {
  std::lock_guard lock(mutex_);
  if (streams_.dpdk == nullptr)
    streams_.dpdk = open_stream(nullptr, &write_dpdk);
  if (streams_.dpdk != nullptr)
    rte_openlog_stream(streams_.dpdk); // flushed after each message
}

std::string Quiet::first_error() const {
  return !first_error_.empty() || said_.empty() ? first_error_ : said_.back();
}

} // namespace dpdkx::link
