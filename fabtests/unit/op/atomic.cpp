// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What each operation makes of an element; threads are in atomic_threads.cpp.
#include "dpdkx/op/atomic.h"
#include "unit/property.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "atomic_types.h"
#include "unit/unit.h" // last: cmocka defines fail

using namespace dpdkx::op;
using namespace atomic_types;

namespace {

constexpr AtomicKind all_kinds[] = {AtomicKind::plain, AtomicKind::fetch, AtomicKind::compare};

// --- which there are ---

void defined__is_what_the_man_page_says(void **) {
  const auto integers = {FI_INT8,   FI_UINT8, FI_INT16,  FI_UINT16, FI_INT32,
                         FI_UINT32, FI_INT64, FI_UINT64, FI_INT128, FI_UINT128};
  const auto reals = {FI_FLOAT,
                      FI_DOUBLE,
                      FI_LONG_DOUBLE,
                      datatype_float16,
                      datatype_bfloat16,
                      datatype_float8_e4m3,
                      datatype_float8_e5m2};
  const auto complexes = {FI_FLOAT_COMPLEX, FI_DOUBLE_COMPLEX, FI_LONG_DOUBLE_COMPLEX};
  struct {
    fi_op op;
    const char *kinds; // plain, fetch, compare
    const char *types; // integer, real, complex
  } const ops[] = {
      {FI_MIN, "pf", "ir"},     {FI_MAX, "pf", "ir"},         {FI_SUM, "pf", "irc"},
      {FI_PROD, "pf", "irc"},   {FI_LOR, "pf", "irc"},        {FI_LAND, "pf", "irc"},
      {FI_BOR, "pf", "i"},      {FI_BAND, "pf", "i"},         {FI_LXOR, "pf", "irc"},
      {FI_BXOR, "pf", "i"},     {FI_ATOMIC_READ, "f", "irc"}, {FI_ATOMIC_WRITE, "pf", "irc"},
      {FI_CSWAP, "c", "irc"},   {FI_CSWAP_NE, "c", "irc"},    {FI_CSWAP_LE, "c", "ir"},
      {FI_CSWAP_LT, "c", "ir"}, {FI_CSWAP_GE, "c", "ir"},     {FI_CSWAP_GT, "c", "ir"},
      {FI_MSWAP, "c", "i"},     {op_diff, "pf", "irc"},
  };
  std::set<std::tuple<int, int, AtomicKind>> expected;
  for (const auto &o : ops)
    for (const char kind : std::string(o.kinds))
      for (const char type : std::string(o.types))
        for (const fi_datatype d : type == 'i' ? integers : type == 'r' ? reals : complexes)
          expected.insert({o.op, d,
                           kind == 'p'   ? AtomicKind::plain
                           : kind == 'f' ? AtomicKind::fetch
                                         : AtomicKind::compare});
  // Beyond the last of each, the numbers of libfabric's collectives.
  for (int op = 0; op <= FI_NOOP + 1; ++op)
    for (int type = 0; type <= FI_VOID + 1; ++type)
      for (const AtomicKind kind : all_kinds) {
        const bool defined =
            atomic_defined(static_cast<fi_op>(op), static_cast<fi_datatype>(type), kind);
        if (defined != expected.contains({op, type, kind}))
          fail_msg("op %d of datatype %d, kind %d: %d\n", op, type, static_cast<int>(kind),
                   defined);
      }
  assert_false(atomic_defined(FI_SUM, FI_INT32, static_cast<AtomicKind>(3)));
}

void size__is_the_types(void **) {
  std::size_t seen = 0;
  for (int type = 0; type <= FI_VOID + 1; ++type)
    if (atomic_size(static_cast<fi_datatype>(type)))
      ++seen;
  for_each_type([&]<fi_datatype id, class T>() {
    --seen;
    assert_int_equal(atomic_size(id), sizeof(T));
  });
  assert_int_equal(seen, 0);
}

void apply__leaves_alone_what_is_not_defined(void **) {
  for (int op = 0; op <= FI_NOOP + 1; ++op)
    for (int type = 0; type <= FI_VOID + 1; ++type)
      for (const AtomicKind kind : all_kinds) {
        const auto o = static_cast<fi_op>(op);
        const auto d = static_cast<fi_datatype>(type);
        if (!atomic_defined(o, d, kind))
          assert_false(atomic_apply(kind, o, d, nullptr, nullptr, nullptr, nullptr, 1));
      }
}

// --- what they do ---

// fi_atomic(3), letter by letter.
template <class T> T expected(int op, T addr, T buf, [[maybe_unused]] T compare) {
  const T none{};
  const bool a = !(addr == none), b = !(buf == none);
  switch (op) {
  case FI_LOR:
    return static_cast<T>(a || b);
  case FI_LAND:
    return static_cast<T>(a && b);
  case FI_LXOR:
    return static_cast<T>((a && !b) || (!a && b));
  case FI_ATOMIC_READ:
    return addr;
  case FI_ATOMIC_WRITE:
    return buf;
  case FI_CSWAP:
    return compare == addr ? buf : addr;
  case FI_CSWAP_NE:
    return compare == addr ? addr : buf;
  default:
    break;
  }
  if constexpr (integer<T>) {
    const auto wide = [](T v) { return static_cast<Uint128>(static_cast<Int128>(v)); };
    const Uint128 x = wide(addr), y = wide(buf), c = wide(compare);
    switch (op) { // modulo 2^128, then modulo T's
    case FI_SUM:
      return static_cast<T>(x + y);
    case op_diff:
      return static_cast<T>(x - y);
    case FI_PROD:
      return static_cast<T>(x * y);
    case FI_BOR:
      return static_cast<T>(x | y);
    case FI_BAND:
      return static_cast<T>(x & y);
    case FI_BXOR:
      return static_cast<T>(x ^ y);
    case FI_MSWAP:
      return static_cast<T>((y & c) | (x & ~c));
    default:
      break;
    }
  } else {
    switch (op) {
    case FI_SUM:
      return addr + buf;
    case op_diff:
      return addr - buf;
    case FI_PROD:
      return addr * buf;
    default:
      break;
    }
  }
  if constexpr (!complex<T>) {
    switch (op) {
    case FI_MIN:
      return buf < addr ? buf : addr;
    case FI_MAX:
      return buf > addr ? buf : addr;
    case FI_CSWAP_LE:
      return compare <= addr ? buf : addr;
    case FI_CSWAP_LT:
      return compare < addr ? buf : addr;
    case FI_CSWAP_GE:
      return compare >= addr ? buf : addr;
    case FI_CSWAP_GT:
      return compare > addr ? buf : addr;
    default:
      break;
    }
  }
  RC_FAIL("no such operation");
}

// Packed elements somewhere in memory, with bytes around them that stay as they are.
template <class T> class Packed {
public:
  Packed(const std::vector<T> &values, std::size_t offset)
      : offset_(offset), count_(values.size()),
        room_(offset + values.size() * sizeof(T) + guard, std::byte{0xa5}) {
    std::ranges::copy(std::as_bytes(std::span(values)), data());
  }
  std::byte *data() { return room_.data() + offset_; }
  std::vector<T> values() {
    std::vector<T> v(count_);
    std::copy_n(data(), count_ * sizeof(T), std::as_writable_bytes(std::span(v)).begin());
    return v;
  }
  bool is_whole() const {
    for (std::size_t i = 0; i < room_.size(); ++i)
      if ((i < offset_ || i >= room_.size() - guard) && room_[i] != std::byte{0xa5})
        return false;
    return true;
  }

private:
  static constexpr std::size_t guard = 32;
  std::size_t offset_, count_;
  std::vector<std::byte> room_;
};

template <class T> bool equal(const std::vector<T> &a, const std::vector<T> &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](T x, T y) { return same(x, y); });
}

