// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// FI_TRIGGER (fi_trigger(3)): the older interface, in which a flag of a call, or of the endpoint,
// and the operation's context say when it starts.
#include "common/case.h"
#include "common/settings.h"
#include "deferred_scene.h"

#include <functional>

namespace fabtest {

// The older interface: a flag of the call, and a context that says when.
CASE(triggered_operations, .ranks = 1) {
  scene s(t);
  counter trigger(s.e);
  struct {
    fi_triggered_context2 context{};
  } first, second;
  for (auto *c : {&first, &second}) {
    c->context.event_type = FI_TRIGGER_THRESHOLD;
    c->context.trigger.threshold.cntr = trigger.get();
  }
  first.context.trigger.threshold.threshold = 2;
  second.context.trigger.threshold.threshold = 1;
  op receive[2];
  std::array<std::byte, 1> into[2]{}, out[2]{{std::byte{1}}, {std::byte{2}}};
  for (int i = 0; i < 2; ++i)
    s.e.trecv(into[i], 9, receive[i]);
  const auto send = [&](std::byte &b, void *context) {
    const iovec v{&b, 1};
    fi_msg_tagged m{};
    m.msg_iov = &v;
    m.iov_count = 1;
    m.addr = s.e.at(0);
    m.tag = 9;
    m.context = context;
    CHECK_OK(fi_tsendmsg(s.e.ep(), &m, FI_TRIGGER | FI_COMPLETION));
  };
  send(out[0][0], &first.context);
  send(out[1][0], &second.context);
  s.e.tx().expect_empty();
  trigger.add(2); // past both: in the order of thresholds
  for (auto &o : receive)
    s.e.rx().wait_ok(o, "a receive");
  CHECK_EQ(static_cast<int>(into[0][0]), 2);
  CHECK_EQ(static_cast<int>(into[1][0]), 1);
  CHECK(s.e.tx().next("the first that fired").context == &second.context);
  CHECK(s.e.tx().next("the other").context == &first.context);
  // One that waits can be cancelled, as any operation.
  first.context.trigger.threshold.threshold = 10;
  send(out[0][0], &first.context);
  CHECK_OK(fi_cancel(&s.e.ep()->fid, &first.context));
  CHECK_EQ(s.e.tx().next("the cancelled one").err, FI_ECANCELED);
}

// With FI_TRIGGER as a default, calls that take no flags wait as well; others of the endpoint
// don't.
CASE(triggered_by_default, .ranks = 1) {
  scene s(t);
  counter trigger(s.e);
  fid_ep *sends = nullptr, *receives = nullptr;
  CHECK_OK(fi_ep_alias(s.e.ep(), &sends, FI_TRANSMIT | FI_TRIGGER | FI_COMPLETION));
  CHECK_OK(fi_ep_alias(s.e.ep(), &receives, FI_RECV | FI_TRIGGER | FI_COMPLETION));
  const fi_addr_t self = s.e.at(0);
  const fi_rma_iov place = s.memory.at(0, 0, size), value = s.memory.at(0, value_at, 8);
  std::array<std::byte, size> into{};
  const iovec local{s.local.data(), size};
  std::uint64_t former = 0;
  const std::vector<std::function<ssize_t(void *)>> calls{
      [&](void *c) { return fi_recv(receives, into.data(), size, nullptr, FI_ADDR_UNSPEC, c); },
      [&](void *c) { return fi_send(sends, s.local.data(), size, nullptr, self, c); },
      [&](void *c) { return fi_trecv(receives, into.data(), size, nullptr, self, 1, 0, c); },
      [&](void *c) { return fi_tsendv(sends, &local, nullptr, 1, self, 1, c); },
      [&](void *c) { return fi_recvv(receives, &local, nullptr, 1, self, c); },
      [&](void *c) { return fi_senddata(sends, into.data(), 1, nullptr, 7, self, c); },
      [&](void *c) {
        return fi_write(sends, into.data(), size, nullptr, self, place.addr, place.key, c);
      },
      [&](void *c) { return fi_readv(sends, &local, nullptr, 1, self, place.addr, place.key, c); },
      [&](void *c) {
        return fi_atomic(sends, &s.operand, 1, nullptr, self, value.addr, value.key, FI_UINT64,
                         FI_SUM, c);
      },
      [&](void *c) {
        return fi_fetch_atomic(sends, &s.operand, 1, nullptr, &former, nullptr, self, value.addr,
                               value.key, FI_UINT64, FI_SUM, c);
      },
      [&](void *c) {
        return fi_compare_atomic(sends, &s.operand, 1, nullptr, &s.compared, nullptr, &former,
                                 nullptr, self, value.addr, value.key, FI_UINT64, FI_CSWAP, c);
      },
  };
  std::vector<fi_triggered_context2> contexts(calls.size());
  s.value() = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    contexts[i].event_type = FI_TRIGGER_THRESHOLD;
    contexts[i].trigger.threshold = {trigger.get(), i + 1};
    CHECK_OK(calls[i](&contexts[i]));
  }
  CHECK_CODE(-FI_EINVAL, calls[1](nullptr)); // which counter?
  // A call on the endpoint itself doesn't wait, nor one that has no context.
  op plain[3];
  std::byte small[2]{};
  s.e.trecv(std::span(small).first(1), 5, plain[0]);
  s.e.trecv(std::span(small).last(1), 5, plain[1]);
  s.e.tsend(0, std::span(small).first(1), 5, plain[2]);
  s.e.tx().wait_ok(plain[2], "a send of the endpoint");
  CHECK_OK(fi_tinject(sends, small, 1, self, 5));
  for (int i = 0; i < 2; ++i)
    s.e.rx().wait_ok(plain[i], "a receive of the endpoint");
  s.e.tx().expect_empty();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    trigger.add(1);
    if (i < 6 && i % 2 == 0)
      continue; // a receive; the send comes next
    CHECK(s.e.tx().next("what was triggered").context == &contexts[i]);
    if (i < 6)
      CHECK(s.e.rx().next("what receives it").context == &contexts[i - 1]);
  }
  CHECK_EQ(former, 2 * s.operand);
  CHECK_EQ(s.value(), 2 * s.operand); // it was not what was compared with
  CHECK_OK(fi_close(&sends->fid));
  CHECK_OK(fi_close(&receives->fid));
}

} // namespace fabtest
