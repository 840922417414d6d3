// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/ir/expand.h"

#include "collc/ir/evaluate.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace collc {

namespace {

constexpr std::int64_t most_rounds = (std::int64_t{1} << 32) - 1; // as ordinals of events

bool rooted(collective c) {
  return c == collective::broadcast || c == collective::gather || c == collective::scatter ||
         c == collective::reduce;
}

// Bytes of input, output and data at a rank.
std::vector<std::uint64_t> own_sizes(collective what, const request &q, std::int64_t rank) {
  const auto block = static_cast<std::uint64_t>(q.bytes);
  const std::uint64_t all = block * static_cast<std::uint64_t>(q.ranks);
  const bool root = rank == q.root;
  switch (what) {
  case collective::barrier:
    return {0, 0, 0};
  case collective::broadcast:
    return {0, 0, block};
  case collective::allgather:
    return {block, all, 0};
  case collective::alltoall:
    return {all, all, 0};
  case collective::gather:
    return {block, root ? all : 0, 0};
  case collective::scatter:
    return {root ? all : 0, block, 0};
  case collective::reduce:
    return {block, root ? block : 0, 0};
  case collective::allreduce:
    return {block, block, 0};
  }
  return {};
}

class expansion {
public:
  expansion(const algorithm &a, const request &q, std::int64_t rank)
      : a_(a), q_(q), value_(a.file, a.slots) {
    out_.rank = rank;
    out_.ranks = q.ranks;
    out_.ready = q.ready.value_or(a.ready);
    out_.barrier = a.what == collective::barrier;
    out_.combines_locally = a.combines_locally;
    out_.sizes = own_sizes(a.what, q, rank);
    value_.slot(slot_ranks) = q.ranks;
    value_.slot(slot_rank) = rank;
    value_.slot(slot_root) = q.root;
    value_.slot(slot_bytes) = q.bytes;
  }

  rank_program run() {
    for (const auto &p : a_.parameters)
      set(p);
    run_body(a_.body);
    if (!a_.scratches.empty())
      size_of(first_scratch + static_cast<int>(a_.scratches.size()) - 1);
    for (auto &path : out_.paths)
      order(path);
    return std::move(out_);
  }

private:
  void set(const parameter &p) {
    const auto given = q_.parameters.find(p.name);
    const std::int64_t v = given != q_.parameters.end() ? given->second : value_(*p.value);
    if (p.least) {
      const std::int64_t least = value_(*p.least), most = value_(*p.most);
      if (v < least || v > most)
        value_.refuse(p.at, "parameter '" + p.name + "' is " + std::to_string(v) + "; allowed: " +
                                std::to_string(least) + " to " + std::to_string(most));
    }
    value_.slot(p.variable) = v;
  }

  // Lengths of scratch buffers and the number of rounds may use any top-level name before them, so
  // they are found when they are first needed.
  std::uint64_t size_of(int buffer) {
    const auto b = static_cast<std::size_t>(buffer);
    while (out_.sizes.size() <= b) {
      const auto &s = a_.scratches[out_.sizes.size() - first_scratch];
      const std::int64_t size = value_(*s.size);
      if (size < 0)
        value_.refuse(s.size->at, "expected a size of at least 0 for '" + s.name + "', found " +
                                      std::to_string(size));
      out_.sizes.push_back(static_cast<std::uint64_t>(size));
    }
    return out_.sizes[b];
  }

  std::uint64_t inside(int buffer, std::int64_t offset, std::int64_t length, place at) {
    const std::uint64_t size = size_of(buffer);
    const auto text = [&] {
      return a_.buffer_name(buffer) + '[' + std::to_string(offset) + ':' + std::to_string(length) +
             ']';
    };
    if (offset < 0 || length < 0 || static_cast<std::uint64_t>(offset) > size ||
        static_cast<std::uint64_t>(length) > size - static_cast<std::uint64_t>(offset))
      value_.refuse(at, text() + " at rank " + std::to_string(out_.rank) + ": expected a part of " +
                            std::to_string(size) + " bytes");
    return static_cast<std::uint64_t>(offset);
  }

  range own_range(const range_text &r) {
    const std::int64_t offset = value_(*r.offset), length = value_(*r.length);
    return {r.buffer, inside(r.buffer, offset, length, r.at), static_cast<std::uint64_t>(length)};
  }

