// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Chains of deferred work through several ranks: what one's work does fires another's.
#include "common/case.h"
#include "common/settings.h"
#include "deferred_scene.h"

#include <atomic>
#include <thread>

namespace fabtest {

// A chain through peers: what comes in fires what goes out, round and round.
CASE(ring_of_ranks, .ranks = 3) {
  constexpr std::uint64_t laps = 200;
  request r = with_triggers;
  r.caps |= FI_RMA_EVENT;
  r.counted = {FI_REMOTE_WRITE};
  endpoint e(r);
  e.meet(t);
  exposed memory(e, 8);
  memory.meet(t);
  const int next = (t.rank() + 1) % t.size();
  std::uint64_t token = 1;
  counter done(e);
  std::vector<fi_deferred_work> works(laps);
  for (std::uint64_t i = 0; i < laps; ++i) {
    const iovec v{&token, 8};
    const fi_rma_iov target = memory.at(next, 0, 8);
    fi_op_rma o{};
    o.ep = e.ep();
    o.msg.msg_iov = &v;
    o.msg.iov_count = 1;
    o.msg.addr = e.at(next);
    o.msg.rma_iov = &target;
    o.msg.rma_iov_count = 1;
    works[i].threshold = i + (t.first() ? 0 : 1); // the first begins each lap but needs the last
    works[i].triggering_cntr = e.counter(0);
    works[i].completion_cntr = done.get();
    works[i].op_type = FI_OP_WRITE;
    works[i].op.rma = &o;
    CHECK_OK(fi_control(&e.domain()->fid, FI_QUEUE_WORK, &works[i]));
  }
  await_count(e.counter(0), laps);
  await_count(done.get(), laps);
  t.barrier();
}

// The same by adds to counters of peers alone.
CASE(ring_of_remote_adds, .ranks = 3) {
  constexpr std::uint64_t laps = 2000;
  endpoint e(with_triggers);
  e.meet(t);
  const counter token(e), done(e);
  const auto keys = t.exchange(export_counter(e, token.get()));
  const int next = (t.rank() + 1) % t.size();
  std::vector<fi_deferred_work> works(laps);
  for (std::uint64_t i = 0; i < laps; ++i) {
    fi_op_remote_cntr o{e.ep(), e.at(next), keys[static_cast<std::size_t>(next)], 1, 0, nullptr};
    fi_dpdkx_set_remote_cntr_add(&works[i], &o);
    works[i].threshold = i + (t.first() ? 0 : 1);
    works[i].triggering_cntr = token.get();
    works[i].completion_cntr = done.get();
    CHECK_OK(fi_control(&e.domain()->fid, FI_QUEUE_WORK, &works[i]));
  }
  await_count(token.get(), laps);
  await_count(done.get(), laps);
  CHECK_EQ(fi_cntr_readerr(done.get()), 0u);
  t.barrier();
}

// To and fro between two ranks that only look at their memory, where the last works write.
CASE(automatic_progress_runs_chains_between_ranks, .seconds = 60) {
  constexpr std::uint64_t hops = 200; // of each side
  request r = with_triggers;
  r.progress = FI_PROGRESS_AUTO;
  r.threading = FI_THREAD_SAFE;
  endpoint e(r);
  e.meet(t);
  exposed memory(e, 8);
  memory.clear();
  memory.meet(t);
  const counter mine(e), done(e);
  const auto keys = t.exchange(export_counter(e, mine.get()));
  const int peer = t.other();
  std::vector<fi_deferred_work> works(hops + 1);
  for (std::uint64_t i = 1; i <= hops; ++i) {
    fi_op_remote_cntr add{e.ep(), e.at(peer), keys[static_cast<std::size_t>(peer)], 1, 0, nullptr};
    fi_deferred_work &work = works[i - 1] = armed(i, mine, &done);
    fi_dpdkx_set_remote_cntr_add(&work, &add);
    POST(e, fi_control(&e.domain()->fid, FI_QUEUE_WORK, &work));
  }
  // An atomic: it is looked at while it is written.
  std::uint64_t last = hops;
  const fi_ioc from{&last, 1};
  const fi_rma_iov place = memory.at(peer, 0, sizeof last);
  const fi_rma_ioc to{place.addr, 1, place.key};
  fi_op_atomic write{};
  write.ep = e.ep();
  write.msg.msg_iov = &from;
  write.msg.iov_count = 1;
  write.msg.addr = e.at(peer);
  write.msg.rma_iov = &to;
  write.msg.rma_iov_count = 1;
  write.msg.datatype = FI_UINT64;
  write.msg.op = FI_ATOMIC_WRITE;
  works[hops] = armed(hops, mine, nullptr);
  works[hops].op_type = FI_OP_ATOMIC;
  works[hops].op.atomic = &write;
  POST(e, fi_control(&e.domain()->fid, FI_QUEUE_WORK, &works[hops]));
  t.barrier();
  if (t.first())
    mine.add(1);
  auto &written = *reinterpret_cast<std::uint64_t *>(memory.span().data());
  const auto end = std::chrono::steady_clock::now() + 2 * default_wait();
  while (std::atomic_ref(written).load() != hops) {
    CHECK(std::chrono::steady_clock::now() < end);
    std::this_thread::yield();
  }
  await_count(done.get(), hops);
  // The first rank began it; what it then got of its peer's last add, nothing waits for.
  await_count(mine.get(), t.first() ? hops + 1 : hops);
  t.barrier();
}

} // namespace fabtest
