// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The transport of one endpoint: its links, its sessions, its operations, and
// the turn that drives them. Knows libfabric's constants through op and
// util_ext, but none of its objects, so that the simulator and the daemon run
// the same code.
#pragma once

#include "dpdkx/base/burst_lock.h"
#include "dpdkx/base/clock.h"
#include "dpdkx/engine/config.h"
#include "dpdkx/link/link.h"
#include "dpdkx/op/completers.h"
#include "dpdkx/op/connection.h"
#include "dpdkx/op/receives.h"
#include "dpdkx/op/request.h"

#include <memory>
#include <span>
#include <string>

namespace dpdkx::engine {

// fi_addr_t to address and back. Called under the endpoint's lock; must not
// call the endpoint.
class AddressBook {
public:
  virtual bool lookup(fi_addr_t, Address &out) const = 0;
  virtual fi_addr_t reverse(const Address &) const = 0; // FI_ADDR_NOTAVAIL: unknown

protected:
  ~AddressBook() = default;
};

// The ports of an endpoint, bound to one address. A peer that answers on the
// host link is reached there, any other by the device.
struct Links {
  std::unique_ptr<link::Port> host;   // may be null (simulation)
  std::unique_ptr<link::Port> device; // may be null: host only
  // Whether an address is one of this host's own, which never goes to the wire.
  bool (*is_own_address)(const Address &) = nullptr;
};

struct Statistics {
  std::uint64_t turns = 0, rx_packets = 0, tx_packets = 0, resent = 0, duplicates = 0;
  std::uint64_t malformed = 0, bad_checksum = 0, unknown_token = 0, resets = 0;
  std::uint64_t no_receive = 0; // datagrams that nobody had posted a receive for
  std::uint64_t messages_sent = 0, messages_received = 0, unexpected = 0, rendezvous = 0;
};

// What stands before the payload of a datagram: the packet's header, and a message frame with data.
inline constexpr std::uint32_t datagram_overhead = 40;

// What becomes of the connection of an endpoint that has one (FI_EP_MSG). Called
// under the endpoint's lock; must not call the endpoint.
class ConnectionSink {
public:
  virtual void connected(std::span<const std::byte> data) = 0;
  // There will be none: a positive error number, and what who refused it says.
  virtual void refused(int error, std::span<const std::byte> data) = 0;
  virtual void ended() = 0;

protected:
  ~ConnectionSink() = default;
};

// Who wants to be connected to an endpoint that listens. Likewise.
class ListenerSink {
public:
  struct Request {
    op::Backlog::Number number;
    std::uint64_t id; // for accept()
    Address caller;
  };
  // It waits for reject() or forget(), also if the caller goes. False: it is refused.
  virtual bool requested(const Request &, std::span<const std::byte> data) = 0;

protected:
  ~ListenerSink() = default;
};

class Endpoint {
public:
  // `self`: the endpoint's address. `book` and `completers` outlive it.
  Endpoint(const Config &, const Clock &, const Address &self, Links, const AddressBook &book,
           const op::Completers &completers);
  ~Endpoint();
  Endpoint(const Endpoint &) = delete;

  // Every call below is made under this lock, taken by the caller (also with Config::one_thread).
  BurstLock &mutex();

  // 0; -FI_EAGAIN: no room now, make progress and come again; -FI_EINVAL: dest
  // is no address of the book. Errors after acceptance come as completions.
  ssize_t send(const op::SendRequest &);
  // The same where Config::datagrams says so; `len` is at most max_datagram(). Also
  // -FI_EHOSTUNREACH: no link leads there. (Where nobody is, it gets lost.)
  ssize_t send_datagram(const op::SendRequest &);
  std::size_t max_datagram() const;
  // To and from a group of IP, with Config::datagrams. `dest` is for sends with FI_MULTICAST, to a
  // group that was joined with `sends`. 0; what link::Port::join() says (-EOPNOTSUPP: no device).
  int join(const Address &group, bool sends, bool receives, fi_addr_t &dest);
  void leave(fi_addr_t dest);
  ssize_t receive(const op::ReceiveRequest &);
  // The same for a peer's registered memory.
  ssize_t rma(const op::RmaRequest &);
  ssize_t atomic(const op::AtomicRequest &);
  // ... and for a counter that it has exported.
  ssize_t count(const op::CounterRequest &);
  // 0: there was such an operation; its completion, FI_ECANCELED or its own,
  // comes. -FI_ENOENT otherwise.
  int cancel(const void *context);

  // One turn of the loop: whatever has come in, whatever may go out, timers.
  // Returns how much it did; 0: nothing.
  unsigned turn();

  // For a thread that stands in while the application computes: sessions only
  // (acks, keep-alive, handshakes); frames are kept for the next turn(), up to a bound.
  void service();

  // The book has changed: waiting messages of that peer get their source, or
  // an index is about to be reused.
  void address_added(fi_addr_t, const Address &);
  void address_removed(fi_addr_t);

  // What it receives goes to receives that others share, and the lock is theirs, too. Before
  // anything else; both live longer.
  void share(op::Receives &, BurstLock &);
  // After a receive has been posted there: what that has given this endpoint to send leaves.
  void receive_posted();

  // Makes it an endpoint with one connection, before its first turn: it speaks with nobody else.
  // Data calls answer -FI_ENOTCONN unless it is there.
  int set_connection(ConnectionSink &); // 0 or -FI_ENOMEM
  // 0: the sink will be told how it ended. -FI_EISCONN: it has, or had, a connection already.
  int connect(const Address &listener, std::span<const std::byte> data);
  int accept(const ListenerSink::Request &, std::span<const std::byte> data);
  // What has been posted still goes out, for Config::linger at most. -FI_ENOTCONN.
  int shutdown();
  // Or one that listens, with so many requests that wait at most.
  int set_listener(ListenerSink &, std::size_t backlog);
  void reject(op::Backlog::Number, std::span<const std::byte> data);
  void forget(op::Backlog::Number); // another endpoint answers

  // Before closing: whether all that was promised has arrived (injected sends,
  // answers to peers). The caller makes turns until then, Config::linger at most.
  bool drained();
  // The same but for word that a connection has ended, which its other end learns anyway.
  bool delivered();
  // How many operations that nobody is told of haven't begun to arrive.
  std::size_t promised();
  // Says goodbye to all peers. Receives and sends that are left end without a
  // completion. Only destruction may follow.
  void close();

  void set_min_multi_recv(std::size_t bytes);
  std::size_t min_multi_recv() const;

  // Blocking waits: the ports' fds (-1: none), and when a timer is due next.
  int host_wait_fd();
  int device_wait_fd();
  bool has_device() const;
  bool arm(); // false: there is something to do now
  void disarm();
  Time deadline() const;
  Time last_turn() const;

  const Address &self() const;
  Statistics statistics() const;

  struct Impl;

private:
  std::unique_ptr<Impl> impl_;
};

} // namespace dpdkx::engine
