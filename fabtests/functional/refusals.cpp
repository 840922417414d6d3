// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Calls that are refused: each with its error, and one line of the log that names what is wrong and
// what is allowed.
#include "common/address.h"
#include "common/case.h"
#include "common/connected.h"
#include "common/counter.h"
#include "common/exposed.h"
#include "common/log_lines.h"
#include "common/process_state.h"
#include "common/settings.h"

#include <array>
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

fi_msg message(const iovec &v, fi_addr_t dest) {
  fi_msg m{};
  m.msg_iov = &v;
  m.iov_count = 1;
  m.addr = dest;
  return m;
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

// What an application has changed in an fi_info that fi_getinfo gave.
CASE(domains, .ranks = 1) {
  const fabric_and_domain base(find_info(logged({})));
  const auto refused = [&](const std::vector<std::string> &parts,
                           const std::function<void(fi_info &)> &change) {
    const info_ptr info(fi_dupinfo(base.info.get()));
    change(*info);
    fid_domain *domain = nullptr;
    expect(-FI_EINVAL, parts,
           [&] { return fi_domain(base.fabric.get(), info.get(), &domain, nullptr); });
  };
  refused({"threading 99", "FI_THREAD_ENDPOINT"},
          [](fi_info &i) { i.domain_attr->threading = static_cast<fi_threading>(99); });
  refused({"data_progress 9", "FI_PROGRESS_MANUAL"},
          [](fi_info &i) { i.domain_attr->data_progress = static_cast<fi_progress>(9); });
  refused({"control_progress 9", "allowed"},
          [](fi_info &i) { i.domain_attr->control_progress = static_cast<fi_progress>(9); });
  refused({"resource_mgmt 9", "FI_RM_ENABLED"},
          [](fi_info &i) { i.domain_attr->resource_mgmt = static_cast<fi_resource_mgmt>(9); });
  refused({"av_type 9", "FI_AV_TABLE"},
          [](fi_info &i) { i.domain_attr->av_type = static_cast<fi_av_type>(9); });
  refused({"mr_mode 0xffff", "0xfff"}, [](fi_info &i) { i.domain_attr->mr_mode = 0xffff; });
}

CASE(capabilities_of_endpoints, .ranks = 1) {
  const fabric_and_domain base(find_info(logged({})));
  const info_ptr info(fi_dupinfo(base.info.get()));
  info->caps = ~std::uint64_t{0};
  fid_ep *ep = nullptr;
  expect(-FI_EINVAL, {"0xffffffffffffffff", "FI_EP_RDM", "allowed: 0x"},
         [&] { return fi_endpoint(base.domain.get(), info.get(), &ep, nullptr); });
}

// Endpoints that only send, and that only receive.
CASE(one_direction, .ranks = 1) {
  const endpoint sender(logged({.caps = FI_MSG | FI_TAGGED | FI_SEND}));
  const endpoint receiver({.caps = FI_MSG | FI_TAGGED | FI_RECV});
  std::array<std::byte, 8> buffer{};
  const iovec v{buffer.data(), buffer.size()};
  const fi_msg msg = message(v, 0);
  op o;
  constexpr auto no_receives = "the endpoint was opened without FI_RECV";
  expect(-FI_EOPNOTSUPP, {no_receives},
         [&] { return fi_recv(sender.ep(), buffer.data(), 8, nullptr, 0, &o); });
  expect(-FI_EOPNOTSUPP, {no_receives}, [&] { return fi_recvmsg(sender.ep(), &msg, 0); });
  expect(-FI_EOPNOTSUPP, {no_receives},
         [&] { return fi_trecv(sender.ep(), buffer.data(), 8, nullptr, 0, 1, 0, &o); });
  constexpr auto no_sends = "the endpoint was opened without FI_SEND";
  expect(-FI_EOPNOTSUPP, {no_sends}, [&] { return fi_inject(receiver.ep(), buffer.data(), 8, 0); });
  expect(-FI_EOPNOTSUPP, {no_sends}, [&] { return fi_sendmsg(receiver.ep(), &msg, 0); });
  expect(-FI_EOPNOTSUPP, {no_sends},
         [&] { return fi_tsend(receiver.ep(), buffer.data(), 8, nullptr, 0, 1, &o); });
}

CASE(arguments, .ranks = 1) {
  endpoint e(logged({.caps = FI_MSG | FI_RMA | FI_ATOMIC | FI_TRIGGER}));
  e.meet(t);
  fid_mr *mr = nullptr;
  expect(-FI_EINVAL, {"1 buffers in a null array", "allowed"},
         [&] { return fi_mr_regv(e.domain(), nullptr, 1, FI_REMOTE_READ, 0, 1, 0, &mr, nullptr); });
  std::uint64_t one = 1;
  expect(-FI_EINVAL, {"an atomic of 0 values", "allowed: 1 to 16"}, [&] {
    return fi_atomic(e.ep(), &one, 0, nullptr, e.at(0), 0, 1, FI_UINT64, FI_SUM, nullptr);
  });
  const iovec v{&one, sizeof one};
  const fi_msg msg = message(v, e.at(0));
  expect(-FI_EINVAL, {"FI_TRIGGER: the context is null", "fi_triggered_context"},
         [&] { return fi_sendmsg(e.ep(), &msg, FI_TRIGGER); });
}

CASE(what_comes_too_late_or_too_early, .ranks = 1) {
  const endpoint e(logged({}));
  const bytes name = e.name();
  expect(-FI_EOPBADSTATE, {"enabled already"}, [&] { return fi_enable(e.ep()); });
  expect(-FI_EOPBADSTATE, {"fi_setname", "before fi_getname and fi_enable"}, [&] {
    return fi_setname(&e.ep()->fid, const_cast<std::byte *>(name.data()), name.size());
  });
  expect(-FI_EBUSY, {"fi_close", "the domain has", "open"},
         [&] { return fi_close(&e.domain()->fid); });
  expect(-FI_EBUSY, {"fi_close", "the fabric has", "open"},
         [&] { return fi_close(&e.fabric()->fid); });
}

CASE(addresses_that_are_none, .ranks = 1) {
  const endpoint e(logged({}));
  const std::array<std::byte, 64> zeros{};
  fi_addr_t index = 0;
  expect(0, {"1 of 1 addresses not inserted", "number 0 (not of the format of addr_format)"},
         [&] { return fi_av_insert(e.av(), zeros.data(), 1, &index, 0, nullptr); });
  CHECK_EQ(index, FI_ADDR_NOTAVAIL);
}

CASE(flags_of_datagrams, .ranks = 1) {
  endpoint e(logged({.type = FI_EP_DGRAM, .caps = FI_MSG, .order = 0}));
  e.meet(t);
  const iovec v{};
  const fi_msg msg = message(v, e.at(0));
  captured_output output;
  CHECK_CODE(-FI_EINVAL, fi_sendmsg(e.ep(), &msg, FI_DELIVERY_COMPLETE));
  const auto lines = provider_lines(output.stop());
  expect_line(lines, {"FI_DELIVERY_COMPLETE", "allowed: "});
  CHECK(lines[0].find("FI_MULTICAST") == std::string::npos);
}

CASE(flags_of_event_queues, .ranks = 1) {
  const fabric_and_domain base(find_info(logged({})));
  owned_fid<fid_eq> eq;
  fi_eq_attr attr{};
  CHECK_OK(fi_eq_open(base.fabric.get(), &attr, eq.out(), nullptr));
  std::uint32_t event = 0;
  fi_eq_entry entry{};
  fi_eq_err_entry error{};
  expect(-FI_EINVAL, {"0x1000000000000000", "allowed: FI_PEEK"}, [&] {
    return fi_eq_read(eq.get(), &event, &entry, sizeof entry, std::uint64_t{1} << 60);
  });
  expect(-FI_EINVAL, {"allowed: FI_PEEK"},
         [&] { return fi_eq_readerr(eq.get(), &error, FI_PEEK | FI_SEND); });
  CHECK_CODE(-FI_EAGAIN, fi_eq_read(eq.get(), &event, &entry, sizeof entry, FI_PEEK));
}

// Nobody can be reached there: the cause is told, and not a second time.
CASE(a_peer_of_another_host, .ranks = 1) {
  endpoint e(logged({}));
  if (config().domain != "" || !is_socket_format(e.info().addr_format))
    skip("it may have a device");
  const fi_addr_t far = e.add(socket_address("198.51.100.1", 4000));
  expect(0, {"198.51.100.1:4000", "FI_DPDKX_DEVICE"}, [&] {
    op o;
    POST(e, fi_tsend(e.ep(), "message", 8, nullptr, far, 1, &o));
    CHECK_EQ(e.tx().wait(o, "the end").err, FI_EHOSTUNREACH);
    return 0;
  });
}

// Connections that come up, carry something and are closed are nothing to speak of.
CASE(connections_leave_no_lines, .ranks = 1) {
  setenv("FI_DPDKX_LINGER", "0", 1);
  logged({});
  captured_output output;
  {
    cm_base base;
    for (int i = 0; i < 100; ++i) {
      cm_pair pair(base);
      cm_exchange(*pair.caller, *pair.answerer, 1000);
      const bool turned = i % 2;
      cm_endpoint &first = turned ? *pair.answerer : *pair.caller,
                  &second = turned ? *pair.caller : *pair.answerer;
      if (i % 4 < 2)
        CHECK_OK(fi_shutdown(first.ep(), 0));
      if (i % 8 < 4)
        CHECK_OK(fi_shutdown(second.ep(), 0));
      second.close();
      drive_progress();
    }
  }
  const auto lines = provider_lines(output.stop());
  if (!lines.empty())
    fail(fmt::format("{} lines, the first: {}", lines.size(), lines[0]));
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
