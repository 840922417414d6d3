// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// fi_dpdkx_cntr(3): counters that peers add to.
#include "common/case.h"
#include "common/connected.h"
#include "common/counter.h"
#include "common/exposed.h"
#include "remote_cntr_c.h"

#include <algorithm>
#include <rdma/fi_atomic.h>
#include <rdma/fi_ext_dpdkx.h>

namespace fabtest {

namespace {

const request with_all{.caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC, .counted = {FI_WRITE}};

// An endpoint and a counter of each rank, whose keys all know.
class counted_team {
public:
  explicit counted_team(team &t, const request &r = with_all)
      : e(r, "FI_RMA, FI_ATOMIC"), ops(counter_ops(e)), cntr(open_counter(e)) {
    e.meet(t);
    keys = t.exchange(export_counter(e, cntr.get()));
  }

  void add(int to, std::uint64_t value, op &o, std::uint64_t flags = FI_COMPLETION,
           where at = where::current()) {
    add_by_key(to, keys.at(static_cast<std::size_t>(to)), value, o, flags, at);
  }
  void add_by_key(int to, std::uint64_t key, std::uint64_t value, op &o,
                  std::uint64_t flags = FI_COMPLETION, where at = where::current()) {
    e.post(
        "remote_add", [&] { return ops.remote_add(e.ep(), e.at(to), key, value, flags, &o); }, at);
  }
  void add_and_wait(int to, std::uint64_t value, where at = where::current()) {
    op o;
    add(to, value, o, FI_COMPLETION, at);
    const completion c = e.tx().wait_ok(o, "remote_add", default_wait(), at);
    if (e.tx().format() != FI_CQ_FORMAT_CONTEXT)
      CHECK_EQ(c.flags & (FI_ATOMIC | FI_WRITE), FI_ATOMIC | FI_WRITE);
  }
  void fails(int to, std::uint64_t key, int err, where at = where::current()) {
    op o;
    add_by_key(to, key, 1, o, FI_COMPLETION, at);
    const completion c = e.tx().wait(o, "remote_add", default_wait(), at);
    if (c.err != err)
      fail(fmt::format("remote_add: {}; expected {}", describe(c), describe(-err)), at);
  }

