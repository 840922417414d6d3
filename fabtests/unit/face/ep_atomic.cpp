// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "unit/face/face.h"

#include "dpdkx/ep.h"
#include "dpdkx/op/atomic.h"

#include <functional>
#include <initializer_list>
#include <rdma/fi_atomic.h>

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

using Call = std::function<ssize_t()>;

void all_answer(const std::vector<Call> &calls, ssize_t expected) {
  for (const Call &call : calls)
    assert_int_equal(call(), expected);
}

// One call of each kind, on `count` values.
struct Calls {
  Calls(fid_ep *ep, char *buf, std::size_t count, fi_datatype type = FI_UINT64,
        fi_op plain_op = FI_SUM, fi_op fetch_op = FI_SUM, fi_op compare_op = FI_CSWAP)
      : v{buf, count}, target{0, count, 0} {
    msg.msg_iov = &v;
    msg.iov_count = 1;
    msg.rma_iov = &target;
    msg.rma_iov_count = 1;
    msg.datatype = type;
    plain = {[=] { return fi_atomic(ep, buf, count, nullptr, 0, 0, 0, type, plain_op, nullptr); },
             [=, this] { return fi_atomicv(ep, &v, nullptr, 1, 0, 0, 0, type, plain_op, nullptr); },
             [=, this] {
               msg.op = plain_op;
               return fi_atomicmsg(ep, &msg, 0);
             },
             [=] { return fi_inject_atomic(ep, buf, count, 0, 0, 0, type, plain_op); }};
    fetch = {[=] {
               return fi_fetch_atomic(ep, buf, count, nullptr, buf, nullptr, 0, 0, 0, type,
                                      fetch_op, nullptr);
             },
             [=, this] {
               return fi_fetch_atomicv(ep, &v, nullptr, 1, &v, nullptr, 1, 0, 0, 0, type, fetch_op,
                                       nullptr);
             },
             [=, this] {
               msg.op = fetch_op;
               return fi_fetch_atomicmsg(ep, &msg, &v, nullptr, 1, 0);
             }};
    compare = {[=] {
                 return fi_compare_atomic(ep, buf, count, nullptr, buf, nullptr, buf, nullptr, 0, 0,
                                          0, type, compare_op, nullptr);
               },
               [=, this] {
                 return fi_compare_atomicv(ep, &v, nullptr, 1, &v, nullptr, 1, &v, nullptr, 1, 0, 0,
                                           0, type, compare_op, nullptr);
               },
               [=, this] {
                 msg.op = compare_op;
                 return fi_compare_atomicmsg(ep, &msg, &v, nullptr, 1, &v, nullptr, 1, 0);
               }};
  }
  Calls(const Calls &) = delete;

  void answer(ssize_t expected) const {
    for (const auto *calls : {&plain, &fetch, &compare})
      all_answer(*calls, expected);
  }

  fi_ioc v;
  fi_rma_ioc target;
  fi_msg_atomic msg{};
  std::vector<Call> plain, fetch, compare;
};

constexpr std::size_t most = op::max_atomic / sizeof(std::uint64_t);

} // namespace

static void ep_atomic__is_for_who_asked_for_it(void **) {
  With opened(FI_MSG | FI_RMA);
  Peer a(opened);
  char bytes[8];
  Calls(a.ep.get(), bytes, 1).answer(-FI_ENOSYS);
  std::size_t n;
  assert_int_equal(fi_atomicvalid(a.ep.get(), FI_INT32, FI_SUM, &n), -FI_ENOSYS);
}

// Fetches and compares are reads.
static void ep_atomic__goes_the_ways_that_were_asked_for(void **) {
  char bytes[8];
  for (const std::uint64_t rights : {FI_READ, FI_WRITE, FI_REMOTE_READ | FI_REMOTE_WRITE}) {
    With opened(FI_MSG | FI_ATOMIC | rights);
    Peer a(opened);
    const Calls calls(a.ep.get(), bytes, 1);
    if (!(rights & FI_WRITE))
      all_answer(calls.plain, -FI_EOPNOTSUPP);
    if (!(rights & FI_READ)) {
      all_answer(calls.fetch, -FI_EOPNOTSUPP);
      all_answer(calls.compare, -FI_EOPNOTSUPP);
    }
  }
}

static void ep_atomic__wants_an_enabled_endpoint(void **) {
  With opened(FI_ATOMIC);
  const Fid<fid_ep> ep = opened.ep();
  char bytes[8];
  Calls(ep.get(), bytes, 1).answer(-FI_EOPBADSTATE);
}

