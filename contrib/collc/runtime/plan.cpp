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
    "kind", "bytes", "root", "operation and type", "algorithm", "parameters", "ready", "ranks"};

struct compiler_closer {
  void operator()(collc_compiler *c) const noexcept { collc_close(c); }
};

void check_compiled(int rc, char *message, const std::string &name) {
  if (rc == 0)
    return;
  const std::string text = message != nullptr ? message : "no memory";
  collc_free_message(message);
  fail(-FI_EINVAL, fmt::format("algorithm {}: {}", name, text));
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

  char *message = nullptr;
  collc_compiler *opened = nullptr;
  const int opening = collc_open(name_.c_str(), &r, &opened, &message);
  check_compiled(opening, message, name_);
  const std::unique_ptr<collc_compiler, compiler_closer> compiler(opened);
  if (std::strcmp(collc_collective(opened), name_of(asked.kind)) != 0)
    fail(-FI_EINVAL, fmt::format("algorithm {} is for {}; kind is {}", name_,
                                 collc_collective(opened), name_of(asked.kind)));
  collc_schedule *lowered = nullptr;
  const int lowering = collc_lower(opened, rank, &lowered, &message);
  check_compiled(lowering, message, name_);
  schedule_.reset(lowered);
  works_ = all_of(collc_works, lowered);
  tanks_ = all_of(collc_tanks, lowered);
  start_ = all_of(collc_start_copies, lowered);
  finish_ = all_of(collc_finish_copies, lowered);

  const std::uint64_t all[] = {static_cast<std::uint64_t>(asked.kind),
                               asked.bytes,
                               static_cast<std::uint64_t>(asked.root),
                               digest().add(asked.operation).add(asked.type).value(),
                               digest().add(collc_text(opened)).value(),
                               given.value(),
                               static_cast<std::uint64_t>(asked.ready),
                               static_cast<std::uint64_t>(ranks)};
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
  for (const std::uint64_t size : sizes)
    own += aligned(size);
  own_ = std::make_unique<std::byte[]>(own);
  std::byte *next = own_.get();
  if (asked.copies_in) {
    input_ = asked.in;
    buffers_[0].start = next;
    next += aligned(asked.in_length);
  }
  for (const std::uint64_t size : sizes) {
    buffers_.push_back({next, size});
    next += aligned(size);
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
    if (!path_of(w.trigger) || (moves && w.value != 0) ||
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

void plan::copy(std::span<const collc_copy> copies) const noexcept {
  for (const collc_copy &c : copies) {
    std::byte *const to = buffers_[static_cast<std::size_t>(c.to.buffer)].start + c.to.offset;
    const std::byte *const from =
        buffers_[static_cast<std::size_t>(c.from.buffer)].start + c.from.offset;
    if (to != from && c.length > 0)
      std::memmove(to, from, c.length);
  }
}

void plan::copy_at_start() const noexcept {
  if (input_ != nullptr)
    std::memcpy(buffers_[0].start, input_, buffers_[0].length);
  copy(start_);
}

void plan::copy_at_finish() const noexcept { copy(finish_); }

} // namespace collc::rt
