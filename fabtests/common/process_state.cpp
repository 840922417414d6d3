// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "common/process_state.h"

#include "common/sanitized.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include <sys/mman.h>
#include <unistd.h>

namespace fabtest {

namespace {

std::size_t entries(const char *folder) {
  namespace fs = std::filesystem;
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

} // namespace

std::size_t thread_count() { return entries("/proc/self/task"); }

std::size_t open_descriptors() { return entries("/proc/self/fd"); }

std::size_t resident_bytes() {
  if (sanitized)
    return 0;
  std::ifstream statm("/proc/self/statm");
  std::size_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

captured_output::captured_output()
    : file_(memfd_create("output", MFD_CLOEXEC)), saved_out_(dup(STDOUT_FILENO)),
      saved_err_(dup(STDERR_FILENO)) {
  std::fflush(nullptr);
  dup2(file_.get(), STDOUT_FILENO);
  dup2(file_.get(), STDERR_FILENO);
}

captured_output::~captured_output() { stop(); }

std::string captured_output::stop() {
  if (!saved_out_)
    return {};
  std::fflush(nullptr);
  dup2(saved_out_.get(), STDOUT_FILENO);
  dup2(saved_err_.get(), STDERR_FILENO);
  saved_out_.reset();
  saved_err_.reset();
  std::string text(static_cast<std::size_t>(std::max<off_t>(lseek(file_.get(), 0, SEEK_END), 0)),
                   '\0');
  if (pread(file_.get(), text.data(), text.size(), 0) < 0)
    text.clear();
  return text;
}

} // namespace fabtest
