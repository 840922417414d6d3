// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/report/graph.h"

#include "collc/report/names.h"

#include <algorithm>

#include <fmt/format.h>

namespace collc {

std::vector<std::vector<work_number>> waits_of(const world &w) {
  std::vector<std::vector<work_number>> waits(w.works());
  for (const auto &counter : w.counters())
    for (std::size_t i = 0; i < counter.works.size(); ++i)
      for (const addition &a : counter.additions)
        if (w.needs(counter.works[i], a) && !(i > 0 && w.needs(counter.works[i - 1], a)))
          waits[counter.works[i]].push_back(a.by);
  return waits;
}

std::string graph_text(const world &w) {
  std::string out = "digraph collective {\n  rankdir=LR\n  node [shape=box]\n";
  for (std::int64_t rank = 0; rank < w.ranks(); ++rank) {
    out += fmt::format("  subgraph cluster_{0} {{\n    label=\"rank {0}\"\n", rank);
    const work_number first = w.first(rank);
    const auto &works = w.schedule(rank).works;
    for (std::size_t i = 0; i < works.size(); ++i) {
      const work &k = works[i];
      out += fmt::format("    w{} [label=\"{}{}\\n{} at {}\"]\n", first + i, name_of(k.why),
                         k.round > 0 ? std::to_string(k.round) : "", name_of(k.what), k.threshold);
      if (i > 0 && works[i - 1].trigger == k.trigger)
        out += fmt::format("    w{} -> w{} [style=dotted]\n", first + i - 1, first + i);
    }
    out += "  }\n";
  }
  const auto waits = waits_of(w);
  for (work_number k = 0; k < w.works(); ++k)
    for (const work_number by : waits[k])
      out += fmt::format("  w{} -> w{}\n", by, k);
  return out + "}\n";
}

namespace {

constexpr int row = 40, step = 90, left = 80, top = 30;

class timeline {
public:
  explicit timeline(const world &w) : w_(w), columns_(w.works(), -1) {
    const auto waits = waits_of(w);
    // Until nothing changes: chains may run through works in any order of their numbers.
    for (bool more = true; more;) {
      more = false;
      for (const auto &counter : w.counters())
        for (std::size_t i = 0; i < counter.works.size(); ++i)
          more |= place(counter, i, waits[counter.works[i]]);
    }
  }

  std::string text() const {
    const int last = columns_.empty() ? 0 : *std::ranges::max_element(columns_);
    const int width = left + (last + 2) * step;
    const auto height = top + static_cast<int>(w_.ranks()) * row;
    std::string out = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
        "{1}\" font-family=\"sans-serif\" font-size=\"11\">\n"
        "<defs><marker id=\"a\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" "
        "markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs>\n",
        width, height);
    for (std::int64_t rank = 0; rank < w_.ranks(); ++rank)
      out += fmt::format("<text x=\"5\" y=\"{0}\">rank {1}</text>\n<path d=\"M{2} {0}H{3}\" "
                         "stroke=\"#bbb\"/>\n",
                         y(rank), rank, left - 20, width - 10);
    for (work_number k = 0; k < w_.works(); ++k)
      if (columns_[k] >= 0)
        out += arrow(k);
    return out + "</svg>\n";
  }

private:
  bool place(const counter_of_rank &counter, std::size_t i, const std::vector<work_number> &waits) {
    const work_number k = counter.works[i];
    if (columns_[k] >= 0)
      return false;
    int column = 0;
    if (i > 0) {
      if (columns_[counter.works[i - 1]] < 0)
        return false;
      column = columns_[counter.works[i - 1]];
    }
    for (const work_number by : waits) {
      if (columns_[by] < 0)
        return false;
      column = std::max(column, columns_[by] + 1);
    }
    columns_[k] = column;
    return true;
  }

  static int y(std::int64_t rank) { return top + static_cast<int>(rank) * row; }

  [[nodiscard]] std::string arrow(work_number k) const {
    const work &d = w_.at(k);
    const std::int64_t from = w_.rank_of(k);
    const int x = left + columns_[k] * step;
    const std::string label = name_of(d.why) + (d.round > 0 ? std::to_string(d.round) : "");
    if (d.peer < 0 || d.peer == from)
      return fmt::format("<circle cx=\"{0}\" cy=\"{1}\" r=\"4\"><title>{2}</title></circle>\n", x,
                         y(from), label);
    const bool data = d.what == operation::write || d.what == operation::atomic;
    return fmt::format("<path d=\"M{} {}L{} {}\" stroke=\"{}\" stroke-width=\"{}\" fill=\"none\" "
                       "marker-end=\"url(#a)\"><title>{} to rank {}, {} bytes</title></path>\n",
                       x, y(from), x + step - 10, y(d.peer), data ? "#036" : "#888", data ? 2 : 1,
                       label, d.peer, d.moved.from.length);
  }

  const world &w_;
  std::vector<int> columns_; // -1: never fires
};

} // namespace

std::string timeline_text(const world &w) { return timeline(w).text(); }

} // namespace collc
