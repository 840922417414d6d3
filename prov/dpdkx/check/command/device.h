// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The device to check over, opened as the provider opens it.
#pragma once

#include "dpdkx/settings.h"

#include <memory>
#include <string>

namespace dpdkx::check {

// From the environment. False with a text.
bool read_environment(Settings &, std::string &error);

// The first of FI_DPDKX_DEVICE that is free, or where that is not set, the first of dpdkxd's.
// False with a text.
bool open_device(const Settings &, std::shared_ptr<link::Device> &, std::string &error);

} // namespace dpdkx::check
