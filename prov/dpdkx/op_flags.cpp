// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/op_flags.h"

#include "dpdkx/provider.h"

#include <rdma/fi_errno.h>

namespace dpdkx::flags {

namespace {

// libfabric's names; it has none for some.
class Names {
public:
  explicit Names(std::uint64_t flags) { fi_tostr_r(text_, sizeof text_, &flags, FI_TYPE_OP_FLAGS); }
  const char *text() const { return *text_ ? text_ : "without a name"; }

private:
  char text_[512];
};

} // namespace

int refuse(std::uint64_t given, std::uint64_t allowed) noexcept {
  constexpr std::uint64_t unsupported = FI_COMMIT_COMPLETE | FI_MULTICAST | FI_TRIGGER;
  const std::uint64_t wrong = given & ~allowed;
  FI_WARN(&provider, FI_LOG_EP_DATA, "flags %#llx (%s); allowed: %s\n",
          static_cast<unsigned long long>(wrong), Names(wrong).text(), Names(allowed).text());
  return wrong & unsupported ? -FI_EOPNOTSUPP : -FI_EINVAL;
}

int check_atomic(std::uint64_t given, std::uint64_t allowed) noexcept {
  if (!(given & FI_TAGGED))
    return check(given, allowed);
  refuse(given, allowed);
  return -FI_EOPNOTSUPP;
}

int check_trecvmsg(std::uint64_t given) noexcept {
  if (const int rc = check(given, trecvmsg))
    return rc;
  if (!(given & FI_DISCARD) || given & (FI_PEEK | FI_CLAIM))
    return 0;
  FI_WARN(&provider, FI_LOG_EP_DATA,
          "flags: FI_DISCARD alone; allowed: with FI_PEEK or FI_CLAIM\n");
  return -FI_EINVAL;
}

} // namespace dpdkx::flags
