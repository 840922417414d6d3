// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// fi_dpdkx_emulation(3): deferred work and counters of peers over tcp;ofi_rxm, which has neither.
// The provider that the program is given has no part in it.
#include "common/case.h"
#include "common/endpoint.h"
#include "common/progress.h"
#include "common/sanitized.h"
#include "common/schedule.h"
#include "common/settings.h"

#include <array>
#include <cstdlib>

#include <rdma/fi_atomic.h>
#include <rdma/fi_dpdkx_emulation.h>
#include <rdma/fi_rma.h>

namespace fabtest {

namespace {

constexpr const char *below = "tcp;ofi_rxm";
constexpr std::uint64_t epochs = sanitized ? 50 : 300;
constexpr std::uint64_t memory_key = 77;

// The process has called nothing of libfabric before.
info_ptr info_of_provider_below() {
  setenv("FI_PROVIDER", below, 1);
  config().provider = below;
  config().node = "127.0.0.1";
  return find_info({.caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC}, below);
}

template <class T> owned_fid<T> owned(T *object) { return owned_fid<T>(object); }

class rank final : public progress_source {
public:
  explicit rank(team &t, std::size_t memory_size = 8)
      : memory(memory_size), team_(t), base_(info_of_provider_below()) {
    fi_av_attr av_attr{};
    av_attr.type = FI_AV_TABLE;
    CHECK_OK(fi_av_open(base_.domain.get(), &av_attr, av_.out(), nullptr));
    fi_cq_attr cq_attr{};
    cq_attr.format = FI_CQ_FORMAT_TAGGED;
    cq_attr.size = 4096;
    CHECK_OK(fi_cq_open(base_.domain.get(), &cq_attr, cq_.out(), nullptr));
    CHECK_OK(fi_endpoint(base_.domain.get(), base_.info.get(), ep_.out(), nullptr));
    CHECK_OK(fi_ep_bind(ep_.get(), &av_->fid, 0));
    CHECK_OK(fi_ep_bind(ep_.get(), &cq_->fid, FI_TRANSMIT | FI_RECV));
    CHECK_OK(fi_enable(ep_.get()));
    CHECK_OK(fi_mr_reg(base_.domain.get(), memory.data(), memory.size(),
                       FI_REMOTE_READ | FI_REMOTE_WRITE, 0, memory_key, 0, mr_.out(), nullptr));
    fi_dpdkx_emulation_attr attr{};
    attr.size = sizeof attr;
    attr.info = base_.info.get();
    attr.domain = base_.domain.get();
    attr.av = av_.get();
    attr.ep = ep_.get();
    attr.cq = cq_.get();
    attr.receives = 16; // fewer than may arrive at a time
    CHECK_OK(fi_dpdkx_emulate(&attr, emulated_.out(), nullptr));
    CHECK_OK(fi_open_ops(&emulated_->fid, FI_DPDKX_OPS_CNTR, 0, reinterpret_cast<void **>(&ops),
                         nullptr));
    const bytes mine = name_of(ep_.get());
    for (const bytes &name : t.allgather(mine))
      peers_.push_back(insert(av_.get(), name, base_.info->addr_format));
    done = open_counter();
  }
  ~rank() override {
    team_.barrier(); // driven meanwhile: peers may wait for answers
    mr_.close();
    ep_.close();
  }

  void make_progress() override {
    if (done)
      fi_cntr_read(done.get());
  }

