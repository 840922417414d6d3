// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Reads, writes and atomics on a peer's registered memory, both sides of them.
#include "lab.h"

#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

using namespace lab;

namespace {

constexpr std::uint64_t key = 77, all_rights = FI_REMOTE_READ | FI_REMOTE_WRITE;
constexpr std::size_t margin = 64;

// Memory of the second side that the first may access, by offset from 0, in two buffers.
class Registered {
public:
  explicit Registered(Lab &l, std::size_t len, std::uint64_t rights = all_rights)
      : memory(len + 2 * margin, std::byte{0xcc}) {
    l.b.queues.completers.regions = &table;
    const std::size_t first = len / 3 / 16 * 16;
    region.buffers = {{memory.data() + margin, first},
                      {memory.data() + margin + first, len - first}};
    region.length = len;
    region.access = rights;
    assert_int_equal(table.insert(region, key), 0);
    registered_ = true;
  }
  ~Registered() { close(); }
  void close() {
    if (std::exchange(registered_, false))
      table.remove(region);
  }
  std::byte *at(std::size_t offset) { return memory.data() + margin + offset; }
  bool untouched_outside(std::size_t from, std::size_t n) const {
    for (std::size_t i = 0; i < memory.size(); ++i)
      if ((i < margin + from || i >= margin + from + n) && memory[i] != std::byte{0xcc})
        return false;
    return true;
  }

