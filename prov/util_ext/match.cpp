// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/match.h"

#include "util_ext/match_index.h"

#include <array>

namespace util_ext {

struct Matcher::Tables {
  // Receives: one table for each class that has been posted lately.
  static constexpr std::uint32_t max_posted = 64;
  std::array<Bins<PostedReceive>, max_posted> posted;
  std::uint32_t posted_used = 0; // tables that have ever been used

  // Messages: each table holds all of them.
  std::array<Bins<UnexpectedMessage>, UnexpectedMessage::max_indexes> unexpected;
  std::array<std::uint64_t, UnexpectedMessage::max_indexes> last_used{};
  std::uint64_t searches = 0;

  Bins<PostedReceive> *posted_table(const MatchClass &);
};

Matcher::Matcher() = default;
Matcher::~Matcher() = default;

// The table of a class, if need be an empty one's. Null: too many classes, or
// no memory.
Bins<PostedReceive> *Matcher::Tables::posted_table(const MatchClass &c) {
  Bins<PostedReceive> *empty = nullptr;
  for (std::uint32_t i = 0; i < posted_used; ++i) {
    if (posted[i].match_class() == c)
      return &posted[i];
    if (posted[i].count() == 0)
      empty = &posted[i];
  }
  if (!empty && posted_used < max_posted)
    empty = &posted[posted_used++];
  return empty && empty->reset(c, 0) ? empty : nullptr;
}

// Puts a receive into its class's table; the first time, all of them. If that
// can't be, the queue is walked until it has been short again.
void Matcher::index(PostedReceive &r) {
  if (!posted_indexed_ && posted_walk_only_ && posted_.count() > walk_limit + 1)
    return;
  if (!tables_)
    tables_.reset(new (std::nothrow) Tables);

  posted_walk_only_ = !tables_;
  PostedReceive *p = posted_indexed_ ? &r : posted_.first();
  for (; p && !posted_walk_only_; p = p->next) {
    Bins<PostedReceive> *t = tables_->posted_table({p->ignore, p->src != FI_ADDR_UNSPEC});
    if (t) {
      p->index = static_cast<std::uint32_t>(t - tables_->posted.data());
      t->add(*p);
    } else {
      for (std::uint32_t i = 0; i < tables_->posted_used; ++i)
        tables_->posted[i].clear();
      posted_walk_only_ = true;
    }
  }
  posted_indexed_ = !posted_walk_only_;
}

void Matcher::unindex(PostedReceive &r) {
  tables_->posted[r.index].remove(r);
  posted_indexed_ = posted_.count() != 0;
}

PostedReceive *Matcher::find_posted_indexed(std::uint64_t tag, fi_addr_t src) {
  PostedReceive *best = nullptr;
  for (std::uint32_t i = 0; i < tables_->posted_used; ++i) {
    const Bins<PostedReceive> &t = tables_->posted[i];
    if (t.count() == 0)
      continue;
    PostedReceive *r = t.find(tag, src, [&](const PostedReceive &p) { return takes(p, tag, src); });
    if (r && (!best || r->age < best->age))
      best = r;
  }
  return best;
}

void Matcher::index(UnexpectedMessage &m) {
  for (unsigned i = 0; i < UnexpectedMessage::max_indexes; ++i)
    if (unexpected_indexes_ & 1U << i)
      tables_->unexpected[i].add(m);
}

void Matcher::unindex(UnexpectedMessage &m) {
  for (unsigned i = 0; i < UnexpectedMessage::max_indexes; ++i)
    if (unexpected_indexes_ & 1U << i)
      tables_->unexpected[i].remove(m);
  if (unexpected_.count() == 0)
    unexpected_indexes_ = 0;
}

// Searches by the class's table. There may be none yet: then it is made, in
// place of the one that has not been asked for longest.
UnexpectedMessage *Matcher::find_unexpected_indexed(std::uint64_t tag, std::uint64_t ignore,
                                                    fi_addr_t src) {
  const MatchClass wanted{ignore, src != FI_ADDR_UNSPEC};
  const auto fit = [&](const UnexpectedMessage &m) { return fits(m, tag, ignore, src); };
  if (!tables_)
    tables_.reset(new (std::nothrow) Tables);

  if (tables_) {
    unsigned oldest = 0;
    for (unsigned i = 0; i < UnexpectedMessage::max_indexes; ++i) {
      const bool used = unexpected_indexes_ & 1U << i;
      if (used && tables_->unexpected[i].match_class() == wanted) {
        tables_->last_used[i] = ++tables_->searches;
        return tables_->unexpected[i].find(tag, src, fit);
      }
      if (!used)
        tables_->last_used[i] = 0;
      if (tables_->last_used[i] < tables_->last_used[oldest])
        oldest = i;
    }
    // A match near the head is found without a table.
    UnexpectedMessage *m = unexpected_.first();
    for (std::size_t n = 0; m && n < walk_limit; ++n, m = m->next)
      if (fit(*m))
        return m;

    Bins<UnexpectedMessage> &t = tables_->unexpected[oldest];
    t.clear();
    unexpected_indexes_ &= ~(1U << oldest);
    if (t.reset(wanted, oldest)) {
      for (UnexpectedMessage *n = unexpected_.first(); n; n = n->next)
        t.add(*n);
      unexpected_indexes_ |= 1U << oldest;
      tables_->last_used[oldest] = ++tables_->searches;
      return t.find(tag, src, fit);
    }
  }

  UnexpectedMessage *m = unexpected_.first();
  while (m && !fit(*m))
    m = m->next;
  return m;
}

// Rebuilds the tables that hash by source, as its place in a bin must be by age.
void Matcher::set_source(UnexpectedMessage &m, fi_addr_t src) {
  const unsigned indexes = m.claimed ? 0 : unexpected_indexes_;
  m.src = src;
  for (unsigned i = 0; i < UnexpectedMessage::max_indexes; ++i) {
    if (indexes & 1U << i && tables_->unexpected[i].match_class().directed) {
      tables_->unexpected[i].clear();
      unexpected_indexes_ &= ~(1U << i);
    }
  }
}

} // namespace util_ext
