// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Attribute matching for fi_getinfo(3): what a provider offers against what an
// application hints at. Each hint is honoured or the offer is refused, with a
// log line (level info) that names the hint. Not looked at, being the
// provider's: addresses, fabric_attr->fabric, domain_attr->domain, nic.
#pragma once

#include <rdma/fabric.h>
#include <rdma/providers/fi_prov.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace util_ext {

// One fi_info that a provider has. Its caps, orders, sizes, counts and limits
// say the most that may be had; its modes and mr_mode what it needs of the
// application; threading, progress and av_type what is returned where the hints
// leave them open: any of them may be asked for.
struct Offer {
  const fi_info *info;                     // made with fi_allocinfo()
  std::vector<std::uint32_t> addr_formats; // may be asked for; else info's
  // Secondary capabilities given only on request, as they change what the
  // application sees or cost something. Others are given unasked.
  std::uint64_t on_request = FI_SOURCE | FI_SOURCE_ERR | FI_RMA_EVENT;
  std::size_t max_auth_key_size = 0; // 0: no keys
  bool traffic_classes = false;      // tclass may be other than unspecified
};

// Without hints: the whole offer. 0: a new info in `out`, for fi_freeinfo().
// -FI_ENODATA: refused; -FI_ENOMEM. `api_version` is the application's: of the
// hints, only fields that it knew are read.
int choose(const fi_provider &, std::uint32_t api_version, const Offer &, const fi_info *hints,
           fi_info **out) noexcept;

// -FI_ENODATA, told at level info: which hint, what it said, and what may be had.
int refuse_hint(const fi_provider &, const char *name, std::uint64_t hint, const char *why,
                std::uint64_t offered) noexcept;
int refuse_hint(const fi_provider &, const char *name, const char *hint, const char *why) noexcept;

namespace detail {
// The two halves of it. info_check.cpp: whether the hints can be honoured.
bool hints_fit(const fi_provider &, std::uint32_t api_version, const Offer &, const fi_info &hints);
// Capabilities with the modifiers (FI_SEND, FI_RECV, ...) that they imply, as
// far as they are on offer.
std::uint64_t with_modifiers(std::uint64_t caps, std::uint64_t offered);

// By value, as newer headers call the names deprecated.
inline constexpr int mr_basic = 1 << 0, mr_scalable = 1 << 1;
// Which capabilities concern sending, and which receiving: fi_endpoint(3).
inline constexpr std::uint64_t primary_both =
    FI_MSG | FI_RMA | FI_TAGGED | FI_ATOMIC | FI_HMEM | FI_COLLECTIVE;
inline constexpr std::uint64_t msg_modifiers = FI_SEND | FI_RECV;
inline constexpr std::uint64_t rma_modifiers =
    FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
inline constexpr std::uint64_t tx_caps = primary_both | FI_MULTICAST | FI_NAMED_RX_CTX | FI_SEND |
                                         FI_READ | FI_WRITE | FI_TRIGGER | FI_FENCE | FI_RMA_PMEM;
inline constexpr std::uint64_t rx_caps =
    primary_both | FI_DIRECTED_RECV | FI_RECV | FI_REMOTE_READ | FI_REMOTE_WRITE | FI_TRIGGER |
    FI_RMA_PMEM | FI_MULTI_RECV | FI_SOURCE | FI_SOURCE_ERR | FI_RMA_EVENT;
inline constexpr std::uint64_t secondary_caps =
    FI_MULTI_RECV | FI_SOURCE | FI_SOURCE_ERR | FI_RMA_EVENT | FI_SHARED_AV | FI_TRIGGER |
    FI_FENCE | FI_LOCAL_COMM | FI_REMOTE_COMM | FI_RMA_PMEM;
} // namespace detail

} // namespace util_ext
