// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/op/atomic.h"
#include "dpdkx/op/small_float.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <complex>
#include <concepts>
#include <cstring>
#include <limits>
#include <mutex>
#include <utility>

namespace dpdkx::op {

namespace {

// --- datatypes ---

using Int128 = __int128;
using Uint128 = unsigned __int128;

template <fi_datatype id_, class T> struct Datatype {
  static constexpr fi_datatype id = id_;
  using Type = T;
};
template <class...> struct List {};

using Datatypes =
    List<Datatype<FI_INT8, std::int8_t>, Datatype<FI_UINT8, std::uint8_t>,
         Datatype<FI_INT16, std::int16_t>, Datatype<FI_UINT16, std::uint16_t>,
         Datatype<FI_INT32, std::int32_t>, Datatype<FI_UINT32, std::uint32_t>,
         Datatype<FI_INT64, std::int64_t>, Datatype<FI_UINT64, std::uint64_t>,
         Datatype<FI_INT128, Int128>, Datatype<FI_UINT128, Uint128>, //
         Datatype<FI_FLOAT, float>, Datatype<FI_DOUBLE, double>,
         Datatype<FI_LONG_DOUBLE, long double>, //
         Datatype<FI_FLOAT_COMPLEX, std::complex<float>>,
         Datatype<FI_DOUBLE_COMPLEX, std::complex<double>>,
         Datatype<FI_LONG_DOUBLE_COMPLEX, std::complex<long double>>, //
         Datatype<datatype_float16, Float16>, Datatype<datatype_bfloat16, Bfloat16>,
         Datatype<datatype_float8_e4m3, Float8E4m3>, Datatype<datatype_float8_e5m2, Float8E5m2>>;

constexpr std::size_t datatype_count = datatype_float8_e5m2 + 1;
constexpr std::size_t op_count = op_diff + 1;

template <class T>
concept Integer = std::integral<T> || std::same_as<T, Int128> || std::same_as<T, Uint128>;

template <std::size_t size>
using Unsigned = std::conditional_t<
    size == 1, std::uint8_t,
    std::conditional_t<size == 2, std::uint16_t,
                       std::conditional_t<size == 4, std::uint32_t,
                                          std::conditional_t<size == 8, std::uint64_t, Uint128>>>>;

// --- which operations there are ---

constexpr bool has_kind(fi_op op, AtomicKind kind) {
  if (op == FI_ATOMIC_READ)
    return kind == AtomicKind::fetch;
  if (op >= FI_CSWAP && op <= FI_MSWAP)
    return kind == AtomicKind::compare;
  return kind == AtomicKind::plain || kind == AtomicKind::fetch;
}

constexpr bool is_bitwise(fi_op op) {
  return op == FI_BOR || op == FI_BAND || op == FI_BXOR || op == FI_MSWAP;
}

constexpr bool needs_order(fi_op op) {
  return op == FI_MIN || op == FI_MAX || (op >= FI_CSWAP_LE && op <= FI_CSWAP_GT);
}

template <class T> constexpr bool has_op(fi_op op) {
  return is_bitwise(op) ? Integer<T> : !needs_order(op) || std::totally_ordered<T>;
}

// --- values, and the bytes that they are ---

template <class T> using Bytes = std::array<std::byte, sizeof(T)>;

// Zeros for what there is none of.
template <class T> Bytes<T> load(const std::byte *from) {
  Bytes<T> b{};
  if (from)
    std::memcpy(b.data(), from, sizeof(T));
  return b;
}

// What atomic_apply() is given; null: not used.
struct Arguments {
  std::byte *target;
  const std::byte *operand, *compare;
  std::byte *result;
  std::size_t count;
};

const std::byte *plus(const std::byte *p, std::size_t n) { return p ? p + n : nullptr; }

template <class T> struct Parts { using Type = T; };
template <class T> struct Parts<std::complex<T>> { using Type = T; };

// Without padding: x87's long double has 10 bytes of the 16 that it takes.
template <class T> constexpr std::size_t value_bytes = sizeof(T);
template <>
constexpr std::size_t value_bytes<long double> = std::numeric_limits<long double>::digits == 64
                                                     ? 10
                                                     : sizeof(long double);

// Leaves padding alone: in a variable, that is anything from our stack.
template <class T> void put(Bytes<T> &to, const T &value) {
  using Part = typename Parts<T>::Type;
  const auto *from = reinterpret_cast<const std::byte *>(&value);
  for (std::size_t at = 0; at < sizeof(T); at += sizeof(Part))
    std::memcpy(to.data() + at, from + at, value_bytes<Part>);
}

// --- operations ---

// An integer as an unsigned one, which wraps. (A short one is promoted to int,
// which doesn't.)
template <class T> auto wrapping(T v) {
  if constexpr (Integer<T>)
    return static_cast<Unsigned<std::max(sizeof(T), sizeof(int))>>(v);
  else
    return v;
}

template <fi_op op, class T> T computed(T target, T operand, [[maybe_unused]] T mask) {
  [[maybe_unused]] const bool t = target != T{}, o = operand != T{};
  if constexpr (op == FI_SUM)
    return static_cast<T>(wrapping(target) + wrapping(operand));
  else if constexpr (op == op_diff)
    return static_cast<T>(wrapping(target) - wrapping(operand));
  else if constexpr (op == FI_PROD)
    return static_cast<T>(wrapping(target) * wrapping(operand));
  else if constexpr (op == FI_LOR)
    return static_cast<T>(t || o);
  else if constexpr (op == FI_LAND)
    return static_cast<T>(t && o);
  else if constexpr (op == FI_LXOR)
    return static_cast<T>(t != o);
  else if constexpr (op == FI_BOR)
    return static_cast<T>(target | operand);
  else if constexpr (op == FI_BAND)
    return static_cast<T>(target & operand);
  else if constexpr (op == FI_BXOR)
    return static_cast<T>(target ^ operand);
  else if constexpr (op == FI_MSWAP)
    return static_cast<T>((operand & mask) | (target & ~mask));
}

// Those that store their operand, or nothing.
constexpr bool is_choice(fi_op op) {
  return op == FI_MIN || op == FI_MAX || op == FI_ATOMIC_WRITE ||
         (op >= FI_CSWAP && op <= FI_CSWAP_GT);
}

template <fi_op op, class T>
bool is_chosen(T target, [[maybe_unused]] T operand, [[maybe_unused]] T compare) {
  if constexpr (op == FI_MIN)
    return operand < target;
  else if constexpr (op == FI_MAX)
    return operand > target;
  else if constexpr (op == FI_ATOMIC_WRITE)
    return true;
  else if constexpr (op == FI_CSWAP)
    return compare == target;
  else if constexpr (op == FI_CSWAP_NE)
    return compare != target;
  else if constexpr (op == FI_CSWAP_LE)
    return compare <= target;
  else if constexpr (op == FI_CSWAP_LT)
    return compare < target;
  else if constexpr (op == FI_CSWAP_GE)
    return compare >= target;
  else if constexpr (op == FI_CSWAP_GT)
    return compare > target;
}

// Makes of the target's bytes what they become; false if they stay.
template <fi_op op, class T>
bool change(Bytes<T> &target, const Bytes<T> &operand, const Bytes<T> &compare) {
  const auto t = std::bit_cast<T>(target), o = std::bit_cast<T>(operand),
             c = std::bit_cast<T>(compare);
  if constexpr (op == FI_ATOMIC_READ) {
    return false;
  } else if constexpr (is_choice(op)) {
    const bool chosen = is_chosen<op>(t, o, c);
    if (chosen)
      target = operand;
    return chosen;
  } else {
    put<T>(target, computed<op>(t, o, c));
    return true;
  }
}

// --- elements that the processor can do ---

template <class T> using Word = Unsigned<sizeof(T)>;

template <class T>
constexpr bool fits_a_word =
    sizeof(T) <= sizeof(std::uint64_t) && std::atomic_ref<Word<T>>::is_always_lock_free;

// Returns what the element was. An instruction that does it all where there is
// one; else a loop.
template <fi_op op, class T>
Bytes<T> in_place(std::byte *target, const Bytes<T> &operand, const Bytes<T> &compare) {
  const std::atomic_ref<Word<T>> word(*reinterpret_cast<Word<T> *>(target));
  const auto o = std::bit_cast<Word<T>>(operand);
  const auto bytes = [](Word<T> w) { return std::bit_cast<Bytes<T>>(w); };
  if constexpr (op == FI_ATOMIC_READ) {
    return bytes(word.load());
  } else if constexpr (op == FI_ATOMIC_WRITE) {
    return bytes(word.exchange(o));
  } else if constexpr (Integer<T> && op == FI_SUM) {
    return bytes(word.fetch_add(o));
  } else if constexpr (Integer<T> && op == op_diff) {
    return bytes(word.fetch_sub(o));
  } else if constexpr (op == FI_BOR) {
    return bytes(word.fetch_or(o));
  } else if constexpr (op == FI_BAND) {
    return bytes(word.fetch_and(o));
  } else if constexpr (op == FI_BXOR) {
    return bytes(word.fetch_xor(o));
  } else {
    auto before = word.load();
    for (;;) {
      auto after = bytes(before);
      if (!change<op, T>(after, operand, compare) ||
          word.compare_exchange_weak(before, std::bit_cast<Word<T>>(after)))
        return bytes(before);
    }
  }
}

template <fi_op op, class T> void apply_by_instruction(const Arguments &a) {
  for (std::size_t at = 0; at < a.count * sizeof(T); at += sizeof(T)) {
    const auto o = load<T>(plus(a.operand, at)), c = load<T>(plus(a.compare, at));
    if (a.result) {
      const auto was = in_place<op, T>(a.target + at, o, c);
      std::memcpy(a.result + at, was.data(), sizeof(T));
    } else {
      in_place<op, T>(a.target + at, o, c); // may be an instruction that is cheaper
    }
  }
}

// --- elements that need a lock ---

// A lock for each granule of memory, which shares it with others far away. An
// element lies in two granules at most, and a call holds the locks of both, the
// one that comes first in the table taken first.
class Hold {
public:
  Hold(const std::byte *element, std::size_t len) {
    const auto at = reinterpret_cast<std::uintptr_t>(element);
    const auto [first, last] =
        std::minmax({at / granule % lock_count, (at + len - 1) / granule % lock_count});
    first_ = std::unique_lock(locks_[first].mutex);
    if (last != first)
      last_ = std::unique_lock(locks_[last].mutex);
  }

