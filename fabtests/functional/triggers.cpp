// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// When deferred work fires (fi_trigger(3), fi_dpdkx_cntr(3)): in what order, once and no more,
// whatever its counter does and whoever adds to it. What the operations do is deferred's.
#include "common/case.h"
#include "common/counter.h"
#include "common/exposed.h"
#include "common/sanitized.h"
#include "common/settings.h"

#include <algorithm>
#include <array>

#include <rdma/fi_tagged.h>
#include <rdma/fi_trigger.h>

namespace fabtest {

namespace {

const request with_triggers{.caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_TRIGGER,
                            .bind_flags = FI_SELECTIVE_COMPLETION};

constexpr std::uint64_t minus_seven = ~std::uint64_t{0} - 6;

// One rank with counters, on which works are queued.
struct trigger_scene {
  endpoint e;

  explicit trigger_scene(team &t) : e(with_triggers, "FI_TRIGGER") { e.meet(t); }
  int control(int command, void *arg) { return fi_control(&e.domain()->fid, command, arg); }

  void queue(fi_deferred_work &work, std::uint64_t threshold, const owned_fid<fid_cntr> &trigger,
             fid_cntr *done = nullptr, where at = where::current()) {
    work.threshold = threshold;
    work.triggering_cntr = trigger.get();
    work.completion_cntr = done;
    e.post(
        "FI_QUEUE_WORK", [&] { return control(FI_QUEUE_WORK, &work); }, at);
  }
  void queue_counter(fi_deferred_work &work, std::uint64_t threshold,
                     const owned_fid<fid_cntr> &trigger, fi_op_type type,
                     const owned_fid<fid_cntr> &target, std::uint64_t value,
                     where at = where::current()) {
    fi_op_cntr o{target.get(), value};
    work = {};
    work.op_type = type;
    work.op.cntr = &o;
    queue(work, threshold, trigger, nullptr, at);
  }
  void queue_add(fi_deferred_work &work, std::uint64_t threshold,
                 const owned_fid<fid_cntr> &trigger, const owned_fid<fid_cntr> &target,
                 std::uint64_t value = 1, where at = where::current()) {
    queue_counter(work, threshold, trigger, FI_OP_CNTR_ADD, target, value, at);
  }
  // An empty message of that tag to this rank.
  void queue_message(fi_deferred_work &work, std::uint64_t threshold,
                     const owned_fid<fid_cntr> &trigger, std::uint64_t tag) {
    fi_op_tagged o{};
    o.ep = e.ep();
    o.msg.addr = e.at(0);
    o.msg.tag = tag;
    o.flags = FI_INJECT;
    work = {};
    work.op_type = FI_OP_TSEND;
    work.op.tagged = &o;
    queue(work, threshold, trigger);
  }
};

} // namespace

// One increment passes several thresholds, and later ones the rest.
CASE(order_of_thresholds_then_of_age, .ranks = 1) {
  trigger_scene s(t);
  const auto trigger = open_counter(s.e);
  constexpr std::array<std::uint64_t, 10> thresholds{5, 3, 9, 3, 1, 5, 7, 0, 3, 7};
  std::array<op, thresholds.size()> receives;
  for (op &o : receives) {
    fi_msg_tagged m{};
    m.addr = FI_ADDR_UNSPEC;
    m.ignore = ~std::uint64_t{0};
    m.context = &o;
    POST(s.e, fi_trecvmsg(s.e.ep(), &m, FI_COMPLETION));
  }
  std::array<fi_deferred_work, thresholds.size()> works;
  for (std::size_t i = 0; i < works.size(); ++i)
    s.queue_message(works[i], thresholds[i], trigger, i);
  std::vector<std::size_t> order(works.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return thresholds[i]; });
  std::uint64_t level = 0;
  std::size_t came = 0;
  for (const std::uint64_t step : {0, 6, 1, 5}) {
    if (step > 0)
      CHECK_OK(fi_cntr_add(trigger.get(), step));
    level += step;
    for (; came < order.size() && thresholds[order[came]] <= level; ++came) {
      const completion c = s.e.rx().wait_ok(receives[came], "what a work has sent");
      CHECK_EQ(c.tag, order[came]);
    }
    s.e.rx().expect_empty();
  }
  CHECK_EQ(came, order.size());
}

CASE(ten_thousand_adds_to_its_own_counter, .ranks = 1) {
  constexpr std::uint64_t count = 10'000;
  trigger_scene s(t);
  const auto cntr = open_counter(s.e);
  std::vector<fi_deferred_work> works(count);
  for (std::uint64_t i = 0; i < count; ++i)
    s.queue_add(works[i], i + 1, cntr, cntr);
  CHECK_EQ(fi_cntr_read(cntr.get()), 0u);
  CHECK_OK(fi_cntr_add(cntr.get(), 1));
  await_count(cntr.get(), count + 1);
}

