// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "schedule.h"

#include <bit>

namespace fabtest {

namespace {

using enum step::kind;

constexpr std::uint64_t bucket(int of, int which) { return std::uint64_t{1} << (of - which); }

int rounds_of(int ranks) { return std::countr_zero(static_cast<unsigned>(ranks)); }

void empty(schedule &s, int rank, std::uint64_t full) { s.push_back({full, add, rank, -full}); }

// Data, and the word that they are there.
void hand_on(schedule &s, std::uint64_t level, int to, int block) {
  s.push_back({level, write, to, 0, block, 1});
  s.push_back({level, add, to, 1});
}

// All but the root tell it that they are there; the root waits for them.
std::uint64_t gather_at_root(schedule &s, int ranks, int rank) {
  if (rank == 0)
    return static_cast<std::uint64_t>(ranks - 1);
  s.push_back({0, add, 0, 1});
  return 1; // the first data
}

} // namespace

schedule barrier(int ranks, int rank) {
  schedule s;
  const int n = rounds_of(ranks);
  std::uint64_t level = 0;
  for (int r = 1; r <= n; ++r) {
    s.push_back({level, add, rank ^ (1 << (r - 1)), bucket(n, r)});
    level += bucket(n, r);
  }
  empty(s, rank, level);
  return s;
}

schedule allgather(int ranks, int rank) {
  schedule s;
  const int n = rounds_of(ranks);
  std::uint64_t level = 0;
  for (int r = 1; r <= n; ++r) {
    const int have = 1 << (r - 1), peer = rank ^ have;
    const std::uint64_t ready = bucket(2 * n, 2 * r - 1), end = bucket(2 * n, 2 * r);
    s.push_back({level, add, peer, ready});
    level += ready;
    s.push_back({level, write, peer, 0, rank / have * have, have});
    s.push_back({level, add, peer, end});
    level += end;
  }
  empty(s, rank, level);
  return s;
}

schedule branch(int ranks, int rank) {
  schedule s;
  std::uint64_t level = gather_at_root(s, ranks, rank);
  std::vector<int> children;
  for (int child = 2 * rank + 1; child <= 2 * rank + 2 && child < ranks; ++child)
    children.push_back(child);
  if (rank != 0 && !children.empty()) {
    s.push_back({level, raise, rank, children.size()});
    level += children.size();
  }
  for (const int child : children)
    hand_on(s, level, child, 0);
  empty(s, rank, level);
  return s;
}

schedule pipeline(int ranks, int rank, int blocks) {
  schedule s;
  const std::uint64_t first = gather_at_root(s, ranks, rank);
  if (rank + 1 < ranks)
    for (int i = 0; i < blocks; ++i)
      hand_on(s, rank == 0 ? first : static_cast<std::uint64_t>(i + 1), rank + 1, i);
  empty(s, rank, rank == 0 ? first : static_cast<std::uint64_t>(blocks));
  return s;
}

} // namespace fabtest
