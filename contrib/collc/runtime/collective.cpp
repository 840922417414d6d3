// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/runtime/collective.h"

#include "collc/collc.h"
#include "collc/runtime/error.h"

#include <array>
#include <bit>
#include <cstring>

#include <fmt/format.h>

namespace collc::rt {

namespace {

constexpr std::array<const char *, 8> names{"barrier", "broadcast", "allgather", "alltoall",
                                            "gather",  "scatter",   "reduce",    "allreduce"};

bool has_root(collc_rt_kind k) {
  return k == COLLC_RT_BROADCAST || k == COLLC_RT_GATHER || k == COLLC_RT_SCATTER ||
         k == COLLC_RT_REDUCE;
}

// From here on data go in segments, or straight to where they belong, in place of by the fewest
// rounds.
constexpr std::uint64_t large = 64 << 10;

const char *choose(const collective_request &c, std::int64_t ranks) {
  switch (c.kind) {
  case COLLC_RT_BARRIER:
    return std::has_single_bit(static_cast<std::uint64_t>(ranks)) ? "barrier:butterfly"
                                                                  : "barrier:dissemination";
  case COLLC_RT_BROADCAST:
    return c.bytes >= large ? "broadcast:chain" : "broadcast:binomial";
  case COLLC_RT_ALLGATHER:
    if (c.bytes >= large)
      return "allgather:ring";
    return std::has_single_bit(static_cast<std::uint64_t>(ranks)) ? "allgather:butterfly"
                                                                  : "allgather:bruck";
  case COLLC_RT_ALLTOALL:
    return "alltoall:pairwise";
  case COLLC_RT_GATHER:
    return c.bytes >= large ? "gather:flat" : "gather:binomial";
  case COLLC_RT_SCATTER:
    return c.bytes >= large ? "scatter:flat" : "scatter:binomial";
  case COLLC_RT_REDUCE:
    return "reduce:binomial";
  default:
    return "allreduce:butterfly";
  }
}

// Those of in and out that the collective has.
void set_lengths(collective_request &c, std::int64_t ranks, std::int64_t rank) {
  const bool root = rank == c.root;
  const std::uint64_t block = c.bytes, all = block * static_cast<std::uint64_t>(ranks);
  switch (c.kind) {
  case COLLC_RT_BARRIER:
    break;
  case COLLC_RT_BROADCAST:
    c.out_length = block;
    break;
  case COLLC_RT_ALLGATHER:
    c.in_length = block, c.out_length = all;
    break;
  case COLLC_RT_ALLTOALL:
    c.in_length = c.out_length = all;
    break;
  case COLLC_RT_GATHER:
    c.in_length = block, c.out_length = root ? all : 0;
    break;
  case COLLC_RT_SCATTER:
    c.in_length = root ? all : 0, c.out_length = block;
    break;
  case COLLC_RT_REDUCE:
    c.in_length = block, c.out_length = root ? block : 0;
    break;
  case COLLC_RT_ALLREDUCE:
    c.in_length = c.out_length = block;
    break;
  }
}

bool overlap(const collective_request &c) {
  const auto in = reinterpret_cast<std::uintptr_t>(c.in),
             out = reinterpret_cast<std::uintptr_t>(c.out);
  return in < out + c.out_length && out < in + c.in_length;
}

// The rank's own block stands where it belongs: nobody writes there, but the rank itself, what is
// there already.
bool own_block_in_place(const collective_request &c, std::int64_t rank) {
  const std::uint64_t at = static_cast<std::uint64_t>(rank) * c.bytes;
  if (c.kind == COLLC_RT_GATHER || c.kind == COLLC_RT_ALLGATHER)
    return c.in == c.out + at;
  return c.kind == COLLC_RT_SCATTER && c.out == c.in + at;
}

void check_buffers(collective_request &c, std::int64_t rank) {
  if (c.in == nullptr && c.in_length > 0)
    fail(-FI_EINVAL, fmt::format("in is null; {} bytes are needed", c.in_length));
  if (c.out == nullptr && c.out_length > 0)
    fail(-FI_EINVAL, fmt::format("out is null; {} bytes are needed", c.out_length));
  c.copies_in = c.in_length > 0 && c.out_length > 0 && overlap(c) && !own_block_in_place(c, rank);
}

} // namespace

const char *name_of(collc_rt_kind kind) { return names[static_cast<std::size_t>(kind)]; }

collective_request read_collective(const collc_rt_collective *asked, std::int64_t ranks,
                                   std::int64_t rank) {
  if (asked == nullptr)
    fail(-FI_EINVAL, "collc_rt_init: the collective is null");
  if (asked->size < sizeof *asked)
    fail(-FI_EINVAL, fmt::format("collc_rt_collective.size is {}; at least {} is needed",
                                 asked->size, sizeof *asked));
  int kind = 0; // read as what it may be, not as what it should
  static_assert(sizeof kind == sizeof asked->kind);
  std::memcpy(&kind, &asked->kind, sizeof kind);
  if (kind < 0 || kind >= static_cast<int>(names.size()))
    fail(-FI_EINVAL, fmt::format("kind is {}; allowed: 0 to {}", kind, names.size() - 1));
  if ((asked->flags & COLLC_RT_STRICT_ORDER) != 0)
    fail(-FI_ENOSYS, "COLLC_RT_STRICT_ORDER: requests share no tanks yet");
  if ((asked->flags & ~COLLC_RT_DIRECT) != 0)
    fail(-FI_EINVAL, fmt::format("flags are {:#x}; allowed: COLLC_RT_DIRECT", asked->flags));
  if (asked->ready < COLLC_READY_DEFAULT || asked->ready > COLLC_READY_NEVER)
    fail(-FI_EINVAL,
         fmt::format("ready is {}; allowed: {} to {} (enum collc_ready)", asked->ready,
                     static_cast<int>(COLLC_READY_DEFAULT), static_cast<int>(COLLC_READY_NEVER)));

  collective_request c;
  c.kind = asked->kind;
  c.bytes = asked->bytes;
  c.root = asked->root;
  c.in = static_cast<const std::byte *>(asked->in);
  c.out = static_cast<std::byte *>(asked->out);
  c.ready = asked->ready;
  c.direct = (asked->flags & COLLC_RT_DIRECT) != 0;
  if (c.bytes > INT64_MAX / static_cast<std::uint64_t>(ranks))
    fail(-FI_EINVAL, fmt::format("bytes is {}; allowed: 0 to {}", c.bytes,
                                 INT64_MAX / static_cast<std::uint64_t>(ranks)));
  if (c.kind == COLLC_RT_BARRIER && c.bytes != 0)
    fail(-FI_EINVAL, fmt::format("bytes of a barrier is {}; allowed: 0", c.bytes));
  if (c.root < 0 || c.root >= ranks || (!has_root(c.kind) && c.root != 0))
    fail(-FI_EINVAL,
         fmt::format("root of a {} among {} ranks is {}; allowed: 0{}", name_of(c.kind), ranks,
                     c.root, has_root(c.kind) ? fmt::format(" to {}", ranks - 1) : ""));
  c.operation = asked->operation != nullptr ? asked->operation : "sum";
  c.type = asked->type != nullptr ? asked->type : "double";
  c.algorithm = asked->algorithm != nullptr ? asked->algorithm : choose(c, ranks);
  if (asked->parameters == nullptr && asked->parameter_count > 0)
    fail(-FI_EINVAL, fmt::format("parameters is null, parameter_count {}", asked->parameter_count));
  for (std::size_t i = 0; i < asked->parameter_count; ++i)
    c.parameters.emplace_back(asked->parameters[i].name, asked->parameters[i].value);
  set_lengths(c, ranks, rank);
  check_buffers(c, rank);
  return c;
}

} // namespace collc::rt
