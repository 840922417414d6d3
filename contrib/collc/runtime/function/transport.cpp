// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/runtime/error.h"
#include "collc/runtime/function/function.h"

namespace collc::rt {

function_transport::function_transport(fabric &f, std::int64_t ranks, std::int64_t rank,
                                       std::chrono::milliseconds silence)
    : transport(ranks, rank), channel_(f, ranks, rank, silence, *this),
      alarmed_(static_cast<std::size_t>(ranks)) {
  alarmed_[static_cast<std::size_t>(rank)] = true;
}

function_transport::~function_transport() = default;

std::unique_ptr<runner> function_transport::make(const plan &p, std::uint32_t id) {
  return std::make_unique<function_runner>(*this, p, id);
}

std::uint64_t function_transport::counters(const runner &r) const {
  return static_cast<const function_runner &>(r).counters();
}

void function_transport::take(const frame_header &h, const std::byte *payload) {
  if (h.kind == frame_kind::probe)
    return;
  if (h.kind == frame_kind::alarm)
    fail(-FI_ECONNABORTED, "rank " + std::to_string(h.source) + " has failed, as it says");
  // What comes for a request that has been freed was sent in vain.
  if (const auto r = runners_.find(h.request); r != runners_.end())
    r->second->take(h, payload);
}

bool function_transport::probe(std::int64_t peer) {
  return channel_.send(peer, {.kind = frame_kind::probe}, {}, under_way_);
}

bool function_transport::alarm() noexcept {
  bool all = true;
  for (std::int64_t r = 0; r < ranks_; ++r) {
    const auto i = static_cast<std::size_t>(r);
    try {
      if (!alarmed_[i])
        alarmed_[i] = channel_.send(r, {.kind = frame_kind::alarm}, {}, under_way_);
    } catch (const failure &) {
      alarmed_[i] = true; // it is gone
    }
    all = all && alarmed_[i];
  }
  return all && under_way_ == 0;
}

} // namespace collc::rt