  static constexpr std::size_t granule = 32;

private:
  static constexpr std::size_t lock_count = 64;
  struct alignas(64) Lock { // of a cache line
    std::mutex mutex;
  };
  static inline constinit std::array<Lock, lock_count> locks_;

  std::unique_lock<std::mutex> first_, last_;
};

// How a type changes: change(), on bytes anywhere.
using Change = bool(std::byte *target, const std::byte *operand, const std::byte *compare);

template <fi_op op, class T>
bool change_at(std::byte *target, const std::byte *operand, const std::byte *compare) {
  auto t = load<T>(target);
  const bool changed = change<op, T>(t, load<T>(operand), load<T>(compare));
  if (changed)
    std::memcpy(target, t.data(), sizeof(T));
  return changed;
}

void apply_by_lock(Change *change, std::size_t size, const Arguments &a) {
  for (std::size_t at = 0; at < a.count * size; at += size) {
    std::byte was[Hold::granule];
    {
      const Hold hold(a.target + at, size);
      std::memcpy(was, a.target + at, size);
      change(a.target + at, plus(a.operand, at), plus(a.compare, at));
    }
    if (a.result)
      std::memcpy(a.result + at, was, size);
  }
}

// --- all of them ---

using Apply = void(const Arguments &);

template <fi_op op, class T> void apply(const Arguments &a) {
  static_assert(sizeof(T) <= Hold::granule);
  if constexpr (fits_a_word<T>)
    if (reinterpret_cast<std::uintptr_t>(a.target) % sizeof(T) == 0)
      return apply_by_instruction<op, T>(a);
  apply_by_lock(change_at<op, T>, sizeof(T), a);
}

using Row = std::array<Apply *, datatype_count>; // of an operation; null: not for this type

template <fi_op op, class... D> constexpr Row row(List<D...>) {
  Row r{};
  const auto fill = [&]<class T>(fi_datatype id, std::type_identity<T>) {
    if constexpr (has_op<T>(op))
      r[id] = apply<op, T>;
  };
  (fill(D::id, std::type_identity<typename D::Type>{}), ...);
  return r;
}

template <std::size_t... op>
constexpr std::array<Row, op_count> all_rows(std::index_sequence<op...>) {
  return {row<static_cast<fi_op>(op)>(Datatypes{})...};
}

constexpr auto table = all_rows(std::make_index_sequence<op_count>{});

template <class... D> constexpr std::array<std::size_t, datatype_count> sizes_of(List<D...>) {
  std::array<std::size_t, datatype_count> s{};
  ((s[D::id] = sizeof(typename D::Type)), ...);
  return s;
}

constexpr auto sizes = sizes_of(Datatypes{});

Apply *find(AtomicKind kind, fi_op op, fi_datatype datatype) {
  const auto o = static_cast<std::size_t>(op), d = static_cast<std::size_t>(datatype);
  return o < op_count && d < datatype_count && has_kind(op, kind) ? table[o][d] : nullptr;
}

#if FI_MAJOR_VERSION >= 2
static_assert(datatype_float16 == FI_FLOAT16 && datatype_bfloat16 == FI_BFLOAT16 &&
              datatype_float8_e4m3 == FI_FLOAT8_E4M3 && datatype_float8_e5m2 == FI_FLOAT8_E5M2 &&
              op_diff == FI_DIFF);
#endif

} // namespace

bool atomic_defined(fi_op op, fi_datatype datatype, AtomicKind kind) {
  return find(kind, op, datatype) != nullptr;
}

std::size_t atomic_size(fi_datatype datatype) {
  const auto d = static_cast<std::size_t>(datatype);
  return d < datatype_count ? sizes[d] : 0;
}

bool atomic_apply(AtomicKind kind, fi_op op, fi_datatype datatype, std::byte *target,
                  const std::byte *operand, const std::byte *compare, std::byte *result,
                  std::size_t count) {
  Apply *const f = find(kind, op, datatype);
  if (!f)
    return false;
  f({.target = target,
     .operand = op == FI_ATOMIC_READ ? nullptr : operand,
     .compare = kind == AtomicKind::compare ? compare : nullptr,
     .result = kind == AtomicKind::plain ? nullptr : result,
     .count = count});
  return true;
}

} // namespace dpdkx::op
