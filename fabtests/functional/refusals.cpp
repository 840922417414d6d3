// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Calls that are refused: each with its error, and one line of the log that names what is wrong and
// what is allowed.
#include "common/case.h"
#include "common/counter.h"
#include "common/exposed.h"
#include "common/log_lines.h"
#include "common/process_state.h"
#include "common/settings.h"

#include <cstdlib>
#include <functional>

#include <rdma/fi_atomic.h>
#include <rdma/fi_trigger.h>

namespace fabtest {

namespace {

// The log starts with the first call.
request logged(request r) {
  if (config().provider != "dpdkx")
    skip("another provider's log");
  setenv("FI_LOG_LEVEL", "warn", 1);
  setenv("FI_LOG_PROV", "dpdkx", 1);
  return r;
}

void expect(int code, const std::vector<std::string> &parts, const std::function<ssize_t()> &call,
            where at = where::current()) {
  captured_output output;
  const ssize_t rc = call();
  const auto lines = provider_lines(output.stop());
  if (rc != code)
    fail(fmt::format("{}; expected {}", describe(static_cast<int>(rc)), describe(code)), at);
  expect_line(lines, parts, at);
}

} // namespace

// What is lost is told: here, all that the receiver need not hold.
CASE(messages_that_wait_for_receives_at_close, .ranks = 1) {
  setenv("FI_DPDKX_LINGER", "50ms", 1);
  setenv("FI_DPDKX_UNEXPECTED_PEER", "64KiB", 1);
  endpoint a(logged({}));
  const endpoint b(a.base(), {});
  const fi_addr_t address = a.add(b.name());
  constexpr std::size_t kept = 64 * 1024 / 128, beyond = 20;
  for (std::size_t i = 0; i < kept + beyond; ++i) {
    POST(a, fi_tinject(a.ep(), "message", 8, address, i));
    drive_progress();
  }
  expect(0, {"20 operations", "FI_DPDKX_UNEXPECTED_PEER", "FI_DPDKX_LINGER"}, [&] {
    a.close_ep();
    return 0;
  });
}

CASE(flags_of_calls, .ranks = 1) {
  endpoint e(logged({.caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_TRIGGER}));
  e.meet(t);
  fi_msg msg{};
  msg.addr = e.at(0);
  fi_msg_tagged tagged{};
  tagged.addr = e.at(0);
  fi_msg_rma rma{};
  rma.addr = e.at(0);
  std::uint64_t one = 1, former = 0;
  const fi_ioc operand{&one, 1};
  fi_ioc result{&former, 1};
  const fi_rma_ioc target{0, 1, 1};
  fi_msg_atomic atomic{};
  atomic.msg_iov = &operand;
  atomic.iov_count = 1;
  atomic.addr = e.at(0);
  atomic.rma_iov = &target;
  atomic.rma_iov_count = 1;
  atomic.datatype = FI_UINT64;
  atomic.op = FI_SUM;

  expect(-FI_EINVAL, {"flags 0x80000 (FI_PEEK); allowed: ", "FI_INJECT", "FI_FENCE"},
         [&] { return fi_sendmsg(e.ep(), &msg, FI_PEEK | FI_COMPLETION); });
  expect(-FI_EOPNOTSUPP, {"(FI_MULTICAST); allowed: "},
         [&] { return fi_sendmsg(e.ep(), &msg, FI_MULTICAST); });
  expect(-FI_EINVAL, {"(FI_INJECT); allowed: ", "FI_MULTI_RECV"},
         [&] { return fi_recvmsg(e.ep(), &msg, FI_INJECT); });
  expect(-FI_EINVAL, {"FI_DISCARD alone"},
         [&] { return fi_trecvmsg(e.ep(), &tagged, FI_DISCARD); });
  expect(-FI_EINVAL, {"(FI_INJECT); allowed: "},
         [&] { return fi_readmsg(e.ep(), &rma, FI_INJECT); });
  expect(-FI_EOPNOTSUPP, {"flags 0x40000000 (", "; allowed: ", "FI_DELIVERY_COMPLETE"},
         [&] { return fi_writemsg(e.ep(), &rma, FI_COMMIT_COMPLETE); });
  expect(-FI_EINVAL, {"(FI_REMOTE_CQ_DATA); allowed: "}, [&] {
    return fi_fetch_atomicmsg(e.ep(), &atomic, &result, nullptr, 1, FI_REMOTE_CQ_DATA);
  });
  expect(-FI_EOPNOTSUPP, {"(FI_TRIGGER); allowed: "},
         [&] { return counter_ops(e).remote_add(e.ep(), e.at(0), 1, 1, FI_TRIGGER, nullptr); });
}

CASE(default_flags, .ranks = 1) {
  endpoint e(logged({}));
  fid_ep *alias = nullptr;
  expect(-FI_EINVAL, {"(FI_FENCE); allowed: ", "FI_COMPLETION", "FI_TRIGGER"},
         [&] { return fi_ep_alias(e.ep(), &alias, FI_TRANSMIT | FI_FENCE); });
  expect(-FI_EINVAL, {"allowed: with one of FI_TRANSMIT, FI_RECV"},
         [&] { return fi_ep_alias(e.ep(), &alias, FI_COMPLETION); });
}

CASE(deferred_work, .ranks = 1) {
  endpoint e(logged({.caps = FI_MSG | FI_TRIGGER}));
  e.meet(t);
  const auto cntr = open_counter(e);
  fi_op_msg o{};
  o.ep = e.ep();
  o.msg.addr = e.at(0);
  fi_deferred_work work{};
  work.threshold = 1;
  work.triggering_cntr = cntr.get();
  work.op_type = FI_OP_SEND;
  work.op.msg = &o;
  const auto queue = [&] { return fi_control(&e.domain()->fid, FI_QUEUE_WORK, &work); };
  o.flags = FI_PEEK;
  expect(-FI_EINVAL, {"(FI_PEEK); allowed: "}, queue);
  o.flags = FI_TRIGGER;
  expect(-FI_EOPNOTSUPP, {"FI_TRIGGER"}, queue);
  o.flags = 0;
  o.msg.iov_count = 1000;
  expect(-FI_EINVAL, {"1000 entries", "allowed: "}, queue);
  work.op_type = FI_OP_RECV;
  o.msg.iov_count = 0;
  o.flags = FI_MULTI_RECV;
  expect(-FI_ENOSYS, {"FI_MULTI_RECV"}, queue);
  fi_op_rma rma{};
  rma.ep = e.ep();
  work.op_type = FI_OP_WRITE;
  work.op.rma = &rma;
  expect(-FI_ENOSYS, {"capability"}, queue);
}

} // namespace fabtest