  // Whether the peer has such a place is for the check to find out: it is not this rank.
  piece evaluate(const piece_text &p, bool local) {
    piece out{own_range(p.from), p.to_buffer, 0};
    const std::int64_t to = p.to_offset ? value_(*p.to_offset) : value_(*p.from.offset);
    const auto length = static_cast<std::int64_t>(out.from.length);
    if (local)
      inside(p.to_buffer, to, length, p.from.at);
    else if (to < 0)
      value_.refuse(p.to_offset->at,
                    "expected an offset of at least 0, found " + std::to_string(to));
    out.to_offset = static_cast<std::uint64_t>(to);
    return out;
  }

  std::int64_t peer_of(const statement &s) {
    const std::int64_t peer = value_(*s.value);
    if (peer < 0 || peer >= q_.ranks || peer == out_.rank)
      value_.refuse(s.value->at,
                    "rank " + std::to_string(out_.rank) + ": expected another rank from 0 to " +
                        std::to_string(q_.ranks - 1) + ", found " + std::to_string(peer));
    return peer;
  }

  path_program &path() {
    const auto at = std::ranges::lower_bound(out_.paths, path_, {}, &path_program::number);
    if (at != out_.paths.end() && at->number == path_)
      return *at;
    path_program fresh;
    fresh.number = path_;
    return *out_.paths.insert(at, std::move(fresh));
  }

  void run_body(const std::vector<statement> &body) {
    for (const auto &s : body)
      run_statement(s);
  }

  void count_step(place at) {
    if (++steps_ > q_.most_steps)
      value_.refuse(at, "rank " + std::to_string(out_.rank) + ": expected an end after " +
                            std::to_string(q_.most_steps) + " steps (--max-steps), found one more");
  }

  void run_statement(const statement &s) {
    count_step(s.at);
    switch (s.what) {
    case statement::kind::let:
      value_.slot(s.variable) = value_(*s.value);
      break;
    case statement::kind::require:
      if (value_(*s.value) == 0)
        value_.refuse(s.at, s.note + "; ranks is " + std::to_string(q_.ranks) + ", root " +
                                std::to_string(q_.root) + ", bytes " + std::to_string(q_.bytes));
      break;
    case statement::kind::branch:
      run_body(value_(*s.value) != 0 ? s.body : s.otherwise);
      break;
    case statement::kind::loop:
      run_loop(s);
      break;
    case statement::kind::path:
      path_ = number(s, "path", 0);
      run_body(s.body);
      path_ = 0;
      break;
    case statement::kind::round:
      round_ = number(s, "round", 1);
      run_body(s.body);
      break;
    case statement::kind::send:
      send(s);
      break;
    case statement::kind::receive:
      receive(s);
      break;
    case statement::kind::combine:
      path().combines.push_back({round_, evaluate(s.pieces.front(), true), s.at});
      break;
    case statement::kind::copy_at_start:
      out_.start.push_back(evaluate(s.pieces.front(), true));
      break;
    case statement::kind::copy_at_finish:
      out_.finish.push_back(evaluate(s.pieces.front(), true));
      break;
    }
  }

  std::int64_t number(const statement &s, const char *what, std::int64_t least) {
    const std::int64_t n = value_(*s.value);
    const std::int64_t most = a_.rounds && least == 1 ? rounds() : most_rounds;
    if (n < least || n > most)
      value_.refuse(s.value->at, std::string("expected a ") + what + " from " +
                                     std::to_string(least) + " to " + std::to_string(most) +
                                     ", found " + std::to_string(n));
    return n;
  }

  std::int64_t rounds() {
    if (out_.rounds < 0) {
      out_.rounds = value_(*a_.rounds);
      if (out_.rounds < 0)
        value_.refuse(a_.rounds->at, "expected a number of rounds of at least 0, found " +
                                         std::to_string(out_.rounds));
    }
    return out_.rounds;
  }

  void run_loop(const statement &s) {
    std::int64_t i = value_(*s.value);
    const std::int64_t last = value_(*s.last), step = s.step ? value_(*s.step) : 1;
    if (step == 0)
      value_.refuse(s.step->at, "expected a step other than 0");
    while (step > 0 ? i <= last : i >= last) {
      count_step(s.at);
      value_.slot(s.variable) = i;
      run_body(s.body);
      if (__builtin_add_overflow(i, step, &i))
        break;
    }
  }

  std::int64_t after_of(const statement &s) {
    return s.after ? std::max<std::int64_t>(value_(*s.after), 0) : round_ - 1;
  }

