// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Calls of an application with their memory, and the queues that their
// completions come from.
#pragma once

#include "dpdkx/op/completers.h"
#include "harness/calls.h"
#include "harness/idle_domain.h"

#include <vector>

namespace lab {

using Bytes = std::vector<std::byte>;

inline Bytes pattern(std::size_t len, unsigned seed = 1) {
  Bytes b(len);
  std::byte *const at = b.data(); // checked once, not at each byte
  for (std::size_t i = 0; i < len; ++i)
    at[i] = static_cast<std::byte>(i * 7 + std::size_t{seed} * 131 + (i >> 8));
  return b;
}

using harness::Done;
using harness::ReceiveHow;
using harness::SendHow;

// One call of the application, its memory, and what became of it.
struct Call {
  Bytes memory;
  std::vector<iovec> iov;
  std::vector<Done> done;

  explicit Call(Bytes bytes = {}, std::size_t pieces = 1);
  Call(const Call &) = delete;
  bool open() const { return done.empty(); }
  bool ok() const { return done.size() == 1 && done[0].err == 0; }
  int error() const { return done.size() == 1 ? done[0].err : 0; }
  bool holds(const Bytes &b) const { return memory == b; }
  bool starts_with(const Bytes &) const;
};

struct QueueOptions {
  bool source_err = false;
  std::size_t cq_size = 256;
  bool cqs = true;
};

// What an endpoint's operations end in.
class Queues {
public:
  explicit Queues(const QueueOptions &);
  ~Queues();
  Queues(const Queues &) = delete;

  void reap();            // completions to their calls
  std::vector<Done> told; // what no call of ours is about
  std::uint64_t sends_ok() const { return completers.tx_cntr->value(); }
  std::uint64_t sends_failed() const { return completers.tx_cntr->errors(); }
  std::uint64_t receives_ok() const { return completers.rx_cntr->value(); }
  std::uint64_t receives_failed() const { return completers.rx_cntr->errors(); }

  dpdkx::op::Completers completers;

private:
  std::vector<Done> &of(void *context);
  void reap(util_ext::Cq &);

  harness::IdleDomain domain_;
  fid_cq *tx_cq_ = nullptr, *rx_cq_ = nullptr;
  fid_cntr *tx_cntr_ = nullptr, *rx_cntr_ = nullptr;
};

dpdkx::op::SendRequest request(Call &, fi_addr_t to, const SendHow &);
dpdkx::op::ReceiveRequest request(Call &, const ReceiveHow &);

} // namespace lab
