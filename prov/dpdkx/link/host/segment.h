// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The memory that two ports share: a page of control words, and a ring each
// way. It is a memfd sealed against any change of size, so that touching it can
// never fail, whatever a peer does.
#pragma once

#include "dpdkx/link/host/fork_guard.h"
#include "dpdkx/link/host/ring.h"

namespace dpdkx::link::host {

// Names the two ends: the one that opened the path, and the one that accepted it.
enum class End : std::uint8_t { opener = 0, acceptor = 1 };
inline constexpr End other(End end) { return end == End::opener ? End::acceptor : End::opener; }

// What a consumer says of its sleep, to the producer who may have to wake it.
enum class Sleep : std::uint32_t {
  polls_only = 0, // hasn't slept for long, and will make all producers fence before it does
  may_sleep = 1,  // look here behind a full fence after each publish
  asleep = 2,     // and wake it
};

// The words that the consumer of a ring writes, apart, because processors fetch
// lines in pairs; but for `told`, which changes when the head does.
inline constexpr std::size_t line_pair = 128;
struct ConsumerWords {
  alignas(line_pair) std::uint64_t head;
  std::uint64_t told;                     // see RingConsumer::tell()
  alignas(line_pair) std::uint32_t sleep; // Sleep
};

// The ring that an end receives from has its index.
struct Control {
  ConsumerWords consumer[2];
};
static_assert(sizeof(Control) == 4 * line_pair);

inline constexpr std::uint32_t max_ring_bytes = 1u << 30;
std::uint32_t page_bytes();

// Why `ring_bytes` can't be; null if it can.
const char *ring_size_fault(std::uint32_t ring_bytes);

class Segment {
public:
  Segment() = default;
  Segment(Segment &&other) noexcept { swap(other); }
  Segment &operator=(Segment &&other) noexcept {
    swap(other);
    return *this;
  }
  ~Segment();

  // Makes a segment and the memfd to hand to the peer. 0, -EMFILE, -ENOMEM.
  static int create(std::uint32_t ring_bytes, Segment &segment, Fd &memfd);
  // Maps a peer's, once it has been found to be what it should. Also -EPROTO.
  static int attach(const Fd &memfd, std::uint32_t ring_bytes, Segment &segment);

  ConsumerWords &consumer_words(End receiver) const;
  RingMemory ring(End receiver) const;
  // Gives the pages of a ring back to the system; its bytes turn zero.
  void drop_pages(End receiver) const;

private:
  int map(const Fd &memfd, std::uint32_t ring_bytes);
  std::byte *ring_bytes_of(End receiver) const;
  void swap(Segment &other);

  std::byte *base_ = nullptr;
  std::uint32_t ring_bytes_ = 0;
  std::uint32_t generation_ = 0; // of the process that mapped it
  std::uint64_t inode_ = 0;
};

} // namespace dpdkx::link::host