CASE(ten_thousand_times_there_and_back, .ranks = 1) {
  constexpr std::uint64_t count = 10'000;
  trigger_scene s(t);
  const auto a = open_counter(s.e), b = open_counter(s.e);
  std::vector<fi_deferred_work> there(count), back(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    s.queue_add(there[i], i + 1, a, b);
    s.queue_add(back[i], i + 1, b, a);
  }
  CHECK_OK(fi_cntr_add(a.get(), 1));
  await_count(b.get(), count);
  await_count(a.get(), count + 1);
}

// The reset of a tank: an add of what makes it empty again, and of what goes round at 2^64.
CASE(less_seven_and_around, .ranks = 1) {
  trigger_scene s(t);
  const auto tank = open_counter(s.e), fired = open_counter(s.e);
  std::array<fi_deferred_work, 2> works;
  for (std::uint64_t epoch = 1; epoch <= 5; ++epoch) {
    s.queue_add(works[0], 7, tank, fired);
    s.queue_add(works[1], 7, tank, tank, minus_seven);
    CHECK_OK(fi_cntr_add(tank.get(), 4));
    CHECK_OK(fi_cntr_add(tank.get(), 2));
    CHECK_EQ(fi_cntr_read(fired.get()), epoch - 1);
    CHECK_OK(fi_cntr_add(tank.get(), 1));
    await_count(fired.get(), epoch);
    await_count(tank.get(), 0);
  }
  s.queue_add(works[0], ~std::uint64_t{0}, tank, fired, 100);
  CHECK_OK(fi_cntr_set(tank.get(), ~std::uint64_t{0} - 1));
  CHECK_EQ(fi_cntr_read(fired.get()), 5u);
  CHECK_OK(fi_cntr_add(tank.get(), 3)); // past 2^64 - 1, which is never seen
  CHECK_EQ(fi_cntr_read(tank.get()), 1u);
  CHECK_EQ(fi_cntr_read(fired.get()), 5u);
  CHECK_OK(fi_cntr_set(tank.get(), ~std::uint64_t{0}));
  await_count(fired.get(), 105);
}

CASE(errors_count_towards_thresholds, .ranks = 1) {
  trigger_scene s(t);
  const auto trigger = open_counter(s.e), fired = open_counter(s.e);
  fi_deferred_work work;
  s.queue_add(work, 3, trigger, fired);
  CHECK_OK(fi_cntr_adderr(trigger.get(), 1));
  CHECK_OK(fi_cntr_add(trigger.get(), 1));
  CHECK_EQ(fi_cntr_read(fired.get()), 0u);
  CHECK_OK(fi_cntr_adderr(trigger.get(), 1));
  await_count(fired.get(), 1);
}

// What has fired has fired; what has not may be put out of reach.
CASE(lowered_and_raised_again, .ranks = 1) {
  trigger_scene s(t);
  const auto trigger = open_counter(s.e), fired = open_counter(s.e);
  std::array<fi_deferred_work, 2> works;
  s.queue_add(works[0], 2, trigger, fired, 1);
  s.queue_counter(works[1], 4, trigger, FI_OP_CNTR_SET, fired, 50);
  CHECK_OK(fi_cntr_add(trigger.get(), 3));
  await_count(fired.get(), 1);
  CHECK_OK(fi_cntr_set(trigger.get(), 0));
  CHECK_OK(fi_cntr_add(trigger.get(), 3));
  CHECK_EQ(fi_cntr_read(fired.get()), 1u);
  CHECK_OK(fi_cntr_add(trigger.get(), 1));
  await_count(fired.get(), 50);
}

