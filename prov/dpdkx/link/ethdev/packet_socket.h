// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A packet socket of a kernel interface: frames come in by a ring of memory that is shared with the
// kernel (TPACKET_V2), and go out by calls, each with a word on its checksum and on datagrams that
// are joined in it (the header of virtio, <linux/virtio_net.h>). One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <sys/uio.h>

namespace dpdkx::link {

// Of a ring: bytes of a frame, of a block of frames, and how many frames.
struct RingShape {
  std::uint32_t frame, block, frames;
};

// One whose frames hold IP packets of `bytes` with what is before them, and whose blocks are whole
// frames and whole pages without a gap.
RingShape ring_shape(std::uint32_t bytes, std::uint32_t frames);
// For all that comes to an interface. frames 0: of some 2 MiB.
RingShape ordinary_ring(std::uint32_t mtu, std::uint32_t frames);

// As virtio_net_hdr, which is no C++.
struct OffloadHeader {
  std::uint8_t flags = 0, gso_type = 0;
  std::uint16_t hdr_len = 0, gso_size = 0, csum_start = 0, csum_offset = 0;
};
static_assert(sizeof(OffloadHeader) == 10);

class PacketSocket {
public:
  struct Frame {
    const std::byte *data = nullptr;
    std::uint32_t len = 0;
    std::uint64_t ns = 0; // when it came, by the clock on the wall
    bool truncated = false;
    bool outgoing = false;               // what others of this host send
    bool local = false;                  // has been on no wire: no checksum has been computed
    std::uint16_t tag_type = 0, tag = 0; // what the kernel took out; type 0: nothing
    std::uint32_t joined = 0; // UDP datagrams of so many bytes are in it; 0: it is one frame
  };

  PacketSocket() = default;
  ~PacketSocket() { close(); }
  PacketSocket(const PacketSocket &) = delete;

  // All of these: 0 or a negative errno. After open() everything that is at the interface comes in.
  // `direct`: what is sent passes no queueing discipline, where a NIC must take it as it is.
  int open(unsigned interface_index, const RingShape &, bool direct);
  // Each frame comes to one of both: one that is longer than an MTU to `other`, which is open.
  int share_with(PacketSocket &other, std::uint32_t mtu);

  void close(); // nothing comes in any more
  int fd() const { return fd_; }

  // The oldest frame that is here, until it is popped.
  bool front(Frame &) const;
  void pop();

  // Frames one by one, as they are: how many have been taken, or a negative errno for the first.
  int send(const iovec *frames, unsigned n);
  // One frame in pieces, the first of which is its headers, `headers` bytes; it holds datagrams of
  // `each` bytes. 0 or a negative errno.
  int send_joined(const iovec *pieces, unsigned n, std::uint32_t headers, std::uint32_t each);

  // Frames that found the ring full, since it was opened.
  std::uint64_t missed();

private:
  std::byte *slot() const;

  int fd_ = -1;
  std::byte *ring_ = nullptr;
  std::size_t ring_size_ = 0;
  RingShape shape_{};
  std::uint32_t next_ = 0;
  std::uint64_t missed_ = 0;
};

} // namespace dpdkx::link
