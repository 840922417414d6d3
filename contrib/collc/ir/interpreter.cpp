// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/ir/interpreter.h"

#include <algorithm>

namespace collc {

namespace {

constexpr std::int64_t most_rounds = (std::int64_t{1} << 32) - 1; // as ordinals of events

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

} // namespace

interpreter::interpreter(const algorithm &a, const request &q, std::int64_t rank)
    : value_(a.file, a.slots), a_(a), q_(q), rank_(rank), sizes_(own_sizes(a.what, q, rank)) {
  value_.slot(slot_ranks) = q.ranks;
  value_.slot(slot_rank) = rank;
  value_.slot(slot_root) = q.root;
  value_.slot(slot_bytes) = q.bytes;
}

void interpreter::run() {
  for (const auto &p : a_.parameters)
    set(p);
  run_body(a_.body);
  if (!a_.scratches.empty())
    size_of(first_scratch + static_cast<int>(a_.scratches.size()) - 1);
}

void interpreter::set(const parameter &p) {
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
std::uint64_t interpreter::size_of(int buffer) {
  const auto b = static_cast<std::size_t>(buffer);
  while (sizes_.size() <= b) {
    const auto &s = a_.scratches[sizes_.size() - first_scratch];
    const std::int64_t size = value_(*s.size);
    if (size < 0)
      value_.refuse(s.size->at, "expected a size of at least 0 for '" + s.name + "', found " +
                                    std::to_string(size));
    sizes_.push_back(static_cast<std::uint64_t>(size));
  }
  return sizes_[b];
}

std::uint64_t interpreter::inside(int buffer, std::int64_t offset, std::int64_t length, place at) {
  const std::uint64_t size = size_of(buffer);
  const auto text = [&] {
    return a_.buffer_name(buffer) + '[' + std::to_string(offset) + ':' + std::to_string(length) +
           ']';
  };
  if (offset < 0 || length < 0 || static_cast<std::uint64_t>(offset) > size ||
      static_cast<std::uint64_t>(length) > size - static_cast<std::uint64_t>(offset))
    value_.refuse(at, text() + " at rank " + std::to_string(rank_) + ": expected a part of " +
                          std::to_string(size) + " bytes");
  return static_cast<std::uint64_t>(offset);
}

range interpreter::own_range(const range_text &r) {
  const std::int64_t offset = value_(*r.offset), length = value_(*r.length);
  return {r.buffer, inside(r.buffer, offset, length, r.at), static_cast<std::uint64_t>(length)};
}

// Whether the peer has such a place is for the check to find out: it is not this rank.
piece interpreter::evaluate(const piece_text &p, bool local) {
  piece out{own_range(p.from), p.to_buffer, 0};
  const std::int64_t to = p.to_offset ? value_(*p.to_offset) : value_(*p.from.offset);
  const auto length = static_cast<std::int64_t>(out.from.length);
  if (local)
    inside(p.to_buffer, to, length, p.from.at);
  else if (to < 0)
    value_.refuse(p.to_offset->at, "expected an offset of at least 0, found " + std::to_string(to));
  out.to_offset = static_cast<std::uint64_t>(to);
  return out;
}

std::int64_t interpreter::peer_of(const statement &s) {
  const std::int64_t peer = value_(*s.value);
  if (peer < 0 || peer >= q_.ranks || peer == rank_)
    value_.refuse(s.value->at,
                  "rank " + std::to_string(rank_) + ": expected another rank from 0 to " +
                      std::to_string(q_.ranks - 1) + ", found " + std::to_string(peer));
  return peer;
}

std::int64_t interpreter::after_of(const statement &s) {
  return s.after ? std::max<std::int64_t>(value_(*s.after), 0) : round_ - 1;
}

interpreter::bounds interpreter::bounds_of(const statement &s) {
  const bounds b{value_(*s.value), value_(*s.last), s.step ? value_(*s.step) : 1};
  if (b.step == 0)
    value_.refuse(s.step->at, "expected a step other than 0");
  return b;
}

void interpreter::count_step(place at) {
  if (++steps_ > q_.most_steps)
    value_.refuse(at, "rank " + std::to_string(rank_) + ": expected an end after " +
                          std::to_string(q_.most_steps) + " steps (--max-steps), found one more");
}

void interpreter::run_statement(const statement &s) {
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
    loop(s);
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
    combine(s);
    break;
  case statement::kind::copy_at_start:
  case statement::kind::copy_at_finish:
    copy(s);
    break;
  }
}

std::int64_t interpreter::number(const statement &s, const char *what, std::int64_t least) {
  const std::int64_t n = value_(*s.value);
  const std::int64_t most = a_.rounds && least == 1 ? stated_rounds() : most_rounds;
  if (n < least || n > most)
    value_.refuse(s.value->at, std::string("expected a ") + what + " from " +
                                   std::to_string(least) + " to " + std::to_string(most) +
                                   ", found " + std::to_string(n));
  return n;
}

std::int64_t interpreter::stated_rounds() {
  if (rounds_ < 0) {
    rounds_ = value_(*a_.rounds);
    if (rounds_ < 0)
      value_.refuse(a_.rounds->at,
                    "expected a number of rounds of at least 0, found " + std::to_string(rounds_));
  }
  return rounds_;
}

void interpreter::loop(const statement &s) {
  const bounds b = bounds_of(s);
  std::int64_t i = b.from;
  while (b.step > 0 ? i <= b.last : i >= b.last) {
    count_step(s.at);
    value_.slot(s.variable) = i;
    run_body(s.body);
    if (__builtin_add_overflow(i, b.step, &i))
      break;
  }
}

} // namespace collc
