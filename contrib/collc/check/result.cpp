// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/check/result.h"

#include "collc/check/memory.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace collc {

namespace {

class data_run {
public:
  data_run(const world &w, const execution &run) : w_(w), run_(run) {
    for (std::int64_t rank = 0; rank < w.ranks(); ++rank)
      begin(rank);
  }

  std::vector<finding> run() {
    for (const work_number k : run_.order())
      if (w_.at(k).moved.from.length > 0)
        move(k);
    for (std::int64_t rank = 0; rank < w_.ranks(); ++rank) {
      copy(rank, w_.program(rank).finish);
      if (wrong_.empty())
        compare(rank);
    }
    return std::move(wrong_);
  }

private:
  std::vector<memory> &of(std::int64_t rank) { return buffers_[static_cast<std::size_t>(rank)]; }
  memory &at(std::int64_t rank, int buffer) { return of(rank)[static_cast<std::size_t>(buffer)]; }
  [[nodiscard]] bool broadcast() const { return w_.source().what == collective::broadcast; }

  void begin(std::int64_t rank) {
    auto &mine = buffers_.emplace_back();
    for (const std::uint64_t size : w_.program(rank).sizes)
      mine.emplace_back(size);
    // Scratch that the rank's text never mentions may still be written to by others.
    at(rank, buffer_input).fill({{rank, 0}});
    if (broadcast() && rank == w_.asked().root)
      at(rank, buffer_data).fill({{rank, 0}});
    copy(rank, w_.program(rank).start);
  }

  void copy(std::int64_t rank, const std::vector<piece> &copies) {
    for (const piece &p : copies)
      if (p.from.length > 0 &&
          !at(rank, p.to_buffer)
               .write(at(rank, p.from.buffer).read(p.from.offset, p.from.length), moved(p), -1))
        unwritten("rank " + std::to_string(rank) + " copies", p, rank);
  }

  static std::int64_t moved(const piece &p) {
    return static_cast<std::int64_t>(p.to_offset) - static_cast<std::int64_t>(p.from.offset);
  }

  void move(work_number k) {
    const work &d = w_.at(k);
    const std::int64_t rank = w_.rank_of(k);
    const piece &p = d.moved;
    if (static_cast<std::size_t>(p.to_buffer) >= of(d.peer).size() ||
        p.to_offset + p.from.length > at(d.peer, p.to_buffer).size()) {
      wrong_.push_back(
          {"data",
           w_.name(k) + " writes beyond " + w_.source().buffer_name(p.to_buffer) + " there",
           {}});
      return;
    }
    const auto what = at(rank, p.from.buffer).read(p.from.offset, p.from.length);
    memory &there = at(d.peer, p.to_buffer);
    const bool all = d.what == operation::atomic ? there.combine(what, moved(p), k)
                                                 : there.write(what, moved(p), k);
    if (!all)
      unwritten(w_.name(k) + (d.what == operation::atomic ? " combines" : " moves"), p, rank);
  }

  void unwritten(const std::string &who, const piece &p, std::int64_t rank) {
    if (wrong_.empty())
      wrong_.push_back({"data",
                        who + " bytes of " + w_.source().buffer_name(p.from.buffer) + '[' +
                            std::to_string(p.from.offset) + ':' + std::to_string(p.from.length) +
                            "] that were never written",
                        history(rank, p.from)});
  }

  // Of output or data; nothing where the rank has no result.
  [[nodiscard]] std::optional<contents> expected(std::int64_t rank, std::int64_t block) const {
    const auto &q = w_.asked();
    const std::int64_t begin = block * q.bytes;
    contents all(static_cast<std::size_t>(q.ranks));
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] = {static_cast<std::int64_t>(i), 0};
    switch (w_.source().what) {
    case collective::barrier:
      return {};
    case collective::broadcast:
      return contents{{q.root, 0}};
    case collective::allgather:
      return contents{{block, -begin}};
    case collective::alltoall:
      return contents{{block, rank * q.bytes - begin}};
    case collective::gather:
      return rank == q.root ? std::optional<contents>({{block, -begin}}) : std::nullopt;
    case collective::scatter:
      return contents{{q.root, rank * q.bytes}};
    case collective::reduce:
      return rank == q.root ? std::optional<contents>(all) : std::nullopt;
    case collective::allreduce:
      return all;
    }
    return {};
  }

  void compare(std::int64_t rank) {
    const auto bytes = static_cast<std::uint64_t>(w_.asked().bytes);
    const int buffer = broadcast() ? buffer_data : buffer_output;
    const std::uint64_t size = at(rank, buffer).size();
    for (std::uint64_t begin = 0; bytes > 0 && begin < size; begin += bytes)
      if (const auto want = expected(rank, static_cast<std::int64_t>(begin / bytes)))
        compare(rank, {buffer, begin, bytes}, *want);
    if (!broadcast())
      compare(rank, {buffer_input, 0, at(rank, buffer_input).size()}, {{rank, 0}});
  }

  void compare(std::int64_t rank, const range &where, const contents &want) {
    for (const stretch &s : at(rank, where.buffer).read(where.offset, where.length)) {
      if (s.of == want || !wrong_.empty())
        continue;
      wrong_.push_back({"data",
                        w_.source().buffer_name(where.buffer) + '[' + std::to_string(s.begin) +
                            ':' + std::to_string(s.end - s.begin) + "] of rank " +
                            std::to_string(rank) + ": expected " + text_of(want, s.begin) +
                            ", found " + text_of(s.of, s.begin),
                        history(rank, {where.buffer, s.begin, s.end - s.begin})});
    }
  }

  // Where the bytes came from, work by work.
  std::vector<std::string> history(std::int64_t rank, range where) {
    std::vector<std::string> trace;
    for (std::int64_t last = -2; trace.size() < 64;) {
      const auto parts = at(rank, where.buffer).read(where.offset, 1);
      const std::string bytes = w_.source().buffer_name(where.buffer) + '[' +
                                std::to_string(where.offset) + ':' + std::to_string(where.length) +
                                "] of rank " + std::to_string(rank);
      if (parts.empty() || parts.front().by < 0 || parts.front().by == last) {
        trace.push_back(bytes + ": no work wrote it" + (last == -2 ? "" : " before"));
        break;
      }
      last = parts.front().by;
      const auto k = static_cast<work_number>(last);
      trace.push_back(bytes + " was written last by " + w_.name(k));
      const piece &p = w_.at(k).moved;
      where = {p.from.buffer, p.from.offset + (where.offset - p.to_offset), where.length};
      rank = w_.rank_of(k);
    }
    return trace;
  }

  const world &w_;
  const execution &run_;
  std::vector<std::vector<memory>> buffers_;
  std::vector<finding> wrong_;
};

std::vector<finding> check_barrier(const world &w, const execution &run) {
  for (std::int64_t a = 0; a < w.ranks(); ++a)
    for (std::int64_t b = 0; b < w.ranks(); ++b)
      if (!run.complete_after_start(a, b))
        return {{"data",
                 "rank " + std::to_string(a) + " may leave the barrier before rank " +
                     std::to_string(b) + " has come",
                 {"nothing that comes to rank " + std::to_string(a) + " comes from rank " +
                  std::to_string(b) + ", directly or by others"}}};
  return {};
}

} // namespace

std::vector<finding> check_result(const world &w, const execution &run) {
  if (w.source().what == collective::barrier)
    return check_barrier(w, run);
  return data_run(w, run).run();
}

} // namespace collc
