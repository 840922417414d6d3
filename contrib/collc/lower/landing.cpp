// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/lower/landing.h"

#include <algorithm>
#include <utility>

namespace collc {

namespace {

bool tells_ahead(collective c) {
  return c == collective::broadcast || c == collective::gather || c == collective::scatter ||
         c == collective::reduce;
}

bool is_source_of_broadcast(const algorithm &a, const request &q, const rank_program &p) {
  return a.what == collective::broadcast && p.rank == q.root;
}

// Looks for what relies on the words that go with data: that a place is free again.
class obstacles {
public:
  obstacles(const algorithm &a, const request &q, const rank_program &p) : a_(a), p_(p) {
    for (const piece &c : p.start)
      note(c.to(), at_start, 0);
    if (is_source_of_broadcast(a, q, p))
      note({buffer_data, 0, p.sizes[buffer_data]}, at_start, 0);
    for (const auto &path : p.paths)
      for (const auto &r : path.receives)
        for (const range &place : r.places)
          note(place, path.number, r.round);
    std::ranges::sort(written_, {}, [](const writing &w) { return key(w.where); });
  }

  std::string find() {
    for (const auto &path : p_.paths)
      if (std::ranges::any_of(path.receives, &receiving::combines))
        return "what comes to rank " + std::to_string(p_.rank) + " is combined with what is there";
    for (std::size_t i = 1; i < written_.size(); ++i)
      if (overlap(written_[i - 1].where, written_[i].where))
        return text(written_[i].where) + " come twice";
    for (const piece &c : p_.start)
      if (c.from.buffer != buffer_input)
        return text(c.from) + " are copied at the start";
    for (const auto &path : p_.paths)
      if (std::string what = find(path); !what.empty())
        return what;
    return {};
  }

private:
  static constexpr std::int64_t at_start = -1; // in place of a path

  struct writing {
    range where;
    std::int64_t path, round;
  };
  static std::pair<int, std::uint64_t> key(const range &r) { return {r.buffer, r.offset}; }
  static bool overlap(const range &a, const range &b) {
    return a.buffer == b.buffer && a.offset < b.offset + b.length && b.offset < a.offset + a.length;
  }
  void note(const range &where, std::int64_t path, std::int64_t round) {
    if (where.length > 0)
      written_.push_back({where, path, round});
  }
  [[nodiscard]] std::string text(const range &r) const {
    return "bytes of " + a_.buffer_name(r.buffer) + " of rank " + std::to_string(p_.rank);
  }

  std::string find(const path_program &path) {
    for (const auto &c : path.combines)
      if (late(c.what.from, path.number, c.round) || late(c.what.to(), path.number, c.round))
        return text(c.what.to()) + " are combined before they have come";
    for (const auto &s : path.sends)
      for (const piece &m : s.pieces) {
        if (late(m.from, path.number, s.after))
          return text(m.from) + " are sent before they have come";
        for (const auto &c : path.combines)
          if (c.round > s.after && overlap(c.what.to(), m.from))
            return text(m.from) + " are combined after they have been sent";
      }
    return {};
  }

  // Some of it comes later than that.
  [[nodiscard]] bool late(const range &r, std::int64_t path, std::int64_t round) const {
    auto w = std::ranges::upper_bound(written_, key(r), {},
                                      [](const writing &x) { return key(x.where); });
    if (w != written_.begin())
      --w;
    for (; w != written_.end() && key(w->where) < std::pair(r.buffer, r.offset + r.length); ++w)
      if (overlap(w->where, r) && w->path != at_start && (w->path != path || w->round > round))
        return true;
    return false;
  }

  const algorithm &a_;
  const rank_program &p_;
  std::vector<writing> written_; // by place
};

class landing {
public:
  landing(const algorithm &a, const request &q, rank_program &p)
      : a_(a), p_(p), source_(is_source_of_broadcast(a, q, p)),
        user_(a.what == collective::broadcast ? buffer_data : buffer_output),
        there_(static_cast<int>(p.sizes.size())),
        input_at_((p.sizes[static_cast<std::size_t>(user_)] + 63) / 64 * 64) {}

  void run() {
    const std::uint64_t size = p_.sizes[static_cast<std::size_t>(user_)];
    p_.sizes.push_back(size);
    p_.ready = tells_ahead(a_.what) ? readiness::once : readiness::never;
    std::vector<piece> finish;
    for (piece &c : p_.start) {
      move(c.to_buffer);
      take_over(c.to(), finish);
    }
    if (source_)
      p_.start.push_back({{user_, 0, size}, there_, 0});
    for (auto &path : p_.paths)
      change(path, finish);
    if (input_moves_) {
      const std::uint64_t input = p_.sizes[buffer_input];
      p_.start.push_back({{buffer_input, 0, input}, there_, input_at_});
      p_.sizes.back() = input_at_ + input;
    }
    for (piece &c : p_.finish) {
      move(c.from.buffer);
      finish.push_back(c);
    }
    p_.finish = std::move(finish);
  }

private:
  void move(int &buffer) const {
    if (buffer == user_)
      buffer = there_;
  }
  // What works read; the input stands behind what others write, where nobody but this rank looks.
  void move_source(range &r) {
    move(r.buffer);
    if (r.buffer != buffer_input || r.length == 0)
      return;
    r.buffer = there_;
    r.offset += input_at_;
    input_moves_ = true;
  }
  // To the caller's buffer, when all is over.
  void take_over(const range &r, std::vector<piece> &finish) const {
    if (r.buffer == there_ && r.length > 0)
      finish.push_back({r, user_, r.offset});
  }
  void change(path_program &path, std::vector<piece> &finish) {
    // Signals of a collective with data only say when these may come.
    std::erase_if(path.sends, [](const sending &s) { return !s.has_data; });
    std::erase_if(path.receives, [](const receiving &r) { return !r.has_data; });
    for (auto &s : path.sends)
      for (piece &m : s.pieces) {
        move_source(m.from);
        move(m.to_buffer);
      }
    for (auto &r : path.receives)
      for (range &place : r.places) {
        move(place.buffer);
        take_over(place, finish);
      }
    for (auto &c : path.combines) {
      move_source(c.what.from);
      move(c.what.to_buffer);
    }
  }

  const algorithm &a_;
  rank_program &p_;
  const bool source_;
  const int user_, there_;
  const std::uint64_t input_at_;
  bool input_moves_ = false;
};

} // namespace

// A word for a later epoch must find its tank emptied, and comes while its receiver is in the epoch
// before, at the earliest. What comes for a later epoch, the next one where nobody tells, must find
// its memory read.
void let_land(lowering &how, collective c, unsigned tanks) {
  how.landing = true;
  how.tanks = tanks > 0 ? tanks : tells_ahead(c) ? 4 : 3;
  how.ahead = tells_ahead(c) && how.tanks > 2 ? how.tanks - 2 : 0;
  how.lag = how.tanks > 2 ? 1 : 0;
}

std::string what_hinders_landing(const algorithm &a, const request &q, const rank_program &p) {
  if (p.barrier)
    return "a barrier has none";
  return obstacles(a, q, p).find();
}

rank_program landed(const algorithm &a, const request &q, rank_program p) {
  landing(a, q, p).run();
  return p;
}

} // namespace collc
