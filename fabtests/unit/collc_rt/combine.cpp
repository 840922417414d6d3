// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/runtime/combine.h"

#include "collc/lower/atomics.h"
#include "collc/runtime/error.h"

#include <complex>
#include <cstring>
#include <vector>

#include "unit/unit.h"

using namespace collc::rt;

namespace {

// Of two lists; neither is aligned.
template <class T>
std::vector<T> combined(const char *operation, const char *type, const std::vector<T> &a,
                        const std::vector<T> &b) {
  const combination c = find_combination(operation, type);
  assert_int_equal(c.size, sizeof(T));
  const std::size_t size = a.size() * sizeof(T);
  std::vector<std::byte> into(size + 1), from(size + 1);
  std::memcpy(into.data() + 1, a.data(), size);
  std::memcpy(from.data() + 1, b.data(), size);
  c.run(into.data() + 1, from.data() + 1, a.size());
  std::vector<T> out(a.size());
  std::memcpy(out.data(), into.data() + 1, size);
  return out;
}

template <class T> void integers(const char *type) {
  const auto is = [&](const char *operation, std::vector<T> expected) {
    return combined<T>(operation, type, {6, 0, 5, 120}, {3, 0, 0, 7}) == expected;
  };
  assert_true(is("sum", {9, 0, 5, 127}));
  assert_true(is("prod", {18, 0, 0, static_cast<T>(840)}));
  assert_true(is("min", {3, 0, 0, 7}));
  assert_true(is("max", {6, 0, 5, 120}));
  assert_true(is("land", {1, 0, 0, 1}));
  assert_true(is("lor", {1, 0, 1, 1}));
  assert_true(is("lxor", {0, 0, 1, 0}));
  assert_true(is("band", {2, 0, 0, 0}));
  assert_true(is("bor", {7, 0, 5, 127}));
  assert_true(is("bxor", {5, 0, 5, 127}));
}

} // namespace

static void combine__integers(void **) {
  integers<std::int8_t>("int8");
  integers<std::uint8_t>("uint8");
  integers<std::int16_t>("int16");
  integers<std::uint16_t>("uint16");
  integers<std::int32_t>("int32");
  integers<std::uint32_t>("uint32");
  integers<std::int64_t>("int64");
  integers<std::uint64_t>("uint64");
}

static void combine__wraps_around(void **) {
  assert_true((combined<std::int32_t>("sum", "int32", {INT32_MAX}, {1}) ==
               std::vector<std::int32_t>{INT32_MIN}));
  assert_true((combined<std::uint16_t>("prod", "uint16", {65535}, {65535}) ==
               std::vector<std::uint16_t>{1}));
}

static void combine__signs(void **) {
  assert_true((combined<std::int8_t>("min", "int8", {-1}, {1}) == std::vector<std::int8_t>{-1}));
  assert_true((combined<std::uint8_t>("min", "uint8", {255}, {1}) == std::vector<std::uint8_t>{1}));
}

static void combine__numbers_that_are_not_integers(void **) {
  assert_true((combined<float>("prod", "float", {1.5f}, {-2}) == std::vector<float>{-3}));
  assert_true((combined<double>("max", "double", {1.5}, {-2}) == std::vector<double>{1.5}));
  using complex = std::complex<double>;
  assert_true((combined<complex>("prod", "double_complex", {{0, 1}}, {{0, 1}}) ==
               std::vector<complex>{{-1, 0}}));
  using short_complex = std::complex<float>;
  assert_true((combined<short_complex>("sum", "float_complex", {{1, 2}}, {{3, 4}}) ==
               std::vector<short_complex>{{4, 6}}));
}

// What the compiler has, and nothing else.
static void combine__as_the_compiler_has_it(void **) {
  for (const std::string &type : collc::atomic_types())
    for (const std::string &operation : collc::atomic_operations()) {
      bool compiles = true, runs = true;
      try {
        collc::find_atomic(operation, type);
      } catch (const std::exception &) {
        compiles = false;
      }
      try {
        const combination c = find_combination(operation, type);
        assert_int_equal(c.size, collc::find_atomic(operation, type).size);
      } catch (const failure &f) {
        runs = false;
        assert_int_equal(f.code, -FI_EINVAL);
        assert_non_null(std::strstr(f.text.c_str(), operation.c_str()));
      }
      assert_int_equal(compiles, runs);
    }
}

static void combine__unknown(void **) {
  for (const auto &[operation, type] : {std::pair("sum", "int128"), std::pair("avg", "int8")})
    try {
      find_combination(operation, type);
      fail_msg("%s of %s", operation, type);
    } catch (const failure &f) {
      assert_int_equal(f.code, -FI_EINVAL);
    }
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(combine__integers),
    cmocka_unit_test(combine__wraps_around),
    cmocka_unit_test(combine__signs),
    cmocka_unit_test(combine__numbers_that_are_not_integers),
    cmocka_unit_test(combine__as_the_compiler_has_it),
    cmocka_unit_test(combine__unknown),
};
static const unit::Group group{"combine", cases};