static void ep_atomic__operations_of_another_call_and_none(void **) {
  With opened(FI_ATOMIC);
  Peer a(opened);
  char bytes[32];
  fid_ep *ep = a.ep.get();
  // Each kind with what only another kind has.
  Calls(ep, bytes, 1, FI_UINT64, FI_ATOMIC_READ, FI_CSWAP, FI_SUM).answer(-FI_EOPNOTSUPP);
  Calls(ep, bytes, 1, FI_UINT64, FI_MSWAP, FI_MSWAP, FI_ATOMIC_READ).answer(-FI_EOPNOTSUPP);
  // What the datatype doesn't have.
  Calls(ep, bytes, 1, FI_FLOAT, FI_BOR, FI_BXOR, FI_MSWAP).answer(-FI_EOPNOTSUPP);
  Calls(ep, bytes, 1, FI_DOUBLE_COMPLEX, FI_MIN, FI_MAX, FI_CSWAP_LE).answer(-FI_EOPNOTSUPP);
  // Neither.
  Calls(ep, bytes, 1, FI_VOID).answer(-FI_EOPNOTSUPP);
  Calls(ep, bytes, 1, FI_UINT64, FI_NOOP, FI_NOOP, FI_NOOP).answer(-FI_EOPNOTSUPP);
}

static void ep_atomic__flags_of_a_call(void **) {
  With opened(FI_ATOMIC);
  Peer a(opened);
  char bytes[8];
  Calls calls(a.ep.get(), bytes, 1);
  const auto answers = [&](std::uint64_t flag, int plain, int others) {
    calls.msg.op = FI_SUM;
    if (plain)
      assert_int_equal(fi_atomicmsg(a.ep.get(), &calls.msg, flag), plain);
    assert_int_equal(fi_fetch_atomicmsg(a.ep.get(), &calls.msg, &calls.v, nullptr, 1, flag),
                     others);
    calls.msg.op = FI_CSWAP;
    assert_int_equal(fi_compare_atomicmsg(a.ep.get(), &calls.msg, &calls.v, nullptr, 1, &calls.v,
                                          nullptr, 1, flag),
                     others);
  };
  for (const std::uint64_t flag : {FI_TAGGED, FI_COMMIT_COMPLETE, FI_MULTICAST})
    answers(flag, -FI_EOPNOTSUPP, -FI_EOPNOTSUPP);
  for (const std::uint64_t flag : {FI_MATCH_COMPLETE, FI_PEEK, FI_MULTI_RECV})
    answers(flag, -FI_EINVAL, -FI_EINVAL);
  answers(FI_REMOTE_CQ_DATA, 0, -FI_EINVAL);
}

static void ep_atomic__counts_have_limits(void **) {
  With opened(FI_ATOMIC);
  Peer a(opened);
  std::vector<char> bytes(2 * op::max_atomic);
  Calls(a.ep.get(), bytes.data(), 0).answer(-FI_EINVAL);
  Calls(a.ep.get(), bytes.data(), most + 1).answer(-FI_EMSGSIZE);
  Calls(a.ep.get(), bytes.data(), SIZE_MAX / 8 + 2).answer(-FI_EMSGSIZE); // 8 bytes, modulo 2^64
  Calls(a.ep.get(), bytes.data(), 5, FI_LONG_DOUBLE_COMPLEX).answer(-FI_EMSGSIZE);
  // Each of several is small enough.
  const fi_ioc two[] = {{bytes.data(), most}, {bytes.data(), 1}};
  assert_int_equal(fi_atomicv(a.ep.get(), two, nullptr, 2, 0, 0, 0, FI_UINT64, FI_SUM, nullptr),
                   -FI_EMSGSIZE);
}

static void ep_atomic__vectors_have_limits_and_agree(void **) {
  With opened(FI_ATOMIC);
  Peer a(opened);
  fid_ep *ep = a.ep.get();
  std::uint64_t word = 0;
  std::vector<fi_ioc> many(op::max_iov + 1, fi_ioc{&word, 0});
  many[0].count = 1;
  std::vector<fi_rma_ioc> targets(op::max_targets + 1, fi_rma_ioc{0, 0, 0});
  targets[0].count = 1;
  fi_ioc none{&word, 0}, one{&word, 1}, two{&word, 2};
  fi_msg_atomic msg{};
  msg.datatype = FI_UINT64;
  const auto compare = [&](const fi_ioc *operand, std::size_t n, const fi_ioc *compared,
                           std::size_t compared_n, fi_ioc *result, std::size_t result_n,
                           std::size_t target_n) {
    msg.op = FI_CSWAP;
    msg.msg_iov = operand;
    msg.iov_count = n;
    msg.rma_iov = targets.data();
    msg.rma_iov_count = target_n;
    return fi_compare_atomicmsg(ep, &msg, compared, nullptr, compared_n, result, nullptr, result_n,
                                0);
  };
  const std::size_t too_many = many.size();
  assert_int_equal(compare(many.data(), too_many, &one, 1, &one, 1, 1), -FI_EINVAL);
  assert_int_equal(compare(&one, 1, many.data(), too_many, &one, 1, 1), -FI_EINVAL);
  assert_int_equal(compare(&one, 1, &one, 1, many.data(), too_many, 1), -FI_EINVAL);
  assert_int_equal(compare(&one, 1, &one, 1, &one, 1, targets.size()), -FI_EINVAL);
  assert_int_equal(compare(nullptr, 1, &one, 1, &one, 1, 1), -FI_EINVAL);
  assert_int_equal(compare(&one, 1, nullptr, 1, &one, 1, 1), -FI_EINVAL);
  assert_int_equal(compare(&one, 1, &one, 1, nullptr, 1, 1), -FI_EINVAL);
  for (fi_ioc *other : {&none, &two}) {
    assert_int_equal(compare(other, 1, &one, 1, &one, 1, 1), -FI_EINVAL);
    assert_int_equal(compare(&one, 1, other, 1, &one, 1, 1), -FI_EINVAL);
    assert_int_equal(compare(&one, 1, &one, 1, other, 1, 1), -FI_EINVAL);
    assert_int_equal(compare(other, 1, other, 1, other, 1, 1), -FI_EINVAL);
  }
  assert_int_equal(compare(&one, 1, &one, 1, &one, 1, 0), -FI_EINVAL);
  // A fetch that reads has no operand, but a result.
  msg.op = FI_ATOMIC_READ;
  msg.msg_iov = nullptr;
  msg.iov_count = 0;
  msg.rma_iov_count = 1;
  assert_int_equal(fi_fetch_atomicmsg(ep, &msg, &two, nullptr, 1, 0), -FI_EINVAL);
  assert_int_equal(fi_fetch_atomicmsg(ep, &msg, &none, nullptr, 1, 0), -FI_EINVAL);
}

