// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "unit/face/face.h"

#include "dpdkx/ep.h"

#include <functional>
#include <rdma/fi_rma.h>

#include "unit/unit.h"

using namespace dpdkx;
using face::Fid;
using face::Opened;
using face::Peer;

namespace {

// Endpoints with these capabilities.
struct With : Opened {
  explicit With(std::uint64_t caps) { info->caps = caps; }
};

// One call of each kind, of `len` bytes: those that read, and those that write.
struct Calls {
  explicit Calls(fid_ep *ep, char *buf, std::size_t len) : iov{buf, len}, target{0, len, 0} {
    msg.msg_iov = &iov;
    msg.iov_count = 1;
    msg.rma_iov = &target;
    msg.rma_iov_count = 1;
    reads = {[=] { return fi_read(ep, buf, len, nullptr, 0, 0, 0, nullptr); },
             [=, this] { return fi_readv(ep, &iov, nullptr, 1, 0, 0, 0, nullptr); },
             [=, this] { return fi_readmsg(ep, &msg, 0); }};
    writes = {[=] { return fi_write(ep, buf, len, nullptr, 0, 0, 0, nullptr); },
              [=, this] { return fi_writev(ep, &iov, nullptr, 1, 0, 0, 0, nullptr); },
              [=, this] { return fi_writemsg(ep, &msg, 0); },
              [=] { return fi_inject_write(ep, buf, len, 0, 0, 0); },
              [=] { return fi_writedata(ep, buf, len, nullptr, 7, 0, 0, 0, nullptr); },
              [=] { return fi_inject_writedata(ep, buf, len, 7, 0, 0, 0); }};
  }
  Calls(const Calls &) = delete;

  iovec iov;
  fi_rma_iov target;
  fi_msg_rma msg{};
  std::vector<std::function<ssize_t()>> reads, writes;
};

void all_answer(const std::vector<std::function<ssize_t()>> &calls, ssize_t expected) {
  for (const auto &call : calls)
    assert_int_equal(call(), expected);
}

} // namespace

static void ep_rma__is_for_who_asked_for_it(void **) {
  With opened(FI_MSG | FI_TAGGED);
  Peer a(opened);
  char byte;
  const Calls calls(a.ep.get(), &byte, 1);
  all_answer(calls.reads, -FI_ENOSYS);
  all_answer(calls.writes, -FI_ENOSYS);
}

static void ep_rma__goes_the_ways_that_were_asked_for(void **) {
  char byte;
  for (const std::uint64_t rights :
       {FI_READ, FI_WRITE, FI_REMOTE_READ, FI_REMOTE_WRITE | FI_REMOTE_READ}) {
    With opened(FI_MSG | FI_RMA | rights);
    Peer a(opened);
    const Calls calls(a.ep.get(), &byte, 1);
    if (!(rights & FI_READ))
      all_answer(calls.reads, -FI_EOPNOTSUPP);
    if (!(rights & FI_WRITE))
      all_answer(calls.writes, -FI_EOPNOTSUPP);
  }
}

static void ep_rma__wants_an_enabled_endpoint(void **) {
  With opened(FI_RMA);
  const Fid<fid_ep> disabled = opened.ep();
  char byte;
  const Calls early(disabled.get(), &byte, 1);
  all_answer(early.reads, -FI_EOPBADSTATE);
  all_answer(early.writes, -FI_EOPBADSTATE);
}

static void ep_rma__flags_of_a_call(void **) {
  With opened(FI_RMA);
  Peer a(opened);
  char byte;
  const Calls calls(a.ep.get(), &byte, 1);
  for (const std::uint64_t flag : {FI_COMMIT_COMPLETE, FI_MULTICAST}) {
    assert_int_equal(fi_writemsg(a.ep.get(), &calls.msg, flag), -FI_EOPNOTSUPP);
    assert_int_equal(fi_readmsg(a.ep.get(), &calls.msg, flag), -FI_EOPNOTSUPP);
  }
  for (const std::uint64_t flag : {FI_MATCH_COMPLETE, FI_PEEK, FI_MULTI_RECV, FI_TAGGED}) {
    assert_int_equal(fi_writemsg(a.ep.get(), &calls.msg, flag), -FI_EINVAL);
    assert_int_equal(fi_readmsg(a.ep.get(), &calls.msg, flag), -FI_EINVAL);
  }
  for (const std::uint64_t flag : {FI_INJECT, FI_REMOTE_CQ_DATA})
    assert_int_equal(fi_readmsg(a.ep.get(), &calls.msg, flag), -FI_EINVAL);
}

