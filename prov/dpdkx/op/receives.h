// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Posted receives, and messages that wait for one. A messenger has its own, or
// several share one (a shared receive context): then one lock covers them all.
#pragma once

#include "dpdkx/op/completers.h"
#include "dpdkx/op/ops.h"
#include "dpdkx/op/request.h"

#include <cstdint>
#include <span>
#include <vector>

namespace dpdkx::op {

class Messenger;

// What came into a receive.
struct Arrival {
  std::uint64_t total, placed, flags, tag, data;
  std::size_t base;
  std::span<const std::byte> raw_source = {}; // of a datagram, where it has no fi_addr_t
};

// `raw`: the address of a sender that is not known, else empty.
void report_receive(const Completers &, const RxOp &, fi_addr_t src, const Arrival &, int error,
                    bool last, std::span<const std::byte> raw);

class Receives {
public:
  explicit Receives(std::size_t limit) : rx_(limit) {}
  ~Receives();
  Receives(const Receives &) = delete;

  // --- From the application.
  ssize_t receive(const ReceiveRequest &);
  bool cancel(const void *context); // false: there is none
  // Whether such a receive would get a message that has come already.
  bool waits_for(const ReceiveRequest &);
  // Ends the receives that are posted and have got nothing.
  void flush(int error);
  std::size_t min_multi_recv = 64;

  // --- From messengers. A receive that no message has come for ends where the first of them
  // reports.
  void join(const Completers &completers) { members_.push_back(&completers); }
  void leave(const Messenger &, const Completers &);

  util_ext::Matcher &matcher(std::uint64_t flags) { return flags & FI_TAGGED ? tagged : untagged; }
  void give(RxOp &op) { rx_.give(&op); }
  Unexpected *take() { // null: no memory
    Unexpected *u = free_;
    if (!u)
      return new (std::nothrow) Unexpected;
    free_ = u->free_next;
    return u;
  }
  void give(Unexpected &u) {
    u.payload.reset();
    u.rts.reset();
    u.free_next = free_;
    free_ = &u;
  }

  util_ext::Matcher tagged, untagged;
  std::vector<Unexpected *> claimed;

private:
  ssize_t receive_special(const ReceiveRequest &);
  ssize_t peek(const ReceiveRequest &);
  ssize_t receive_claimed(const ReceiveRequest &);
  RxOp *take_rx(const ReceiveRequest &);
  ssize_t no_rx() const; // why there is none
  void withdraw(RxOp &, int error);
  void drop_of(const Messenger *);
  const Completers *reports() const { return members_.empty() ? nullptr : members_.front(); }
  util_ext::Cq *nobodys_queue() const {
    return members_.empty() ? nullptr : members_.front()->rx_cq;
  }

  Slab<RxOp> rx_;
  Unexpected *free_ = nullptr;
  std::vector<const Completers *> members_;
};

} // namespace dpdkx::op