static void ep_atomic__targets_end_within_the_address_space(void **) {
  With opened(FI_ATOMIC);
  Peer a(opened);
  fid_ep *ep = a.ep.get();
  char bytes[8];
  Calls calls(ep, bytes, 1);
  assert_int_equal(
      fi_atomic(ep, bytes, 1, nullptr, 0, UINT64_MAX - 7, 0, FI_UINT64, FI_SUM, nullptr),
      -FI_EINVAL);
  calls.target.addr = UINT64_MAX - 3;
  calls.msg.op = FI_SUM;
  assert_int_equal(fi_atomicmsg(ep, &calls.msg, 0), -FI_EINVAL);
}

static void ep_atomic__valid_and_query_agree(void **) {
  With opened(FI_ATOMIC);
  Peer a(opened);
  fid_ep *ep = a.ep.get();
  unsigned there = 0;
  for (int o = 0; o < FI_ATOMIC_OP_LAST; ++o)
    for (int t = 0; t <= FI_UINT128; ++t) {
      const auto op = static_cast<fi_op>(o);
      const auto type = static_cast<fi_datatype>(t);
      const auto check = [&](op::AtomicKind kind, int valid, std::size_t n, std::uint64_t flags) {
        fi_atomic_attr attr{};
        const int rc = op::atomic_defined(op, type, kind) ? 0 : -FI_EOPNOTSUPP;
        assert_int_equal(valid, rc);
        assert_int_equal(fi_query_atomic(opened.domain.get(), type, op, &attr, flags), rc);
        if (rc)
          return;
        assert_int_equal(attr.size, op::atomic_size(type));
        assert_int_equal(attr.count, n);
        assert_int_equal(attr.count * attr.size, op::max_atomic);
        ++there;
      };
      std::size_t n = 0;
      int rc = fi_atomicvalid(ep, type, op, &n);
      check(op::AtomicKind::plain, rc, n, 0);
      rc = fi_fetch_atomicvalid(ep, type, op, &n);
      check(op::AtomicKind::fetch, rc, n, FI_FETCH_ATOMIC);
      rc = fi_compare_atomicvalid(ep, type, op, &n);
      check(op::AtomicKind::compare, rc, n, FI_COMPARE_ATOMIC);
    }
  assert_true(there > 200);
}

static void ep_atomic__query_takes_one_kind(void **) {
  Opened opened;
  fi_atomic_attr attr{};
  const auto query = [&](std::uint64_t flags) {
    return fi_query_atomic(opened.domain.get(), FI_INT32, FI_SUM, &attr, flags);
  };
  assert_int_equal(query(FI_FETCH_ATOMIC | FI_COMPARE_ATOMIC), -FI_EINVAL);
  assert_int_equal(query(FI_INJECT), -FI_EINVAL);
  assert_int_equal(query(FI_TAGGED | FI_FETCH_ATOMIC), -FI_EOPNOTSUPP);
  assert_int_equal(fi_query_atomic(opened.domain.get(), FI_INT32, FI_SUM, nullptr, 0), -FI_EINVAL);
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(ep_atomic__is_for_who_asked_for_it),
    cmocka_unit_test(ep_atomic__goes_the_ways_that_were_asked_for),
    cmocka_unit_test(ep_atomic__wants_an_enabled_endpoint),
    cmocka_unit_test(ep_atomic__operations_of_another_call_and_none),
    cmocka_unit_test(ep_atomic__flags_of_a_call),
    cmocka_unit_test(ep_atomic__counts_have_limits),
    cmocka_unit_test(ep_atomic__vectors_have_limits_and_agree),
    cmocka_unit_test(ep_atomic__targets_end_within_the_address_space),
    cmocka_unit_test(ep_atomic__valid_and_query_agree),
    cmocka_unit_test(ep_atomic__query_takes_one_kind),
};
static const unit::Group group{"ep_atomic", cases};
