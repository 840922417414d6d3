// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The arithmetic of atomics at their target: what fi_atomic(3) defines, on the
// memory of this process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <rdma/fi_domain.h>

namespace dpdkx::op {

// Named by libfabric 2's headers only. One build serves both versions: a program
// that knows them may ask for them of a provider built against 1.17.
inline constexpr auto datatype_float16 = static_cast<fi_datatype>(16);
inline constexpr auto datatype_bfloat16 = static_cast<fi_datatype>(17);
inline constexpr auto datatype_float8_e4m3 = static_cast<fi_datatype>(18);
inline constexpr auto datatype_float8_e5m2 = static_cast<fi_datatype>(19);
inline constexpr auto op_diff = static_cast<fi_op>(19);

enum class AtomicKind : std::uint8_t {
  plain,   // fi_atomic
  fetch,   // fi_fetch_atomic
  compare, // fi_compare_atomic
};

// Whether there is such an operation. Any value may be asked about.
//
//   kind     operations
//   plain    MIN MAX SUM PROD LOR LAND BOR BAND LXOR BXOR ATOMIC_WRITE DIFF
//   fetch    the same, and ATOMIC_READ
//   compare  CSWAP CSWAP_NE CSWAP_LE CSWAP_LT CSWAP_GE CSWAP_GT MSWAP
//
// Integers have all of these; real numbers all but the bitwise ones (BOR, BAND,
// BXOR, MSWAP); complex numbers neither those nor the ones that need an order
// (MIN, MAX, CSWAP_LE, _LT, _GE, _GT).
bool atomic_defined(fi_op, fi_datatype, AtomicKind);

// Bytes of an element; 0: there is no such datatype.
std::size_t atomic_size(fi_datatype);

// Applies the operation to `count` elements, one after the other. False, and
// nothing happens, if it isn't defined.
//
// The arguments are packed elements, each at any alignment:
//   target   all of it may be read and written
//   operand  not used by ATOMIC_READ
//   compare  used by kind `compare` only
//   result   what the elements were; not used by kind `plain`. May be `operand`
//            or `compare`; otherwise no two of the four overlap.
//
// Each element by itself is atomic, and no more than that (fi_atomic(3)):
// - Elements of up to 8 bytes at a multiple of their size: with respect to each
//   other, and to the processors' own atomic instructions on the same element,
//   in this process or another one. They are sequentially consistent.
// - Other elements, longer ones and unaligned ones: with respect to each other,
//   however they overlap, in this process. They take a lock, for as long as one
//   element takes.
// - An element of the first sort that overlaps one of the second, or an element
//   of another size: one may undo the other where they overlap, as if the bytes
//   had been read before and written after it. (Nothing else is harmed.)
//
// Arithmetic:
// - Integers wrap.
// - Comparisons are C's. With NaN, MIN and MAX leave the target as it is, a
//   CSWAP_NE swaps, and no other CSWAP does; CSWAP takes 0.0 for -0.0.
// - A number is true unless it compares equal to zero (so NaN is true); logical
//   operations make 1 or 0.
// - Rounding and floating-point traps are as the calling thread has them.
// - What long double has as padding stays as it is in the target, or comes from
//   the operand where the operand is stored unchanged.
bool atomic_apply(AtomicKind, fi_op, fi_datatype, std::byte *target, const std::byte *operand,
                  const std::byte *compare, std::byte *result, std::size_t count);

} // namespace dpdkx::op
