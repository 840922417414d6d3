// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/runtime/plan.h"

#include "collc/runtime/digest.h"
#include "collc/runtime/error.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

namespace collc::rt {

namespace {

constexpr std::array<const char *, plan::digest_count> digest_names{
    "kind",  "bytes", "root", "operation and type", "algorithm", "parameters",
    "ready", "ranks", "flags"};

struct compiler_closer {
  void operator()(collc_compiler *c) const noexcept { collc_close(c); }
};
using compiler_ptr = std::unique_ptr<collc_compiler, compiler_closer>;

void check_compiled(int rc, char *message, const std::string &name) {
  if (rc == 0)
    return;
  const std::string text = message != nullptr ? message : "no memory";
  collc_free_message(message);
  fail(-FI_EINVAL, fmt::format("algorithm {}: {}", name, text));
}

compiler_ptr open(const std::string &name, const collc_request &r) {
  char *message = nullptr;
  collc_compiler *opened = nullptr;
  const int rc = collc_open(name.c_str(), &r, &opened, &message);
  check_compiled(rc, message, name);
  return compiler_ptr(opened);
}

// Up to so many bytes of a rank's result, copying them costs less than waiting until all ranks have
// started.
constexpr std::uint64_t most_landing = 2048;

bool may_land(const collective_request &c, std::int64_t ranks) {
  const bool blocks = c.kind == COLLC_RT_ALLGATHER || c.kind == COLLC_RT_ALLTOALL ||
                      c.kind == COLLC_RT_GATHER || c.kind == COLLC_RT_SCATTER;
  const std::uint64_t bytes = blocks ? c.bytes * static_cast<std::uint64_t>(ranks) : c.bytes;
  return bytes > 0 && bytes <= most_landing && c.ready == COLLC_READY_DEFAULT && !c.direct;
}

template <typename T>
std::span<const T> all_of(std::size_t (*get)(const collc_schedule *, const T **),
                          const collc_schedule *s) {
  const T *first = nullptr;
  const std::size_t count = get(s, &first);
  return {first, count};
}

constexpr std::uint64_t aligned(std::uint64_t size) { return (size + 63) / 64 * 64; }

} // namespace

const char *plan::digest_name(std::size_t i) { return digest_names[i]; }

plan::plan(const collective_request &asked, std::int64_t ranks, std::int64_t rank)
    : name_(asked.algorithm), combining_(find_combination(asked.operation, asked.type)) {
  compile(asked, ranks, rank);
  lay_out(asked);
  check(ranks, rank);
}

void plan::compile(const collective_request &asked, std::int64_t ranks, std::int64_t rank) {
  std::vector<collc_parameter> parameters;
  digest given;
  for (const auto &[name, value] : asked.parameters) {
    parameters.push_back({name.c_str(), value});
    given.add(name).add(static_cast<std::uint64_t>(value));
  }
  collc_request r{};
  r.size = sizeof r;
  r.ranks = ranks;
  r.root = asked.root;
  r.bytes = static_cast<std::int64_t>(asked.bytes);
  r.parameters = parameters.data();
  r.parameter_count = parameters.size();
  r.ready = static_cast<collc_ready>(asked.ready);
  // An addition tells that data are there, as it carries any weight, and no region has a counter
  // of its own.
  r.flags = COLLC_ADD_ARRIVALS | COLLC_SHORT_BRANCHES;
  r.operation = asked.operation.c_str();
  r.type = asked.type.c_str();

  compiler_ptr compiler;
  if (may_land(asked, ranks)) {
    r.flags |= COLLC_LANDING;
    // Whether they can is a matter of the text, and so the same on all ranks.
    collc_compiler *opened = nullptr;
    lands_ = collc_open(name_.c_str(), &r, &opened, nullptr) == 0;
    compiler.reset(opened);
    r.flags &= ~COLLC_LANDING;
  }
  if (!lands_)
    compiler = open(name_, r);
  if (std::strcmp(collc_collective(compiler.get()), name_of(asked.kind)) != 0)
    fail(-FI_EINVAL, fmt::format("algorithm {} is for {}; kind is {}", name_,
                                 collc_collective(compiler.get()), name_of(asked.kind)));
  collc_schedule *lowered = nullptr;
  char *message = nullptr;
  const int lowering = collc_lower(compiler.get(), rank, &lowered, &message);
  check_compiled(lowering, message, name_);
  schedule_.reset(lowered);
  turns_ = collc_turns(lowered);
  lag_ = collc_lag(lowered);
  works_ = all_of(collc_works, lowered);
  tanks_ = all_of(collc_tanks, lowered);
  start_ = all_of(collc_start_copies, lowered);
  finish_ = all_of(collc_finish_copies, lowered);

  const std::uint64_t all[] = {static_cast<std::uint64_t>(asked.kind),
                               asked.bytes,
                               static_cast<std::uint64_t>(asked.root),
                               digest().add(asked.operation).add(asked.type).value(),
                               digest().add(collc_text(compiler.get())).value(),
                               given.value(),
                               static_cast<std::uint64_t>(asked.ready),
                               static_cast<std::uint64_t>(ranks),
                               asked.direct ? 1u : 0u};
  static_assert(std::size(all) == digest_count);
  std::ranges::copy(all, digests_);
}

// Broadcasts have a buffer of their own kind, which is the caller's out.
void plan::lay_out(const collective_request &asked) {
  const bool broadcast = asked.kind == COLLC_RT_BROADCAST;
  const memory out{asked.out, asked.out_length};
  buffers_ = {{const_cast<std::byte *>(asked.in), asked.in_length},
              broadcast ? memory{} : out,
              broadcast ? out : memory{}};
  const auto sizes = all_of(collc_scratch, schedule_.get());
  std::uint64_t own = asked.copies_in ? aligned(asked.in_length) : 0;
  const std::uint64_t times = lands_ ? turns_ : 1;
  for (const std::uint64_t size : sizes)
    own += times * aligned(size);
  own_ = std::make_unique<std::byte[]>(own);
  std::byte *next = own_.get();
  if (asked.copies_in) {
    input_ = asked.in;
    buffers_[0].start = next;
    next += aligned(asked.in_length);
  }
  for (const std::uint64_t size : sizes) {
    buffers_.push_back({next, size, lands_ ? aligned(size) : 0});
    next += times * aligned(size);
  }
}

void plan::check_place(const collc_place &p, std::uint64_t length, const char *what) const {
  const auto b = static_cast<std::size_t>(p.buffer);
  if (p.buffer < 0 || b >= buffers_.size() || p.offset > buffers_[b].length ||
      length > buffers_[b].length - p.offset)
    fail(-FI_EINVAL, fmt::format("algorithm {}: {} of {} bytes at {} of buffer {}, which this rank "
                                 "has {} bytes of",
                                 name_, what, length, p.offset, p.buffer,
                                 b < buffers_.size() ? buffers_[b].length : 0));
}

// What the rest relies on.
void plan::check(std::int64_t ranks, std::int64_t rank) const {
  const auto path_of = [&](const collc_counter &c) {
    return c.kind == COLLC_TANK && std::ranges::any_of(tanks_, [&](const collc_tank &t) {
             return t.counter.path == c.path;
           });
  };
  for (const collc_work &w : works_) {
    const bool moves = w.operation == COLLC_WRITE || w.operation == COLLC_ATOMIC;
    if (!path_of(w.trigger) || turns_ > most_turns || (moves && w.value != 0) ||
        (w.operation != COLLC_CNTR_ADD && (w.peer < 0 || w.peer >= ranks)) ||
        (w.operation == COLLC_WRITE && w.peer == rank))
      fail(-FI_ENOSYS, fmt::format("algorithm {}: a work of a kind that isn't run", name_));
    if (moves)
      check_place(w.from, w.length, "data");
    if (moves && w.peer == rank)
      check_place(w.to, w.length, "a combination");
  }
  for (const auto &copies : {start_, finish_})
    for (const collc_copy &c : copies) {
      check_place(c.from, c.length, "a copy from");
      check_place(c.to, c.length, "a copy to");
    }
}

void plan::copy(std::span<const collc_copy> copies, unsigned turn) const noexcept {
  for (const collc_copy &c : copies) {
    std::byte *const to = buffers_[static_cast<std::size_t>(c.to.buffer)].at(turn) + c.to.offset;
    const std::byte *const from =
        buffers_[static_cast<std::size_t>(c.from.buffer)].at(turn) + c.from.offset;
    if (to != from && c.length > 0)
      std::memmove(to, from, c.length);
  }
}

void plan::copy_at_start(unsigned turn) const noexcept {
  if (input_ != nullptr)
    std::memcpy(buffers_[0].start, input_, buffers_[0].length);
  copy(start_, turn);
}

void plan::copy_at_finish(unsigned turn) const noexcept { copy(finish_, turn); }

} // namespace collc::rt
