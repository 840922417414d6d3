// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Collective operations that run as deferred work: barriers, allgathers and broadcasts, one after
// the other, while ranks come early and late.
#include "common/case.h"
#include "common/counter.h"
#include "common/exposed.h"
#include "common/sanitized.h"
#include "common/schedule.h"
#include "common/settings.h"

#include <array>
#include <thread>

#include <rdma/fi_trigger.h>

namespace fabtest {

namespace {

constexpr std::uint64_t epochs = sanitized ? 100 : 1000;

const request with_triggers{.caps = FI_MSG | FI_RMA | FI_TRIGGER};

// A rank with two tanks, a buffer of blocks, and the deferred work of the operation that goes on.
class member {
public:
  member(team &t, int blocks, std::size_t block_size)
      : e(with_triggers, "FI_TRIGGER"), blocks_(e, static_cast<std::size_t>(blocks) * block_size),
        block_size_(block_size), team_(t), done_(open_counter(e)),
        random_(config().seed + static_cast<std::uint64_t>(t.rank())) {
    e.meet(t);
    blocks_.meet(t);
    for (tank &k : tanks_) {
      k.water = open_counter(e);
      k.keys = t.exchange(export_counter(e, k.water.get()));
    }
    t.barrier();
  }
  ~member() { team_.barrier(); } // nobody goes while others still need an answer

  std::span<std::byte> block(int i) {
    return blocks_.span().subspan(static_cast<std::size_t>(i) * block_size_, block_size_);
  }

  void run(const schedule &s, unsigned which_tank) {
    tank &k = tanks_.at(which_tank);
    works_.assign(s.size(), {});
    for (std::size_t i = 0; i < s.size(); ++i)
      arm(s[i], works_[i], k);
    await_count(done_.get(), expected_);
    CHECK_EQ(fi_cntr_readerr(done_.get()), 0u);
    CHECK_EQ(fi_cntr_readerr(k.water.get()), 0u);
  }

  // Comes late, sometimes.
  void dawdle() {
    if (random_.below(4) == 0)
      std::this_thread::sleep_for(std::chrono::microseconds(random_.below(100)));
  }

  endpoint e;

private:
  struct tank {
    owned_fid<fid_cntr> water;
    std::vector<std::uint64_t> keys;
  };

  void arm(const step &s, fi_deferred_work &work, tank &k) {
    work.threshold = s.level;
    work.triggering_cntr = k.water.get();
    const auto peer = static_cast<std::size_t>(s.peer);
    fi_op_remote_cntr add{e.ep(), e.at(s.peer), k.keys.at(peer), s.amount, 0, nullptr};
    fi_op_cntr raise{k.water.get(), s.amount};
    iovec local{};
    fi_rma_iov remote{};
    fi_op_rma rma{};
    switch (s.what) {
    case step::kind::add:
      fi_dpdkx_set_remote_cntr_add(&work, &add);
      break;
    case step::kind::raise:
      work.op_type = FI_OP_CNTR_ADD;
      work.op.cntr = &raise;
      break;
    case step::kind::write: {
      const std::size_t at = static_cast<std::size_t>(s.first_block) * block_size_,
                        len = static_cast<std::size_t>(s.block_count) * block_size_;
      local = {blocks_.span().data() + at, len};
      remote = blocks_.at(s.peer, at, len);
      rma.ep = e.ep();
      rma.msg.msg_iov = &local;
      rma.msg.iov_count = 1;
      rma.msg.addr = e.at(s.peer);
      rma.msg.rma_iov = &remote;
      rma.msg.rma_iov_count = 1;
      work.op_type = FI_OP_WRITE;
      work.op.rma = &rma;
      break;
    }
    }
    if (s.what != step::kind::raise) {
      work.completion_cntr = done_.get();
      ++expected_;
    }
    CHECK_OK(fi_control(&e.domain()->fid, FI_QUEUE_WORK, &work));
  }

