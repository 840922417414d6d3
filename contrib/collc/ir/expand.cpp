// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/ir/expand.h"

#include "collc/ir/interpreter.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace collc {

namespace {

bool rooted(collective c) {
  return c == collective::broadcast || c == collective::gather || c == collective::scatter ||
         c == collective::reduce;
}

class expansion : interpreter {
public:
  expansion(const algorithm &a, const request &q, std::int64_t rank) : interpreter(a, q, rank) {
    out_.rank = rank;
    out_.ranks = q.ranks;
    out_.ready = q.ready.value_or(a.ready);
    out_.barrier = a.what == collective::barrier;
    out_.combines_locally = a.combines_locally;
  }

  rank_program run() {
    interpreter::run();
    out_.rounds = rounds();
    out_.sizes = sizes();
    for (auto &p : out_.paths)
      order(p);
    return std::move(out_);
  }

private:
  path_program &program() {
    const auto at = std::ranges::lower_bound(out_.paths, path(), {}, &path_program::number);
    if (at != out_.paths.end() && at->number == path())
      return *at;
    path_program fresh;
    fresh.number = path();
    return *out_.paths.insert(at, std::move(fresh));
  }

  template <typename M> M message(const statement &s) {
    M m;
    m.peer = peer_of(s);
    m.round = round();
    m.after = after_of(s);
    m.has_data = !s.pieces.empty();
    m.combines = s.combines;
    m.note = s.note;
    m.at = s.at;
    return m;
  }

  void send(const statement &s) override {
    auto m = message<sending>(s);
    for (const auto &p : s.pieces)
      if (piece out = evaluate(p, false); out.from.length > 0)
        m.pieces.push_back(out);
    program().sends.push_back(std::move(m));
  }

  void receive(const statement &s) override {
    auto m = message<receiving>(s);
    for (const auto &p : s.pieces)
      if (range r = own_range(p.from); r.length > 0)
        m.places.push_back(r);
    program().receives.push_back(std::move(m));
  }

  void combine(const statement &s) override {
    program().combines.push_back({round(), evaluate(s.pieces.front(), true), s.at});
  }

  void copy(const statement &s) override {
    auto &list = s.what == statement::kind::copy_at_start ? out_.start : out_.finish;
    list.push_back(evaluate(s.pieces.front(), true));
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

  rank_program out_;
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
