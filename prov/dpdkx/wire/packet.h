// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The packet formats of protocol.md: what stands in a datagram, how it is
// encoded, decoded and validated. Pure functions on bytes. All integers are
// little-endian and unaligned.
#pragma once

#include "dpdkx/base/seq.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace dpdkx::wire {

inline constexpr std::uint8_t protocol_version = 1;
inline constexpr std::uint8_t no_version = 255; // of endpoints that have no sessions

enum class PacketType : std::uint8_t {
  data = 1,      // frames under a packet number; reliable
  ack = 2,       // an ack block only; not numbered, never acknowledged
  hello = 3,     // handshake, body: Hello
  challenge = 4, // body: Challenge
  confirm = 5,   // body: Hello with the cookie of a challenge
  welcome = 6,   // body: Hello
  reset = 7,     // "no session has that token", body: Reset
  bye = 8,       // the session ends; body: ack block
  datagram = 9,  // without a session; body: one message frame
  probe = 10,    // does anything come through? body: Probe
};

namespace packet_flag {
inline constexpr std::uint8_t ack_block = 1;   // an AckBlock follows the header
inline constexpr std::uint8_t checksummed = 2; // `checksum` is set
inline constexpr std::uint8_t ack_now = 4;     // the receiver is to acknowledge without delay
inline constexpr std::uint8_t ecn_echo = 8;    // congestion was marked on the way here
inline constexpr std::uint8_t ack_soon = 16;   // an operation waits for the acknowledgement
inline constexpr std::uint8_t known = ack_block | checksummed | ack_now | ecn_echo | ack_soon;
} // namespace packet_flag

// Drawn at random by the receiver of the packets that carry it; names the
// session there and proves that the sender took part in its handshake.
enum class Token : std::uint64_t { none = 0 };
// One life of an endpoint: drawn at random when it is enabled.
enum class Incarnation : std::uint64_t { none = 0 };

struct PacketHeader {
  std::uint8_t version = protocol_version;
  PacketType type = PacketType::data;
  std::uint8_t flags = 0;
  std::uint8_t reserved = 0;   // sent 0, ignored
  std::uint32_t checksum = 0;  // CRC32C over the datagram with this field 0
  Token token = Token::none;   // the receiver's; `none` in hello, challenge
  PacketNumber pn;             // data only, else 0
  std::uint32_t reserved2 = 0; // sent 0, ignored
};
inline constexpr std::size_t packet_header_size = 24;

// What the sender of this block has received, processed and can take. Absolute
// values, so that a lost block costs nothing and a late one changes nothing.
struct AckBlock {
  PacketNumber cumulative;     // every packet before this one has been received
  MessageNumber processed;     // every message before this one has been processed
  std::uint32_t credit_limit;  // the peer may send eager messages up to this position, in
                               // units of credit_unit, counted from the session's start
  std::uint16_t delay_us;      // since the newest packet it acknowledges came in; delay_unknown:
                               // more than that, or nothing new has come in
  std::uint8_t sack_words = 0; // 0..max_sack_words
  // Bit i of word w: packet cumulative + 1 + 64 * w + i has been received.
  static constexpr std::size_t max_sack_words = 16;
  std::uint64_t sack[max_sack_words] = {};

  std::size_t wire_size() const { return fixed_size + sizeof(std::uint64_t) * sack_words; }
  static constexpr std::size_t fixed_size = 16;
  static constexpr std::uint16_t delay_unknown = 0xffff;
};
inline constexpr std::uint32_t credit_unit = 64; // bytes

enum class FrameType : std::uint8_t {
  pad = 0,     // the rest of the datagram is to be ignored
  message = 1, // an untagged message: whole, or its first part (flag more)
  tagged = 2,  // a tagged message, likewise
  segment = 3, // a further part of a message
  rts = 4,     // rendezvous: request to send
  cts = 5,     // rendezvous: clear to send
  rdata = 6,   // rendezvous data, placed at its offset when it comes
  fin = 7,     // the receiver has ended a rendezvous
  // Feature rma:
  write = 8,         // an RMA write: whole, or its first part (flag more; segments follow)
  write_request = 9, // a large one: asks for cts, as rts does
  read = 10,         // an RMA read: rdata come to the reader, or fin with an error
  status = 11,       // a write, an atomic or an add has failed at the target
  // Feature atomics:
  atomic = 32,
  // Feature counters:
  add = 48, // to a counter that the target has exported
  // Feature connections:
  connect = 56,  // asks who listens for a connection
  accept = 57,   // from the endpoint that is to be the other end
  ready = 58,    // the answer to it: the connection is there
  reject = 59,   // there will be none
  shutdown = 60, // the sender ends it, and has nothing more to say
};

