// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "sim/common/matching_model.h"

#include "sim/common/payload.h"

#include <algorithm>
#include <fmt/format.h>
#include <rdma/fi_errno.h>

namespace sim {

bool MatchingModel::fits(const ReceiveHow &how, fi_addr_t from, std::optional<std::uint64_t> tag) {
  if (how.tag.has_value() != tag.has_value() || (how.src != FI_ADDR_UNSPEC && how.src != from))
    return false;
  return !tag || ((*how.tag ^ *tag) & ~how.ignore) == 0;
}

void MatchingModel::arrive(const Message &m) {
  for (auto it = posted_.begin(); it != posted_.end(); ++it)
    if (fits(it->how, m.from, m.tag)) {
      if (deliver(*it, m))
        posted_.erase(it);
      return;
    }
  unexpected_.push_back(m);
}

void MatchingModel::post(Op &op, const ReceiveHow &how, std::size_t multi_room) {
  Posted posted{&op, how, multi_room};
  expected_[&op] = {};
  for (auto it = unexpected_.begin(); it != unexpected_.end();) {
    if (!fits(how, it->from, it->tag)) {
      ++it;
      continue;
    }
    const bool used_up = deliver(posted, *it);
    it = unexpected_.erase(it);
    if (used_up)
      return;
  }
  posted_.push_back(posted);
}

bool MatchingModel::deliver(Posted &p, const Message &m) {
  const std::size_t room = p.op->memory.size() - p.used;
  const std::size_t len = std::min(m.size, room);
  Expected e{m.size > room ? FI_ETRUNC : 0, len, m.number};
  if (p.multi_room != 0) {
    p.used += len;
    e.gives_back = p.op->memory.size() - p.used < p.multi_room;
  }
  expect(*p.op, e);
  return p.multi_room == 0 || e.gives_back;
}

bool MatchingModel::peek(Op &op, const ReceiveHow &how) {
  expected_[&op] = {};
  const auto it =
      std::ranges::find_if(unexpected_, [&](const Message &m) { return fits(how, m.from, m.tag); });
  if (it == unexpected_.end()) {
    expect(op, {FI_ENOMSG, 0, 0});
    return false;
  }
  Expected e{0, it->size, it->number};
  e.bytes = false;
  expect(op, e);
  const bool claims = how.flags & FI_CLAIM;
  if (claims)
    claimed_.emplace(&op, *it);
  if (claims || how.flags & FI_DISCARD)
    unexpected_.erase(it);
  return claims;
}

void MatchingModel::take_claimed(Op &op, bool discard) {
  const Message m = claimed_.at(&op);
  claimed_.erase(&op);
  expected_[&op] = {};
  Expected e{!discard && m.size > op.memory.size() ? FI_ETRUNC : 0,
             discard ? m.size : std::min(m.size, op.memory.size()), m.number};
  e.bytes = !discard;
  e.discarded = discard;
  expect(op, e);
}

void MatchingModel::cancel(Op &op) {
  std::erase_if(posted_, [&](const Posted &p) { return p.op == &op; });
  expect(op, {FI_ECANCELED, 0, 0});
}

Op *MatchingModel::random_posted(dpdkx::link::sim::Random &random) const {
  if (posted_.empty())
    return nullptr;
  return std::next(posted_.begin(), static_cast<std::ptrdiff_t>(random.below(posted_.size())))->op;
}

void MatchingModel::expect(Op &op, const Expected &e) { expected_[&op].push_back(e); }

// Of a multi-receive, messages complete in the order in which they are whole.
template <class T, class Number> static void order(std::vector<T> &v, Number number) {
  std::ranges::stable_sort(v, {}, [&](const T &t) { return t.err ? ~0ull : number(t); });
}

std::string MatchingModel::compare() const {
  for (const auto &entry : expected_) {
    const Op &op = *entry.first;
    std::vector<Expected> expected = entry.second;
    std::vector<Done> done = op.done;
    if (op.many) {
      order(done, [](const Done &d) { return d.data; });
      order(expected, [](const Expected &e) { return e.number; });
    }
    if (done.size() != expected.size())
      return fmt::format("{} completions, {} foretold (the first: message {} err {})", done.size(),
                         expected.size(), expected.empty() ? 0 : expected[0].number,
                         expected.empty() ? 0 : expected[0].err);
    for (std::size_t i = 0; i < done.size(); ++i)
      if (std::string text = compare(op, expected[i], done[i]); !text.empty())
        return text;
  }
  return "";
}

std::string MatchingModel::compare(const Op &op, const Expected &e, const Done &d) const {
  if (d.err != e.err)
    return fmt::format("message {}: err {}, foretold {}", e.number, d.err, e.err);
  if (e.err != 0 && e.err != FI_ETRUNC)
    return "";
  if (d.data != e.number)
    return fmt::format("message {}, foretold {}", d.data, e.number);
  if (d.len != e.len && !e.discarded)
    return fmt::format("message {}: {} bytes, foretold {}", e.number, d.len, e.len);
  const auto at = op.many ? static_cast<std::size_t>(d.buf - op.memory.data()) : 0;
  if (e.bytes && d.err == 0)
    verify(std::span(op.memory).subspan(at, e.len), e.number);
  return "";
}

} // namespace sim
