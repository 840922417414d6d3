// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What goes wrong: a negative FI_E* and a line for the user. Thrown inside; each call of the C
// interface turns it into its result.
#pragma once

#include <cstdint>
#include <exception>
#include <new>
#include <string>

#include <rdma/fi_errno.h>

namespace collc::rt {

struct failure {
  int code;
  std::string text;
};

[[noreturn]] void fail(int code, std::string text);

// Of a call of libfabric's: "fi_NAME: its text".
[[noreturn]] void fail_call(const char *name, long code);
inline void check_call(const char *name, long code) {
  if (code < 0)
    fail_call(name, code);
}

// A peer is dead, or as good as dead; error: a positive FI_E*. FI_ETIMEDOUT becomes
// FI_EHOSTUNREACH, as it is what a wait says that may be repeated.
[[noreturn]] void fail_to_reach(std::int64_t rank, int error);

// collc_rt_error() of this thread.
void remember(const std::string &text) noexcept;
const char *remembered() noexcept;

// What `call` throws becomes the result.
template <typename Call> int guarded(Call call) noexcept {
  try {
    call();
    return 0;
  } catch (const failure &f) {
    remember(f.text);
    return f.code;
  } catch (const std::bad_alloc &) {
    remember("no memory");
    return -FI_ENOMEM;
  } catch (const std::exception &e) {
    remember(e.what());
    return -FI_EINVAL;
  }
}

} // namespace collc::rt