static void ep_rma__vectors_have_limits(void **) {
  With opened(FI_RMA);
  Peer a(opened);
  fid_ep *ep = a.ep.get();
  char byte;
  std::vector<iovec> iov(op::max_iov + 1, iovec{&byte, 1});
  std::vector<fi_rma_iov> targets(op::max_targets + 1, fi_rma_iov{0, 1, 0});
  const auto both = [&](std::size_t iov_count, std::size_t target_count) {
    fi_msg_rma msg{};
    msg.msg_iov = iov.data();
    msg.iov_count = iov_count;
    msg.rma_iov = targets.data();
    msg.rma_iov_count = target_count;
    const ssize_t rc = fi_writemsg(ep, &msg, 0);
    assert_int_equal(fi_readmsg(ep, &msg, 0), rc);
    return rc;
  };
  assert_int_equal(fi_writev(ep, iov.data(), nullptr, iov.size(), 0, 0, 0, nullptr), -FI_EINVAL);
  assert_int_equal(fi_readv(ep, iov.data(), nullptr, iov.size(), 0, 0, 0, nullptr), -FI_EINVAL);
  assert_int_equal(fi_writev(ep, nullptr, nullptr, 1, 0, 0, 0, nullptr), -FI_EINVAL);
  targets[0].len = op::max_iov - op::max_targets + 2;
  assert_int_equal(both(op::max_iov + 1, op::max_targets), -FI_EINVAL);
  targets[0].len = 1;
  assert_int_equal(both(op::max_targets + 1, op::max_targets + 1), -FI_EINVAL);
  // Sums that don't agree, or that no size_t counts.
  assert_int_equal(both(2, 1), -FI_EINVAL);
  assert_int_equal(both(1, 2), -FI_EINVAL);
  assert_int_equal(both(1, 0), -FI_EINVAL);
  assert_int_equal(both(0, 1), -FI_EINVAL);
  targets[0].len = SIZE_MAX;
  assert_int_equal(both(1, 3), -FI_EINVAL); // 1, modulo 2^64
  iov[0].iov_len = SIZE_MAX;
  assert_int_equal(both(3, 1), -FI_EINVAL);
}

// No region can be there, and the protocol has no frame for it.
static void ep_rma__targets_end_within_the_address_space(void **) {
  With opened(FI_RMA);
  Peer a(opened);
  char bytes[2];
  fid_ep *ep = a.ep.get();
  Calls calls(ep, bytes, 2);
  assert_int_equal(fi_write(ep, bytes, 2, nullptr, 0, UINT64_MAX, 0, nullptr), -FI_EINVAL);
  assert_int_equal(fi_inject_write(ep, bytes, 1, 0, UINT64_MAX, 0), -FI_EINVAL);
  assert_int_equal(fi_read(ep, bytes, 2, nullptr, 0, UINT64_MAX - 1, 0, nullptr), -FI_EINVAL);
  calls.target.addr = UINT64_MAX - 1;
  assert_int_equal(fi_writemsg(ep, &calls.msg, 0), -FI_EINVAL);
  assert_int_equal(fi_readmsg(ep, &calls.msg, 0), -FI_EINVAL);
}

static void ep_rma__sizes_have_limits(void **) {
  With opened(FI_RMA);
  Peer a(opened);
  const std::size_t inject_size = opened.info->tx_attr->inject_size;
  std::vector<char> big(inject_size + 1);
  const Calls calls(a.ep.get(), big.data(), big.size());
  assert_int_equal(fi_inject_write(a.ep.get(), big.data(), big.size(), 0, 0, 0), -FI_EMSGSIZE);
  assert_int_equal(fi_inject_writedata(a.ep.get(), big.data(), big.size(), 1, 0, 0, 0),
                   -FI_EMSGSIZE);
  assert_int_equal(fi_writemsg(a.ep.get(), &calls.msg, FI_INJECT), -FI_EMSGSIZE);
  const Calls huge(a.ep.get(), big.data(), SIZE_MAX);
  all_answer(huge.reads, -FI_EMSGSIZE);
  all_answer(huge.writes, -FI_EMSGSIZE);
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(ep_rma__is_for_who_asked_for_it),
    cmocka_unit_test(ep_rma__goes_the_ways_that_were_asked_for),
    cmocka_unit_test(ep_rma__wants_an_enabled_endpoint),
    cmocka_unit_test(ep_rma__flags_of_a_call),
    cmocka_unit_test(ep_rma__vectors_have_limits),
    cmocka_unit_test(ep_rma__targets_end_within_the_address_space),
    cmocka_unit_test(ep_rma__sizes_have_limits),
};
static const unit::Group group{"ep_rma", cases};
