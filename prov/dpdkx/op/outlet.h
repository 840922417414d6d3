// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// How the operation layer sends: frames into packets of a session. Implemented
// by the engine, which knows sessions' links.
#pragma once

#include "dpdkx/op/peer.h"

#include <span>

namespace dpdkx::op {

// What frames are a part of.
enum class Load : std::uint8_t {
  any,
  bulk, // data of a large transfer: packets of nothing else may overtake others, and be overtaken
};

class Outlet {
public:
  // Room for `len` bytes of frames (<= peer.max_frames) in a packet to that
  // peer; null: none now (window, link). Follow with commit() of as many bytes.
  virtual std::byte *begin(Peer &, std::uint32_t len, Load = Load::any) = 0;
  // The number of the packet that carries the frames. With a `source`, `len`
  // includes bytes that are still to come from the operation's memory: the
  // last `tail` ones, from `offset` on. They are read when the packet leaves,
  // and again at a resend, until it has been acknowledged.
  virtual PacketNumber commit(Peer &, std::uint32_t len, const TxOp *source = nullptr,
                              std::uint64_t offset = 0, std::uint32_t tail = 0) = 0;

  // An operation ends when the packet committed last has been acknowledged. (The last bytes from
  // a `source` say so by themselves.)
  virtual void await_ack(Peer &) = 0;

  // There is something to send that found no room, or has become ready.
  virtual void want_push(Peer &) = 0;
  // An ack block is to leave with this turn: by itself if nothing else does.
  virtual void want_ack(Peer &) = 0;
  // ... or a little later, if the application's answer can carry it.
  virtual void want_ack_soon(Peer &) = 0;
  // The processed position, which the peer waits for, is to reach it with this turn, maybe before
  // what has been committed so far.
  virtual void want_told(Peer &) = 0;
  // From now on it doesn't overtake what has been committed.
  virtual void tell_in_order(Peer &) = 0;
  // An operation waits for the position that the peer has processed (Messenger::note()).
  virtual void await_told(Peer &) = 0;
  // Ask the peer where it stands.
  virtual void want_probe(Peer &) = 0;
  // The packet number before which everything has been acknowledged.
  virtual PacketNumber acked(const Peer &) const = 0;

  // Of a lossless peer: whether it has been seen to live since shortly before now. What has been
  // committed for one that has not, nobody may ever read.
  virtual bool lives(Peer &) = 0;

  // The peer breaks the protocol: it is to be failed once this turn is over.
  virtual void violation(Peer &, const char *what) = 0;
  // There is no memory for what the peer has sent: the same.
  virtual void out_of_memory(Peer &) = 0;

  // A frame about a connection, in its turn.
  virtual void on_connection(Peer &, const wire::ConnectionFrame &) = 0;

  // Reads the peer's memory; see link::Port::pull.
  virtual int pull(Peer &, std::span<const iovec> local, std::span<const iovec> remote) = 0;

  // The peer's address as a sockaddr; returns its size.
  virtual std::size_t raw_address(const Peer &, std::byte (&out)[32]) const = 0;

protected:
  ~Outlet() = default;
};

} // namespace dpdkx::op
