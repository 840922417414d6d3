// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The rooms below name the provider's settings in what they say is wrong. dpdkxd
// has the same ones under names of its own: FI_DPDKX_RX_DESCRIPTORS is rx-descriptors.
#pragma once

#include <string>
#include <string_view>

namespace dpdkx::daemon {

// The text with the names of dpdkxd's options.
std::string in_own_words(std::string_view text);

} // namespace dpdkx::daemon
