// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/runtime/error.h"

#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <rdma/fi_errno.h>

namespace collc::rt {

namespace {

// Fixed, so that there is a text when there is no memory.
thread_local char last[512];

} // namespace

void fail(int code, std::string text) { throw failure{code, std::move(text)}; }

void fail_call(const char *name, long code) {
  fail(static_cast<int>(code), fmt::format("{}: {}", name, fi_strerror(static_cast<int>(-code))));
}

void fail_to_reach(std::int64_t rank, int error) {
  fail(error == FI_ETIMEDOUT ? -FI_EHOSTUNREACH : -error,
       fmt::format("rank {} can't be reached: {}", rank, fi_strerror(error)));
}

void remember(const std::string &text) noexcept {
  const std::size_t length = text.size() < sizeof last ? text.size() : sizeof last - 1;
  std::memcpy(last, text.data(), length);
  last[length] = 0;
}

const char *remembered() noexcept { return last; }

} // namespace collc::rt
