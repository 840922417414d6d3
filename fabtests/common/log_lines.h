// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What a provider says in libfabric's log, from what a program wrote.
#pragma once

#include "check.h"

#include <string>
#include <vector>

namespace fabtest {

// The lines of the provider under test, asked by the application and not by a provider that would
// use it; without what the core tells of settings.
std::vector<std::string> provider_lines(const std::string &text);

// There is one, and it has all those parts.
void expect_line(const std::vector<std::string> &lines, const std::vector<std::string> &parts,
                 where at = where::current());

} // namespace fabtest
