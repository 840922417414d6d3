// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The hash table behind long matching queues: nodes of one class (one `ignore`
// mask, with or without a source), oldest first in each bin.
#pragma once

#include "util_ext/match.h"

#include <bit>
#include <memory>
#include <new>

namespace util_ext {

// What receives have in common that can be found by one hash.
struct MatchClass {
  std::uint64_t ignore = 0;
  bool directed = false; // with a source

  friend bool operator==(const MatchClass &, const MatchClass &) = default;

  std::uint64_t hash(std::uint64_t tag, fi_addr_t src) const {
    std::uint64_t h = tag & ~ignore;
    if (directed)
      h ^= std::rotl(src * 0xd6e8feb86659fd93, 32);
    h *= 0x9e3779b97f4a7c15;
    return h ^ h >> 32;
  }
};

// Links nodes through their bin[slot].
template <class Node> class Bins {
public:
  const MatchClass &match_class() const { return class_; }
  std::size_t count() const { return count_; }
  // Only while empty. False: no memory.
  bool reset(const MatchClass &c, unsigned slot) {
    class_ = c;
    slot_ = slot;
    return bins_ || allocate(6);
  }

  // Nodes are added in order of age.
  void add(Node &n) {
    if (count_ >= bin_count() * 2)
      grow();
    append(bins_[place(n)], n);
    ++count_;
  }
  void remove(Node &n) {
    Bin &bin = bins_[place(n)];
    BinLink<Node> &link = n.bin[slot_];
    (link.prev ? link.prev->bin[slot_].next : bin.first) = link.next;
    (link.next ? link.next->bin[slot_].prev : bin.last) = link.prev;
    --count_;
  }
  // The oldest node of that tag and source for which `fits`, or null.
  template <class Fits> Node *find(std::uint64_t tag, fi_addr_t src, Fits &&fits) const {
    Node *n = bins_[class_.hash(tag, src) & mask_].first;
    while (n && !fits(*n))
      n = n->bin[slot_].next;
    return n;
  }
  // Forgets all nodes.
  void clear() {
    for (std::size_t i = 0; count_ && i < bin_count(); ++i)
      bins_[i] = {};
    count_ = 0;
  }

private:
  struct Bin {
    Node *first = nullptr, *last = nullptr;
  };

  std::size_t bin_count() const { return mask_ + 1; }
  std::size_t place(const Node &n) const { return class_.hash(n.tag, n.src) & mask_; }

  void append(Bin &bin, Node &n) {
    BinLink<Node> &link = n.bin[slot_];
    link = {nullptr, bin.last};
    (bin.last ? bin.last->bin[slot_].next : bin.first) = &n;
    bin.last = &n;
  }

  bool allocate(unsigned log2) {
    bins_.reset(new (std::nothrow) Bin[std::size_t{1} << log2]);
    mask_ = bins_ ? (std::size_t{1} << log2) - 1 : 0;
    return bins_ != nullptr;
  }

  // Each bin splits into two, in the order it has. Without memory: longer bins.
  void grow() {
    const std::size_t old_count = bin_count();
    std::unique_ptr<Bin[]> old = std::move(bins_);
    if (!allocate(static_cast<unsigned>(std::countr_zero(old_count)) + 1)) {
      bins_ = std::move(old);
      mask_ = old_count - 1;
      return;
    }
    for (std::size_t i = 0; i < old_count; ++i)
      for (Node *n = old[i].first, *next; n; n = next) {
        next = n->bin[slot_].next;
        append(bins_[place(*n)], *n);
      }
  }

  MatchClass class_;
  unsigned slot_ = 0;
  std::size_t count_ = 0, mask_ = 0;
  std::unique_ptr<Bin[]> bins_;
};

} // namespace util_ext
