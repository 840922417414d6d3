// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Reads, writes and atomics on a peer's registered memory, both sides of them.
#include "remote.h"

#include <algorithm>
#include <cstring>
#include <numeric>

using namespace lab;

namespace {

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

// What a write, a read or a message of that length sends to the other side, and what is data there.
void load__is_bulk_where_it_is_data_of_large_transfers(void **) {
  const auto only = [](Lab &l, Side &from, unsigned to, std::initializer_list<FrameType> bulk) {
    for (const Packet &p : from.to(to).out)
      assert_true((p.load == Load::bulk) == (std::ranges::find(bulk, p.type()) != bulk.end()));
    const bool some =
        std::ranges::any_of(from.to(to).out, [](const Packet &p) { return p.load == Load::bulk; });
    l.run();
    return some;
  };
  for (const std::size_t len : {100, 3000, 40000}) {
    Lab l;
    Registered r(l, 50000);
    write(l, pattern(len), 0);
    l.push(0, 1);
    const bool in_parts =
        only(l, l.a, 1, {FrameType::segment, len > 1000 ? FrameType::write : FrameType::segment});
    assert_int_equal(in_parts, len == 3000); // the largest waits for its cts
    l.run();
    read(l, len, 0);
    l.push(0, 1);
    l.deliver_all(0, 1);
    l.push(1, 0);
    assert_int_equal(l.b.to(0).out.front().load == Load::bulk, len > 1000);
    assert_false(only(l, l.a, 1, {}));
    l.a.send(1, pattern(len));
    l.push(0, 1);
    assert_false(only(l, l.a, 1, {})); // in its turn
    l.b.receive(len);
    l.run();
  }
}

void load__of_rendezvous_data_is_bulk(void **) {
  Lab l;
  Call &s = l.a.send(1, pattern(20000));
  Call &r = l.b.receive(20000);
  l.push(0, 1);
  l.deliver_all(0, 1); // rts
  for (const Packet &p : l.b.to(0).out)
    assert_true(p.load == Load::any);
  l.deliver_all(1, 0); // cts
  l.push(0, 1);
  assert_true(l.a.to(1).out.size() > 10);
  for (const Packet &p : l.a.to(1).out)
    assert_true(p.type() == FrameType::rdata && p.load == Load::bulk);
  l.run();
  assert_true(s.ok() && r.ok());
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

// The endpoint may allow less than its domain's registrations do.
void endpoint__that_peers_may_not_read_or_write(void **) {
  for (const std::uint64_t allowed : std::vector<std::uint64_t>{0, FI_REMOTE_READ, FI_REMOTE_WRITE})
    for (const std::size_t len : {0, 8, 3000, 40000}) {
      Lab l;
      Registered r(l, 40000);
      l.b.queues.completers.remote_rights = allowed;
      Call &w = write(l, pattern(len), 0), &g = read(l, len, 0);
      l.run();
      assert_int_equal(w.error(), allowed & FI_REMOTE_WRITE ? 0 : FI_EACCES);
      assert_int_equal(g.error(), allowed & FI_REMOTE_READ ? 0 : FI_EACCES);
      assert_true(allowed & FI_REMOTE_WRITE || r.untouched_outside(0, 0));
    }
}

// However many targets it has, and however many packets.
void counters__of_a_registration_count_operations(void **) {
  for (const std::size_t len : {0, 8, 3000, 40000})
    for (const std::size_t targets : {1, 8}) {
      Lab l;
      Registered r(l, 40000);
      const Queues other({});
      util_ext::Cntr &reads = *other.completers.rx_cntr, &writes = *other.completers.tx_cntr;
      util_ext::MrTable::count(r.region, FI_REMOTE_READ, reads);
      util_ext::MrTable::count(r.region, FI_REMOTE_WRITE, writes);
      Call &w = write(l, pattern(len), 0, {.targets = targets}),
           &g = read(l, len, 0, {.targets = targets});
      l.run();
      assert_true(w.ok() && g.ok());
      assert_int_equal(reads.value(), 1);
      assert_int_equal(writes.value(), 1);
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

// Nothing is touched if one of its elements lies in two buffers.
void atomic__across_two_buffers(void **) {
  for (const bool fetch : {false, true}) {
    Lab l;
    Registered r(l, 480);
    const std::size_t border = r.region.buffers[0].iov_len;
    std::uint64_t operand[] = {1, 1}, former[2];
    Call &c = l.a.calls.emplace_back();
    const iovec o{operand, sizeof operand}, f{former, sizeof former};
    const fi_rma_iov targets[] = {{0, 8, key}, {border - 4, 8, key}};
    assert_int_equal(
        l.a.m->atomic(l.a.to(1), {.op = FI_SUM,
                                  .datatype = FI_UINT64,
                                  .operand = &o,
                                  .result = &f,
                                  .operand_count = 1,
                                  .result_count = fetch,
                                  .len = sizeof operand,
                                  .targets = targets,
                                  .target_count = 2,
                                  .dest = 1,
                                  .flags = FI_ATOMIC | FI_COMPLETION | (fetch ? FI_READ : FI_WRITE),
                                  .context = &c}),
        0);
    l.run();
    assert_int_equal(c.error(), FI_EOPNOTSUPP);
    assert_true(r.untouched_outside(0, 0));
  }
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(write__of_every_length_lands_once_at_its_place),
    cmocka_unit_test(read__of_every_length_brings_what_is_there),
    cmocka_unit_test(load__is_bulk_where_it_is_data_of_large_transfers),
    cmocka_unit_test(load__of_rendezvous_data_is_bulk),
    cmocka_unit_test(write__with_data_is_told_to_the_target),
    cmocka_unit_test(access__that_is_not_allowed_fails_and_touches_nothing),
    cmocka_unit_test(endpoint__that_peers_may_not_read_or_write),
    cmocka_unit_test(counters__of_a_registration_count_operations),
    cmocka_unit_test(registration__that_is_closed_meanwhile),
    cmocka_unit_test(peer__that_is_lost_ends_each_once),
    cmocka_unit_test(atomic__of_many_elements),
    cmocka_unit_test(atomic__across_two_buffers),
};
static const unit::Group group{"rma", cases};