  endpoint e;
  fi_dpdkx_ops_cntr &ops;
  owned_fid<fid_cntr> cntr;
  std::vector<std::uint64_t> keys;
};

// Each value as it comes: nothing is added twice, or too early.
CASE(each_value_is_seen) {
  counted_team c(t);
  std::uint64_t expected = 0;
  for (const std::uint64_t value :
       {std::uint64_t{1}, std::uint64_t{41}, std::uint64_t{1} << 40, ~std::uint64_t{0} - 6}) {
    if (t.first())
      c.add_and_wait(1, value);
    expected += value;
    t.barrier();
    CHECK_EQ(fi_cntr_read(c.cntr.get()), t.first() ? 0 : expected);
    CHECK_EQ(fi_cntr_readerr(c.cntr.get()), 0u);
    t.barrier(); // the next comes when all have looked
  }
  if (t.first())
    await_count(c.e.counter(0), 4); // that of FI_WRITE
  else
    c.e.rx().expect_empty();
}

CASE(wait_for_a_value) {
  counted_team c(t);
  constexpr int rounds = 100;
  for (int i = 1; i <= rounds; ++i) { // back and forth
    if (t.first()) {
      op o;
      c.add(1, 1, o);
      CHECK_OK(fi_cntr_wait(c.cntr.get(), static_cast<std::uint64_t>(i), 20'000));
      c.e.tx().wait_ok(o, "remote_add");
    } else {
      CHECK_OK(fi_cntr_wait(c.cntr.get(), static_cast<std::uint64_t>(i), 20'000));
      c.add_and_wait(0, 1);
    }
  }
  t.barrier();
}

// What goes wrong at the target is told to nobody then, unless both are asked for.
CASE(told_when_it_has_left) {
  counted_team c(t);
  constexpr std::uint64_t both = FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE;
  constexpr int times = 200;
  if (t.first()) {
    for (int i = 0; i < times; ++i) {
      op good, wrong;
      c.add(1, 3, good, FI_COMPLETION | FI_TRANSMIT_COMPLETE);
      c.add_by_key(1, c.keys[1] + 1, 3, wrong, FI_COMPLETION | FI_TRANSMIT_COMPLETE);
      c.e.tx().wait_ok(good, "remote_add");
      c.e.tx().wait_ok(wrong, "remote_add");
    }
    op o;
    c.add_by_key(1, c.keys[1] + 1, 1, o, FI_COMPLETION | both);
    CHECK_EQ(c.e.tx().wait(o, "remote_add").err, FI_ENOKEY);
    await_count(c.e.counter(0), 2 * times);
  } else {
    await_count(c.cntr.get(), 3 * times); // with no call of the first
  }
  t.barrier();
  CHECK_EQ(fi_cntr_read(c.cntr.get()), t.first() ? 0u : 3u * times);
}

CASE(to_oneself, .ranks = 1) {
  counted_team c(t);
  exposed memory(c.e, 100'000);
  memory.meet(t);
  const std::vector<std::byte> bytes = payload(100'000, 1);
  for (std::uint64_t i = 1; i <= 20; ++i) {
    memory.clear();
    op w, o;
    POST(c.e, fi_write(c.e.ep(), bytes.data(), bytes.size(), nullptr, c.e.at(0), memory.addr(0),
                       memory.key(0), &w));
    c.add(0, 1, o);
    await_count(c.cntr.get(), i);
    CHECK(std::equal(bytes.begin(), bytes.end(), memory.span().begin()));
    c.e.tx().wait_ok(w, "write");
    c.e.tx().wait_ok(o, "remote_add");
  }
  c.fails(0, c.keys[0] + 1, FI_ENOKEY);
}

CASE(many_peers, .ranks = 4) {
  counted_team c(t);
  constexpr std::uint64_t each = 500;
  std::vector<op> ops(each * static_cast<std::uint64_t>(t.size()));
  std::size_t n = 0;
  for (std::uint64_t i = 0; i < each; ++i)
    for (int to = 0; to < t.size(); ++to)
      c.add(to, static_cast<std::uint64_t>(t.rank()) + 1, ops[n++]);
  for (const op &o : ops)
    c.e.tx().wait_ok(o, "remote_add");
  t.barrier();
  CHECK_EQ(fi_cntr_read(c.cntr.get()), each * (1 + 2 + 3 + 4));
}

// --- What isn't allowed

CASE(keys_that_are_unknown_or_revoked) {
  counted_team c(t);
  std::uint64_t mine = 0x1234, key = 0;
  CHECK_OK(c.ops.export_cntr(c.cntr.get(), FI_REMOTE_WRITE, mine, 0, &key));
  CHECK_EQ(key, mine);
  CHECK_CODE(-FI_ENOKEY, c.ops.export_cntr(c.cntr.get(), FI_REMOTE_WRITE, mine, 0, &key));
  std::uint64_t no_right = 0;
  CHECK_OK(c.ops.export_cntr(c.cntr.get(), FI_REMOTE_READ, FI_KEY_NOTAVAIL, 0, &no_right));
  const auto without = t.exchange(no_right);
  if (t.first()) {
    op o;
    c.add_by_key(1, mine, 5, o);
    c.e.tx().wait_ok(o, "remote_add");
    c.fails(1, 0x9999, FI_ENOKEY);
    c.fails(1, without[1], FI_EACCES);
  }
  t.barrier();
  CHECK_EQ(fi_cntr_read(c.cntr.get()), t.first() ? 0u : 5u);
  CHECK_OK(c.ops.unexport_cntr(c.cntr.get(), mine));
  CHECK_CODE(-FI_ENOKEY, c.ops.unexport_cntr(c.cntr.get(), mine));
  t.barrier();
  if (t.first()) {
    c.fails(1, mine, FI_ENOKEY);
    c.add_and_wait(1, 1); // the other key is good
  }
  t.barrier();
  CHECK_EQ(fi_cntr_read(c.cntr.get()), t.first() ? 0u : 6u);
  if (!t.first())
    c.cntr.close(); // not busy
  t.barrier();
  if (t.first())
    c.fails(1, c.keys[1], FI_ENOKEY);
  t.barrier();
}

CASE(endpoint_that_allows_nothing) {
  const std::uint64_t own = t.first() ? FI_REMOTE_READ | FI_REMOTE_WRITE : FI_REMOTE_READ;
  counted_team c(t, {.caps = FI_MSG | FI_RMA | FI_SEND | FI_RECV | FI_READ | FI_WRITE | own});
  if (t.first())
    c.fails(1, c.keys[1], FI_EACCES);
  t.barrier();
  CHECK_EQ(fi_cntr_read(c.cntr.get()), 0u);
}

CASE(arguments_that_are_refused, .ranks = 1) {
  counted_team c(t);
  std::uint64_t key = 0;
  fid_cntr *const cntr = c.cntr.get();
  void *ops = nullptr;
  CHECK_CODE(-FI_ENOSYS, fi_open_ops(&c.e.domain()->fid, "no such ops", 0, &ops, nullptr));
  CHECK_CODE(-FI_EINVAL, fi_open_ops(&c.e.domain()->fid, FI_DPDKX_OPS_CNTR, 1, &ops, nullptr));
  CHECK_CODE(-FI_EINVAL, c.ops.export_cntr(nullptr, FI_REMOTE_WRITE, 1, 0, &key));
  CHECK_CODE(-FI_EINVAL, c.ops.export_cntr(cntr, 0, 1, 0, &key));
  CHECK_CODE(-FI_EINVAL, c.ops.export_cntr(cntr, FI_WRITE, 1, 0, &key));
  CHECK_CODE(-FI_EINVAL, c.ops.export_cntr(cntr, FI_REMOTE_WRITE, 1, 1, &key));
  CHECK_CODE(-FI_EINVAL, c.ops.export_cntr(cntr, FI_REMOTE_WRITE, 1, 0, nullptr));
  CHECK_CODE(-FI_EINVAL, c.ops.unexport_cntr(nullptr, 1));
  const auto try_add = [&](std::uint64_t flags) {
    return c.ops.remote_add(c.e.ep(), c.e.at(0), c.keys[0], 1, flags, nullptr);
  };
  for (const std::uint64_t flags : {FI_INJECT, FI_REMOTE_CQ_DATA, FI_INJECT_COMPLETE,
                                    FI_MATCH_COMPLETE, FI_COMPLETION | FI_INJECT})
    CHECK_CODE(-FI_EINVAL, try_add(flags));
  for (const std::uint64_t flags : {FI_TRIGGER, FI_COMMIT_COMPLETE, FI_MULTICAST})
    CHECK_CODE(-FI_EOPNOTSUPP, try_add(flags));
  CHECK_CODE(-FI_EINVAL, c.ops.remote_add(nullptr, c.e.at(0), c.keys[0], 1, 0, nullptr));
  // An object of another kind in an endpoint's place.
  CHECK_CODE(-FI_EINVAL, c.ops.remote_add(reinterpret_cast<fid_ep *>(cntr), c.e.at(0), c.keys[0], 1,
                                          0, nullptr));
  CHECK_CODE(-FI_EINVAL, c.ops.remote_add(c.e.ep(), 12345, c.keys[0], 1, 0, nullptr));
  op o;
  for (const std::uint64_t flags : {FI_DELIVERY_COMPLETE, FI_FENCE, FI_COMPLETION | FI_MORE}) {
    c.add(0, 1, o, flags);
    c.add_and_wait(0, 1);
    c.e.tx().wait_ok(o, "remote_add");
  }
  CHECK_EQ(fi_cntr_read(cntr), 6u);
}

CASE(endpoint_without_write, .ranks = 1) {
  endpoint e({.caps = FI_MSG | FI_RMA | FI_SEND | FI_RECV | FI_READ}, "FI_RMA");
  fi_dpdkx_ops_cntr &ops = counter_ops(e);
  e.meet(t);
  CHECK_CODE(-FI_EOPNOTSUPP, ops.remote_add(e.ep(), e.at(0), 1, 1, 0, nullptr));
}

CASE(limits_and_what_is_in_use, .ranks = 1) {
  counted_team c(t);
  fi_dpdkx_cntr_limits before{}, after{};
  before.size = after.size = sizeof before;
  CHECK_OK(c.ops.query(c.e.domain(), &before));
  {
    const owned_fid<fid_cntr> another = open_counter(c.e);
    std::uint64_t key = 0;
    CHECK_OK(c.ops.export_cntr(another.get(), FI_REMOTE_WRITE, FI_KEY_NOTAVAIL, 0, &key));
    CHECK_OK(c.ops.query(c.e.domain(), &after));
    CHECK_EQ(after.cntrs, before.cntrs + 1);
    CHECK_EQ(after.exports, before.exports + 1);
    CHECK(after.cntrs <= after.max_cntrs && after.exports <= after.max_exports);
  }
  CHECK_OK(c.ops.query(c.e.domain(), &after));
  CHECK_EQ(after.cntrs, before.cntrs);
  CHECK_EQ(after.exports, before.exports);

  struct {
    fi_dpdkx_cntr_limits limits;
    std::uint64_t later; // of a header that is to come
  } larger{};
  larger.later = 7;
  larger.limits.size = sizeof larger;
  CHECK_OK(c.ops.query(c.e.domain(), &larger.limits));
  CHECK_EQ(larger.later, 0u);
  CHECK_EQ(larger.limits.cntrs, before.cntrs);
  fi_dpdkx_cntr_limits smaller{};
  smaller.size = offsetof(fi_dpdkx_cntr_limits, max_triggered_ops);
  smaller.exports = 99;
  CHECK_OK(c.ops.query(c.e.domain(), &smaller));
  CHECK_EQ(smaller.cntrs, before.cntrs);
  CHECK_EQ(smaller.exports, 99u);
  smaller.size = 1;
  CHECK_CODE(-FI_EINVAL, c.ops.query(c.e.domain(), &smaller));
  CHECK_CODE(-FI_EINVAL, c.ops.query(c.e.domain(), nullptr));
  CHECK_CODE(-FI_EINVAL, c.ops.query(nullptr, &after));
}

// --- Order: once the counter has changed, the data are there

constexpr std::size_t sizes[] = {8, 5'000, 60'000, 3'000'000};

CASE(behind_a_write) {
  counted_team c(t);
  exposed memory(c.e, sizes[3]);
  memory.meet(t);
  std::uint64_t n = 0;
  for (const std::size_t size : sizes)
    for (int round = 0; round < 10; ++round) {
      ++n;
      const std::vector<std::byte> bytes = payload(size, n);
      if (t.first()) {
        op w, o;
        POST(c.e, fi_write(c.e.ep(), bytes.data(), size, nullptr, c.e.at(1), memory.addr(1),
                           memory.key(1), &w));
        c.add(1, 1, o);
        c.e.tx().wait_ok(w, "write");
        c.e.tx().wait_ok(o, "remote_add");
      } else {
        await_count(c.cntr.get(), n);
        CHECK(std::equal(bytes.begin(), bytes.end(), memory.span().begin()));
      }
      t.barrier();
    }
}

CASE(behind_a_message) {
  counted_team c(t);
  std::uint64_t n = 0;
  for (const std::size_t size : sizes)
    for (int round = 0; round < 10; ++round) {
      ++n;
      const std::vector<std::byte> bytes = payload(size, n);
      std::vector<std::byte> into(size);
      op r, s, o;
      if (!t.first())
        c.e.trecv(into, n, r);
      t.barrier();
      if (t.first()) {
        c.e.tsend(1, bytes, n, s);
        c.add(1, 1, o);
        c.e.tx().wait_ok(s, "send");
        c.e.tx().wait_ok(o, "remote_add");
      } else {
        await_count(c.cntr.get(), n);
        CHECK(into == bytes);
        c.e.rx().wait_ok(r, "receive");
      }
      t.barrier();
    }
}

// A large message that nobody receives yet is not waited for.
CASE(before_a_message_that_nobody_receives) {
  counted_team c(t);
  const std::vector<std::byte> bytes = payload(sizes[3], 1);
  std::vector<std::byte> into(bytes.size());
  op r, s, o;
  if (t.first()) {
    c.e.tsend(1, bytes, 1, s);
    c.add(1, 1, o);
    c.e.tx().wait_ok(o, "remote_add");
  } else {
    await_count(c.cntr.get(), 1);
  }
  t.barrier();
  if (t.first()) {
    c.e.tx().wait_ok(s, "send");
  } else {
    c.e.trecv(into, 1, r);
    c.e.rx().wait_ok(r, "receive");
    CHECK(into == bytes);
  }
  t.barrier();
}

CASE(behind_an_atomic) {
  counted_team c(t);
  exposed memory(c.e, 8);
  memory.meet(t);
  for (std::uint64_t n = 1; n <= 200; ++n) {
    if (t.first()) {
      const std::uint64_t operand = 3;
      op a, o;
      POST(c.e, fi_atomic(c.e.ep(), &operand, 1, nullptr, c.e.at(1), memory.addr(1), memory.key(1),
                          FI_UINT64, FI_SUM, &a));
      c.add(1, 1, o);
      c.e.tx().wait_ok(a, "atomic");
      c.e.tx().wait_ok(o, "remote_add");
    } else {
      await_count(c.cntr.get(), n);
      std::uint64_t word = 0;
      std::memcpy(&word, memory.span().data(), sizeof word);
      CHECK_EQ(word, 3 * n);
    }
    t.barrier();
  }
}

// The memory may change once the counter has.
CASE(behind_a_read) {
  counted_team c(t);
  exposed memory(c.e, sizes[3]);
  memory.meet(t);
  std::uint64_t n = 0;
  for (const std::size_t size : sizes) {
    ++n;
    const std::vector<std::byte> bytes = payload(size, n);
    if (!t.first())
      std::copy(bytes.begin(), bytes.end(), memory.span().begin());
    t.barrier();
    if (t.first()) {
      std::vector<std::byte> into(size);
      op r, o;
      POST(c.e, fi_read(c.e.ep(), into.data(), size, nullptr, c.e.at(1), memory.addr(1),
                        memory.key(1), &r));
      c.add(1, 1, o);
      c.e.tx().wait_ok(r, "read");
      c.e.tx().wait_ok(o, "remote_add");
      CHECK(into == bytes);
    } else {
      await_count(c.cntr.get(), n);
      memory.clear();
    }
    t.barrier();
  }
}

// --- By other ways than an address

// Of a connected endpoint's one peer; at once, and as deferred work.
CASE(over_a_connection, .ranks = 1) {
  cm_base base({.type = FI_EP_MSG, .caps = FI_MSG | FI_RMA | FI_ATOMIC | FI_TRIGGER});
  cm_pair pair(base);
  cm_endpoint &from = *pair.caller, &to = *pair.answerer;
  fi_dpdkx_ops_cntr &ops = counter_ops(from.domain());
  const auto target = open_counter(to.domain()), trigger = open_counter(from.domain()),
             done = open_counter(from.domain());
  const std::uint64_t key = export_counter(to.domain(), target.get());
  op o;
  CHECK_OK(ops.remote_add(from.ep(), FI_ADDR_UNSPEC, key, 5, FI_COMPLETION, &o));
  await_count(target.get(), 5);
  from.cq().wait_ok(o, "remote_add");
  fi_op_remote_cntr add{from.ep(), FI_ADDR_UNSPEC, key, 37, 0, nullptr};
  fi_deferred_work work{};
  work.threshold = 1;
  work.triggering_cntr = trigger.get();
  work.completion_cntr = done.get();
  fi_dpdkx_set_remote_cntr_add(&work, &add);
  CHECK_OK(fi_control(&from.domain()->fid, FI_QUEUE_WORK, &work));
  CHECK_EQ(fi_cntr_read(target.get()), 5u);
  CHECK_OK(fi_cntr_add(trigger.get(), 1));
  await_count(target.get(), 42);
  await_count(done.get(), 1);
  // Another's key is none of this domain's.
  CHECK_OK(ops.remote_add(to.ep(), FI_ADDR_UNSPEC, key, 1, FI_COMPLETION, &o));
  CHECK_EQ(to.cq().wait(o, "remote_add").err, FI_ENOKEY);
  CHECK_EQ(fi_cntr_read(target.get()), 42u);
}

// --- From C

CASE(c_program, .ranks = 1) {
  if (const char *const fault = c_accessors())
    fail(fault);
  endpoint e(with_all, "FI_RMA, FI_ATOMIC");
  counter_ops(e); // or it is skipped
  e.meet(t);
  const owned_fid<fid_cntr> cntr = open_counter(e);
  std::uint64_t key = 0;
  CHECK_OK(c_export(e.domain(), cntr.get(), &key));
  op o;
  POST(e, c_remote_add(e.domain(), e.ep(), e.at(0), key, 9, &o));
  e.tx().wait_ok(o, "remote_add");
  CHECK_EQ(fi_cntr_read(cntr.get()), 9u);
}

CASE(accessors, .ranks = 1) {
  fi_deferred_work work{};
  fi_op_remote_cntr add{};
  work.op_type = FI_OP_SEND;
  CHECK(fi_dpdkx_get_remote_cntr_add(&work) == nullptr);
  fi_dpdkx_set_remote_cntr_add(&work, &add);
  CHECK(fi_dpdkx_get_remote_cntr_add(&work) == &add);
}

} // namespace

} // namespace fabtest
