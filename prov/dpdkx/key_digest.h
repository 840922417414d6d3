// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What two endpoints compare to see whether they belong to one job.
#pragma once

#include "dpdkx/wire/handshake.h"

#include <array>
#include <cstddef>
#include <rdma/fabric.h>
#include <span>

namespace dpdkx {

// SHA-256 (FIPS 180-4).
std::array<std::byte, 32> sha256(std::span<const std::byte>);

// Its first half, or zeros for an empty key.
wire::KeyDigest key_digest(std::span<const std::byte> key);

// Of an endpoint: its own key, its domain's, or what the setting says.
wire::KeyDigest key_of(const fi_info &, const wire::KeyDigest &setting);

} // namespace dpdkx
