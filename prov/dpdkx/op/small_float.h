// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Floating-point numbers of 8 and 16 bits that no compiler here need know.
// Arithmetic goes through double and rounds once more, which gives the nearest
// number, ties to even: double holds every product, and twice the digits of
// every sum.
#pragma once

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace dpdkx::op {

// What stands for numbers beyond the largest.
enum class Beyond {
  infinity, // as in IEEE 754: the largest exponent is for infinity and NaN
  nan,      // no infinity; NaN has all bits set but the sign's, other bits are numbers
};

template <int exponent_bits, int mantissa_bits, Beyond beyond> class SmallFloat {
  static constexpr int size = 1 + exponent_bits + mantissa_bits;
  static_assert(size == 8 || size == 16);

public:
  using Bits = std::conditional_t<size == 8, std::uint8_t, std::uint16_t>;

  SmallFloat() = default; // zero
  explicit SmallFloat(double v) : bits_(encode(v)) {}
  explicit operator double() const { return decode(bits_); }

  friend SmallFloat operator+(SmallFloat a, SmallFloat b) {
    return SmallFloat(double(a) + double(b));
  }
  friend SmallFloat operator-(SmallFloat a, SmallFloat b) {
    return SmallFloat(double(a) - double(b));
  }
  friend SmallFloat operator*(SmallFloat a, SmallFloat b) {
    return SmallFloat(double(a) * double(b));
  }
  friend bool operator==(SmallFloat a, SmallFloat b) { return double(a) == double(b); }
  friend std::partial_ordering operator<=>(SmallFloat a, SmallFloat b) {
    return double(a) <=> double(b);
  }

private:
  static constexpr int bias = (1 << (exponent_bits - 1)) - 1;
  static constexpr int hidden = 1 << mantissa_bits; // the first digit, which isn't stored
  static constexpr int sign = 1 << (size - 1);
  static constexpr int infinity = ((1 << exponent_bits) - 1) << mantissa_bits;
  static constexpr int nan = beyond == Beyond::infinity ? infinity | hidden / 2 : sign - 1;
  static constexpr int largest = (beyond == Beyond::infinity ? infinity : nan) - 1;

  static double decode(int bits) {
    const int magnitude = bits & (sign - 1);
    double v = std::numeric_limits<double>::quiet_NaN();
    if (magnitude <= largest) {
      const int exponent = magnitude >> mantissa_bits;
      const int digits = (magnitude & (hidden - 1)) + (exponent ? hidden : 0);
      v = std::ldexp(digits, std::max(exponent, 1) - bias - mantissa_bits);
    } else if (beyond == Beyond::infinity && magnitude == infinity) {
      v = std::numeric_limits<double>::infinity();
    }
    return std::copysign(v, bits & sign ? -1 : 1);
  }

  static Bits encode(double v) {
    if (std::isnan(v))
      return nan;
    return static_cast<Bits>(magnitude_of(v) | (std::signbit(v) ? sign : 0));
  }

  static int magnitude_of(double v) {
    constexpr int over = beyond == Beyond::infinity ? infinity : nan;
    if (std::isinf(v))
      return over;
    constexpr int least = 1 - bias; // exponent of the smallest normal number
    int exponent = least;
    std::frexp(v, &exponent); // v is 0.5 to 1 times 2^exponent
    exponent = std::max(v == 0 ? least : exponent - 1, least);
    if (exponent > bias + 1)
      return over;
    // Digits that round up to one more than there is room for carry into the exponent.
    const double digits = std::nearbyint(std::ldexp(v, mantissa_bits - exponent));
    const int magnitude =
        ((exponent - least) << mantissa_bits) + static_cast<int>(std::fabs(digits));
    return magnitude > largest ? over : magnitude;
  }

  Bits bits_ = 0;
};

using Float16 = SmallFloat<5, 10, Beyond::infinity>;
using Bfloat16 = SmallFloat<8, 7, Beyond::infinity>;
using Float8E4m3 = SmallFloat<4, 3, Beyond::nan>; // as in OCP's 8-bit floating point, both
using Float8E5m2 = SmallFloat<5, 2, Beyond::infinity>;

} // namespace dpdkx::op
