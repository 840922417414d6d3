// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// One call of a simulated application, its memory, and what became of it.
#pragma once

#include <rdma/fabric.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace sim {

// One completion, as read from the CQ.
struct Done {
  std::uint64_t flags = 0;
  std::size_t len = 0;
  std::byte *buf = nullptr;
  std::uint64_t data = 0, tag = 0;
  fi_addr_t src = FI_ADDR_NOTAVAIL;
  int err = 0; // positive
  std::size_t olen = 0;
  std::vector<std::byte> err_data{};
};

struct Op {
  std::uint32_t node = 0;
  bool is_send = false;
  bool many = false; // multi-receive: several completions, the last with FI_MULTI_RECV
  std::vector<std::byte> memory;
  std::vector<Done> done;
  std::function<void(Op &, const Done &)> on_done; // may post; must not run the world

  bool finished() const {
    return many ? !done.empty() && (done.back().flags & FI_MULTI_RECV || done.back().err != 0)
                : !done.empty();
  }
  bool ok() const { return finished() && done.back().err == 0; }
  int error() const { return finished() ? done.back().err : 0; }
};

// What to send beyond the bytes.
struct SendHow {
  std::optional<std::uint64_t> tag{};  // tagged
  std::optional<std::uint64_t> data{}; // FI_REMOTE_CQ_DATA
  std::uint64_t flags = 0;             // besides FI_COMPLETION
  std::size_t pieces = 1;              // iov entries that the memory is cut into
  bool silent = false;                 // without FI_COMPLETION
};

struct ReceiveHow {
  std::optional<std::uint64_t> tag{};
  std::uint64_t ignore = 0;
  fi_addr_t src = FI_ADDR_UNSPEC;
  std::uint64_t flags = 0;
  std::size_t pieces = 1;
};

} // namespace sim
