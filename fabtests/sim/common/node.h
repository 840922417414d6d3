// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// One life of one simulated process: an engine on a port of the network, with
// completion queues and counters.
#pragma once

#include "dpdkx/engine/endpoint.h"
#include "dpdkx/link/sim/network.h"
#include "harness/idle_domain.h"
#include "sim/common/book.h"
#include "sim/common/connecting.h"
#include "sim/common/exposed.h"
#include "sim/common/op.h"

#include <list>
#include <memory>
#include <span>
#include <vector>

namespace sim {

using dpdkx::Address;
using dpdkx::Duration;
using dpdkx::Time;
using dpdkx::link::sim::Profile;

// Told when an engine is entered and left, to account for what it allocates.
class Meter {
public:
  virtual void enter() = 0;
  virtual void leave() = 0;

protected:
  ~Meter() = default;
};

// What an endpoint speaks: messages with whoever comes, or with the other end of one connection; or
// it listens for those who want one. (Datagrams: Config::datagrams.)
enum class Role : std::uint8_t { messages, connection, listener };

struct Setup {
  dpdkx::engine::Config config;
  Role role = Role::messages;
  std::size_t backlog = 8; // of a listener: requests that wait
  Profile profile;         // lossless: the port is the endpoint's host link
  bool source = true;      // FI_SOURCE
  bool source_err = false; // FI_SOURCE_ERR
  std::size_t cq_size = 1024;
  fi_threading threading = FI_THREAD_DOMAIN;
  Meter *meter = nullptr;
  // Wraps the port, for tests that stand between engine and network.
  std::function<std::unique_ptr<dpdkx::link::Port>(std::unique_ptr<dpdkx::link::Port>)> wrap;
};

// Nodes on one host's lossless link, or on a network that loses.
inline Setup setup_for(bool lossless) {
  Setup setup;
  if (lossless)
    setup.profile = Profile::host();
  return setup;
}

class Node {
public:
  Node(const dpdkx::Clock &, dpdkx::link::sim::Network &, std::uint32_t index, const Address &,
       const Setup &, const Book &);
  ~Node(); // as by exit() without close: nothing is said to peers

  dpdkx::engine::Endpoint &endpoint() { return *endpoint_; }
  const Address &address() const { return address_; }
  std::uint32_t index() const { return index_; }

  // As Endpoint's calls, with the lock.
  ssize_t post(const dpdkx::op::SendRequest &);
  ssize_t post(const dpdkx::op::ReceiveRequest &);
  ssize_t post(const dpdkx::op::RmaRequest &);
  ssize_t post(const dpdkx::op::AtomicRequest &);
  ssize_t post(const dpdkx::op::CounterRequest &);
  int cancel(const void *context);
  // Of an endpoint with a connection, and of one that listens: as Setup::role says.
  int connect(const Address &listener, std::span<const std::byte> data);
  int accept(const dpdkx::engine::ListenerSink::Request &, std::span<const std::byte> data);
  int shutdown();
  void reject(dpdkx::op::Backlog::Number, std::span<const std::byte> data);
  void forget(dpdkx::op::Backlog::Number);
  const ConnectionLog &connection() const { return connection_; }
  RequestLog &requests() { return requests_; }

  unsigned turn();
  bool idle(); // nothing to do before something arrives or deadline()
  void service();
  Time deadline();
  void address_added(fi_addr_t, const Address &);
  bool drained();
  void close();

  // Memory that peers may access, by offset, until it is closed or the node ends. Its key is the
  // number of those that this life of the node has exposed, from 1.
  Exposed &expose(std::size_t size, std::uint64_t rights = FI_REMOTE_READ | FI_REMOTE_WRITE);

  // A counter that peers may add to, until it is revoked or the node ends; revoked, its value
  // stays. Its key is the number of those that this life of the node has exported, from 1.
  std::uint64_t export_counter(std::uint64_t rights = FI_REMOTE_WRITE);
  void revoke_counter(std::uint64_t key);
  void close_counter(std::uint64_t key);
  std::uint64_t counter(std::uint64_t key) const; // its value
  util_ext::Cntr &cntr(std::uint64_t key) {
    return *util_ext::Cntr::from(&exported_[key - 1]->fid);
  }
  // What waits for its counters; run by whoever queues works.
  util_ext::Triggers &triggers() { return domain_.triggers; }

  // Takes the oldest completion of either queue. False: there is none. What a peer has done comes
  // without context.
  bool read(Done &, void *&context);

  struct Counts {
    std::uint64_t ok, errors;
  };
  Counts tx_count() { return count(FI_SEND); }
  Counts rx_count() { return count(FI_RECV); }
  Counts count(std::uint64_t what); // FI_SEND, FI_RECV, FI_READ, FI_WRITE, FI_REMOTE_READ or _WRITE

private:
  class Entered; // holds the lock, tells the meter
  static bool read(fid_cq *, Done &, void *&context);

  const Address address_;
  const std::uint32_t index_;
  Meter *const meter_;
  harness::IdleDomain domain_;
  fid_cq *tx_cq_ = nullptr, *rx_cq_ = nullptr;
  struct Counter {
    std::uint64_t what;
    util_ext::Cntr *dpdkx::op::Completers::*slot;
    fid_cntr *cntr = nullptr;
  };
  Counter counters_[6] = {{FI_SEND, &dpdkx::op::Completers::tx_cntr},
                          {FI_RECV, &dpdkx::op::Completers::rx_cntr},
                          {FI_READ, &dpdkx::op::Completers::read_cntr},
                          {FI_WRITE, &dpdkx::op::Completers::write_cntr},
                          {FI_REMOTE_READ, &dpdkx::op::Completers::remote_read_cntr},
                          {FI_REMOTE_WRITE, &dpdkx::op::Completers::remote_write_cntr}};
  dpdkx::op::Completers completers_;
  std::list<Exposed> exposed_;
  std::vector<fid_cntr *> exported_; // by key, from 1; null: closed
  const bool datagrams_;
  ConnectionLog connection_;
  RequestLog requests_;
  std::unique_ptr<dpdkx::engine::Endpoint> endpoint_;
};

} // namespace sim