struct Case {
  std::vector<Drawn> before, operand, compare;
  std::size_t target_at, operand_at, compare_at, result_at;
};

Case any_case() {
  const auto count = *rc::gen::weightedOneOf<std::size_t>(
      {{1, rc::gen::just<std::size_t>(0)}, {4, rc::gen::inRange<std::size_t>(1, 9)}});
  // Aligned, often enough.
  const auto offset =
      rc::gen::oneOf(rc::gen::just<std::size_t>(0), rc::gen::inRange<std::size_t>(0, 17));
  Case c{*drawn(count), *drawn(count), *drawn(count), *offset, *offset, *offset, *offset};
  for (std::size_t i = 0; i < count; ++i)
    if (*rc::gen::inRange(0, 3) == 0)
      c.compare[i] = c.before[i];
  return c;
}

template <class T> std::vector<T> values(const std::vector<Drawn> &from) {
  std::vector<T> v;
  for (const Drawn &d : from)
    v.push_back(value<T>(d));
  return v;
}

template <fi_datatype id, class T> void check_every_operation() {
  const Case drawn = any_case();
  const auto before = values<T>(drawn.before), operand = values<T>(drawn.operand),
             compare = values<T>(drawn.compare);
  const std::size_t count = before.size();

  for (const AtomicKind kind : all_kinds)
    for (int op = 0; op <= op_diff; ++op) {
      const auto o = static_cast<fi_op>(op);
      if (!atomic_defined(o, id, kind))
        continue;
      RC_LOG() << "op " << op << " of datatype " << id << ", kind " << static_cast<int>(kind)
               << '\n';
      const bool compares = kind == AtomicKind::compare, fetches = kind != AtomicKind::plain;
      Packed<T> t(before, drawn.target_at), b(operand, drawn.operand_at),
          c(compare, drawn.compare_at), r(std::vector<T>(count), drawn.result_at);
      RC_ASSERT(atomic_apply(kind, o, id, t.data(), op == FI_ATOMIC_READ ? nullptr : b.data(),
                             compares ? c.data() : nullptr, fetches ? r.data() : nullptr, count));
      std::vector<T> after;
      for (std::size_t i = 0; i < count; ++i)
        after.push_back(expected(op, before[i], operand[i], compare[i]));
      RC_ASSERT(equal(t.values(), after));
      RC_ASSERT(equal(b.values(), operand));
      RC_ASSERT(equal(c.values(), compare));
      RC_ASSERT(!fetches || equal(r.values(), before));
      RC_ASSERT(t.is_whole() && r.is_whole());
      RC_ASSERT(b.is_whole() && c.is_whole());
    }
}

