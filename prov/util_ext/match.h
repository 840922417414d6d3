// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Message matching: posted receives against arrived messages, in the order
// that fi_msg(3) and fi_tagged(3) ask for. Holds intrusive nodes that it does
// not own. Not thread-safe: the owner serialises.
//
// Short queues are walked. Long ones are hashed besides, see match_index.h.
#pragma once

#include <rdma/fabric.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace util_ext {

template <class Node> struct BinLink { Node *next = nullptr, *prev = nullptr; };

// A posted receive. Matches a message when (tag ^ message.tag) & ~ignore == 0
// and src is FI_ADDR_UNSPEC or the message's source.
struct PostedReceive {
  std::uint64_t tag = 0, ignore = 0;
  fi_addr_t src = FI_ADDR_UNSPEC;
  // The matcher's own.
  PostedReceive *next = nullptr, *prev = nullptr;
  BinLink<PostedReceive> bin[1];
  std::uint64_t age = 0;
  std::uint32_t index = 0; // which of the matcher's hash tables holds it
};

// An arrived message that no receive has taken yet. `src` may be
// FI_ADDR_NOTAVAIL: from a peer that is not in the AV (yet): it matches only
// receives without a source. The owner may set it later through set_source().
struct UnexpectedMessage {
  static constexpr unsigned max_indexes = 4;

  std::uint64_t tag = 0;
  fi_addr_t src = FI_ADDR_NOTAVAIL;
  bool claimed = false; // taken out of matching by FI_CLAIM's peek, see claim()
  // The matcher's own.
  UnexpectedMessage *next = nullptr, *prev = nullptr;
  BinLink<UnexpectedMessage> bin[max_indexes];
  std::uint64_t age = 0;
};

// Doubly linked, oldest first.
template <class Node> class AgeList {
public:
  Node *first() const { return first_; }
  std::size_t count() const { return count_; }

  void append(Node &n) {
    n.next = nullptr;
    n.prev = last_;
    (last_ ? last_->next : first_) = &n;
    last_ = &n;
    n.age = age_++;
    ++count_;
  }
  void remove(Node &n) {
    (n.prev ? n.prev->next : first_) = n.next;
    (n.next ? n.next->prev : last_) = n.prev;
    --count_;
  }

private:
  Node *first_ = nullptr, *last_ = nullptr;
  std::size_t count_ = 0;
  std::uint64_t age_ = 0;
};

// One kind of messages (untagged ones use tag 0). Cost: constant while the
// receives use few different `ignore` masks, with and without a source (each
// such class of receives has a hash table), linear in the number of classes
// otherwise. Waiting messages are hashed for the four classes of receives that
// looked for them last. Never fails: without memory for tables it walks.
class Matcher {
public:
  Matcher();
  ~Matcher();
  Matcher(const Matcher &) = delete;
  Matcher &operator=(const Matcher &) = delete;

  void post(PostedReceive &r) {
    posted_.append(r);
    if (posted_indexed_ || posted_.count() > walk_limit) [[unlikely]]
      index(r);
  }
  void remove(PostedReceive &r) { // cancel, or taken
    posted_.remove(r);
    if (posted_indexed_) [[unlikely]]
      unindex(r);
  }
  // The oldest posted receive that a message of that tag and source matches, or
  // null. It stays posted (a multi-receive buffer takes many messages).
  PostedReceive *find_posted(std::uint64_t tag, fi_addr_t src) {
    PostedReceive *r = posted_.first();
    if (!r || takes(*r, tag, src))
      return r;
    if (posted_indexed_) [[unlikely]]
      return find_posted_indexed(tag, src);
    do
      r = r->next;
    while (r && !takes(*r, tag, src));
    return r;
  }

  void add(UnexpectedMessage &m) {
    m.claimed = false;
    unexpected_.append(m);
    if (unexpected_indexes_) [[unlikely]]
      index(m);
  }
  void remove(UnexpectedMessage &m) { // a claimed one is out already
    if (m.claimed)
      return;
    unexpected_.remove(m);
    if (unexpected_indexes_) [[unlikely]]
      unindex(m);
  }
  // The oldest message that such a receive matches, or null; it stays. Claimed
  // messages are passed over.
  UnexpectedMessage *find_unexpected(std::uint64_t tag, std::uint64_t ignore, fi_addr_t src) {
    UnexpectedMessage *m = unexpected_.first();
    if (!m || fits(*m, tag, ignore, src))
      return m;
    if (unexpected_.count() > walk_limit) [[unlikely]]
      return find_unexpected_indexed(tag, ignore, src);
    do
      m = m->next;
    while (m && !fits(*m, tag, ignore, src));
    return m;
  }
  // Takes a message out of matching, keeping it (FI_PEEK | FI_CLAIM); the owner
  // then holds it until it is received or discarded.
  void claim(UnexpectedMessage &m) {
    remove(m);
    m.claimed = true;
  }
  // The source of a waiting message has become known. Its place in the order stays.
  void set_source(UnexpectedMessage &, fi_addr_t);

  bool posted_empty() const { return !posted_.first(); }
  std::size_t posted_count() const { return posted_.count(); }
  std::size_t unexpected_count() const { return unexpected_.count(); } // without claimed ones
  // Walks in order of age; `f` may remove the node it is given.
  template <class F> void for_each_posted(F &&f) {
    for (PostedReceive *p = posted_.first(), *n; p; p = n) {
      n = p->next;
      f(*p);
    }
  }
  template <class F> void for_each_unexpected(F &&f) {
    for (UnexpectedMessage *m = unexpected_.first(), *n; m; m = n) {
      n = m->next;
      f(*m);
    }
  }

private:
  // Queues up to this long are walked: that beats a hash table.
  static constexpr std::size_t walk_limit = 16;

  static bool takes(const PostedReceive &r, std::uint64_t tag, fi_addr_t src) {
    return fits(tag, src, r.tag, r.ignore, r.src);
  }
  static bool fits(const UnexpectedMessage &m, std::uint64_t tag, std::uint64_t ignore,
                   fi_addr_t src) {
    return fits(m.tag, m.src, tag, ignore, src);
  }
  static bool fits(std::uint64_t msg_tag, fi_addr_t msg_src, std::uint64_t tag,
                   std::uint64_t ignore, fi_addr_t src) {
    return ((msg_tag ^ tag) & ~ignore) == 0 && (src == FI_ADDR_UNSPEC || src == msg_src);
  }

  void index(PostedReceive &);
  void unindex(PostedReceive &);
  PostedReceive *find_posted_indexed(std::uint64_t tag, fi_addr_t src);
  void index(UnexpectedMessage &);
  void unindex(UnexpectedMessage &);
  UnexpectedMessage *find_unexpected_indexed(std::uint64_t tag, std::uint64_t ignore,
                                             fi_addr_t src);

  AgeList<PostedReceive> posted_;
  AgeList<UnexpectedMessage> unexpected_;
  bool posted_indexed_ = false;     // every posted receive is in a table
  bool posted_walk_only_ = false;   // they can't be
  unsigned unexpected_indexes_ = 0; // bit i: table i holds every waiting message
  struct Tables;
  std::unique_ptr<Tables> tables_; // made when first needed
};

} // namespace util_ext
