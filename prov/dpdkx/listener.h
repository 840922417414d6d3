// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What listens for a passive endpoint: the engine at its address. It outlives the
// passive endpoint while others still answer requests that have come by it, for
// callers speak with it until then.
#pragma once

#include "dpdkx/fabric.h"

#include <atomic>

namespace dpdkx {

class PassiveEndpoint;

class Listener final : private engine::ListenerSink, private engine::AddressBook {
public:
  struct Place { // where it listens
    std::shared_ptr<link::Device> device;
    engine::Links links;
    Address self;
  };
  // 0, or a negative FI_E*. Takes the place.
  static int open(Fabric &, PassiveEndpoint &, const engine::Config &, std::size_t backlog,
                  Place &&, std::unique_ptr<Listener> &);
  ~Listener();

  // Once the request has been taken out of the fabric's. accepted(): another endpoint has called
  // its caller.
  void reject(const ConnectionRequest &, std::span<const std::byte> data);
  void accepted(const ConnectionRequest &);
  // In between, this keeps the listener.
  void hold() { holds_.fetch_add(1); }
  void release() { holds_.fetch_sub(1); }

  // The passive endpoint closes: what waits for it is refused, and so is what comes.
  void close();
  const Address &self() const { return engine_->self(); }
  bool needed() const { return holds_.load() != 0; }

private:
  Listener(Fabric &fabric, PassiveEndpoint &owner) : fabric_(fabric), owner_(&owner) {}
  // Drives the fabric until those who are refused know it, for FI_DPDKX_LINGER at most.
  void linger();

  // engine::ListenerSink
  bool requested(const engine::ListenerSink::Request &, std::span<const std::byte>) override;
  // engine::AddressBook: it calls nobody
  bool lookup(fi_addr_t, Address &) const override { return false; }
  fi_addr_t reverse(const Address &) const override { return FI_ADDR_NOTAVAIL; }

  Fabric &fabric_;
  PassiveEndpoint *owner_; // under the engine's lock; null: closed
  std::atomic<unsigned> holds_{0};
  std::shared_ptr<link::Device> device_;
  op::Completers completers_; // none
  std::unique_ptr<engine::Endpoint> engine_;
  bool started_ = false;
};

} // namespace dpdkx