void apply__does_what_the_man_page_says(void **) {
  for_each_type([]<fi_datatype id, class T>() {
    const std::function<void()> property = check_every_operation<id, T>;
    assert_true(unit::holds("datatype " + std::to_string(id), property));
  });
}

void apply__result_may_be_operand_or_compare(void **) {
  for_each_type([]<fi_datatype id, class T>() {
    const std::vector<T> before(3, T(1)), operand(3, T(2)), compare(3, T(1));
    for (const std::size_t at : {0, 1}) {
      {
        Packed<T> t(before, at), b(operand, at);
        assert_true(atomic_apply(AtomicKind::fetch, FI_ATOMIC_WRITE, id, t.data(), b.data(),
                                 nullptr, b.data(), 3));
        assert_true(equal(t.values(), operand) && equal(b.values(), before));
      }
      for (const bool over_operand : {true, false}) {
        Packed<T> t(before, at), b(operand, at), c(compare, at);
        assert_true(atomic_apply(AtomicKind::compare, FI_CSWAP, id, t.data(), b.data(), c.data(),
                                 (over_operand ? b : c).data(), 3));
        assert_true(equal(t.values(), operand));
        assert_true(equal((over_operand ? b : c).values(), before));
      }
    }
  });
}

// --- what is easily got wrong ---