  Bytes memory;
  util_ext::Region region;
  util_ext::MrTable table;

private:
  bool registered_ = false;
};

struct How {
  std::uint64_t flags = 0;
  std::size_t targets = 1; // how many pieces the target is named by
  std::optional<std::uint64_t> data{};
  std::uint64_t key = ::key;
};

std::vector<fi_rma_iov> split(std::uint64_t addr, std::size_t len, std::size_t n,
                              std::uint64_t with_key) {
  std::vector<fi_rma_iov> out;
  for (std::size_t i = 0, done = 0; i < n; ++i) {
    const std::size_t part = i + 1 == n ? len - done : (len - done) / 2;
    out.push_back({addr + done, part, with_key});
    done += part;
  }
  return out;
}

ssize_t try_rma(Side &s, Call &c, std::uint64_t direction, std::uint64_t addr, const How &how) {
  const auto targets = split(addr, c.memory.size(), how.targets, how.key);
  return s.m->rma(s.to(1), {.iov = c.iov.data(),
                            .iov_count = c.iov.size(),
                            .len = c.memory.size(),
                            .targets = targets.data(),
                            .target_count = targets.size(),
                            .dest = 1,
                            .data = how.data.value_or(0),
                            .flags = how.flags | FI_RMA | direction | FI_COMPLETION |
                                     (how.data ? FI_REMOTE_CQ_DATA : 0),
                            .context = &c});
}

Call &write(Lab &l, Bytes bytes, std::uint64_t addr, const How &how = {}, std::size_t pieces = 1) {
  Call &c = l.a.calls.emplace_back(std::move(bytes), pieces);
  assert_int_equal(try_rma(l.a, c, FI_WRITE, addr, how), 0);
  l.a.reap();
  return c;
}

Call &read(Lab &l, std::size_t len, std::uint64_t addr, const How &how = {},
           std::size_t pieces = 1) {
  Call &c = l.a.calls.emplace_back(Bytes(len), pieces);
  assert_int_equal(try_rma(l.a, c, FI_READ, addr, how), 0);
  l.a.reap();
  return c;
}

constexpr std::size_t lengths[] = {0, 1, 8, 700, 1000, 3000, 8192, 8193, 40000};

// --- Whole operations

void write__of_every_length_lands_once_at_its_place(void **) {
  for (const bool lossless : {false, true})
    for (const bool pull : {true, false})
      for (const std::size_t len : lengths)
        for (const std::size_t pieces : {1, 3, 8}) {
          Lab l({.lossless = lossless, .can_pull = pull});
          Registered r(l, 50000);
          const std::uint64_t addr = 5000;
          Call &c = write(l, pattern(len), addr, {.targets = pieces}, pieces);
          l.run();
          assert_true(c.ok());
          assert_int_equal(c.done[0].flags, FI_RMA | FI_WRITE);
          assert_true(std::equal(c.memory.begin(), c.memory.end(), r.at(addr)));
          assert_true(r.untouched_outside(addr, len));
          assert_int_equal(l.a.m->counters().rendezvous, len > 16384 || (!lossless && len > 8192));
        }
}

void read__of_every_length_brings_what_is_there(void **) {
  for (const bool lossless : {false, true})
    for (const std::size_t len : lengths)
      for (const std::size_t pieces : {1, 3, 8}) {
        Lab l({.lossless = lossless});
        Registered r(l, 50000);
        const Bytes there = pattern(50000);
        std::copy(there.begin(), there.end(), r.at(0));
        Call &c = read(l, len, 5000, {.targets = pieces}, pieces);
        l.run();
        assert_true(c.ok());
        assert_int_equal(c.done[0].flags, FI_RMA | FI_READ);
        assert_true(std::equal(c.memory.begin(), c.memory.end(), there.begin() + 5000));
        assert_true(std::equal(there.begin(), there.end(), r.at(0)));
      }
}

void write__with_data_is_told_to_the_target(void **) {
  for (const bool lossless : {false, true})
    for (const std::size_t len : lengths) {
      Lab l({.lossless = lossless});
      Registered r(l, 50000);
      Call &c = write(l, pattern(len), 0, {.data = 0x1234567890});
      l.run();
      assert_true(c.ok());
      assert_int_equal(l.b.queues.told.size(), 1);
      const Done &told = l.b.queues.told[0];
      assert_int_equal(told.flags, FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA);
      assert_int_equal(told.data, 0x1234567890);
      assert_int_equal(told.len, len);
      assert_int_equal(told.src, 0);
    }
}

// --- Faults

void access__that_is_not_allowed_fails_and_touches_nothing(void **) {
  struct Case {
    std::uint64_t rights, addr, with_key;
    int write_error, read_error;
  };
  const Case cases[] = {{all_rights, 0, key + 1, FI_ENOKEY, FI_ENOKEY},
                        {FI_REMOTE_READ, 0, key, FI_EACCES, 0},
                        {FI_REMOTE_WRITE, 0, key, 0, FI_EACCES},
                        {all_rights, 1, key, FI_EACCES, FI_EACCES},
                        {all_rights, UINT64_MAX / 2, key, FI_EACCES, FI_EACCES}};
  for (const bool lossless : {false, true})
    for (const Case &k : cases)
      for (const std::size_t len : {8, 3000, 40000}) {
        Lab l({.lossless = lossless});
        Registered r(l, len, k.rights);
        Call &w = write(l, pattern(len), k.addr, {.key = k.with_key});
        Call &after = read(l, len, k.addr, {.key = k.with_key});
        Call &ends = l.a.send(1, pattern(10)), &receive = l.b.receive(10);
        l.run();
        assert_int_equal(w.error(), k.write_error);
        assert_int_equal(after.error(), k.read_error);
        assert_int_equal(w.done.size() + after.done.size(), 2);
        assert_true(ends.ok() && receive.ok()); // the session goes on
        if (k.write_error)
          assert_true(r.untouched_outside(0, 0));
      }
}

// Whatever has come by then; afterwards nothing is touched any more.
void registration__that_is_closed_meanwhile(void **) {
  for (const std::uint64_t direction : {FI_WRITE, FI_READ})
    for (const std::size_t len : {3000, 40000})
      for (unsigned steps = 0; steps < 60; ++steps) {
        Lab l({.can_pull = false});
        Registered r(l, len);
        Call &c = l.a.calls.emplace_back(pattern(len));
        assert_int_equal(try_rma(l.a, c, direction, 0, {}), 0);
        for (unsigned i = 0; i < steps; ++i) {
          if (!l.a.to(1).out.empty())
            l.deliver(0, 1);
          else if (!l.b.to(0).out.empty())
            l.deliver(1, 0);
          l.push(0, 1), l.push(1, 0);
        }
        r.close();
        const Bytes then = r.memory;
        l.run();
        assert_int_equal(c.done.size(), 1);
        assert_true(c.ok() || c.error() == FI_ENOKEY);
        assert_true(r.memory == then);
      }
}

void peer__that_is_lost_ends_each_once(void **) {
  for (const std::size_t len : lengths)
    for (unsigned steps = 0; steps < 12; ++steps) {
      Lab l;
      Registered r(l, 50000);
      Call &w = write(l, pattern(len), 0), &g = read(l, len, 0);
      for (unsigned i = 0; i < steps; ++i) {
        if (!l.a.to(1).out.empty())
          l.deliver(0, 1);
        if (i % 3 == 1 && !l.b.to(0).out.empty())
          l.deliver(1, 0);
        l.push(0, 1), l.push(1, 0);
      }
      l.a.lose(1, FI_ETIMEDOUT);
      l.b.lose(0, FI_ETIMEDOUT);
      for (const Call *c : {&w, &g}) {
        assert_int_equal(c->done.size(), 1);
        assert_true(c->ok() || c->error() == FI_ETIMEDOUT);
      }
      r.close(); // waits for nothing
    }
}

// --- Order

// Operations of one packet on the same few words, in the order of their posting, whatever order
// packets come in.
void order__is_that_of_the_posts(void **) {
  const auto property = [] {
    const bool lossless = *rc::gen::arbitrary<bool>();
    Lab l({.lossless = lossless, .max_frames = 400, .queues = {.cq_size = 4096}});
    constexpr std::size_t words = 8;
    Registered r(l, words * 8);
    std::memset(r.at(0), 0, words * 8);
    std::array<std::uint64_t, words> model{};
    struct Expected {
      Call *call;
      std::uint64_t value;
    };
    std::vector<Expected> reads;
    std::vector<Call *> all;
    std::uint64_t operand[40], result[40];
    unsigned n = 0;
    const auto steps = *rc::gen::container<std::vector<std::uint32_t>>(
        60, rc::gen::inRange<std::uint32_t>(0, 1u << 20));
    for (const std::uint32_t x : steps) {
      const std::size_t word = x / 16 % words;
      if (x % 8 < 2 && n < 40) {
        all.push_back(&write(l, Bytes(8, static_cast<std::byte>(x / 128)), word * 8));
        std::memset(&model[word], static_cast<int>(x / 128 & 0xff), 8);
      } else if (x % 8 < 3 && n < 40) {
        reads.push_back({&read(l, 8, word * 8), model[word]});
        all.push_back(reads.back().call);
      } else if (x % 8 < 4 && n < 40) {
        operand[n] = x;
        result[n] = 0;
        Call &c = l.a.calls.emplace_back(Bytes(8));
        const iovec from{&operand[n], 8}, to{c.memory.data(), 8};
        const fi_rma_iov target{word * 8, 8, key};
        const bool fetch = x / 8 % 2;
        const ssize_t rc = l.a.m->atomic(
            l.a.to(1), {.op = FI_SUM,
                        .datatype = FI_UINT64,
                        .operand = &from,
                        .compare = nullptr,
                        .result = fetch ? &to : nullptr,
                        .operand_count = 1,
                        .compare_count = 0,
                        .result_count = fetch,
                        .len = 8,
                        .targets = &target,
                        .target_count = 1,
                        .dest = 1,
                        .flags = FI_ATOMIC | FI_COMPLETION | (fetch ? FI_READ : FI_WRITE),
                        .context = &c});
        RC_ASSERT(rc == 0);
        if (fetch)
          reads.push_back({&c, model[word]});
        all.push_back(&c);
        model[word] += x;
        ++n;
      } else if (x % 8 == 4) {
        l.a.room = l.b.room = x / 8 % 3 ? SIZE_MAX : x / 32 % 3;
      } else if (x % 8 == 5) {
        l.push(0, 1), l.push(1, 0);
      } else if (auto &out = l.a.to(1).out; x % 8 == 6 && !out.empty()) {
        RC_ASSERT(l.deliver(0, 1, lossless ? 0 : x / 8 % out.size()));
      } else if (auto &back = l.b.to(0).out; !back.empty()) {
        RC_ASSERT(l.deliver(1, 0, lossless ? 0 : x / 8 % back.size()));
      }
    }
    l.a.room = l.b.room = SIZE_MAX;
    l.push(0, 1), l.push(1, 0);
    l.run();
    for (const Call *c : all)
      RC_ASSERT(c->ok());
    for (const Expected &e : reads) {
      std::uint64_t got;
      std::memcpy(&got, e.call->memory.data(), 8);
      RC_ASSERT(got == e.value);
    }
    RC_ASSERT(std::memcmp(r.at(0), model.data(), sizeof model) == 0);
    (void)result;
  };
  assert_true(rc::check("order of RMA and atomics", property));
}

// --- Atomics

// More than a packet carries goes in several, and comes back so.
void atomic__of_many_elements(void **) {
  for (const bool lossless : {false, true})
    for (const std::size_t count : {1, 40, 500}) {
      Lab l({.lossless = lossless, .max_frames = 400});
      Registered r(l, 8 * count);
      for (std::size_t i = 0; i < count; ++i)
        std::memcpy(r.at(8 * i), &i, 8);
      std::vector<std::uint64_t> operand(count, 1000), compare(count), result(count);
      std::iota(compare.begin(), compare.end(), 0);
      compare[0] = 5; // fails
      Call &c = l.a.calls.emplace_back();
      const iovec o{operand.data(), 8 * count}, k{compare.data(), 8 * count},
          s{result.data(), 8 * count};
      const auto targets = split(0, 8 * count, 1, key);
      assert_int_equal(l.a.m->atomic(l.a.to(1), {.op = FI_CSWAP,
                                                 .datatype = FI_UINT64,
                                                 .operand = &o,
                                                 .compare = &k,
                                                 .result = &s,
                                                 .operand_count = 1,
                                                 .compare_count = 1,
                                                 .result_count = 1,
                                                 .len = 8 * count,
                                                 .targets = targets.data(),
                                                 .target_count = targets.size(),
                                                 .dest = 1,
                                                 .flags = FI_ATOMIC | FI_READ | FI_COMPLETION,
                                                 .context = &c}),
                       0);
      l.run();
      assert_true(c.ok());
      for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t now;
        std::memcpy(&now, r.at(8 * i), 8);
        assert_int_equal(result[i], i);
        assert_int_equal(now, i == 0 ? 0 : 1000);
      }
    }
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(write__of_every_length_lands_once_at_its_place),
    cmocka_unit_test(read__of_every_length_brings_what_is_there),
    cmocka_unit_test(write__with_data_is_told_to_the_target),
    cmocka_unit_test(access__that_is_not_allowed_fails_and_touches_nothing),
    cmocka_unit_test(registration__that_is_closed_meanwhile),
    cmocka_unit_test(peer__that_is_lost_ends_each_once),
    cmocka_unit_test(order__is_that_of_the_posts),
    cmocka_unit_test(atomic__of_many_elements),
};
static const unit::Group group{"rma", cases};