  exposed blocks_;
  const std::size_t block_size_;
  team &team_;
  owned_fid<fid_cntr> done_; // steps that have ended
  std::uint64_t expected_ = 0;
  std::array<tank, 2> tanks_;
  std::vector<fi_deferred_work> works_;
  random_source random_;
};

std::uint64_t number(std::uint64_t epoch, int rank) {
  return epoch * 64 + static_cast<std::uint64_t>(rank);
}

// Each tells all in which epoch it is, then enters: behind the barrier all have come that far.
void barriers(team &t) {
  member m(t, 1, 8);
  exposed entered(m.e, static_cast<std::size_t>(t.size()) * 8);
  entered.meet(t);
  const schedule s = barrier(t.size(), t.rank());
  const auto mine = static_cast<std::size_t>(t.rank()) * 8;
  for (std::uint64_t epoch = 1; epoch <= epochs; ++epoch) {
    std::vector<op> told(static_cast<std::size_t>(t.size()));
    const iovec local{&epoch, 8};
    for (int peer = 0; peer < t.size(); ++peer) {
      const fi_rma_iov remote = entered.at(peer, mine, 8);
      fi_msg_rma msg{};
      msg.msg_iov = &local;
      msg.iov_count = 1;
      msg.addr = m.e.at(peer);
      msg.rma_iov = &remote;
      msg.rma_iov_count = 1;
      msg.context = &told[static_cast<std::size_t>(peer)];
      POST(m.e, fi_writemsg(m.e.ep(), &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE));
    }
    for (op &o : told)
      m.e.tx().wait_ok(o, "a write");
    m.run(s, 0);
    for (int peer = 0; peer < t.size(); ++peer) {
      std::uint64_t there = 0;
      std::memcpy(&there, entered.span().data() + static_cast<std::size_t>(peer) * 8, 8);
      CHECK(there == epoch || there == epoch + 1);
    }
    m.dawdle();
  }
}

void allgathers(team &t) {
  member m(t, t.size(), 200);
  const schedule s = allgather(t.size(), t.rank());
  for (std::uint64_t epoch = 1; epoch <= epochs; ++epoch) {
    fill(m.block(t.rank()), number(epoch, t.rank()));
    m.dawdle();
    m.run(s, epoch % 2);
    for (int from = 0; from < t.size(); ++from)
      verify(m.block(from), number(epoch, from));
  }
}

void broadcasts(team &t, const schedule &s, int blocks, std::size_t block_size) {
  member m(t, blocks, block_size);
  for (std::uint64_t epoch = 1; epoch <= epochs; ++epoch) {
    if (t.first())
      for (int i = 0; i < blocks; ++i)
        fill(m.block(i), number(epoch, i));
    m.dawdle();
    m.run(s, 0);
    for (int i = 0; i < blocks; ++i)
      verify(m.block(i), number(epoch, i));
  }
}

void branches(team &t) { broadcasts(t, branch(t.size(), t.rank()), 1, 5000); }

void pipelines(team &t) { broadcasts(t, pipeline(t.size(), t.rank(), 5), 5, 1000); }

} // namespace

// As published, for eight ranks: the first rank's steps, a rank with two children, and one that
// hands three blocks on.
CASE(tables, .ranks = 1) {
  using enum step::kind;
  CHECK((barrier(8, 0) ==
         schedule{{0, add, 1, 4}, {4, add, 2, 2}, {6, add, 4, 1}, {7, add, 0, -std::uint64_t{7}}}));
  CHECK((allgather(8, 0) == schedule{{0, add, 1, 32},
                                     {32, write, 1, 0, 0, 1},
                                     {32, add, 1, 16},
                                     {48, add, 2, 8},
                                     {56, write, 2, 0, 0, 2},
                                     {56, add, 2, 4},
                                     {60, add, 4, 2},
                                     {62, write, 4, 0, 0, 4},
                                     {62, add, 4, 1},
                                     {63, add, 0, -std::uint64_t{63}}}));
  CHECK((branch(8, 1) == schedule{{0, add, 0, 1},
                                  {1, raise, 1, 2},
                                  {3, write, 3, 0, 0, 1},
                                  {3, add, 3, 1},
                                  {3, write, 4, 0, 0, 1},
                                  {3, add, 4, 1},
                                  {3, add, 1, -std::uint64_t{3}}}));
  CHECK((pipeline(8, 1, 2) == schedule{{0, add, 0, 1},
                                       {1, write, 2, 0, 0, 1},
                                       {1, add, 2, 1},
                                       {2, write, 2, 0, 1, 1},
                                       {2, add, 2, 1},
                                       {2, add, 1, -std::uint64_t{2}}}));
}

#define CASES(name)                                                                                \
  CASE(name##_of_2, .ranks = 2, .seconds = 60) { name(t); }                                        \
  CASE(name##_of_4, .ranks = 4, .seconds = 60) { name(t); }                                        \
  CASE(name##_of_8, .ranks = 8, .seconds = 60) { name(t); }

CASES(barriers)
CASES(allgathers)
CASES(branches)
CASES(pipelines)

} // namespace fabtest