namespace frame_flag {
inline constexpr std::uint8_t cq_data = 1;        // 8 bytes of remote CQ data follow the tag
inline constexpr std::uint8_t more = 2;           // segments come; message, tagged: `total` follows
inline constexpr std::uint8_t want_processed = 4; // acknowledge when processed, without delay
inline constexpr std::uint8_t tagged = 8;         // rts: a tag follows
inline constexpr std::uint8_t pull = 16;   // rts, write_request: the sender's memory may be pulled
inline constexpr std::uint8_t untold = 32; // add: its sender is not told what has become of it
} // namespace frame_flag

// message, tagged, and the first part of both.
struct MessageFrame {
  bool tagged = false;
  std::uint8_t flags = 0;
  std::uint16_t len = 0; // payload in this frame, bytes
  MessageNumber mn;
  std::uint64_t tag = 0;   // tagged only
  std::uint64_t data = 0;  // flag cq_data only
  std::uint64_t total = 0; // whole message, bytes; equals len without flag more
  const std::byte *payload = nullptr;
};

struct SegmentFrame {
  std::uint16_t len = 0;
  MessageNumber mn;
  std::uint32_t offset = 0; // bytes from the message's start
  const std::byte *payload = nullptr;
};

// Names an operation at one side: an index and a generation, so that a late
// frame never reaches the operation that took the slot over.
enum class OpId : std::uint64_t { none = 0 };

// A piece of the sender's memory, in its address space.
struct RemoteRegion {
  std::uint64_t address, length;
};
inline constexpr std::size_t max_rts_regions = 16;

struct RtsFrame {
  std::uint8_t flags = 0;
  MessageNumber mn;
  std::uint64_t total = 0; // bytes
  OpId sender = OpId::none;
  std::uint64_t tag = 0, data = 0;
  std::uint8_t regions = 0; // with flag pull, 1..max_rts_regions
  RemoteRegion region[max_rts_regions];
};

// A piece of the target's registered memory.
struct RemoteTarget {
  std::uint64_t address, length, key;
};
inline constexpr std::size_t max_targets = 8;

struct Targets {
  std::uint8_t count = 0; // 1..max_targets, but 0 where all are empty
  RemoteTarget at[max_targets];

  std::uint64_t total() const; // bytes; the decoder has seen to it that they don't wrap
};

struct WriteFrame {
  std::uint8_t flags = 0; // cq_data, more, want_processed
  std::uint16_t len = 0;  // payload in this frame, bytes: the targets' total, with flag more less
  MessageNumber mn;
  std::uint64_t data = 0; // flag cq_data only
  Targets targets;
  const std::byte *payload = nullptr;
};

struct WriteRequestFrame {
  std::uint8_t flags = 0; // cq_data, pull
  MessageNumber mn;
  OpId sender = OpId::none;
  std::uint64_t data = 0;
  Targets targets;
  std::uint8_t regions = 0; // with flag pull, 1..max_rts_regions
  RemoteRegion region[max_rts_regions];
};

// The answer is rdata, whose `receiver` is the reader.
struct ReadFrame {
  MessageNumber mn;
  OpId reader = OpId::none;
  Targets targets;
};

// Comes before any ack that says that `mn` has been processed.
struct StatusFrame {
  std::uint16_t status = 0; // a positive libfabric error number, at most max_status
  MessageNumber mn;
};
inline constexpr std::uint16_t max_status = 4095;

// libfabric's enumerators are stable numbers and go as they are. The payload is
// the operands, and behind them, for a compare, what is compared with.
struct AtomicFrame {
  std::uint8_t flags = 0; // cq_data, want_processed
  std::uint16_t len = 0;  // of the payload, bytes
  MessageNumber mn;
  OpId reader = OpId::none; // fetch and compare: where the former values go, as rdata; else none
  std::uint8_t op = 0, datatype = 0;
  std::uint8_t kind = 0;    // 0 plain, 1 fetch, 2 compare
  std::uint32_t offset = 0; // of its first byte in the reader's operation
  std::uint64_t data = 0;
  Targets targets; // lengths in bytes, each a multiple of the datatype's size
  const std::byte *payload = nullptr;
};
inline constexpr std::uint8_t max_atomic_kind = 2;
// Bytes of the targets: the answer is one rdata.
inline constexpr std::uint64_t max_atomic_total = 0xffff;

// Modulo 2^64, once all that was posted before it is in place.
struct AddFrame {
  std::uint8_t flags = 0; // want_processed, or untold
  MessageNumber mn;
  std::uint64_t key = 0; // names the exported counter
  std::uint64_t value = 0;
};

struct CtsFrame {
  OpId sender = OpId::none, receiver = OpId::none;
  std::uint64_t length = 0; // bytes wanted, from offset 0: less than total when truncated
};

