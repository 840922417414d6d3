// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Memory registration (fi_mr(3)) as far as messages can use it.
#include "common/case.h"
#include "common/forms.h"

#include <array>
#include <set>

namespace fabtest {

namespace {

constexpr std::uint64_t local_access = FI_SEND | FI_RECV;

// A message to oneself between registered buffers, with their descriptors.
void exchange_registered(endpoint &e, void *send_desc, void *recv_desc,
                         std::span<const std::byte> out, std::span<std::byte> in) {
  op sent, received;
  POST(e, fi_trecv(e.ep(), in.data(), in.size(), recv_desc, FI_ADDR_UNSPEC, 1, 0, &received));
  POST(e, fi_tsend(e.ep(), out.data(), out.size(), send_desc, e.at(0), 1, &sent));
  e.rx().wait_ok(received, "receive");
  e.tx().wait_ok(sent, "send");
}

} // namespace

CASE(reg, .ranks = 1) {
  endpoint e;
  e.meet(t);
  for (const std::size_t size : {std::size_t{1}, std::size_t{4096}, std::size_t{1} << 20}) {
    const auto out = payload(size, 1);
    std::vector<std::byte> in(size);
    owned_fid<fid_mr> send_mr, recv_mr;
    CHECK_OK(
        fi_mr_reg(e.domain(), out.data(), size, local_access, 0, 1, 0, send_mr.out(), nullptr));
    CHECK_OK(fi_mr_reg(e.domain(), in.data(), size, local_access, 0, 2, 0, recv_mr.out(), nullptr));
    exchange_registered(e, fi_mr_desc(send_mr.get()), fi_mr_desc(recv_mr.get()), out, in);
    verify(in, 1);
  }
}

CASE(regv_and_regattr, .ranks = 1) {
  endpoint e;
  e.meet(t);
  auto out = payload(10'000, 1);
  std::vector<std::byte> in(10'000);
  const iovec out_iov{out.data(), out.size()}, in_iov{in.data(), in.size()};
  owned_fid<fid_mr> send_mr, recv_mr;
  CHECK_OK(fi_mr_regv(e.domain(), &out_iov, 1, local_access, 0, 11, 0, send_mr.out(), nullptr));
  fi_mr_attr attr{};
  attr.mr_iov = &in_iov;
  attr.iov_count = 1;
  attr.access = local_access;
  attr.requested_key = 12;
  CHECK_OK(fi_mr_regattr(e.domain(), &attr, 0, recv_mr.out()));
  exchange_registered(e, fi_mr_desc(send_mr.get()), fi_mr_desc(recv_mr.get()), out, in);
  verify(in, 1);
}

// The same memory may be registered many times; keys differ, contexts are kept.
CASE(overlapping, .ranks = 1) {
  endpoint e;
  std::array<std::byte, 4096> memory{};
  std::vector<owned_fid<fid_mr>> all(100);
  std::set<std::uint64_t> keys;
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK_OK(fi_mr_reg(e.domain(), memory.data() + i, memory.size() - i, local_access, 0, 1000 + i,
                       0, all[i].out(), &keys));
    CHECK(all[i]->fid.context == &keys);
    keys.insert(fi_mr_key(all[i].get()));
  }
  CHECK_EQ(keys.size(), all.size());
  for (auto &mr : all)
    mr.close();
  // And again with the same keys: closing has freed them.
  for (std::size_t i = 0; i < all.size(); ++i)
    CHECK_OK(fi_mr_reg(e.domain(), memory.data(), 64, local_access, 0, 1000 + i, 0, all[i].out(),
                       nullptr));
}

// A registration may come and go between messages, and while one is under way elsewhere.
CASE(opened_and_closed_often, .ranks = 1) {
  endpoint e;
  e.meet(t);
  for (std::uint64_t i = 0; i < 500; ++i) {
    const auto out = payload(2000, i);
    std::vector<std::byte> in(2000);
    owned_fid<fid_mr> mr;
    CHECK_OK(
        fi_mr_reg(e.domain(), in.data(), in.size(), local_access, 0, 77, 0, mr.out(), nullptr));
    exchange_registered(e, nullptr, fi_mr_desc(mr.get()), out, in);
    verify(in, i);
  }
}

} // namespace fabtest
