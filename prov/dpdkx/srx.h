// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Shared receive contexts: fi_srx_context(3). The endpoints that are bound to one
// have their receives, and the lock of their engines, in common.
#pragma once

#include "dpdkx/domain.h"
#include "dpdkx/op_flags.h"
#include "util_ext/object.h"

#include <vector>

namespace dpdkx {

class SharedRx;

struct SharedRxHandle final : fid_ep { // what the application holds
  explicit SharedRxHandle(SharedRx &endpoint) : fid_ep(), endpoint(endpoint) {}
  static SharedRxHandle &from(fid_ep *f) { return *static_cast<SharedRxHandle *>(f); }
  static SharedRxHandle &from(struct fid *f) { return from(reinterpret_cast<fid_ep *>(f)); }

  fi_addr_t source(fi_addr_t src) const { return src | any_source; }

  SharedRx &endpoint; // as the calls of fi_msg(3) name who receives
  fi_addr_t any_source = FI_ADDR_UNSPEC;
  std::uint64_t recv_flags = 0, trecv_flags = 0;
};

class SharedRx final : public util_ext::Holdable {
public:
  static int open(Domain &, const fi_rx_attr *, fid_ep **, void *context);
  static SharedRx &from(struct fid *f) { return SharedRxHandle::from(f).endpoint; }
  const Domain &domain() const { return domain_; }
  // FI_MSG, FI_TAGGED, or either.
  std::uint64_t caps() const { return caps_; }

  // Between an endpoint's enable and its close. `selective`: its completion queue is.
  void join(engine::Endpoint &, bool selective);
  void leave(engine::Endpoint &);

  int close();
  int cancel(const void *context);
  int set_option(int name, const void *value, std::size_t len);
  int get_option(int name, void *value, std::size_t *len);
  ssize_t receive(const op::ReceiveRequest &);
  ssize_t refuse_vector(std::size_t count) const;
  bool selective_receive() const { return selective_; }

private:
  SharedRx(Domain &, const fi_rx_attr &, void *context);
  ~SharedRx();

  SharedRxHandle handle_;
  Domain &domain_;
  const std::uint64_t caps_, op_flags_;
  bool selective_ = false;
  BurstLock lock_;
  op::Receives receives_; // under the lock, as what follows
  std::vector<engine::Endpoint *> endpoints_;
};

// Ops of its data calls, in ep_messages.cpp.
extern fi_ops_msg shared_msg_ops;
extern fi_ops_tagged shared_tagged_ops;

} // namespace dpdkx
