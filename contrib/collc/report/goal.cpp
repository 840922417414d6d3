// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/report/goal.h"

#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ostream.h>

namespace collc {

namespace {

class rank_in_goal {
public:
  rank_in_goal(std::ostream &out, const rank_program &p) : out_(out), p_(p) {}

  void write() {
    fmt::print(out_, "\nrank {} {{\n", p_.rank);
    for (const auto &path : p_.paths)
      write(path);
    fmt::print(out_, "}}\n");
  }

private:
  // Every message has some byte there; a signal is one.
  template <typename Parts> static std::uint64_t size_of(const Parts &parts) {
    return std::max<std::uint64_t>(bytes_of(parts), 1);
  }

  void write(const path_program &path) {
    joins_.clear();
    std::map<std::int64_t, std::vector<std::string>> come; // by round
    for (const auto &r : path.receives) {
      come[r.round].push_back(fmt::format("l{}", ++labels_));
      fmt::print(out_, "{}: recv {}b from {} tag {}\n", come[r.round].back(), size_of(r.places),
                 r.peer, path.number);
    }
    for (const auto &c : path.combines)
      come[c.round]; // joined, though nothing may come
    std::string last;
    for (const auto &[round, labels] : come) {
      const std::string join = fmt::format("l{}", ++labels_);
      fmt::print(out_, "{}: calc 0\n", join);
      if (!last.empty())
        fmt::print(out_, "{} requires {}\n", join, last);
      for (const auto &l : labels)
        fmt::print(out_, "{} requires {}\n", join, l);
      joins_[round] = last = join;
    }
    for (const auto &s : path.sends) {
      const std::string label = fmt::format("l{}", ++labels_);
      fmt::print(out_, "{}: send {}b to {} tag {}\n", label, size_of(s.pieces), s.peer,
                 path.number);
      if (const auto next = joins_.upper_bound(s.after); next != joins_.begin())
        fmt::print(out_, "{} requires {}\n", label, std::prev(next)->second);
    }
  }

  std::ostream &out_;
  const rank_program &p_;
  std::map<std::int64_t, std::string> joins_; // of rounds
  std::uint64_t labels_ = 0;
};

} // namespace

void write_goal(std::ostream &out, const compiler &c) {
  fmt::print(out, "num_ranks {}\n", c.asked().ranks);
  for (std::int64_t rank = 0; rank < c.asked().ranks; ++rank)
    rank_in_goal(out, c.program(rank)).write();
}

} // namespace collc