template <class T>
T after(AtomicKind kind, fi_op op, fi_datatype id, T target, T operand, T compare = T{}) {
  Packed<T> t({target}, 0), b({operand}, 0), c({compare}, 0), r({T{}}, 0);
  assert_true(atomic_apply(kind, op, id, t.data(), b.data(), c.data(), r.data(), 1));
  assert_true(same(r.values()[0], kind == AtomicKind::plain ? T{} : target));
  return t.values()[0];
}

void apply__integers_wrap(void **) {
  const auto f = AtomicKind::fetch;
  assert_int_equal(after<std::int8_t>(f, FI_SUM, FI_INT8, 127, 1), -128);
  assert_int_equal(after<std::int16_t>(f, FI_PROD, FI_INT16, -32768, -1), -32768);
  assert_int_equal(after<std::uint16_t>(f, FI_PROD, FI_UINT16, 65535, 65535), 1);
  assert_int_equal(after<std::int32_t>(f, FI_SUM, FI_INT32, INT32_MIN, -1), INT32_MAX);
  assert_int_equal(after<std::int32_t>(f, FI_PROD, FI_INT32, INT32_MAX, INT32_MAX), 1);
  assert_true(after<std::int64_t>(f, FI_PROD, FI_INT64, INT64_MAX, 2) == -2);
  assert_true(after<std::int64_t>(f, op_diff, FI_INT64, INT64_MIN, 1) == INT64_MAX);
  const auto least = static_cast<Int128>(Uint128{1} << 127);
  assert_true(after<Int128>(f, op_diff, FI_INT128, least, 1) ==
              static_cast<Int128>(~Uint128{} >> 1));
}

void apply__takes_signs_into_account(void **) {
  const auto p = AtomicKind::plain, c = AtomicKind::compare;
  assert_int_equal(after<std::int8_t>(p, FI_MIN, FI_INT8, 1, -1), -1);
  assert_int_equal(after<std::uint8_t>(p, FI_MIN, FI_UINT8, 1, 255), 1);
  assert_true(after<Int128>(p, FI_MAX, FI_INT128, 1, -1) == 1);
  assert_true(after<Uint128>(p, FI_MAX, FI_UINT128, 1, ~Uint128{}) == ~Uint128{});
  assert_int_equal(after<std::int64_t>(c, FI_CSWAP_LT, FI_INT64, 0, 5, -1), 5);
  assert_int_equal(after<std::uint64_t>(c, FI_CSWAP_LT, FI_UINT64, 0, 5, UINT64_MAX), 0);
}

// Of all but integers, with every type that has NaN.
void apply__nan_and_zeros_compare_as_in_c(void **) {
  for_each_type([]<fi_datatype id, class T>() {
    if constexpr (!integer<T>) {
      const auto p = AtomicKind::plain, c = AtomicKind::compare;
      const T nan(std::numeric_limits<double>::quiet_NaN()), one(1), zero(0), minus_zero(-0.0);
      if constexpr (!complex<T>) {
        for (const fi_op op : {FI_MIN, FI_MAX}) {
          assert_true(same(after(p, op, id, nan, one), nan));
          assert_true(same(after(p, op, id, one, nan), one));
          assert_true(same(after(p, op, id, zero, minus_zero), zero));
          assert_true(same(after(p, op, id, minus_zero, zero), minus_zero));
        }
        for (const fi_op op : {FI_CSWAP_LE, FI_CSWAP_LT, FI_CSWAP_GE, FI_CSWAP_GT}) {
          assert_true(same(after(c, op, id, nan, one, nan), nan));
          assert_true(same(after(c, op, id, one, zero, nan), one));
        }
      }
      assert_true(same(after(c, FI_CSWAP, id, nan, one, nan), nan));
      assert_true(same(after(c, FI_CSWAP_NE, id, nan, one, nan), one));
      assert_true(same(after(c, FI_CSWAP, id, zero, one, minus_zero), one));
      assert_true(same(after(c, FI_CSWAP_NE, id, zero, one, minus_zero), zero));
      assert_true(same(after(p, FI_LAND, id, nan, one), one));
      assert_true(same(after(p, FI_LOR, id, minus_zero, zero), zero));
      assert_true(same(after(p, FI_LXOR, id, nan, minus_zero), one));
    }
  });
}

