// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/random_key.h"

#include <rdma/fi_domain.h>

#include <cerrno>
#include <sys/random.h>

namespace util_ext {

int draw_key(std::size_t size, std::uint64_t &key) noexcept {
  for (;;) {
    std::uint64_t drawn;
    if (getrandom(&drawn, sizeof drawn, 0) != sizeof drawn) {
      if (errno == EINTR)
        continue;
      return -errno;
    }
    if (size < sizeof drawn)
      drawn &= (std::uint64_t{1} << size * 8) - 1;
    if (drawn == FI_KEY_NOTAVAIL)
      continue;
    key = drawn;
    return 0;
  }
}

} // namespace util_ext
