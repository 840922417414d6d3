// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A ring of datagrams between one producer and one consumer, in memory that
// both have mapped.
//
// A record begins on a cache line: a word that publishes it, then its bytes. So
// a small datagram moves as one line, the one that the consumer polls; there is
// no index beside it. Positions count bytes and never wrap; the ring is mapped
// twice, end to end, so neither do records.
//
//     word = position / 64 (low 32 bits) << 32 | length + 1       0: not yet
//
// Where the next record will begin lie old bytes, which could look like a word.
// Hence that place is cleared before the record in front of it is published. The
// producer keeps a few lines in front of it cleared, and free: so a publish needn't
// wait until the next line has come over from the consumer's cache, and the lines
// of the next record are there when it is written.
//
// Neither side believes the other. The consumer reads each word once and checks
// it against what a producer could have written; the producer checks the head.
// A side that is killed between any two instructions leaves nothing half-seen:
// the word makes a record exist, the head makes its room free.
//
// Beside its head the consumer has a word to tell the producer something in place of a datagram
// on the ring the other way: it costs a store, and a load of who expects it.
#pragma once

#include "dpdkx/link/host/ordering.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace dpdkx::link::host {

inline constexpr std::uint32_t word_bytes = 8;

// What is kept cleared and free: with 8 lines, a record of 256 bytes finds all
// of its lines at hand.
inline constexpr std::uint32_t bytes_ahead = 8 * cache_line;

inline constexpr std::uint32_t record_bytes(std::uint32_t datagram) {
  return (word_bytes + datagram + cache_line - 1) & ~(cache_line - 1);
}

// The largest datagram that a ring can hold.
inline constexpr std::uint32_t ring_capacity(std::uint32_t ring_bytes) {
  return ring_bytes - bytes_ahead - word_bytes;
}

inline constexpr std::uint64_t publish_word(std::uint64_t position, std::uint32_t datagram) {
  return (position / cache_line) << 32 | (std::uint64_t{datagram} + 1);
}

// A place in a ring, as its two ends share it.
struct RingMemory {
  std::byte *bytes = nullptr;    // mapped twice
  std::uint32_t size = 0;        // a power of two
  std::uint64_t *head = nullptr; // the consumer's, on a line of its own
  std::uint64_t *told = nullptr; // likewise, on the same
  std::uint64_t channel = 0;     // names the ring to ThreadSanitizer
};

class RingProducer {
public:
  // Of staged datagrams, until they become visible all the same: the consumer is to begin with
  // them.
  static constexpr std::uint32_t most_staged = 32 * cache_line;

  RingProducer() = default;
  RingProducer(const RingMemory &memory, std::uint64_t start)
      : memory_(memory), position_(start), head_(start) {}

  // Where to write a datagram of up to `len` bytes, 8-aligned; null without room.
  std::byte *reserve(std::uint32_t len) {
    if (!fits(len)) [[unlikely]] {
      if (!refresh_head() || !fits(len))
        return nullptr;
    }
    written_ = std::max(written_, record_bytes(len));
    return at(position_) + word_bytes;
  }

  // Fastest if `len` is what was reserved.
  void commit(std::uint32_t len) {
    clear_behind(len);
    tsan_release(memory_.channel);
    store_release(word(position_), publish_word(position_, len));
    advance(len);
    clear_ahead();
  }

  // The same, but it need not become visible before publish(). A consumer that waits reads the next
  // word all the time, and so takes the line away from the producer. Of many datagrams that line is
  // the first's alone: its word is written last, and makes all of them visible.
  void stage(std::uint32_t len) {
    clear_behind(len);
    if (staged_ == 0) {
      staged_at_ = position_;
      staged_ = publish_word(position_, len);
    } else {
      store_relaxed(word(position_), publish_word(position_, len));
    }
    advance(len);
    if (position_ - staged_at_ >= most_staged)
      publish();
  }
  void publish() {
    if (staged_ == 0)
      return;
    tsan_release(memory_.channel);
    store_release(word(staged_at_), std::exchange(staged_, std::uint64_t{0}));
    clear_ahead(); // now: what is written before the word holds it up
  }

