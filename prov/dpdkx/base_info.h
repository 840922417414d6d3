// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What a domain of dpdkx can do, as fi_getinfo offers it.
#pragma once

#include "dpdkx/settings.h"
#include "util_ext/eq.h"

#include <rdma/fabric.h>

namespace dpdkx {

using util_ext::InfoPtr;

// The protocol between endpoints (wire/protocol.md), as fi_ep_attr names it:
// the highest bit marks a provider's own.
inline constexpr std::uint32_t wire_protocol = 1u << 31 | 0x44504458; // "DPDX"

inline constexpr std::uint64_t offered_caps =
    FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_SEND | FI_RECV | FI_READ | FI_WRITE |
    FI_REMOTE_READ | FI_REMOTE_WRITE | FI_DIRECTED_RECV | FI_MULTI_RECV | FI_SOURCE |
    FI_SOURCE_ERR | FI_RMA_EVENT | FI_FENCE | FI_TRIGGER | FI_LOCAL_COMM | FI_REMOTE_COMM |
    FI_AV_USER_ID;

// Of endpoints for datagrams.
inline constexpr std::uint64_t datagram_caps =
    FI_MSG | FI_TRIGGER | FI_SEND | FI_RECV | FI_DIRECTED_RECV | FI_MULTI_RECV | FI_SOURCE |
    FI_SOURCE_ERR | FI_LOCAL_COMM | FI_REMOTE_COMM | FI_AV_USER_ID;

// Everything between two endpoints is begun in the order it was posted in.
inline constexpr std::uint64_t offered_order =
    FI_ORDER_RAR | FI_ORDER_RAW | FI_ORDER_RAS | FI_ORDER_WAR | FI_ORDER_WAW | FI_ORDER_WAS |
    FI_ORDER_SAR | FI_ORDER_SAW | FI_ORDER_SAS | FI_ORDER_RMA_RAR | FI_ORDER_RMA_RAW |
    FI_ORDER_RMA_WAR | FI_ORDER_RMA_WAW | FI_ORDER_ATOMIC_RAR | FI_ORDER_ATOMIC_RAW |
    FI_ORDER_ATOMIC_WAR | FI_ORDER_ATOMIC_WAW;

// What makes sense with one peer only, and without an AV.
inline constexpr std::uint64_t connected_caps =
    offered_caps & ~(FI_DIRECTED_RECV | FI_SOURCE | FI_SOURCE_ERR);

// All that may be asked for, without addresses. Sizes are the largest, see
// set_sizes(). Throws std::bad_alloc.
InfoPtr base_info(const char *domain, fi_ep_type = FI_EP_RDM);

// The same with endpoints for datagrams, which hold so many bytes.
// FI_MULTICAST is for devices.
InfoPtr datagram_info(const char *domain, std::size_t max_msg_size, bool multicast);

// Sizes as the hints ask for them, else as the settings say.
void set_sizes(const Settings &, const fi_info *hints, fi_info &);

} // namespace dpdkx
