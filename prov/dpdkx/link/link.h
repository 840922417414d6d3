// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What a link is to the engine: bursts of datagrams, in and out. A Port is one
// endpoint's attachment to a link; a path leads from a port to one peer's port.
//
// Threads: calls on one port are made under its endpoint's lock, one at a time.
// Ports of different endpoints may be called at the same time; a link that they
// share (a device) locks by itself.
#pragma once

#include "dpdkx/base/address.h"
#include "dpdkx/base/clock.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <sys/uio.h>

namespace dpdkx::link {

struct Traits {
  bool lossless;              // every committed datagram arrives, once, while the peer lives
  bool ordered;               // and in the order of commits
  bool checksum;              // the engine must checksum: the link may deliver corrupt bytes
  bool can_pull;              // pull() can read a peer's memory
  std::uint32_t max_datagram; // largest datagram a path can carry, bytes
  // What nobody has polled yet may have been acknowledged (note_session()): who polls it keeps it.
  bool acknowledges = false;
  bool tells = false;        // tell() and told() work
  bool takes_joined = false; // peers may send with set_joined()
};

// Names a path within its port. Dense small integers; reused after close_path.
enum class PathId : std::uint32_t { none = 0xffffffff };

// Room for one datagram, written in place. `data` is null when there is no room
// now; the caller tries again in a later turn.
struct TxRoom {
  std::byte *data = nullptr;
  std::uint32_t capacity = 0;
  void *handle = nullptr; // the link's own
  bool bulk = false;      // the caller's: it goes to the peer's bulk port, if the path has one
};

// One received datagram; its bytes stay valid until release().
// On the host link a peer can still change them: copy a header out before it is
// validated, and never read a field twice.
struct RxDatagram {
  const std::byte *data = nullptr;
  std::uint32_t len = 0;
  PathId path = PathId::none; // none: from a source that has no path yet
  void *handle = nullptr;     // the link's own
  bool intact = false;        // it has been in memory only: no checksum is needed
};

// Where a datagram came from, for as long as one likes.
struct Origin {
  Address source;
  std::array<std::uint8_t, 6> hop{}; // whom to give an answer to: the link's own
};

enum class PathEventKind : std::uint8_t {
  accepted,  // a peer opened a path to this port (links with connections)
  up,        // open_path() has been resolved; datagrams can flow
  failed,    // open_path() came to nothing; `error` says why; path is closed by the caller
  peer_gone, // the peer's process or endpoint has ended, or refuses (`error`), and everything it
             // sent has been polled
};

struct PathEvent {
  PathEventKind kind = PathEventKind::up;
  PathId path = PathId::none;
  int error = 0; // negative errno: -ECONNREFUSED, -EHOSTUNREACH, ...
};

struct PortCounters { // since the port was opened
  std::uint64_t rx_datagrams = 0, rx_bytes = 0, tx_datagrams = 0, tx_bytes = 0;
  std::uint64_t rx_dropped = 0; // malformed, or no room
  std::uint64_t tx_refused = 0; // reserve() found no room
  std::uint64_t tx_fences = 0;  // flushes that had to see whether a receiver sleeps
};

class Port {
public:
  virtual ~Port() = default; // closes; all paths and datagrams end with it

  virtual const Traits &traits() const = 0;
  // The address the port is bound to, its port number chosen if it was 0.
  virtual const Address &address() const = 0;

  // A second port, to which peers may send data of large transfers, so that they keep out of the
  // way of all else. What comes there is polled with the rest, in whatever order. 0: none. Fixed.
  virtual std::uint16_t bulk_port() const { return 0; }

