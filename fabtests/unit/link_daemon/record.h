// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A record of the rings between a rank and dpdkxd, taken out by a test.
#pragma once

#include "dpdkx/link/daemon/record.h"
#include "unit/unit.h"

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

namespace link_daemon {

struct Record {
  dpdkx::link::daemon::RecordHeader header;
  std::vector<std::byte> body;

  dpdkx::link::daemon::RecordKind kind() const {
    return static_cast<dpdkx::link::daemon::RecordKind>(header.kind);
  }
  std::string text() const { return {reinterpret_cast<const char *>(body.data()), body.size()}; }
  template <class T> T as() const {
    T out{};
    assert_true(body.size() >= sizeof(T));
    std::memcpy(&out, body.data(), sizeof(T));
    return out;
  }
};

} // namespace link_daemon
