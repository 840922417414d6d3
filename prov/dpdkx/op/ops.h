// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Operations under way: sends, receives, and messages on their way into a
// receive. All live in slabs of the messenger.
#pragma once

#include "dpdkx/base/list.h"
#include "dpdkx/base/slab.h"
#include "dpdkx/op/atomic.h"
#include "dpdkx/op/request.h"
#include "dpdkx/wire/packet.h"
#include "util_ext/match.h"

namespace dpdkx::op {

struct Peer;
class Messenger;

// The application's scattered memory.
struct Memory {
  iovec iov[max_iov];
  std::uint32_t count = 0;
  std::size_t len = 0; // total

  void set(const iovec *from, std::size_t n, std::size_t total);
  // Both clip to what there is and return the bytes copied.
  std::size_t copy_out(std::size_t offset, std::byte *to, std::size_t n) const;
  std::size_t copy_in(std::size_t offset, const std::byte *from, std::size_t n) const;
  // The pieces that make up [offset, offset + n); returns their number.
  std::size_t slice(std::size_t offset, std::size_t n, iovec *out) const;
  // For a peer that can read it; returns how many there are.
  std::uint8_t regions(wire::RemoteRegion *out) const;
};

// Names the operation of a reader, which the answer comes to: unlike that of a receiver.
constexpr std::uint64_t reader_bit = std::uint64_t{1} << 31;
constexpr wire::OpId reader_name(std::uint64_t slab_name) {
  return static_cast<wire::OpId>(slab_name | reader_bit);
}
constexpr bool is_reader(wire::OpId id) { return static_cast<std::uint64_t>(id) & reader_bit; }
constexpr std::uint64_t slab_name(wire::OpId id) {
  return static_cast<std::uint64_t>(id) & ~reader_bit;
}

// What a frame that opens an operation says of the application's flags.
inline std::uint8_t frame_flags(std::uint64_t flags) {
  std::uint8_t f = 0;
  if (flags & FI_REMOTE_CQ_DATA)
    f |= wire::frame_flag::cq_data;
  if (flags & FI_DELIVERY_COMPLETE)
    f |= wire::frame_flag::want_processed;
  return f;
}

enum class TxStage : std::uint8_t {
  queued,    // nothing sent
  partial,   // a message in several parts, some sent
  requested, // rts, write_request, or a read has been sent
  streaming, // cts has come
  streamed,  // all data handed to the session
  waiting,   // for an ack, or the processed position
  ended,     // fin has come
};

// What an operation on a peer's memory has besides.
struct FarMemory : SlabItem {
  wire::Targets targets;
  // Of an atomic:
  std::uint8_t op = 0, datatype = 0;
  AtomicKind kind = AtomicKind::plain;
  Memory compare, result;
};

struct TxOp : SlabItem {
  ListLink<TxOp> link;
  Peer *peer = nullptr;
  TxStage stage = TxStage::queued;
  Memory memory;
  std::byte *owned = nullptr; // FI_INJECT: the copy that `memory` names
  std::uint64_t flags = 0, tag = 0, data = 0;
  void *context = nullptr;
  MessageNumber mn;
  PacketNumber last_pn;     // the last packet that carries a part of it
  std::uint64_t offset = 0; // bytes handed to the session
  std::uint64_t wanted = 0; // rendezvous: bytes the receiver takes
  wire::OpId receiver = wire::OpId::none;
  int status = 0;              // what fin or status said
  FarMemory *remote = nullptr; // FI_RMA, FI_ATOMIC
  bool adds = false;           // to a counter of the peer: `data` under the key `tag`
  bool bulk = false;           // counted in Traffic::bulk
  bool serves = false;         // not the application's, which is not told of its end: a peer's
                               // read, whose memory is ours, or
  wire::FrameType connection = wire::FrameType::pad; // ... a frame of a connection, its id in `tag`

  // What the peer executes by itself, and may find fault with; else it is a message.
  bool needs_no_receive() const { return remote || adds; }
  // An add that is over when it has left, whatever becomes of it.
  bool untold() const {
    return adds && (flags & FI_TRANSMIT_COMPLETE) && !(flags & FI_DELIVERY_COMPLETE);
  }
};

struct RxOp : SlabItem, util_ext::PostedReceive {
  Memory memory;
  std::uint64_t flags = 0;
  void *context = nullptr;
  bool posted = false;       // the matcher has it
  bool spent = false;        // takes no further message
  std::uint32_t landing = 0; // messages on their way in
  std::size_t used = 0;      // multi-receive: bytes given to messages
};

struct Unexpected;

// A message on its way into a receive, or into a buffer of ours while nobody
// has posted one.
struct Landing : SlabItem {
  ListLink<Landing> link;
  ListLink<Landing> pull_link;
  Peer *peer = nullptr;
  RxOp *op = nullptr;               // null: unexpected
  Unexpected *unexpected = nullptr; // null: matched
  bool pulling = false;
  std::size_t base = 0; // where it starts in the receive's memory
  MessageNumber mn;
  std::uint64_t total = 0;  // of the message, bytes
  std::uint64_t wanted = 0; // as much as there is room for
  std::uint64_t received = 0;
  std::uint64_t flags = 0; // FI_MSG or FI_TAGGED, FI_REMOTE_CQ_DATA
  std::uint64_t tag = 0, data = 0;
  std::uint32_t charge = 0;
  bool want_processed = false;
  wire::OpId sender = wire::OpId::none;
  std::uint8_t regions = 0;
  wire::RemoteRegion region[wire::max_rts_regions];
  FarMemory *remote = nullptr; // a write into registered memory, and into no receive
  int status = 0;              // of that, positive: it has failed
  bool told = false;           // ... and the peer is being told so, by the packet `status_pn`
  PacketNumber status_pn;
};

// A peer's addition to a counter that waits for data to land (or to leave) which it is to follow.
struct WaitingAdd : SlabItem {
  ListLink<WaitingAdd> link;
  MessageNumber mn;
  std::uint64_t key = 0, value = 0;
  bool untold = false; // its sender isn't told what has become of it
};

enum class UnexpectedKind : std::uint8_t { whole, assembling, request };

struct Unexpected : util_ext::UnexpectedMessage {
  UnexpectedKind kind = UnexpectedKind::whole;
  Messenger *owner = nullptr; // which has received it
  Peer *peer = nullptr;       // null: gone since
  std::uint64_t total = 0, data = 0, flags = 0;
  std::uint32_t charge = 0;
  std::unique_ptr<std::byte[]> payload; // whole, assembling
  Landing *landing = nullptr;           // assembling
  std::unique_ptr<wire::RtsFrame> rts;  // request
  void *claimant = nullptr;             // the context that has claimed it
  Unexpected *free_next = nullptr;
};

} // namespace dpdkx::op