  template <typename M> M message(const statement &s) {
    M m;
    m.peer = peer_of(s);
    m.round = round_;
    m.after = after_of(s);
    m.has_data = !s.pieces.empty();
    m.combines = s.combines;
    m.note = s.note;
    m.at = s.at;
    return m;
  }

  void send(const statement &s) {
    auto m = message<sending>(s);
    for (const auto &p : s.pieces)
      if (piece out = evaluate(p, false); out.from.length > 0)
        m.pieces.push_back(out);
    path().sends.push_back(std::move(m));
  }

  void receive(const statement &s) {
    auto m = message<receiving>(s);
    for (const auto &p : s.pieces)
      if (range r = own_range(p.from); r.length > 0)
        m.places.push_back(r);
    path().receives.push_back(std::move(m));
  }

  void order(path_program &p) {
    number_messages(p.sends, &sending::pieces);
    number_messages(p.receives, &receiving::places);
    std::ranges::stable_sort(p.combines, {}, &combining::round);
  }

  // By rounds; what a round has for one peer is one message.
  template <typename M, typename Parts>
  void number_messages(std::vector<M> &list, std::vector<Parts> M::*parts) {
    std::ranges::stable_sort(list, {}, &M::round);
    std::vector<std::uint32_t> by_peer(list.size());
    std::iota(by_peer.begin(), by_peer.end(), 0);
    std::ranges::stable_sort(by_peer, {}, [&](std::uint32_t i) { return list[i].peer; });
    bool merged = false;
    M *last = nullptr; // of the same peer, if it is
    for (const std::uint32_t i : by_peer) {
      M &m = list[i];
      if (last == nullptr || last->peer != m.peer) {
        m.ordinal = 0;
      } else if (last->round == m.round) {
        merge(*last, m, parts);
        m.round = 0;
        merged = true;
        continue;
      } else {
        m.ordinal = last->ordinal + 1;
      }
      last = &m;
    }
    if (merged)
      std::erase_if(list, [](const M &m) { return m.round == 0; });
  }

  template <typename M, typename Parts>
  void merge(M &into, const M &m, std::vector<Parts> M::*parts) const {
    if (into.combines != m.combines || into.has_data != m.has_data)
      value_.refuse(m.at, "expected the same kind of message as the one before for rank " +
                              std::to_string(m.peer) + " in round " + std::to_string(m.round) +
                              ", found another");
    into.after = std::max(into.after, m.after);
    auto &all = into.*parts;
    all.insert(all.end(), (m.*parts).begin(), (m.*parts).end());
  }

  const algorithm &a_;
  const request &q_;
  evaluator value_;
  rank_program out_;
  std::int64_t path_ = 0, round_ = 0;
  std::uint64_t steps_ = 0;
};

} // namespace

void check_request(const algorithm &a, const request &q) {
  constexpr std::int64_t most_ranks = std::int64_t{1} << 31;
  constexpr std::int64_t most_bytes = std::int64_t{1} << 62;
  if (q.ranks < 1 || q.ranks > most_ranks)
    throw error("ranks is " + std::to_string(q.ranks) + "; allowed: 1 to " +
                std::to_string(most_ranks));
  if (q.bytes < 0 || q.bytes > most_bytes / q.ranks)
    throw error("bytes is " + std::to_string(q.bytes) + "; allowed with " +
                std::to_string(q.ranks) + " ranks: 0 to " + std::to_string(most_bytes / q.ranks));
  if (q.root < 0 || q.root >= q.ranks)
    throw error("root is " + std::to_string(q.root) + "; allowed: 0 to " +
                std::to_string(q.ranks - 1));
  if (q.root != 0 && !rooted(a.what))
    throw error(std::string("root is ") + std::to_string(q.root) + "; " + name_of(a.what) +
                " has none");
  for (const auto &[name, value] : q.parameters) {
    if (std::ranges::find(a.parameters, name, &parameter::name) != a.parameters.end())
      continue;
    std::string all;
    for (const auto &p : a.parameters)
      all += (all.empty() ? "" : ", ") + p.name;
    throw error("parameter '" + name + "' is none of " + a.file +
                (all.empty() ? ", which has no parameters" : "; it has: " + all));
  }
}

rank_program expand(const algorithm &a, const request &q, std::int64_t rank) {
  if (rank < 0 || rank >= q.ranks)
    throw error("rank is " + std::to_string(rank) + "; allowed: 0 to " +
                std::to_string(q.ranks - 1));
  return expansion(a, q, rank).run();
}

} // namespace collc