  // Starts a path to `peer`. Returns 0 and the id: usable once poll_events()
  // has told `up` (which may be at once). Negative errno when it is known at
  // once that nobody answers there (-ECONNREFUSED) or it can't be reached
  // (-EHOSTUNREACH), or -EMFILE, -ENOMEM, -EPERM (another user).
  virtual int open_path(const Address &peer, PathId &path) = 0;
  virtual void close_path(PathId) = 0;
  // Makes the port a member of a group of IP, or with `receives` false one that only sends there.
  // The path is up at once; close_path() leaves the group. What a member sends comes to all others.
  // -EOPNOTSUPP: the link has no groups; -EINVAL: that is none of the link's; -EADDRINUSE: the port
  // receives from it already; -EMFILE, -ENOMEM; what else the system says.
  virtual int join(const Address &group, bool receives, PathId &path) {
    (void)group, (void)receives, (void)path;
    return -EOPNOTSUPP;
  }
  // The peer's bulk port, for what is committed as bulk from now on; 0: it has none.
  virtual void set_bulk_port(PathId, std::uint16_t) {}
  // Whether the peer's link takes datagrams that the kernel joins where both are on one host.
  virtual void set_joined(PathId, bool) {}
  // Where the peer of a path is bound. For `accepted` paths: as far as the link knows.
  virtual Address peer_address(PathId) const = 0;

  // Room for one datagram of at most `len` bytes (<= max_datagram). Fill it and
  // commit `len` bytes before reserving the next on this port; cancel() gives
  // it back unsent. Nothing need leave before flush().
  virtual TxRoom reserve(PathId, std::uint32_t len) = 0;
  virtual void commit(PathId, const TxRoom &, std::uint32_t len) = 0;
  virtual void cancel(PathId, const TxRoom &) = 0;
  virtual void flush() = 0;

  // A word to the peer of a path that is up, in place of a datagram: it replaces the one before,
  // and may be seen before datagrams that were committed earlier. flush() wakes who sleeps.
  virtual void tell(PathId, std::uint64_t word) { (void)word; }
  // The peer's last; 0: none so far.
  virtual std::uint64_t told(PathId) const { return 0; }

  // For who has committed something to a path that is up: whether its peer was there less than a
  // millisecond ago, at `now`, or has taken all of it before it ended. A link without connections
  // can't tell: true. False: peer_gone follows.
  virtual bool lives(PathId, Time now) { return (void)now, true; }

  // Up to `max` datagrams. Each call's datagrams are given back with one
  // release() before the next poll().
  virtual unsigned poll(RxDatagram *out, unsigned max) = 0;
  virtual void release(RxDatagram *, unsigned n) = 0;

  // Source address of a datagram (needed before a session exists).
  virtual Address source(const RxDatagram &) const = 0;
  // Sends a small datagram back to where `to` came from, without a path. Best
  // effort: handshake replies, resets. Only between poll() and release().
  virtual void reply(const RxDatagram &to, std::span<const std::byte> bytes) = 0;

  // The same at any later time, for who forwards. False: the link can't.
  virtual bool origin(const RxDatagram &, Origin &out) const { return (void)out, false; }
  virtual bool reply_to(const Origin &, std::span<const std::byte> bytes) {
    return (void)bytes, false;
  }

  // The tokens by which packets of the session on a path are known: a link that
  // takes datagrams in while nobody polls may acknowledge them.
  virtual void note_session(PathId, std::uint64_t local_token, std::uint64_t peer_token) {
    (void)local_token, (void)peer_token;
  }

  // What has happened to paths since the last call. Cheap when nothing has.
  // Called every turn; a link may look at its sockets only every so often
  // (`now` decides), but a dead peer is told within 100 ms of being polled.
  virtual unsigned poll_events(PathEvent *out, unsigned max, Time now) = 0;

  // Reads `local`'s total length from the peer's memory at `remote` (its
  // address space). 0, or -EPERM when the system forbids it (then never asked
  // again on this path: DATA frames take over), -EFAULT, -ESRCH.
  virtual int pull(PathId, std::span<const iovec> local, std::span<const iovec> remote) {
    (void)local, (void)remote;
    return -EPERM;
  }

  // Blocking waits. wait_fd() is readable when something may have arrived since
  // the last arm(). arm() returns false when there already is something to
  // poll. disarm() ends it (poll() alone does not). -1: the link can't block.
  virtual int wait_fd() { return -1; }
  virtual bool arm() { return false; }
  virtual void disarm() {}
  // Whether reserve() refuses until wait_fd() has become readable: there is no
  // use in trying before.
  virtual bool blocked() const { return false; }

  virtual PortCounters counters() const = 0;
};

} // namespace dpdkx::link
