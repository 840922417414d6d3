// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/runtime/exchange.h"

#include "collc/runtime/error.h"
#include "collc/runtime/registry.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace collc::rt {

outcome outcome_of(const std::function<void()> &call) {
  outcome o;
  o.code = guarded(call);
  if (o.code != 0)
    std::strncpy(o.text.data(), remembered(), o.text.size() - 1);
  return o;
}

// What is active goes on meanwhile: peers may wait for it before they come to the exchange.
void exchange::gather(std::span<const std::byte> mine, std::span<std::byte> all) const {
  const background_progress others;
  const int rc = how_.allgather(how_.context, mine.data(), mine.size(), all.data());
  if (rc != 0)
    fail(rc < 0 ? rc : -FI_EIO, fmt::format("the exchange's allgather returned {}", rc));
}

void exchange::throw_if(const outcome &own) {
  if (own.code != 0)
    fail(own.code, own.text.data());
}

void exchange::throw_others(std::size_t rank, const outcome &theirs) {
  if (theirs.code != 0)
    fail(-FI_ECONNABORTED, fmt::format("rank {}: {}", rank, theirs.text.data()));
}

} // namespace collc::rt
