// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "exposed.h"

#include <algorithm>
#include <atomic>

#include <sched.h>

namespace fabtest {

namespace {

constexpr int mr_basic = 1 << 0; // by value, as newer headers call the name deprecated

bool mode_has(const fi_info &info, int bit) {
  const int mode = info.domain_attr->mr_mode;
  return mode == mr_basic || (mode & bit) != 0;
}

std::uint64_t next_key() {
  static std::uint64_t last = 0;
  return ++last;
}

template <class Holds> void await(std::string_view what, Holds &&holds, where at) {
  const auto end = std::chrono::steady_clock::now() + default_wait();
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end)
      fail(fmt::format("{}: not within {} ms", what, default_wait().count()), at);
    drive_progress();
    sched_yield();
  }
}

} // namespace

exposed::exposed(endpoint &e, std::size_t size, const options &o) : memory_(size) {
  std::vector<iovec> pieces;
  for (std::size_t i = 0, from = 0; i < o.buffers; ++i) {
    const std::size_t to = size * (i + 1) / o.buffers;
    pieces.push_back({memory_.data() + from, to - from});
    from = to;
  }
  const std::uint64_t wanted = o.requested_key ? o.requested_key : next_key();
  const bool counts = o.reads || o.writes;
  CHECK_OK(fi_mr_regv(e.domain(), pieces.data(), pieces.size(), o.access, 0, wanted,
                      counts ? FI_RMA_EVENT : 0, mr_.out(), nullptr));
  if (o.reads && o.reads == o.writes) {
    CHECK_OK(fi_mr_bind(mr_.get(), &o.reads->fid, remote_access));
  } else {
    if (o.reads)
      CHECK_OK(fi_mr_bind(mr_.get(), &o.reads->fid, FI_REMOTE_READ));
    if (o.writes)
      CHECK_OK(fi_mr_bind(mr_.get(), &o.writes->fid, FI_REMOTE_WRITE));
  }
  const bool of_endpoints = mode_has(e.info(), FI_MR_ENDPOINT);
  if (of_endpoints)
    CHECK_OK(fi_mr_bind(mr_.get(), &e.ep()->fid, 0));
  if (of_endpoints || (counts && mode_has(e.info(), FI_MR_RMA_EVENT)))
    CHECK_OK(fi_mr_enable(mr_.get()));
  mine_.key = fi_mr_key(mr_.get());
  if (!mode_has(e.info(), FI_MR_PROV_KEY))
    CHECK_EQ(mine_.key, wanted);
  if (mode_has(e.info(), FI_MR_VIRT_ADDR))
    mine_.addr = reinterpret_cast<std::uintptr_t>(memory_.data());
}

void exposed::clear() { std::ranges::fill(memory_, std::byte{0}); }

void exposed::meet(team &t) { all_ = t.exchange(mine_); }

fi_rma_iov exposed::at(int rank, std::size_t offset, std::size_t len) const {
  const known &k = all_.at(static_cast<std::size_t>(rank));
  return {k.addr + offset, len, k.key};
}

void await_payload(std::span<const std::byte> memory, std::uint64_t message, where at) {
  const auto expected = payload(memory.size(), message);
  await(
      fmt::format("message {:#x} of {} bytes, written by a peer", message, memory.size()),
      [&] {
        std::atomic_signal_fence(std::memory_order_seq_cst);
        return std::ranges::equal(memory, expected);
      },
      at);
}

void await_count(fid_cntr *cntr, std::uint64_t value, where at) {
  await(
      fmt::format("counter of {}", value), [&] { return fi_cntr_read(cntr) >= value; }, at);
  if (fi_cntr_read(cntr) != value)
    fail(fmt::format("the counter is {}, expected {}", fi_cntr_read(cntr), value), at);
}

void await_error_count(fid_cntr *cntr, std::uint64_t value, where at) {
  await(
      fmt::format("error counter of {}", value), [&] { return fi_cntr_readerr(cntr) >= value; },
      at);
  if (fi_cntr_readerr(cntr) != value)
    fail(fmt::format("the error counter is {}, expected {}", fi_cntr_readerr(cntr), value), at);
}

} // namespace fabtest
