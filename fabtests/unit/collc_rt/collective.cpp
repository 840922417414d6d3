// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/runtime/collective.h"

#include "collc/runtime/error.h"

#include <array>
#include <cstring>
#include <string>

#include "unit/unit.h"

using namespace collc::rt;

namespace {

std::byte memory[4096];

collc_rt_collective asked(collc_rt_kind kind, std::uint64_t bytes) {
  collc_rt_collective c{};
  c.size = sizeof c;
  c.kind = kind;
  c.bytes = bytes;
  c.in = memory;
  c.out = memory + 2048;
  return c;
}

std::string refused(const collc_rt_collective &c, std::int64_t ranks = 4, std::int64_t rank = 0) {
  try {
    read_collective(&c, ranks, rank);
  } catch (const failure &f) {
    return std::to_string(f.code) + " " + f.text;
  }
  return "";
}

#define ASSERT_REFUSED(c, text) assert_string_equal(refused(c).c_str(), text)

} // namespace

static void collective__chooses_by_ranks_and_size(void **) {
  const auto chosen = [](collc_rt_kind k, std::uint64_t bytes, std::int64_t ranks) {
    return read_collective(std::array{asked(k, bytes)}.data(), ranks, 0).algorithm;
  };
  assert_string_equal(chosen(COLLC_RT_BARRIER, 0, 8).c_str(), "barrier:butterfly");
  assert_string_equal(chosen(COLLC_RT_BARRIER, 0, 6).c_str(), "barrier:dissemination");
  assert_string_equal(chosen(COLLC_RT_ALLGATHER, 8, 8).c_str(), "allgather:butterfly");
  assert_string_equal(chosen(COLLC_RT_ALLGATHER, 8, 7).c_str(), "allgather:bruck");
  assert_string_equal(chosen(COLLC_RT_ALLGATHER, 1 << 20, 8).c_str(), "allgather:ring");
  assert_string_equal(chosen(COLLC_RT_BROADCAST, 1 << 20, 8).c_str(), "broadcast:chain");
}

static void collective__lengths_by_rank(void **) {
  const auto lengths = [](collc_rt_kind k, std::int64_t rank) {
    collc_rt_collective c = asked(k, 10);
    if (k == COLLC_RT_GATHER || k == COLLC_RT_SCATTER || k == COLLC_RT_REDUCE ||
        k == COLLC_RT_BROADCAST)
      c.root = 1;
    const collective_request r = read_collective(&c, 4, rank);
    return std::pair(r.in_length, r.out_length);
  };
  using pair = std::pair<std::uint64_t, std::uint64_t>;
  assert_true(lengths(COLLC_RT_BROADCAST, 0) == pair(0, 10));
  assert_true(lengths(COLLC_RT_ALLGATHER, 0) == pair(10, 40));
  assert_true(lengths(COLLC_RT_ALLTOALL, 0) == pair(40, 40));
  assert_true(lengths(COLLC_RT_GATHER, 0) == pair(10, 0));
  assert_true(lengths(COLLC_RT_GATHER, 1) == pair(10, 40));
  assert_true(lengths(COLLC_RT_SCATTER, 0) == pair(0, 10));
  assert_true(lengths(COLLC_RT_SCATTER, 1) == pair(40, 10));
  assert_true(lengths(COLLC_RT_REDUCE, 0) == pair(10, 0));
  assert_true(lengths(COLLC_RT_REDUCE, 1) == pair(10, 10));
  assert_true(lengths(COLLC_RT_ALLREDUCE, 3) == pair(10, 10));
}

static void collective__copies_what_would_be_overwritten(void **) {
  const auto copies = [](collc_rt_kind k, std::size_t in, std::size_t out, std::int64_t rank) {
    collc_rt_collective c = asked(k, 8);
    c.in = memory + in;
    c.out = memory + out;
    return read_collective(&c, 4, rank).copies_in;
  };
  assert_false(copies(COLLC_RT_ALLREDUCE, 0, 8, 0));
  assert_true(copies(COLLC_RT_ALLREDUCE, 0, 0, 0));
  assert_true(copies(COLLC_RT_ALLREDUCE, 4, 0, 0));
  assert_true(copies(COLLC_RT_ALLTOALL, 0, 0, 0));
  assert_false(copies(COLLC_RT_ALLGATHER, 16, 0, 2)); // its own block
  assert_true(copies(COLLC_RT_ALLGATHER, 16, 0, 1));
  assert_false(copies(COLLC_RT_SCATTER, 0, 0, 0));
  assert_true(copies(COLLC_RT_SCATTER, 0, 8, 0));
}

static void collective__refusals(void **) {
  collc_rt_collective c = asked(COLLC_RT_REDUCE, 8);
  c.size = 8;
  assert_non_null(std::strstr(refused(c).c_str(), "collc_rt_collective.size is 8; at least"));
  c = asked(COLLC_RT_REDUCE, 8);
  const int none = 8;
  std::memcpy(&c.kind, &none, sizeof none);
  ASSERT_REFUSED(c, "-22 kind is 8; allowed: 0 to 7");
  c = asked(COLLC_RT_BARRIER, 8);
  ASSERT_REFUSED(c, "-22 bytes of a barrier is 8; allowed: 0");
  c = asked(COLLC_RT_GATHER, 8);
  c.root = 4;
  ASSERT_REFUSED(c, "-22 root of a gather among 4 ranks is 4; allowed: 0 to 3");
  c.root = -1;
  ASSERT_REFUSED(c, "-22 root of a gather among 4 ranks is -1; allowed: 0 to 3");
  c = asked(COLLC_RT_ALLGATHER, 8);
  c.root = 1;
  ASSERT_REFUSED(c, "-22 root of a allgather among 4 ranks is 1; allowed: 0");
  c = asked(COLLC_RT_ALLGATHER, 8);
  c.in = nullptr;
  ASSERT_REFUSED(c, "-22 in is null; 8 bytes are needed");
  c = asked(COLLC_RT_ALLGATHER, 8);
  c.out = nullptr;
  ASSERT_REFUSED(c, "-22 out is null; 32 bytes are needed");
  c = asked(COLLC_RT_ALLGATHER, UINT64_MAX);
  ASSERT_REFUSED(c, "-22 bytes is 18446744073709551615; allowed: 0 to 2305843009213693951");
  c = asked(COLLC_RT_ALLGATHER, 8);
  c.flags = COLLC_RT_STRICT_ORDER;
  ASSERT_REFUSED(c, "-38 COLLC_RT_STRICT_ORDER: requests share no tanks yet");
  c.flags = 4;
  ASSERT_REFUSED(c, "-22 flags are 0x4; allowed: COLLC_RT_DIRECT");
  c = asked(COLLC_RT_ALLGATHER, 8);
  c.ready = 9;
  ASSERT_REFUSED(c, "-22 ready is 9; allowed: 0 to 4 (enum collc_ready)");
  c = asked(COLLC_RT_ALLGATHER, 8);
  c.parameter_count = 1;
  ASSERT_REFUSED(c, "-22 parameters is null, parameter_count 1");
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(collective__chooses_by_ranks_and_size),
    cmocka_unit_test(collective__lengths_by_rank),
    cmocka_unit_test(collective__copies_what_would_be_overwritten),
    cmocka_unit_test(collective__refusals),
};
static const unit::Group group{"collective", cases};
