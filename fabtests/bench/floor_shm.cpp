// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What shared memory between two processes costs with nothing around it: a flag, and a ring of
// 64-byte slots. No provider can be faster.
#include "bench/bench_main.h"
#include "common/check.h"
#include "common/command_line.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <new>

#include <sys/mman.h>

namespace fabtest {

namespace {

struct alignas(64) flag {
  std::atomic<std::uint64_t> value{0};
};

// Single producer, single consumer. A slot's number says that it is full, and for which turn.
class ring {
public:
  static constexpr std::size_t slots = 1024, payload_size = 56;

  void push(std::uint64_t n, const void *data, std::size_t size) {
    while (n >= tail_.load(std::memory_order_acquire) + slots) {
    }
    slot &s = slots_[n % slots];
    std::memcpy(s.payload, data, size);
    s.number.store(n + 1, std::memory_order_release);
  }

  void pop(std::uint64_t n, void *data, std::size_t size) {
    slot &s = slots_[n % slots];
    while (s.number.load(std::memory_order_acquire) != n + 1) {
    }
    std::memcpy(data, s.payload, size);
    if (n % 64 == 63)
      tail_.store(n + 1, std::memory_order_release);
  }

private:
  struct alignas(64) slot {
    std::atomic<std::uint64_t> number{0};
    std::byte payload[payload_size];
  };
  std::array<slot, slots> slots_;
  alignas(64) std::atomic<std::uint64_t> tail_{0};
};

struct shared_area {
  flag flags[2];
  ring rings[2];
};

shared_area *map_shared() {
  void *p =
      mmap(nullptr, sizeof(shared_area), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return p == MAP_FAILED ? nullptr : new (p) shared_area;
}

void halve_and_print(team &t, const std::string &what, std::size_t size,
                     std::vector<double> values) {
  for (auto &v : values)
    v /= 2000; // nanoseconds of a round trip → microseconds one way
  print_figure(t, {what, "us", size}, values);
}

void measure_flag(team &t, shared_area &area, const sampling &how) {
  auto &mine = area.flags[t.rank()].value, &theirs = area.flags[t.other()].value;
  std::uint64_t turn = 0;
  auto values = sample(t, how, [&](std::uint64_t repetitions) {
    for (std::uint64_t i = 0; i < repetitions; ++i) {
      ++turn;
      if (t.first())
        mine.store(turn, std::memory_order_release);
      while (theirs.load(std::memory_order_acquire) != turn) {
      }
      if (!t.first())
        mine.store(turn, std::memory_order_release);
    }
  });
  halve_and_print(t, "flag", 8, std::move(values));
}

void measure_ring(team &t, shared_area &area, const sampling &how) {
  ring &out = area.rings[t.rank()], &in = area.rings[t.other()];
  std::array<std::byte, ring::payload_size> data{};
  std::uint64_t turn = 0;
  for (const std::size_t size : {std::size_t{8}, std::size_t{56}}) {
    auto values = sample(t, how, [&](std::uint64_t repetitions) {
      for (std::uint64_t i = 0; i < repetitions; ++i, ++turn) {
        if (t.first())
          out.push(turn, data.data(), size);
        in.pop(turn, data.data(), size);
        if (!t.first())
          out.push(turn, data.data(), size);
      }
    });
    halve_and_print(t, "ring", size, std::move(values));
  }
}

void measure_ring_rate(team &t, shared_area &area, const sampling &how) {
  ring &r = area.rings[0];
  t.barrier();
  new (&area.rings[t.rank()]) ring;
  t.barrier();
  std::uint64_t turn = 0;
  constexpr std::uint64_t burst = 1024;
  auto values = sample(t, how, [&](std::uint64_t repetitions) {
    for (std::uint64_t i = 0; i < repetitions * burst; ++i, ++turn) {
      std::uint64_t value = turn;
      if (t.first())
        r.push(turn, &value, sizeof value);
      else
        r.pop(turn, &value, sizeof value);
      if (value != turn)
        fail("the ring delivered something else");
    }
  });
  for (auto &v : values)
    v = burst * 1e3 / v;
  print_figure(t, {"ring_rate", "M/s", 8}, values);
}

void measure(team &t, shared_area &area, const bench_options &options) {
  measure_flag(t, area, options.how);
  measure_ring(t, area, options.how);
  measure_ring_rate(t, area, options.how);
}

} // namespace

} // namespace fabtest

int main(int argc, char **argv) {
  fabtest::command_line app("Measures shared memory between two processes.");
  fabtest::bench_options options;
  add_bench_options(app, options);
  if (const auto code = app.parse(argc, argv))
    return *code;
  auto *area = fabtest::map_shared(); // before the processes part
  if (!area)
    return 1;
  return fabtest::run_bench([&](fabtest::team &t) { fabtest::measure(t, *area, options); });
}