void apply__imaginary_numbers_are_true(void **) {
  const std::complex<double> i(0, 1), one(1), none;
  assert_true(after(AtomicKind::plain, FI_LAND, FI_DOUBLE_COMPLEX, i, one) == one);
  assert_true(after(AtomicKind::plain, FI_LXOR, FI_DOUBLE_COMPLEX, i, i) == none);
  assert_true(after(AtomicKind::plain, FI_PROD, FI_DOUBLE_COMPLEX, i, i) == -one);
}

// What a NaN carries, and signs of zero, are bits of the operand.
void apply__stores_operands_bit_by_bit(void **) {
  const auto signalling = std::bit_cast<float>(0x7f812345U);
  for (const std::size_t at : {0, 1}) {
    Packed<float> t({1}, at), b({signalling}, at), c({1}, at), r({0}, at);
    assert_true(atomic_apply(AtomicKind::compare, FI_CSWAP, FI_FLOAT, t.data(), b.data(), c.data(),
                             r.data(), 1));
    assert_memory_equal(t.data(), b.data(), sizeof(float));
    assert_true(atomic_apply(AtomicKind::fetch, FI_ATOMIC_READ, FI_FLOAT, t.data(), nullptr,
                             nullptr, r.data(), 1));
    assert_memory_equal(r.data(), b.data(), sizeof(float));
  }
}

// Padding must not bring bytes of our stack to the peer.
void apply__padding_is_the_targets_or_the_operands(void **) {
  if constexpr (value_bytes<long double> < sizeof(long double)) {
    using T = std::complex<long double>;
    constexpr std::size_t part = sizeof(long double), used = value_bytes<long double>;
    const auto fill = [](Packed<T> &p, int with) {
      std::memset(p.data() + used, with, part - used);
      std::memset(p.data() + part + used, with, part - used);
    };
    const auto padding_is = [](Packed<T> &p, int with) {
      for (std::size_t i = 0; i < sizeof(T); ++i)
        if (i % part >= used && p.data()[i] != static_cast<std::byte>(with))
          return false;
      return true;
    };
    for (const fi_op op : {FI_SUM, FI_PROD, FI_LOR, FI_ATOMIC_WRITE}) {
      Packed<T> t({T(1, 2)}, 0), b({T(3, 4)}, 0), r({T{}}, 0);
      fill(t, 0x11);
      fill(b, 0x22);
      assert_true(atomic_apply(AtomicKind::fetch, op, FI_LONG_DOUBLE_COMPLEX, t.data(), b.data(),
                               nullptr, r.data(), 1));
      assert_true(padding_is(t, op == FI_ATOMIC_WRITE ? 0x22 : 0x11));
      assert_true(padding_is(r, 0x11));
    }
  }
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(defined__is_what_the_man_page_says),
    cmocka_unit_test(size__is_the_types),
    cmocka_unit_test(apply__leaves_alone_what_is_not_defined),
    cmocka_unit_test(apply__does_what_the_man_page_says),
    cmocka_unit_test(apply__result_may_be_operand_or_compare),
    cmocka_unit_test(apply__integers_wrap),
    cmocka_unit_test(apply__takes_signs_into_account),
    cmocka_unit_test(apply__nan_and_zeros_compare_as_in_c),
    cmocka_unit_test(apply__imaginary_numbers_are_true),
    cmocka_unit_test(apply__stores_operands_bit_by_bit),
    cmocka_unit_test(apply__padding_is_the_targets_or_the_operands),
};
static const unit::Group group{"atomic", cases};