// Before it fires; while what it started is under way; and afterwards.
CASE(cancel_and_flush, .ranks = 1) {
  trigger_scene s(t);
  const auto trigger = open_counter(s.e), other = open_counter(s.e), done = open_counter(s.e);
  fi_deferred_work work{};
  s.queue_add(work, 1, trigger, done);
  CHECK_EQ(fi_close(&trigger.get()->fid), -FI_EBUSY);
  CHECK_OK(s.control(FI_CANCEL_WORK, &work));
  CHECK_CODE(-FI_ENOENT, s.control(FI_CANCEL_WORK, &work));
  CHECK_OK(fi_cntr_add(trigger.get(), 1));
  CHECK_EQ(fi_cntr_read(done.get()), 0u);

  std::array<std::byte, 8> into{};
  const iovec v{into.data(), into.size()};
  fi_op_tagged receive{};
  receive.ep = s.e.ep();
  receive.msg.msg_iov = &v;
  receive.msg.iov_count = 1;
  receive.msg.addr = FI_ADDR_UNSPEC;
  receive.msg.tag = 5;
  work = {};
  work.op_type = FI_OP_TRECV;
  work.op.tagged = &receive;
  s.queue(work, 1, trigger, done.get()); // at once: it waits for its message now
  CHECK_CODE(-FI_ENOENT, s.control(FI_CANCEL_WORK, &work));
  CHECK_OK(s.control(FI_FLUSH_WORK, nullptr));
  CHECK_EQ(fi_cntr_read(done.get()), 0u);
  const auto content = payload(8, 1);
  POST(s.e, fi_tinject(s.e.ep(), content.data(), content.size(), s.e.at(0), 5));
  await_count(done.get(), 1);
  verify(into, 1);
  CHECK_CODE(-FI_ENOENT, s.control(FI_CANCEL_WORK, &work));

  // Of one counter, and of all.
  std::array<fi_deferred_work, 4> works;
  for (std::size_t i = 0; i < works.size(); ++i)
    s.queue_add(works[i], 10, i % 2 == 0 ? trigger : other, done, 100);
  CHECK_OK(s.control(FI_FLUSH_WORK, trigger.get()));
  CHECK_CODE(-FI_ENOENT, s.control(FI_CANCEL_WORK, &works[0]));
  CHECK_OK(fi_cntr_add(trigger.get(), 10));
  CHECK_EQ(fi_cntr_read(done.get()), 1u);
  CHECK_OK(s.control(FI_CANCEL_WORK, &works[1]));
  CHECK_OK(s.control(FI_FLUSH_WORK, nullptr));
  CHECK_OK(fi_cntr_add(other.get(), 10));
  CHECK_EQ(fi_cntr_read(done.get()), 1u);
}

// A chain of operations, each fired by the end of the one before it.
CASE(ends_trigger_what_follows, .ranks = 1) {
  constexpr std::uint64_t links = 1000;
  trigger_scene s(t);
  exposed memory(s.e, 8 * (links + 1));
  memory.clear();
  memory.meet(t);
  auto *const cells = reinterpret_cast<std::uint64_t *>(memory.span().data());
  const auto ends = open_counter(s.e);
  std::vector<fi_deferred_work> works(links);
  cells[0] = 42;
  for (std::uint64_t i = links; i-- > 0;) { // the last first: what counts is the threshold
    const iovec from{&cells[i], 8};
    const fi_rma_iov to = memory.at(0, 8 * (i + 1), 8);
    fi_op_rma write{};
    write.ep = s.e.ep();
    write.msg.msg_iov = &from;
    write.msg.iov_count = 1;
    write.msg.addr = s.e.at(0);
    write.msg.rma_iov = &to;
    write.msg.rma_iov_count = 1;
    works[i].op_type = FI_OP_WRITE;
    works[i].op.rma = &write;
    s.queue(works[i], i + 1, ends, ends.get());
  }
  CHECK_OK(fi_cntr_add(ends.get(), 1));
  await_count(ends.get(), links + 1);
  CHECK_EQ(cells[links], 42u);
}

// Each work is queued at about the moment when its threshold is reached.
CASE(armed_while_a_peer_adds, .seconds = 120) {
  constexpr std::uint64_t count = sanitized ? 20'000 : 1'000'000;
  trigger_scene s(t);
  fi_dpdkx_ops_cntr &ops = counter_ops(s.e);
  const auto cntr = open_counter(s.e), fired = open_counter(s.e);
  const auto keys = t.exchange(export_counter(s.e, cntr.get()));
  if (t.first()) {
    for (std::uint64_t i = 0; i < count; ++i)
      POST(s.e, ops.remote_add(s.e.ep(), s.e.at(1), keys[1], 1, 0, nullptr));
  } else {
    std::vector<fi_deferred_work> works(256);
    std::uint64_t threshold = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      // They fire in the order queued: a work's memory is its own again when so many have.
      if (i >= works.size())
        CHECK_OK(fi_cntr_wait(fired.get(), i - works.size() + 1, 20'000));
      threshold = std::min(std::max(threshold, fi_cntr_read(cntr.get()) + i % 3), count);
      s.queue_add(works[i % works.size()], threshold, cntr, fired);
    }
    await_count(cntr.get(), count);
    await_count(fired.get(), count);
  }
  t.barrier(); // driven: adds may have to be sent still
}

} // namespace fabtest
