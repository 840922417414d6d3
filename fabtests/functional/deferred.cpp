// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Deferred work (fi_trigger(3)): each operation, at thresholds that are reached already, later, and
// by a jump; what is counted, what is told, what may be forgotten once it is queued.
#include "common/case.h"
#include "common/connected.h"
#include "common/settings.h"
#include "deferred_scene.h"

#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>

namespace fabtest {

namespace {

void describe_message(scene &s, description &d, auto &m, void *context) {
  s.use_local(d);
  m = {};
  m.msg_iov = d.iov.data();
  m.iov_count = d.iov.size();
  m.addr = s.e.at(0);
  m.context = context;
}

void describe_rma(scene &s, description &d, fi_msg_rma &m, void *context) {
  s.use_local(d);
  d.target[0] = s.memory.at(0, 0, size);
  m = {};
  m.msg_iov = d.iov.data();
  m.iov_count = d.iov.size();
  m.addr = s.e.at(0);
  m.rma_iov = d.target.data();
  m.rma_iov_count = 1;
  m.context = context;
}

constexpr std::uint64_t tag = 77;

// An operation, how to describe it, what there is to do before it can end, and what it has done.
struct deed {
  fi_op_type type;
  std::function<void(scene &, description &, fi_deferred_work &, std::uint64_t flags, void *)>
      describe;
  std::function<void(scene &, op &)> prepare; // before it fires; the op is for it to use
  std::function<void(scene &)> verify;
};

void nothing(scene &, op &) {}

std::vector<deed> deeds() {
  const auto message = [](scene &s, description &d, fi_deferred_work &w, std::uint64_t flags,
                          void *c) {
    d.op.msg.ep = s.e.ep();
    d.op.msg.flags = flags;
    describe_message(s, d, d.op.msg.msg, c);
    w.op.msg = &d.op.msg;
  };
  const auto tagged = [](scene &s, description &d, fi_deferred_work &w, std::uint64_t flags,
                         void *c) {
    d.op.tagged.ep = s.e.ep();
    d.op.tagged.flags = flags;
    describe_message(s, d, d.op.tagged.msg, c);
    d.op.tagged.msg.tag = tag;
    w.op.tagged = &d.op.tagged;
  };
  std::vector<deed> all;
  all.push_back({FI_OP_SEND, message,
                 [](scene &s, op &o) {
                   fill(s.local, 1);
                   s.e.recv(s.memory.first(size), o);
                 },
                 [](scene &s) { await_payload(s.memory.first(size), 1); }});
  all.push_back({FI_OP_TSEND, tagged,
                 [](scene &s, op &o) {
                   fill(s.local, 2);
                   s.e.trecv(s.memory.first(size), tag, o);
                 },
                 [](scene &s) { await_payload(s.memory.first(size), 2); }});
  all.push_back({FI_OP_RECV, message,
                 [](scene &s, op &o) {
                   fill(s.memory.first(size), 3);
                   s.e.send(0, s.memory.first(size), o);
                 },
                 [](scene &s) { await_payload(s.local, 3); }});
  all.push_back({FI_OP_TRECV, tagged,
                 [](scene &s, op &o) {
                   fill(s.memory.first(size), 4);
                   s.e.tsend(0, s.memory.first(size), tag, o);
                 },
                 [](scene &s) { await_payload(s.local, 4); }});
  const auto describe = [](scene &s, description &d, fi_deferred_work &w, std::uint64_t flags,
                           void *c) {
    d.op.rma.ep = s.e.ep();
    d.op.rma.flags = flags;
    describe_rma(s, d, d.op.rma.msg, c);
    w.op.rma = &d.op.rma;
  };
  all.push_back({FI_OP_WRITE, describe, [](scene &s, op &) { fill(s.local, 5); },
                 [](scene &s) { await_payload(s.memory.first(size), 5); }});
  all.push_back({FI_OP_READ, describe, [](scene &s, op &) { fill(s.memory.first(size), 6); },
                 [](scene &s) { await_payload(s.local, 6); }});
  all.push_back({FI_OP_ATOMIC,
                 [](scene &s, description &d, fi_deferred_work &w, std::uint64_t flags, void *c) {
                   s.value() = 37;
                   d.op.atomic.ep = s.e.ep();
                   d.op.atomic.flags = flags;
                   s.describe_value(d, d.op.atomic.msg, FI_SUM, c);
                   w.op.atomic = &d.op.atomic;
                 },
                 nothing, [](scene &s) { CHECK_EQ(s.value(), 42u); }});
  all.push_back({FI_OP_FETCH_ATOMIC,
                 [](scene &s, description &d, fi_deferred_work &w, std::uint64_t flags, void *c) {
                   s.value() = 37;
                   d.op.fetch_atomic.ep = s.e.ep();
                   d.op.fetch_atomic.flags = flags;
                   s.describe_value(d, d.op.fetch_atomic.msg, FI_SUM, c);
                   d.result[0] = {&s.former, 1};
                   d.op.fetch_atomic.fetch = {d.result.data(), nullptr, 1};
                   w.op.fetch_atomic = &d.op.fetch_atomic;
                 },
                 nothing,
                 [](scene &s) {
                   CHECK_EQ(s.value(), 42u);
                   CHECK_EQ(s.former, 37u);
                 }});
  all.push_back({FI_OP_COMPARE_ATOMIC,
                 [](scene &s, description &d, fi_deferred_work &w, std::uint64_t flags, void *c) {
                   s.value() = s.compared;
                   d.op.compare_atomic.ep = s.e.ep();
                   d.op.compare_atomic.flags = flags;
                   s.describe_value(d, d.op.compare_atomic.msg, FI_CSWAP, c);
                   d.result[0] = {&s.former, 1};
                   d.compare[0] = {&s.compared, 1};
                   d.op.compare_atomic.fetch = {d.result.data(), nullptr, 1};
                   d.op.compare_atomic.compare = {d.compare.data(), nullptr, 1};
                   w.op.compare_atomic = &d.op.compare_atomic;
                 },
                 nothing,
                 [](scene &s) {
                   CHECK_EQ(s.value(), s.operand);
                   CHECK_EQ(s.former, s.compared);
                 }});
  return all;
}

void queue_work(scene &s, const deed &w, fi_deferred_work &work, std::uint64_t flags,
                void *context) {
  const auto d = std::make_unique<description>();
  work.op_type = w.type;
  w.describe(s, *d, work, flags, context);
  CHECK_OK(fi_control(&s.e.domain()->fid, FI_QUEUE_WORK, &work));
  std::memset(static_cast<void *>(d.get()), 0xee, sizeof *d); // only the data must live on
}

bool sends(const deed &w) { return w.type == FI_OP_SEND || w.type == FI_OP_TSEND; }
bool receives(const deed &w) { return w.type == FI_OP_RECV || w.type == FI_OP_TRECV; }

// The other end of a message, which is an operation as any.
void finish_peer(scene &s, const deed &w, const op &peer) {
  if (sends(w))
    s.e.rx().wait_ok(peer, "the receive of what was sent");
  else if (receives(w))
    s.e.tx().wait_ok(peer, "the send of what was received");
}

} // namespace

CASE(every_operation, .ranks = 1) {
  scene s(t);
  struct {
    std::uint64_t threshold, before, step;
  } const ways[] = {{0, 0, 0}, {3, 3, 0}, {3, 2, 1}, {3, 1, 40}};
  for (const deed &w : deeds())
    for (const auto &way : ways) {
      counter trigger(s.e), done(s.e);
      trigger.add(way.before);
      s.memory.clear();
      op peer;
      w.prepare(s, peer);
      fi_deferred_work work = armed(way.threshold, trigger, &done);
      queue_work(s, w, work, 0, nullptr);
      if (way.step) {
        drive_progress();
        CHECK_EQ(fi_cntr_read(done.get()), 0u);
        trigger.add(way.step);
      }
      await_count(done.get(), 1);
      w.verify(s);
      finish_peer(s, w, peer);
      s.e.tx().expect_empty(); // of the work nothing is told
      CHECK_EQ(fi_cntr_readerr(done.get()), 0u);
    }
}

// With FI_COMPLETION it is told as well, by the context that the application gave.
CASE(told_if_asked_for, .ranks = 1) {
  scene s(t);
  for (const deed &w : deeds()) {
    counter trigger(s.e), done(s.e);
    s.memory.clear();
    op peer, own;
    w.prepare(s, peer);
    fi_deferred_work work = armed(1, trigger, &done);
    queue_work(s, w, work, FI_COMPLETION, &own);
    trigger.add(1);
    (receives(w) ? s.e.rx() : s.e.tx()).wait_ok(own, "the work");
    await_count(done.get(), 1);
    w.verify(s);
    finish_peer(s, w, peer);
  }
}

// Flags of what sends, of messages and of RMA.
CASE(told_when_delivered_and_behind_a_fence, .ranks = 1) {
  scene s(t);
  for (const deed &w : deeds()) {
    if (receives(w))
      continue;
    for (const std::uint64_t flags : {FI_DELIVERY_COMPLETE, FI_FENCE | FI_COMPLETION}) {
      counter trigger(s.e), done(s.e);
      s.memory.clear();
      op peer, own;
      w.prepare(s, peer);
      fi_deferred_work work = armed(1, trigger, &done);
      queue_work(s, w, work, flags, &own);
      trigger.add(1);
      await_count(done.get(), 1);
      w.verify(s);
      if (flags & FI_COMPLETION)
        s.e.tx().wait_ok(own, "the work");
      finish_peer(s, w, peer);
      s.e.tx().expect_empty();
    }
  }
}

// With FI_INJECT the buffer is read when the work fires, and not later.
CASE(injected_when_it_fires, .ranks = 1) {
  scene s(t);
  for (const deed &w : deeds()) {
    if (w.type != FI_OP_SEND && w.type != FI_OP_TSEND && w.type != FI_OP_WRITE)
      continue;
    counter trigger(s.e), done(s.e);
    s.memory.clear();
    op peer;
    w.prepare(s, peer);
    fi_deferred_work work = armed(1, trigger, &done);
    fill(s.local, 100);
    queue_work(s, w, work, FI_INJECT, nullptr);
    fill(s.local, 101);
    trigger.add(1);
    fill(s.local, 102);
    await_count(done.get(), 1);
    await_payload(s.memory.first(size), 101);
    finish_peer(s, w, peer);
  }
}

CASE(data_for_the_peers_queue, .ranks = 1) {
  scene s(t);
  constexpr std::uint64_t data = 0x1234'5678;
  for (const deed &w : deeds()) {
    counter trigger(s.e), done(s.e);
    s.memory.clear();
    op peer;
    description d;
    fi_deferred_work work = armed(1, trigger, &done);
    work.op_type = w.type;
    if (w.type == FI_OP_SEND || w.type == FI_OP_TSEND) {
      w.prepare(s, peer);
      w.describe(s, d, work, FI_REMOTE_CQ_DATA, nullptr);
      (w.type == FI_OP_SEND ? d.op.msg.msg.data : d.op.tagged.msg.data) = data;
    } else if (w.type == FI_OP_WRITE) {
      w.prepare(s, peer);
      w.describe(s, d, work, FI_REMOTE_CQ_DATA, nullptr);
      d.op.rma.msg.data = data;
    } else {
      continue;
    }
    CHECK_OK(fi_control(&s.e.domain()->fid, FI_QUEUE_WORK, &work));
    trigger.add(1);
    const completion c = w.type == FI_OP_WRITE
                             ? s.e.rx().next("what tells of the write")
                             : s.e.rx().wait_ok(peer, "the receive of what was sent");
    CHECK(c.flags & FI_REMOTE_CQ_DATA);
    CHECK_EQ(c.data, data);
    await_count(done.get(), 1);
    w.verify(s);
  }
}

// A connection has one peer: whatever address a receive names, deferred or not, says nothing.
CASE(receives_of_a_connection, .ranks = 1) {
  cm_base base({.caps = FI_MSG | FI_TAGGED | FI_TRIGGER});
  const cm_pair pair(base);
  owned_fid<fid_cntr> trigger;
  fi_cntr_attr attr{};
  CHECK_OK(fi_cntr_open(pair.answerer->domain(), &attr, trigger.out(), nullptr));
  std::vector<std::byte> into(size);
  const iovec v{into.data(), into.size()};
  op own, peer;
  fi_op_msg o{};
  o.ep = pair.answerer->ep();
  o.msg.msg_iov = &v;
  o.msg.iov_count = 1;
  o.msg.addr = 12345;
  o.msg.context = &own;
  o.flags = FI_COMPLETION;
  fi_deferred_work work{};
  work.triggering_cntr = trigger.get();
  work.op_type = FI_OP_RECV;
  work.op.msg = &o;
  CHECK_OK(fi_control(&pair.answerer->domain()->fid, FI_QUEUE_WORK, &work));
  pair.caller->send(payload(size, 9), peer);
  pair.answerer->cq().wait_ok(own, "the deferred receive");
  verify(into, 9);
  pair.caller->cq().wait_ok(peer, "the send");
}

// What fails counts as an error, which may trigger more.
CASE(failures_are_counted, .ranks = 1) {
  scene s(t);
  counter trigger(s.e), done(s.e), next(s.e);
  description d;
  s.use_local(d);
  d.op.rma.ep = s.e.ep();
  describe_rma(s, d, d.op.rma.msg, nullptr);
  d.target[0].key ^= 1; // no such key
  fi_deferred_work work = armed(1, trigger, &done), chained = armed(1, done, nullptr);
  work.op_type = FI_OP_WRITE;
  work.op.rma = &d.op.rma;
  CHECK_OK(fi_control(&s.e.domain()->fid, FI_QUEUE_WORK, &work));
  fi_op_cntr add{next.get(), 1};
  chained.op_type = FI_OP_CNTR_ADD;
  chained.op.cntr = &add;
  CHECK_OK(fi_control(&s.e.domain()->fid, FI_QUEUE_WORK, &chained));
  trigger.add(1);
  await_error_count(done.get(), 1);
  CHECK_EQ(fi_cntr_read(done.get()), 0u);
  await_count(next.get(), 1);
  s.e.tx().expect_empty(); // it has been counted
  // Where nothing counts it, it is told.
  op own;
  work.completion_cntr = nullptr;
  d.op.rma.msg.context = &own;
  CHECK_OK(fi_control(&s.e.domain()->fid, FI_QUEUE_WORK, &work));
  CHECK(s.e.tx().wait(own, "the failed write").err != 0);
}

CASE(cancelled_work_does_nothing, .ranks = 1) {
  scene s(t);
  for (const deed &w : deeds()) {
    counter trigger(s.e), done(s.e);
    fi_deferred_work work = armed(1, trigger, &done);
    s.memory.clear();
    queue_work(s, w, work, 0, nullptr);
    CHECK_EQ(fi_close(&trigger.get()->fid), -FI_EBUSY);
    CHECK_OK(fi_control(&s.e.domain()->fid, FI_CANCEL_WORK, &work));
    CHECK_EQ(fi_control(&s.e.domain()->fid, FI_CANCEL_WORK, &work), -FI_ENOENT);
    queue_work(s, w, work, 0, nullptr);
    CHECK_OK(fi_control(&s.e.domain()->fid, FI_FLUSH_WORK, nullptr));
    trigger.add(1);
    drive_progress();
    CHECK_EQ(fi_cntr_read(done.get()), 0u);
  }
}

// An endpoint stays open for the works that name it.
CASE(endpoints_stay_for_their_work, .ranks = 1) {
  scene s(t);
  counter trigger(s.e);
  const deed w = deeds().front();
  fi_deferred_work work = armed(1, trigger, nullptr);
  queue_work(s, w, work, 0, nullptr);
  CHECK_EQ(fi_close(&s.e.ep()->fid), -FI_EBUSY);
  CHECK_OK(fi_control(&s.e.domain()->fid, FI_FLUSH_WORK, trigger.get()));
}

// A key that nobody has: the error is counted here, and nothing happens there.
CASE(remote_add_to_nobody, .ranks = 1) {
  scene s(t);
  const fi_dpdkx_ops_cntr &ops = counter_ops(s.e);
  const counter trigger(s.e), done(s.e);
  fi_op_remote_cntr o{s.e.ep(), s.e.at(0), 12345, 1, 0, nullptr};
  fi_deferred_work work = armed(1, trigger, &done);
  fi_dpdkx_set_remote_cntr_add(&work, &o);
  CHECK_OK(fi_control(&s.e.domain()->fid, FI_QUEUE_WORK, &work));
  fi_dpdkx_cntr_limits limits{};
  limits.size = sizeof limits;
  CHECK_OK(ops.query(s.e.domain(), &limits));
  CHECK_EQ(limits.triggered_ops, 1u);
  trigger.add(1);
  await_error_count(done.get(), 1);
  CHECK_OK(ops.query(s.e.domain(), &limits));
  CHECK_EQ(limits.triggered_ops, 0u);
}

// Nobody calls libfabric while the chain runs.
CASE(automatic_progress_runs_chains, .ranks = 1) {
  request r = with_triggers;
  r.progress = FI_PROGRESS_AUTO;
  r.threading = FI_THREAD_SAFE;
  scene s(t, r);
  counter trigger(s.e), done(s.e);
  s.memory.clear();
  fill(s.local, 8);
  description d;
  d.op.rma.ep = s.e.ep();
  d.op.rma.flags = 0;
  describe_rma(s, d, d.op.rma.msg, nullptr);
  fi_deferred_work first = armed(1, trigger, &done), second = armed(1, done, nullptr);
  first.op_type = FI_OP_WRITE;
  first.op.rma = &d.op.rma;
  CHECK_OK(fi_control(&s.e.domain()->fid, FI_QUEUE_WORK, &first));
  // The end of the first fires the second, which writes the value behind the payload.
  description d2;
  d2.op.atomic.ep = s.e.ep();
  d2.op.atomic.flags = 0;
  s.value() = 0;
  s.describe_value(d2, d2.op.atomic.msg, FI_SUM, nullptr);
  second.op_type = FI_OP_ATOMIC;
  second.op.atomic = &d2.op.atomic;
  CHECK_OK(fi_control(&s.e.domain()->fid, FI_QUEUE_WORK, &second));
  trigger.add(1);
  const auto end = std::chrono::steady_clock::now() + default_wait();
  while (std::atomic_ref(s.value()).load() != s.operand) {
    CHECK(std::chrono::steady_clock::now() < end);
    std::this_thread::yield();
  }
  await_payload(s.memory.first(size), 8);
}

} // namespace fabtest