  // How far the consumer has released. Reads its head.
  std::uint64_t released() {
    refresh_head();
    return head_;
  }
  // Whether the consumer has released everything. Reads its head.
  bool drained() { return refresh_head() && head_ == position_; }
  // What the consumer has told last; 0: nothing so far.
  std::uint64_t told() const {
    const std::uint64_t word = load_acquire(memory_.told);
    tsan_acquire(memory_.channel);
    return word;
  }
  // The consumer's head is one that no consumer would have written.
  bool corrupt() const { return corrupt_; }
  std::uint64_t position() const { return position_; }

private:
  bool fits(std::uint32_t len) const {
    return position_ - head_ + record_bytes(len) + bytes_ahead <= memory_.size;
  }
  void clear_behind(std::uint32_t len) {
    const std::uint32_t step = record_bytes(len);
    if (step < written_ || step >= cleared_) {
      clear(position_ + step);
      cleared_ = step + cache_line;
    }
  }
  void advance(std::uint32_t len) {
    const std::uint32_t step = record_bytes(len);
    position_ += step;
    cleared_ -= step;
    written_ = 0;
  }
  void clear_ahead() {
    for (; cleared_ < bytes_ahead; cleared_ += cache_line)
      clear(position_ + cleared_);
  }
  void clear(std::uint64_t position) const { store_relaxed(word(position), std::uint64_t{0}); }
  bool refresh_head() {
    const std::uint64_t head = load_acquire(memory_.head);
    if (position_ - head > position_ - head_)
      corrupt_ = true;
    else
      head_ = head;
    return !corrupt_;
  }
  std::byte *at(std::uint64_t position) const {
    return memory_.bytes + (position & (memory_.size - 1));
  }
  std::uint64_t *word(std::uint64_t position) const {
    return reinterpret_cast<std::uint64_t *>(at(position));
  }

  RingMemory memory_;
  std::uint64_t position_ = 0; // of the next record
  std::uint64_t head_ = 0;     // as last read
  // The word that makes what is staged visible, and its place; 0: nothing is.
  std::uint64_t staged_ = 0, staged_at_ = 0;
  // Counted from position_: lines that begin with 0, of which room that was
  // reserved has since taken
  std::uint32_t cleared_ = cache_line, written_ = 0;
  bool corrupt_ = false;
};

class RingConsumer {
public:
  enum class Next : std::uint8_t { none, datagram, corrupt };

  RingConsumer() = default;
  RingConsumer(const RingMemory &memory, std::uint64_t start, std::uint32_t max_datagram)
      : memory_(memory), position_(start), head_(start), max_datagram_(max_datagram) {}

  // The place that turns non-zero when a datagram arrives.
  const std::uint64_t *watch() const { return word(position_); }

  // The next datagram; its bytes stay until release().
  Next next(const std::byte *&data, std::uint32_t &len) {
    const std::uint64_t published = load_acquire(watch());
    if (published == 0)
      return Next::none;
    const auto datagram = static_cast<std::uint32_t>(published) - 1;
    // A producer fills no more than this of the ring, counted from our head.
    if (datagram > max_datagram_ || published != publish_word(position_, datagram) ||
        position_ - head_ + record_bytes(datagram) + bytes_ahead > memory_.size) [[unlikely]]
      return Next::corrupt;
    tsan_acquire(memory_.channel);
    // The rest comes over while the beginning is being read; a second line alone comes as fast.
    const std::uint32_t record = std::min(record_bytes(datagram), bytes_ahead);
    if (record > 2 * cache_line)
      for (std::uint32_t line = cache_line; line < record; line += cache_line)
        __builtin_prefetch(at(position_) + line);
    data = at(position_) + word_bytes;
    len = datagram;
    position_ += record_bytes(datagram);
    return Next::datagram;
  }

  // For who takes many in a row: what lies behind the last comes over while that is being read.
  // Each word is found by the length of the one before, so else one line would wait for the other.
  // Lines that the producer is just about to write it loses by this, hence not for a single one.
  void fetch_ahead(bool anew) {
    if (anew || fetched_ - position_ > fetch_bytes)
      fetched_ = position_;
    for (; fetched_ - position_ < fetch_bytes; fetched_ += cache_line)
      __builtin_prefetch(at(fetched_));
  }

  // Gives the room of all datagrams so far back to the producer.
  void release() {
    head_ = position_;
    store_release(memory_.head, head_);
  }

  void tell(std::uint64_t word) {
    tsan_release(memory_.channel);
    store_release(memory_.told, word);
  }

  bool empty() const { return load_acquire(watch()) == 0; }
  bool released() const { return head_ == position_; }

private:
  static constexpr std::uint32_t fetch_bytes = 8 * cache_line;

  const std::byte *at(std::uint64_t position) const {
    return memory_.bytes + (position & (memory_.size - 1));
  }
  const std::uint64_t *word(std::uint64_t position) const {
    return reinterpret_cast<const std::uint64_t *>(at(position));
  }

  RingMemory memory_;
  std::uint64_t position_ = 0; // of the next record
  std::uint64_t head_ = 0;     // as last published
  std::uint64_t fetched_ = 0;  // how far ahead
  std::uint32_t max_datagram_ = 0;
};

} // namespace dpdkx::link::host