  owned_fid<fid_cntr> open_counter() {
    fid_cntr *cntr = nullptr;
    fi_cntr_attr attr{};
    CHECK_OK(fi_cntr_open(emulated_.get(), &attr, &cntr, nullptr));
    return owned(cntr);
  }
  std::vector<std::uint64_t> export_to_all(fid_cntr *cntr) {
    std::uint64_t key = 0;
    CHECK_OK(ops->export_cntr(cntr, FI_REMOTE_WRITE, FI_KEY_NOTAVAIL, 0, &key));
    return team_.exchange(key);
  }
  int queue(fi_deferred_work &work) { return fi_control(&emulated_->fid, FI_QUEUE_WORK, &work); }
  void queue_add(fi_deferred_work &work, int to, std::uint64_t key, std::uint64_t value) {
    fi_op_remote_cntr add{ep(), at(to), key, value, 0, nullptr};
    fi_dpdkx_set_remote_cntr_add(&work, &add);
    work.completion_cntr = done.get();
    ++expected;
    CHECK_OK(queue(work));
  }
  void queue_rma(fi_deferred_work &work, fi_op_type type, int peer, std::size_t offset,
                 std::size_t len) {
    const iovec local{memory.data() + offset, len};
    const fi_rma_iov remote{offset, len, memory_key};
    fi_op_rma op{};
    op.ep = ep();
    op.msg.msg_iov = &local;
    op.msg.iov_count = 1;
    op.msg.addr = at(peer);
    op.msg.rma_iov = &remote;
    op.msg.rma_iov_count = 1;
    work.op_type = type;
    work.op.rma = &op;
    work.completion_cntr = done.get();
    ++expected;
    CHECK_OK(queue(work));
  }
  void await_all() {
    CHECK_OK(fi_cntr_wait(done.get(), expected, 20'000));
    CHECK_EQ(fi_cntr_readerr(done.get()), 0u);
  }
  std::span<std::byte> block(int i, std::size_t size) {
    return std::span(memory).subspan(static_cast<std::size_t>(i) * size, size);
  }

  [[nodiscard]] fid_ep *ep() const { return ep_.get(); }
  [[nodiscard]] fid_domain *domain() const { return emulated_.get(); }
  [[nodiscard]] fi_addr_t at(int i) const { return peers_.at(static_cast<std::size_t>(i)); }

  bytes memory;
  fi_dpdkx_ops_cntr *ops = nullptr;
  std::uint64_t expected = 0;

private:
  team &team_;
  fabric_and_domain base_;
  owned_fid<fid_av> av_;
  owned_fid<fid_cq> cq_;
  owned_fid<fid_domain> emulated_;
  owned_fid<fid_ep> ep_;
  owned_fid<fid_mr> mr_;
  std::vector<fi_addr_t> peers_;

public:
  owned_fid<fid_cntr> done; // works that have ended
};

void arm(rank &r, const schedule &s, std::vector<fi_deferred_work> &works, fid_cntr *tank,
         const std::vector<std::uint64_t> &keys, std::size_t block_size) {
  works.assign(s.size(), {});
  for (std::size_t i = 0; i < s.size(); ++i) {
    works[i].threshold = s[i].level;
    works[i].triggering_cntr = tank;
    if (s[i].what == step::kind::write)
      r.queue_rma(works[i], FI_OP_WRITE, s[i].peer,
                  static_cast<std::size_t>(s[i].first_block) * block_size,
                  static_cast<std::size_t>(s[i].block_count) * block_size);
    else
      r.queue_add(works[i], s[i].peer, keys[static_cast<std::size_t>(s[i].peer)], s[i].amount);
  }
}

} // namespace

CASE(adds_are_summed, .ranks = 3) {
  rank r(t);
  const auto sum = r.open_counter(), start = r.open_counter();
  const auto keys = r.export_to_all(sum.get());
  constexpr std::uint64_t each = 200;
  std::vector<fi_deferred_work> works(each);
  for (int to = 0; to < t.size(); ++to) { // itself included
    const auto key = keys[static_cast<std::size_t>(to)];
    for (std::uint64_t i = 0; i < each / 2; ++i) {
      fi_deferred_work &work = works[i];
      work = {};
      work.threshold = i;
      work.triggering_cntr = start.get();
      r.queue_add(work, to, key, 3);
      CHECK_OK(r.ops->remote_add(r.ep(), r.at(to), key, 4, 0, nullptr));
    }
    CHECK_OK(fi_cntr_add(start.get(), each));
    r.await_all();
    CHECK_OK(fi_cntr_set(start.get(), 0));
  }
  const auto ranks = static_cast<std::uint64_t>(t.size());
  CHECK_OK(fi_cntr_wait(sum.get(), ranks * each / 2 * 7, 20'000));
  t.barrier();
  CHECK_EQ(fi_cntr_read(sum.get()), ranks * each / 2 * 7);
}

CASE(adds_that_fail) {
  rank r(t);
  const auto start = r.open_counter(), failed = r.open_counter();
  fi_deferred_work work{};
  work.triggering_cntr = start.get();
  work.completion_cntr = failed.get();
  fi_op_remote_cntr add{r.ep(), r.at(t.other()), 12345, 1, 0, nullptr};
  fi_dpdkx_set_remote_cntr_add(&work, &add);
  CHECK_OK(r.queue(work));
  const auto end = std::chrono::steady_clock::now() + default_wait();
  while (fi_cntr_readerr(failed.get()) == 0)
    CHECK(std::chrono::steady_clock::now() < end);
  CHECK_EQ(fi_cntr_read(failed.get()), 0u);
  t.barrier();
}

CASE(operations) {
  rank r(t, 20'000);
  const auto start = r.open_counter();
  fill(r.memory, t.first() ? 1 : 2);
  t.barrier();
  fi_deferred_work receive{}, send{}, read{};
  bytes into(100), out = payload(100, 3);
  const iovec in{into.data(), into.size()}, from{out.data(), out.size()};
  fi_op_tagged tagged{};
  tagged.ep = r.ep();
  tagged.msg.iov_count = 1;
  tagged.msg.addr = r.at(t.other());
  tagged.msg.tag = 5;
  for (fi_deferred_work *work : {&receive, &send, &read}) {
    work->threshold = 1;
    work->triggering_cntr = start.get();
    work->completion_cntr = r.done.get();
  }
  tagged.msg.msg_iov = &in;
  receive.op_type = FI_OP_TRECV;
  receive.op.tagged = &tagged;
  CHECK_OK(r.queue(receive));
  tagged.msg.msg_iov = &from;
  send.op_type = FI_OP_TSEND;
  CHECK_OK(r.queue(send) == -FI_EINVAL ? 0 : -FI_EIO); // no operand
  send.op.tagged = &tagged;
  CHECK_OK(r.queue(send));
  r.expected += 2;
  tagged = {}; // has been copied
  if (t.first())
    r.queue_rma(read, FI_OP_READ, 1, 0, 20'000);
  CHECK_EQ(fi_cntr_read(r.done.get()), 0u);
  CHECK_OK(fi_cntr_add(start.get(), 1));
  r.await_all();
  verify(into, 3);
  verify(r.memory, 2);
  t.barrier();
}

// Each behind the end of the one before it: a sum, a fetch of what it made, and an exchange that
// compares with that.
CASE(atomics) {
  rank r(t);
  auto &value = *reinterpret_cast<std::uint64_t *>(r.memory.data());
  value = 100;
  t.barrier();
  std::uint64_t operand = 5, fetched = 0, compared = 110, exchanged = 7, former = 0;
  fi_ioc from{&operand, 1}, compare{&compared, 1}, result{&fetched, 1};
  fi_rma_ioc to{0, 1, memory_key};
  fi_msg_atomic msg{};
  msg.msg_iov = &from;
  msg.iov_count = 1;
  msg.addr = r.at(t.other());
  msg.rma_iov = &to;
  msg.rma_iov_count = 1;
  msg.datatype = FI_UINT64;
  msg.op = FI_SUM;
  const std::array ends{r.open_counter(), r.open_counter(), r.open_counter()};
  const auto start = r.open_counter();
  std::array<fi_deferred_work, 3> works{};
  for (std::size_t i = 0; i < works.size(); ++i) {
    works[i].threshold = 1;
    works[i].triggering_cntr = (i == 0 ? start : ends[i - 1]).get();
    works[i].completion_cntr = ends[i].get();
  }
  fi_op_atomic add{};
  add.ep = r.ep();
  add.msg = msg;
  works[0].op_type = FI_OP_ATOMIC;
  works[0].op.atomic = &add;
  fi_op_fetch_atomic fetch{};
  fetch.ep = r.ep();
  fetch.msg = msg;
  fetch.fetch.msg_iov = &result;
  fetch.fetch.iov_count = 1;
  works[1].op_type = FI_OP_FETCH_ATOMIC;
  works[1].op.fetch_atomic = &fetch;
  fi_op_compare_atomic swap{};
  swap.ep = r.ep();
  swap.msg = msg;
  swap.msg.op = FI_CSWAP;
  swap.compare.msg_iov = &compare;
  swap.compare.iov_count = 1;
  swap.fetch.msg_iov = &result;
  swap.fetch.iov_count = 1;
  works[2].op_type = FI_OP_COMPARE_ATOMIC;
  works[2].op.compare_atomic = &swap;
  for (std::size_t i = 0; i < works.size(); ++i) {
    from.addr = i == 2 ? &exchanged : &operand;
    result.addr = i == 2 ? &former : &fetched;
    CHECK_OK(r.queue(works[i]));
  }
  // All that described them has been copied.
  from = compare = result = {};
  to = {};
  add = {};
  fetch = {};
  swap = {};
  CHECK_OK(fi_cntr_add(start.get(), 1));
  for (const auto &end : ends)
    CHECK_OK(fi_cntr_wait(end.get(), 1, 20'000));
  CHECK_EQ(fetched, 105u);
  CHECK_EQ(former, 110u);
  t.barrier();
  CHECK_EQ(value, 7u);
}

CASE(what_it_has_not, .ranks = 1) {
  rank r(t);
  const auto start = r.open_counter();
  fi_op_msg message{};
  message.ep = r.ep();
  fi_deferred_work work{};
  work.threshold = 1;
  work.triggering_cntr = start.get();
  work.op_type = FI_OP_SEND;
  work.op.msg = &message;
  CHECK_CODE(-FI_ENOSYS, r.queue(work));
  fi_op_remote_cntr add{r.ep(), r.at(0), 1, 1, FI_COMPLETION, nullptr};
  fi_dpdkx_set_remote_cntr_add(&work, &add);
  CHECK_CODE(-FI_ENOSYS, r.queue(work));
  add = {nullptr, r.at(0), 1, 1, 0, nullptr};
  CHECK_CODE(-FI_EINVAL, r.queue(work));
  fid_domain *none = nullptr;
  fi_dpdkx_emulation_attr attr{};
  attr.size = sizeof attr;
  CHECK_CODE(-FI_EINVAL, fi_dpdkx_emulate(&attr, &none, nullptr));
  CHECK_CODE(-FI_EBUSY, fi_close(&r.domain()->fid)); // its counters are open
}

CASE(barriers, .ranks = 4, .seconds = 60) {
  rank r(t);
  const auto tank = r.open_counter();
  const auto keys = r.export_to_all(tank.get());
  std::vector<fi_deferred_work> works;
  for (std::uint64_t epoch = 1; epoch <= epochs; ++epoch) {
    arm(r, barrier(t.size(), t.rank()), works, tank.get(), keys, 0);
    r.await_all();
  }
}

CASE(allgathers, .ranks = 4, .seconds = 60) {
  constexpr std::size_t size = 3000;
  rank r(t, 4 * size);
  std::array<owned_fid<fid_cntr>, 2> tanks{r.open_counter(), r.open_counter()};
  const std::array keys{r.export_to_all(tanks[0].get()), r.export_to_all(tanks[1].get())};
  std::vector<fi_deferred_work> works;
  for (std::uint64_t epoch = 1; epoch <= epochs; ++epoch) {
    const auto number = [&](int from) { return epoch * 8 + static_cast<std::uint64_t>(from); };
    fill(r.block(t.rank(), size), number(t.rank()));
    arm(r, allgather(t.size(), t.rank()), works, tanks[epoch % 2].get(), keys[epoch % 2], size);
    r.await_all();
    for (int from = 0; from < t.size(); ++from)
      verify(r.block(from, size), number(from));
  }
}

} // namespace fabtest
