// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Several threads on the same elements: every sum below is wrong if an update
// gets lost.
#include "dpdkx/op/atomic.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <latch>
#include <random>
#include <thread>
#include <vector>

#include "atomic_types.h"
#include "unit/unit.h" // last: cmocka defines fail

using namespace dpdkx::op;
using namespace atomic_types;

namespace {

constexpr unsigned threads = 4, rounds = 20000;

// Calls f(thread) in each, all at once.
template <class F> void in_threads(F f) {
  std::latch start(threads);
  std::vector<std::thread> all;
  for (unsigned i = 0; i < threads; ++i)
    all.emplace_back([&, i] {
      start.arrive_and_wait();
      f(i);
    });
  for (std::thread &t : all)
    t.join();
}

template <class T> std::byte *bytes(T &v) { return reinterpret_cast<std::byte *>(&v); }
template <class T> const std::byte *bytes(const T &v) {
  return reinterpret_cast<const std::byte *>(&v);
}

// An element `offset` bytes behind a multiple of 64.
template <class T> class Element {
public:
  explicit Element(std::size_t offset) : at(room_ + offset) {}
  Element(const Element &) = delete;
  Element &operator=(const Element &) = delete;
  T value() const {
    T v;
    std::copy_n(at, sizeof(T), bytes(v));
    return v;
  }

private:
  alignas(64) std::byte room_[128] = {}; // zero, in every type

public:
  std::byte *const at;
};

// For elements where they belong, off there, and across an edge of everything.
template <class T, class F> void at_each_place(F f) {
  for (const std::size_t offset : {std::size_t{0}, std::size_t{1}, 64 - sizeof(T) / 2}) {
    Element<T> e(offset);
    f(e);
  }
}

// Which of 0, 1, ... v is; `end`: none.
template <class T> unsigned number_of(T v, unsigned end) {
  unsigned n = 0;
  while (n < end && !(static_cast<T>(n) == v))
    ++n;
  return n;
}

void threads__count_by_compare_and_swap(void **) {
  constexpr unsigned end = 7; // all types have the numbers up to there
  for_each_type([]<fi_datatype id, class T>() {
    at_each_place<T>([](Element<T> &e) {
      std::atomic<bool> torn = false;
      in_threads([&](unsigned) {
        unsigned guess = 0;
        for (unsigned done = 0; done < rounds && !torn;) {
          const auto compare = static_cast<T>(guess), next = static_cast<T>((guess + 1) % end);
          T was;
          atomic_apply(AtomicKind::compare, FI_CSWAP, id, e.at, bytes(next), bytes(compare),
                       bytes(was), 1);
          const unsigned n = number_of(was, end);
          if (n == end)
            torn = true;
          if (n == guess)
            ++done;
          guess = n == guess ? (n + 1) % end : n;
        }
      });
      assert_false(torn);
      assert_true(same(e.value(), static_cast<T>(threads * rounds % end)));
    });
  });
}

// Half of the threads fetch: those that don't may use another instruction.
template <class T>
void add(fi_datatype id, std::byte *target, T value, unsigned thread, fi_op op = FI_SUM) {
  T was;
  atomic_apply(thread % 2 ? AtomicKind::plain : AtomicKind::fetch, op, id, target, bytes(value),
               nullptr, bytes(was), 1);
}

void threads__sums_lose_nothing(void **) {
  for_each_type([]<fi_datatype id, class T>() {
    if constexpr (integer<T> || sizeof(T) >= sizeof(float)) { // others can't count that far
      at_each_place<T>([](Element<T> &e) {
        in_threads([&](unsigned thread) {
          for (unsigned i = 0; i < rounds; ++i) {
            add(id, e.at, static_cast<T>(3), thread);
            add(id, e.at, static_cast<T>(1), thread, op_diff);
          }
        });
        assert_true(same(e.value(), static_cast<T>(threads * rounds * 2)));
      });
    }
  });
}

// Where the processor has instructions, and C++ operations on atomics.
template <fi_datatype id, class T> void mixed_with_the_processors_own() {
  alignas(64) T element = 0;
  in_threads([&](unsigned thread) {
    const std::atomic_ref<T> own(element);
    for (unsigned i = 0; i < rounds; ++i) {
      own.fetch_add(1);
      add(id, bytes(element), T(2), thread);
      const T zero = 0, two = 2;
      T was; // makes 2 of any 0 that it meets; says so
      atomic_apply(AtomicKind::compare, FI_CSWAP, id, bytes(element), bytes(two), bytes(zero),
                   bytes(was), 1);
      if (was == zero)
        own.fetch_sub(two);
    }
  });
  assert_true(element == static_cast<T>(threads * rounds * 3));
}

void threads__mix_with_the_processors_own(void **) {
  mixed_with_the_processors_own<FI_INT8, std::int8_t>();
  mixed_with_the_processors_own<FI_UINT8, std::uint8_t>();
  mixed_with_the_processors_own<FI_INT16, std::int16_t>();
  mixed_with_the_processors_own<FI_UINT16, std::uint16_t>();
  mixed_with_the_processors_own<FI_INT32, std::int32_t>();
  mixed_with_the_processors_own<FI_UINT32, std::uint32_t>();
  mixed_with_the_processors_own<FI_INT64, std::int64_t>();
  mixed_with_the_processors_own<FI_UINT64, std::uint64_t>();
  mixed_with_the_processors_own<FI_FLOAT, float>();
  mixed_with_the_processors_own<FI_DOUBLE, double>();
}

// Neighbours within a word are elements of their own.
void threads__leave_neighbours_alone(void **) {
  alignas(8) std::array<std::uint8_t, 8> row{0, 0, 0, 0, 1, 1, 1, 1};
  in_threads([&](unsigned thread) {
    for (unsigned i = 0; i < rounds; ++i) {
      add<std::uint8_t>(FI_UINT8, bytes(row[thread]), 1, thread);
      add<std::uint8_t>(FI_UINT8, bytes(row[thread + threads]), 3, thread, FI_PROD);
    }
  });
  std::uint8_t power = 1;
  for (unsigned i = 0; i < rounds; ++i)
    power *= 3;
  for (unsigned i = 0; i < threads; ++i) {
    assert_int_equal(row[i], rounds % 256);
    assert_int_equal(row[i + threads], power);
  }
}

// Elements that need a lock overlap in every way. XOR commutes: what is there in
// the end is all that any thread did.
void threads__overlap_as_they_like(void **) {
  constexpr std::size_t edge = 32 * 64; // between the table's last lock and its first again
  constexpr std::size_t room = edge + 64;
  alignas(edge) static std::array<std::byte, room> memory;
  memory.fill({});
  static std::array<std::array<std::byte, room>, threads> did;
  for (auto &d : did)
    d.fill({});

  // One thread's elements lie across the edge: it meets the next two threads' only if it holds both
  // locks. The last one's lie anywhere.
  constexpr std::size_t first[threads] = {edge - 7, edge - 32, edge, 1};
  constexpr std::size_t places[threads] = {7, 17, 17, room - 32};
  in_threads([&](unsigned thread) {
    std::minstd_rand random(thread + 1);
    const auto flip = [&]<class T>(fi_datatype id, std::size_t at, T value) {
      add(id, memory.data() + at, value, thread, FI_BXOR);
      for (std::size_t i = 0; i < sizeof(T); ++i)
        did[thread][at + i] ^= bytes(value)[i];
    };
    for (unsigned i = 0; i < rounds; ++i) {
      const std::size_t at = first[thread] + random() % places[thread];
      const std::uint64_t value = random();
      if (random() % 2)
        flip(FI_UINT128, at, static_cast<Uint128>(value) << 64 | random());
      else
        flip(FI_UINT64, at % 8 ? at : at + 1, value << 32 | random());
    }
  });
  for (std::size_t i = 0; i < room; ++i) {
    std::byte expected{};
    for (const auto &d : did)
      expected ^= d[i];
    assert_true(memory[i] == expected);
  }
}

// Nobody sees half of an element.
void threads__read_whole_elements(void **) {
  for_each_type([]<fi_datatype id, class T>() {
    at_each_place<T>([](Element<T> &e) {
      std::array<std::byte, sizeof(T)> pattern[threads];
      for (unsigned i = 0; i < threads; ++i)
        pattern[i].fill(static_cast<std::byte>(0x11 * i));
      std::atomic<bool> torn = false;
      in_threads([&](unsigned thread) {
        for (unsigned i = 0; i < rounds; ++i) {
          std::array<std::byte, sizeof(T)> seen;
          if (thread % 2)
            atomic_apply(AtomicKind::plain, FI_ATOMIC_WRITE, id, e.at,
                         pattern[(thread + i) % threads].data(), nullptr, nullptr, 1);
          else if (atomic_apply(AtomicKind::fetch, FI_ATOMIC_READ, id, e.at, nullptr, nullptr,
                                seen.data(), 1);
                   std::ranges::find(pattern, seen) == std::end(pattern))
            torn = true;
        }
      });
      assert_false(torn);
    });
  });
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(threads__count_by_compare_and_swap),
    cmocka_unit_test(threads__sums_lose_nothing),
    cmocka_unit_test(threads__mix_with_the_processors_own),
    cmocka_unit_test(threads__leave_neighbours_alone),
    cmocka_unit_test(threads__overlap_as_they_like),
    cmocka_unit_test(threads__read_whole_elements),
};
static const unit::Group group{"atomic_threads", cases};