struct RdataFrame {
  std::uint16_t len = 0;
  OpId receiver = OpId::none;
  std::uint64_t offset = 0;
  const std::byte *payload = nullptr;
};

struct FinFrame {
  OpId sender = OpId::none;
  std::uint32_t status = 0; // 0, or a positive libfabric error number
};

// All five of a connection. The payload is the application's.
struct ConnectionFrame {
  FrameType type = FrameType::connect;
  std::uint16_t len = 0; // payload, bytes: at most max_connection_data; ready, shutdown: 0
  MessageNumber mn;
  std::uint64_t id = 0; // drawn by who connects: who knows it has been asked
  const std::byte *payload = nullptr;
};
// With its frame, this fits into one packet of any session.
inline constexpr std::uint16_t max_connection_data = 256;

// Sizes of a frame without its payload.
constexpr std::size_t size_of(const MessageFrame &);
constexpr std::size_t size_of(const RtsFrame &);
inline constexpr std::size_t max_message_frame_size = 32;
inline constexpr std::size_t region_size = 16; // of each region
inline constexpr std::size_t max_rts_frame_size = 40 + region_size * max_rts_regions;
inline constexpr std::size_t segment_frame_size = 12;
inline constexpr std::size_t cts_frame_size = 28;
inline constexpr std::size_t rdata_frame_size = 20;
inline constexpr std::size_t fin_frame_size = 16;
constexpr std::size_t size_of(const WriteFrame &);
constexpr std::size_t size_of(const WriteRequestFrame &);
constexpr std::size_t size_of(const ReadFrame &);
constexpr std::size_t size_of(const AtomicFrame &);
inline constexpr std::size_t target_size = 24; // of each target
inline constexpr std::size_t max_write_frame_size = 24 + target_size * max_targets;
inline constexpr std::size_t max_write_request_frame_size =
    24 + target_size * max_targets + region_size * max_rts_regions;
inline constexpr std::size_t max_read_frame_size = 16 + target_size * max_targets;
inline constexpr std::size_t status_frame_size = 8;
inline constexpr std::size_t max_atomic_frame_size = 32 + target_size * max_targets;
inline constexpr std::size_t add_frame_size = 24;
inline constexpr std::size_t connection_frame_size = 16;

// Encoders write at `out` and return the end of what they wrote (without
// payload, which the caller puts behind). The caller has seen to the room.
inline std::byte *encode(std::byte *out, const PacketHeader &);
inline std::byte *encode(std::byte *out, const AckBlock &);
inline std::byte *encode(std::byte *out, const MessageFrame &);
inline std::byte *encode(std::byte *out, const RdataFrame &);
std::byte *encode(std::byte *out, const SegmentFrame &);
std::byte *encode(std::byte *out, const RtsFrame &);
std::byte *encode(std::byte *out, const CtsFrame &);
std::byte *encode(std::byte *out, const FinFrame &);
inline std::byte *encode(std::byte *out, const WriteFrame &);
std::byte *encode(std::byte *out, const WriteRequestFrame &);
std::byte *encode(std::byte *out, const ReadFrame &);
std::byte *encode(std::byte *out, const StatusFrame &);
std::byte *encode(std::byte *out, const AtomicFrame &);
std::byte *encode(std::byte *out, const AddFrame &);
std::byte *encode(std::byte *out, const ConnectionFrame &);

// Decoders never read beyond `in`; they take what they read off its front.
// nullopt / false: malformed. Unknown flags in a header or frame are malformed
// (feature bits say what may be sent).
inline std::optional<PacketHeader> decode_header(std::span<const std::byte> &in);
inline bool decode_ack(std::span<const std::byte> &in, AckBlock &out);

// The frames of a data packet, one after the other.
struct Frame {
  FrameType type;
  union {
    MessageFrame message; // message, tagged
    SegmentFrame segment;
    RtsFrame rts;
    CtsFrame cts;
    RdataFrame rdata;
    FinFrame fin;
    WriteFrame write;
    WriteRequestFrame write_request;
    ReadFrame read;
    StatusFrame status;
    AtomicFrame atomic;
    AddFrame add;
    ConnectionFrame connection; // connect, accept, ready, reject, shutdown
  };
  Frame() : type(FrameType::pad), message() {}
};
enum class FrameResult : std::uint8_t { frame, end, malformed };
inline FrameResult decode_frame(std::span<const std::byte> &in, Frame &out);

// CRC32C. seal() computes and stores it, verify() answers whether it fits.
// `datagram` starts with a PacketHeader.
std::uint32_t crc32c(std::span<const std::byte>);
void seal(std::span<std::byte> datagram);
bool verify(std::span<const std::byte> datagram);

} // namespace dpdkx::wire

#include "dpdkx/wire/codec_inl.h" // IWYU pragma: export
