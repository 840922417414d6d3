// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/runtime/plan.h"

#include "collc/runtime/error.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "unit/unit.h"

using namespace collc::rt;

namespace {

collective_request of(collc_rt_kind kind, std::uint64_t bytes, const std::byte *in, std::byte *out,
                      const char *algorithm, std::uint32_t flags = COLLC_RT_DIRECT) {
  collc_rt_collective c{};
  c.size = sizeof c;
  c.kind = kind;
  c.bytes = bytes;
  c.in = in;
  c.out = out;
  c.algorithm = algorithm;
  c.flags = flags;
  return read_collective(&c, 4, 2);
}

std::string refused(const collective_request &c) {
  try {
    const plan p(c, 4, 2);
  } catch (const failure &f) {
    return f.text;
  }
  return "";
}

} // namespace

static void plan__of_a_rank(void **) {
  std::vector<std::byte> in(8), out(32);
  const plan p(of(COLLC_RT_ALLGATHER, 8, in.data(), out.data(), "allgather:butterfly"), 4, 2);
  assert_int_equal(p.tanks().size(), 1);
  assert_int_equal(p.buffers().size(), 3);
  assert_ptr_equal(p.buffers()[1].start, out.data());
  assert_int_equal(p.buffers()[1].length, 32);
  // Data are told by an addition that follows them.
  for (const collc_work &w : p.works())
    assert_true(w.operation != COLLC_WRITE || w.value == 0);
  assert_int_equal(std::ranges::count(p.works(), COLLC_WRITE, &collc_work::operation), 2);
  std::memset(in.data(), 7, 8);
  p.copy_at_start(0);
  assert_memory_equal(out.data() + 16, in.data(), 8);
}

// Small data land in memory of the plan's own, of which each turn has some.
static void plan__landing(void **) {
  std::vector<std::byte> in(8), out(32);
  const plan p(of(COLLC_RT_ALLGATHER, 8, in.data(), out.data(), "allgather:butterfly", 0), 4, 2);
  assert_int_equal(p.turns(), 3);
  assert_int_equal(p.buffers().size(), 4);
  const memory &m = p.buffers()[3];
  assert_int_equal(m.length, 32);
  assert_true(m.stride >= 32 && p.whole_length(m) == 32 + 2 * m.stride);
  assert_true(p.is_target(3) && !p.is_target(1));
  for (const collc_work &w : p.works())
    assert_true(w.operation != COLLC_WRITE || (w.from.buffer == 3 && w.to.buffer == 3));
  for (const unsigned turn : {0u, 1u}) {
    std::memset(in.data(), 7 + static_cast<int>(turn), 8);
    p.copy_at_start(turn);
    assert_memory_equal(m.at(turn) + 16, in.data(), 8);
    p.copy_at_finish(turn);
    assert_memory_equal(out.data() + 16, in.data(), 8);
  }
  assert_int_equal(std::to_integer<int>(m.at(0)[16]), 7);
}

static void plan__lands_what_is_small(void **) {
  std::vector<std::byte> in(1 << 20), out(1 << 20);
  const auto lands = [&](collc_rt_kind kind, std::uint64_t bytes, const char *algorithm,
                         std::uint32_t flags = 0) {
    const plan p(of(kind, bytes, in.data(), out.data(), algorithm, flags), 4, 2);
    return !p.is_target(plan::first_target);
  };
  assert_true(lands(COLLC_RT_BROADCAST, 2048, "broadcast:flat"));
  assert_false(lands(COLLC_RT_BROADCAST, 2049, "broadcast:flat"));
  assert_false(lands(COLLC_RT_BROADCAST, 0, "broadcast:flat"));
  assert_false(lands(COLLC_RT_BROADCAST, 8, "broadcast:flat", COLLC_RT_DIRECT));
  assert_true(lands(COLLC_RT_GATHER, 512, "gather:flat"));
  assert_false(lands(COLLC_RT_GATHER, 513, "gather:flat"));
  assert_false(lands(COLLC_RT_REDUCE, 8, "reduce:flat"));
  collective_request c = of(COLLC_RT_BROADCAST, 8, nullptr, out.data(), "broadcast:flat", 0);
  c.ready = COLLC_READY_EARLY; // asked for
  assert_true(plan(c, 4, 2).is_target(plan::first_target));
}

static void plan__a_copy_of_the_input(void **) {
  std::vector<std::byte> both(8);
  const plan p(of(COLLC_RT_ALLREDUCE, 8, both.data(), both.data(), "allreduce:butterfly"), 4, 2);
  assert_ptr_not_equal(p.buffers()[0].start, both.data());
  std::memset(both.data(), 7, 8);
  p.copy_at_start(0);
  assert_memory_equal(p.buffers()[0].start, both.data(), 8);
}

static void plan__digests_tell_requests_apart(void **) {
  std::vector<std::byte> in(64), out(256);
  const auto digests = [&](const collective_request &c) {
    const plan p(c, 4, 2);
    return std::vector<std::uint64_t>(p.digests().begin(), p.digests().end());
  };
  const collective_request one = of(COLLC_RT_BROADCAST, 64, nullptr, out.data(), "broadcast:chain");
  collective_request other = one;
  assert_true(digests(one) == digests(other));
  other.algorithm = "broadcast:flat";
  assert_true(digests(one) != digests(other));
  other = one;
  other.parameters.emplace_back("segments", 3);
  assert_true(digests(one) != digests(other));
  other = one;
  other.direct = false;
  assert_true(digests(one) != digests(other));
  other = one;
  other.bytes = 56;
  assert_true(digests(one) != digests(other));
}

static void plan__refusals(void **) {
  std::vector<std::byte> in(64), out(256);
  const std::string other =
      refused(of(COLLC_RT_GATHER, 8, in.data(), out.data(), "barrier:butterfly"));
  assert_string_equal(other.c_str(), "algorithm barrier:butterfly is for barrier; kind is gather");
  const std::string none = refused(of(COLLC_RT_GATHER, 8, in.data(), out.data(), "gather:none"));
  assert_non_null(std::strstr(none.c_str(), "gather:none"));
  collective_request c = of(COLLC_RT_BROADCAST, 8, nullptr, out.data(), "broadcast:chain");
  c.parameters.emplace_back("segments", 0);
  assert_non_null(std::strstr(refused(c).c_str(), "segments"));
  c = of(COLLC_RT_ALLREDUCE, 12, in.data(), out.data(), "allreduce:butterfly");
  assert_non_null(std::strstr(refused(c).c_str(), "12")); // no whole doubles
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(plan__of_a_rank),
    cmocka_unit_test(plan__landing),
    cmocka_unit_test(plan__lands_what_is_small),
    cmocka_unit_test(plan__a_copy_of_the_input),
    cmocka_unit_test(plan__digests_tell_requests_apart),
    cmocka_unit_test(plan__refusals),
};
static const unit::Group group{"plan", cases};
