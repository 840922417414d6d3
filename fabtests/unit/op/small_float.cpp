// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/op/small_float.h"
#include "unit/property.h"

#include <bit>
#include <map>
#include <random>
#include <type_traits>

#include "unit/unit.h" // last: cmocka defines fail

using namespace dpdkx::op;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class F> F of(unsigned bits) {
  return std::bit_cast<F>(static_cast<typename F::Bits>(bits));
}
template <class F> unsigned bits(F v) { return std::bit_cast<typename F::Bits>(v); }
template <class F> constexpr unsigned patterns = 1U << (8 * sizeof(F));

// The non-negative numbers of a format, and what bits they have.
template <class F> std::map<double, unsigned> numbers() {
  std::map<double, unsigned> all;
  for (unsigned b = 0; b < patterns<F> / 2; ++b)
    if (const double v(of<F>(b)); std::isfinite(v))
      all[v] = b;
  return all;
}

// The nearest number by search, the even one of two. Beyond the largest there
// is one more, as if exponents went on: who is nearer to that has overflowed.
template <class F> double nearest(const std::map<double, unsigned> &all, double v, double beyond) {
  const double a = std::fabs(v);
  const auto largest = std::prev(all.end());
  auto above = all.lower_bound(a);
  double found;
  if (above == all.end()) {
    const double step = largest->first - std::prev(largest)->first;
    const double half = largest->first + step / 2;
    const bool over = a > half || (a == half && largest->second % 2);
    found = over ? beyond : largest->first;
  } else if (above->first == a) {
    found = a;
  } else {
    const auto below = std::prev(above);
    const double down = a - below->first, up = above->first - a;
    const bool to_above = up < down || (up == down && above->second % 2 == 0);
    found = to_above ? above->first : below->first;
  }
  return std::copysign(found, v);
}

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

template <class F> void known(unsigned pattern, double v) {
  assert_true(same(double(of<F>(pattern)), v));
  assert_int_equal(bits(F(v)), pattern);
}

void small_float__known_values(void **) {
  known<Float16>(0x3c00, 1);
  known<Float16>(0xc000, -2);
  known<Float16>(0x7bff, 65504);
  known<Float16>(0x0400, 0x1p-14);
  known<Float16>(0x0001, 0x1p-24);
  known<Float16>(0x8000, -0.0);
  known<Float16>(0x7c00, infinity);
  known<Float16>(0x3555, 0.333251953125);

  known<Bfloat16>(0x3f80, 1);
  known<Bfloat16>(0x4049, 3.140625);
  known<Bfloat16>(0x7f7f, 0x1.fep127);
  known<Bfloat16>(0x0080, 0x1p-126);
  known<Bfloat16>(0x0001, 0x1p-133);
  known<Bfloat16>(0xff80, -infinity);

  known<Float8E4m3>(0x38, 1);
  known<Float8E4m3>(0x7e, 448);
  known<Float8E4m3>(0x08, 0x1p-6);
  known<Float8E4m3>(0x01, 0x1p-9);
  known<Float8E4m3>(0x78, 256); // its largest exponent has numbers too

  known<Float8E5m2>(0x3c, 1);
  known<Float8E5m2>(0x7b, 57344);
  known<Float8E5m2>(0x04, 0x1p-14);
  known<Float8E5m2>(0x01, 0x1p-16);
  known<Float8E5m2>(0xfc, -infinity);

  assert_true(std::isnan(double(of<Float8E4m3>(0x7f))));
  assert_true(std::isnan(double(of<Float8E4m3>(0xff))));
  assert_true(std::isnan(double(Float8E4m3(infinity))));
  assert_true(std::isnan(double(Float8E4m3(1e300))));
  assert_true(std::isnan(double(of<Float8E5m2>(0x7d))));
  assert_true(std::isnan(double(of<Float16>(0x7c01))));
  assert_true(std::isnan(double(Bfloat16(std::nan("")))));
}

template <class F> void every_pattern_comes_back() {
  for (unsigned b = 0; b < patterns<F>; ++b) {
    const double v(of<F>(b));
    const F back(v);
    assert_true(std::isnan(v) ? std::isnan(double(back)) : bits(back) == b);
  }
}

void small_float__every_pattern_comes_back(void **) {
  every_pattern_comes_back<Float16>();
  every_pattern_comes_back<Bfloat16>();
  every_pattern_comes_back<Float8E4m3>();
  every_pattern_comes_back<Float8E5m2>();
}

template <class F> bool pair_is_right(const std::map<double, unsigned> &all, F a, F b) {
  constexpr double beyond =
      std::is_same_v<F, Float8E4m3> ? std::numeric_limits<double>::quiet_NaN() : infinity;
  const auto is = [&](F got, double want) {
    return same(double(got), std::isfinite(want) ? nearest<F>(all, want, beyond) : want);
  };
  const double x(a), y(b);
  return is(a + b, x + y) && is(a - b, x - y) && is(a * b, x * y) && (a == b) == (x == y) &&
         (a != b) == (x != y) && (a < b) == (x < y) && (a <= b) == (x <= y) && (a > b) == (x > y) &&
         (a >= b) == (x >= y);
}

template <class F> void all_pairs_are_right() {
  const auto all = numbers<F>();
  for (unsigned a = 0; a < patterns<F>; ++a)
    for (unsigned b = 0; b < patterns<F>; ++b)
      assert_true(pair_is_right(all, of<F>(a), of<F>(b)));
}

// Half of the pairs with exponents close to each other, so that sums have
// something to round.
template <class F> void random_pairs_are_right(const char *what) {
  const auto all = numbers<F>();
  assert_true(unit::holds(what, [&] {
    std::minstd_rand random(*rc::gen::resize(100, rc::gen::arbitrary<std::uint32_t>()));
    for (int i = 0; i < 1000; ++i) {
      const auto a = static_cast<unsigned>(random()) % patterns<F>;
      const auto b = static_cast<unsigned>(i % 2 ? a + random() % (patterns<F> / 16) : random());
      RC_LOG() << std::hex << "pair " << a << ' ' << b << '\n';
      RC_ASSERT(pair_is_right(all, of<F>(a), of<F>(b)));
    }
  }));
}

void small_float__rounds_to_nearest_ties_to_even(void **) {
  random_pairs_are_right<Float16>("float16");
  random_pairs_are_right<Bfloat16>("bfloat16");
  all_pairs_are_right<Float8E4m3>();
  all_pairs_are_right<Float8E5m2>();
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(small_float__known_values),
    cmocka_unit_test(small_float__every_pattern_comes_back),
    cmocka_unit_test(small_float__rounds_to_nearest_ties_to_even),
};
static const unit::Group group{"small_float", cases};
