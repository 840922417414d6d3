// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The provider as libfabric knows it, and what all of the face shares.
#pragma once

#include "dpdkx/settings.h"

#include <cerrno>
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>

namespace dpdkx {

extern fi_provider provider;

inline constexpr const char *provider_name = "dpdkx";
inline constexpr std::uint32_t provider_version = FI_VERSION(0, 1);
// The newest libfabric that this was run under.
inline constexpr std::uint32_t newest_api = FI_VERSION(2, 6);

// provider.getinfo and provider.fabric.
int getinfo(std::uint32_t api_version, const char *node, const char *service, std::uint64_t flags,
            const fi_info *hints, fi_info **info);
int open_fabric(fi_fabric_attr *, fid_fabric **, void *context);

// The settings as they are now. A wrong one is told once in this call's log
// line, and answers -FI_EINVAL.
int current_settings(Settings &);

// Whether the user has named dpdkx in FI_PROVIDER.
bool named_by_user();
// ... together with another provider, as "dpdkx;ofi_rxm".
bool layered_by_user();
// Whether FI_DPDKX_OFFER says that naming isn't needed.
bool offered_to_all();

} // namespace dpdkx
