// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/simulate/cast.h"

#include "collc/ir/expand.h"
#include "collc/lang/error.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

namespace collc {

namespace {

struct shape_hash {
  std::size_t operator()(const std::vector<std::int64_t> &shape) const {
    std::uint64_t h = shape.size();
    for (const std::int64_t v : shape) {
      h = (h ^ static_cast<std::uint64_t>(v)) * 0x9e3779b97f4a7c15;
      h ^= h >> 29;
    }
    return h;
  }
};

std::string message(std::uint64_t number, std::uint32_t from, std::uint32_t to) {
  return "message " + std::to_string(number) + " from rank " + std::to_string(from) + " to rank " +
         std::to_string(to);
}

std::string what_is(std::uint64_t word) {
  return (word & 1) == 0 ? "a signal" : std::to_string(word >> 1) + " bytes";
}

// From one end of a channel to the other: `sent` by `from`, `received` by `to`.
void expect_same(const std::vector<std::uint64_t> &sent, const std::vector<std::uint64_t> &received,
                 std::uint32_t from, std::uint32_t to) {
  const auto [s, r] = std::ranges::mismatch(sent, received);
  const std::string which = message(static_cast<std::uint64_t>(s - sent.begin()) + 1, from, to);
  if (s != sent.end() && r != received.end())
    throw match_error(which + " is " + what_is(*s) + ", but is received as " + what_is(*r));
  if (s != sent.end() || r != received.end())
    throw match_error(which + " is " +
                      (s != sent.end() ? "sent, but not received" : "received, but not sent"));
}

// Finds a rank's channels from their other ends.
class finder {
public:
  finder(const channel_key *begin, const channel_key *end) : begin_(begin), end_(end) {
    if (end - begin <= few)
      return;
    for (const auto *k = begin; k != end; ++k)
      sorted_.emplace_back(word(*k), static_cast<std::uint32_t>(k - begin));
    std::ranges::sort(sorted_);
  }
  // The number of channels if there is none.
  [[nodiscard]] std::uint32_t find(channel_key k) const {
    if (sorted_.empty())
      return static_cast<std::uint32_t>(std::find(begin_, end_, k) - begin_);
    const auto at = std::ranges::lower_bound(sorted_, std::pair(word(k), 0U));
    return at != sorted_.end() && at->first == word(k) ? at->second
                                                       : static_cast<std::uint32_t>(end_ - begin_);
  }

private:
  static std::uint64_t word(channel_key k) { return std::uint64_t{k.path} << 32 | k.peer; }
  static constexpr std::ptrdiff_t few = 64;
  const channel_key *begin_, *end_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> sorted_; // where they are more
};

} // namespace

cast::cast(const algorithm &a, const request &q, const lowering &how, std::uint64_t rendezvous,
           bool triggered, bool driven)
    : maker_(how, rendezvous, triggered, driven) {
  if (q.ranks > most_ranks)
    throw error("ranks is " + std::to_string(q.ranks) + "; allowed in a simulation: 1 to " +
                std::to_string(most_ranks));
  join(add_ranks(a, q));
}

std::vector<channel_key> cast::add_ranks(const algorithm &a, const request &q) {
  constexpr std::size_t most_channels = std::numeric_limits<std::int32_t>::max(); // see link
  const uniform_loops loops(a);
  std::vector<channel_key> keys; // as links_
  std::unordered_map<std::vector<std::int64_t>, std::uint32_t, shape_hash> known;
  of_.reserve(static_cast<std::size_t>(q.ranks));
  for (std::int64_t rank = 0; rank < q.ranks; ++rank) {
    outline o = outline_of(a, loops, q, rank);
    const auto [at, fresh] =
        known.try_emplace(std::move(o.shape), static_cast<std::uint32_t>(parts_.size()));
    if (fresh)
      parts_.push_back(maker_.make(expand(a, q, rank), o.channels));
    of_.push_back({keys.size(), at->second});
    keys.insert(keys.end(), o.channels.begin(), o.channels.end());
    if (keys.size() > most_channels)
      throw limit_error("ranks 0 to " + std::to_string(rank) + " have " +
                        std::to_string(keys.size()) + " pairs of peers; a simulation has at most " +
                        std::to_string(most_channels));
  }
  return keys;
}

void cast::join(const std::vector<channel_key> &keys) {
  links_.resize(keys.size());
  std::vector<finder> finders;
  finders.reserve(of_.size());
  for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
    const channel_key *const begin = keys.data() + of_[rank].first_link;
    finders.emplace_back(begin, begin + part_of(rank).channels.size());
  }
  for (std::uint32_t rank = 0; rank < ranks(); ++rank)
    for (std::uint32_t c = 0; c < part_of(rank).channels.size(); ++c) {
      const channel_key &k = keys[of_[rank].first_link + c];
      const std::uint32_t there = finders[k.peer].find({rank, k.path});
      join(rank, c, k.peer, there);
    }
}

void cast::join(std::uint32_t rank, std::uint32_t channel, std::uint32_t peer,
                std::uint32_t there) {
  const part &other = part_of(peer);
  const part::channel &mine = part_of(rank).channels[channel];
  const part::channel theirs =
      there < other.channels.size() ? other.channels[there] : part::channel{};
  const message_lists &lists = maker_.lists();
  if (mine.sends_list != theirs.receives_list)
    expect_same(lists.list(mine.sends_list), lists.list(theirs.receives_list), rank, peer);
  if (mine.receives_list != theirs.sends_list)
    expect_same(lists.list(theirs.sends_list), lists.list(mine.receives_list), peer, rank);
  link &l = links_[of_[rank].first_link + channel];
  l.peer = peer;
  l.channel = there & 0x7fffffff;
  l.counts = !other.counts.empty() && other.counts[theirs.path] ? 1 : 0;
}

} // namespace collc
