// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// FI_EP_DGRAM: messages of one packet that may get lost, and of which nobody tells.
#include "common/case.h"
#include "common/forms.h"

#include <array>
#include <chrono>
#include <csignal>
#include <optional>

namespace fabtest {

namespace {

using clock = std::chrono::steady_clock;

request datagrams(std::uint64_t caps = FI_MSG) {
  return {.type = FI_EP_DGRAM, .caps = caps, .order = 0};
}

struct dgram : endpoint {
  explicit dgram(const request &r = datagrams()) : endpoint(r, "FI_EP_DGRAM") {}
  [[nodiscard]] std::size_t longest() const { return info().ep_attr->max_msg_size; }
};

// Datagrams may get lost: it is sent until it has come. Then there are some more of the same, which
// nobody waits for.
void send_until(endpoint &e, int to, std::span<const std::byte> content,
                const std::function<bool()> &arrived) {
  const auto end = clock::now() + default_wait();
  do {
    op o;
    e.send(to, content, o);
    e.tx().wait_ok(o, "datagram");
    if (clock::now() > end)
      fail("no datagram arrives");
  } while (!arrived());
}

// One that has come, whoever has read it.
std::optional<completion> arrived_now(queue &q) {
  auto c = q.kept();
  return c ? c : q.poll();
}

} // namespace

CASE(offered_last, .ranks = 1) {
  info_ptr hints = make_hints(datagrams());
  hints->ep_attr->type = FI_EP_UNSPEC;
  info_ptr list;
  CHECK_OK(get_info(hints.get(), {}, list));
  const dgram e;
  bool datagrams_begin = false;
  for (const fi_info *i = list.get(); i; i = i->next) {
    CHECK(i->ep_attr->type == FI_EP_DGRAM || !datagrams_begin);
    datagrams_begin |= i->ep_attr->type == FI_EP_DGRAM;
  }
  CHECK(datagrams_begin);
}

CASE(hints_that_datagrams_cannot_honour, .ranks = 1) {
  const dgram e;
  info_ptr list;
  for (const std::uint64_t caps : {FI_TAGGED, FI_RMA, FI_ATOMIC, FI_MSG | FI_FENCE}) {
    const info_ptr hints = make_hints(datagrams(caps));
    CHECK_CODE(-FI_ENODATA, get_info(hints.get(), {}, list));
  }
  const info_ptr ordered = make_hints({.type = FI_EP_DGRAM, .caps = FI_MSG, .order = FI_ORDER_SAS});
  CHECK_CODE(-FI_ENODATA, get_info(ordered.get(), {}, list));
  for (const std::uint64_t level : {FI_DELIVERY_COMPLETE, FI_MATCH_COMPLETE}) {
    const info_ptr hints =
        make_hints({.type = FI_EP_DGRAM, .caps = FI_MSG, .order = 0, .tx_op_flags = level});
    CHECK_CODE(-FI_ENODATA, get_info(hints.get(), {}, list));
  }
  const info_ptr large = make_hints(datagrams());
  large->ep_attr->max_msg_size = e.longest() + 1;
  CHECK_CODE(-FI_ENODATA, get_info(large.get(), {}, list));
}

// Every form of send meets every form of receive, with sizes from nothing to the longest.
CASE(all_forms) {
  dgram e(datagrams(FI_MSG | FI_SOURCE));
  e.meet(t);
  random_source random(7);
  std::uint64_t round = 0;
  for (const send_form form : all_send_forms)
    for (const recv_form into_form : all_recv_forms)
      for (std::size_t size :
           {std::size_t{0}, std::size_t{1}, std::size_t{63}, std::size_t{777}, e.longest()}) {
        if (is_inject(form))
          size = std::min(size, e.info().tx_attr->inject_size);
        ++round;
        op o;
        const envelope env{.data = round};
        if (t.first()) {
          // One at a time, with the other ready: on an idle link it arrives.
          t.barrier();
          const auto content = payload(size, round);
          post_send(e, kind::msg, form, 1, content, env, o);
          if (!is_inject(form))
            check_send_flags(e.tx().wait_ok(o, "datagram"), kind::msg);
        } else {
          guarded_buffer into(size);
          post_recv(e, kind::msg, into_form, into.span(), env, o);
          t.barrier();
          const completion c = e.rx().wait_ok(o, "receive");
          check_recv(c, kind::msg, size, env, carries_data(form));
          CHECK_EQ(c.source, e.at(0));
          verify(into.span(), round);
        }
      }
  t.barrier();
}

CASE(too_long, .ranks = 1) {
  dgram e;
  e.meet(t);
  const auto content = payload(e.longest() + 1, 1);
  op o;
  CHECK_CODE(-FI_EMSGSIZE, fi_send(e.ep(), content.data(), content.size(), nullptr, e.at(0), &o));
  const std::size_t inject = e.info().tx_attr->inject_size;
  CHECK_CODE(-FI_EMSGSIZE, fi_inject(e.ep(), content.data(), inject + 1, e.at(0)));
  const iovec v{const_cast<std::byte *>(content.data()), 10};
  fi_msg m{};
  m.msg_iov = &v;
  m.iov_count = 1;
  m.addr = e.at(0);
  for (const std::uint64_t flag : {FI_DELIVERY_COMPLETE, FI_MATCH_COMPLETE, FI_FENCE})
    CHECK(fi_sendmsg(e.ep(), &m, flag) < 0);
  CHECK_CODE(-FI_EOPNOTSUPP, fi_sendmsg(e.ep(), &m, FI_MULTICAST));
}

CASE(truncated) {
  dgram e;
  e.meet(t);
  op o;
  guarded_buffer into(10);
  if (t.first()) {
    t.barrier();
    const auto content = payload(25, 1);
    e.send(1, content, o);
    e.tx().wait_ok(o, "datagram");
  } else {
    e.recv(into.span(), o);
    t.barrier();
    const completion c = e.rx().wait(o, "receive");
    CHECK_EQ(c.err, FI_ETRUNC);
    CHECK_EQ(c.olen, std::size_t{15});
    CHECK_EQ(c.len, std::size_t{10});
  }
  t.barrier();
}

// What comes while nothing is posted is gone; what comes later finds the receive.
CASE(lost_without_a_receive) {
  dgram e;
  e.meet(t);
  op o;
  constexpr std::uint64_t lost = 1, wanted = 2, first = 3;
  // Before the receiver knows the sender, it looks for what comes from there only now and then.
  if (t.first()) {
    t.barrier();
    const auto content = payload(100, first);
    e.send(1, content, o);
    e.tx().wait_ok(o, "datagram");
  } else {
    guarded_buffer into(100);
    e.recv(into.span(), o);
    t.barrier();
    e.rx().wait_ok(o, "receive");
    verify(into.span(), first);
  }
  t.barrier();
  if (t.first()) {
    const auto content = payload(100, lost);
    for (int i = 0; i < 100; ++i) {
      e.send(1, content, o);
      e.tx().wait_ok(o, "datagram");
    }
    t.barrier(); // the other makes progress meanwhile
    t.barrier();
    const auto second = payload(100, wanted);
    e.send(1, second, o);
    e.tx().wait_ok(o, "datagram");
  } else {
    t.barrier();
    // Longer than it takes to take in all, be there a daemon between that has to get a processor.
    e.rx().expect_silence(std::chrono::milliseconds(200));
    guarded_buffer into(100);
    e.recv(into.span(), o);
    t.barrier();
    e.rx().wait_ok(o, "receive");
    verify(into.span(), wanted);
  }
  t.barrier();
}

CASE(directed_receive, .ranks = 3) {
  dgram e(datagrams(FI_MSG | FI_DIRECTED_RECV | FI_SOURCE));
  e.meet(t);
  const auto me = static_cast<std::uint64_t>(t.rank());
  op ops[2];
  if (t.first()) {
    guarded_buffer from_2(50), from_1(50);
    e.recv(from_2.span(), ops[0], e.at(2));
    e.recv(from_1.span(), ops[1], e.at(1));
    t.barrier();
    CHECK_EQ(e.rx().wait_ok(ops[1], "receive").source, e.at(1));
    CHECK_EQ(e.rx().wait_ok(ops[0], "receive").source, e.at(2));
    verify(from_1.span(), 1);
    verify(from_2.span(), 2);
  } else {
    t.barrier();
    const auto content = payload(50, me);
    e.send(0, content, ops[0]);
    e.tx().wait_ok(ops[0], "datagram");
  }
  t.barrier();
}

CASE(multi_receive) {
  dgram e(datagrams(FI_MSG | FI_MULTI_RECV));
  e.meet(t);
  constexpr std::size_t size = 100, count = 8;
  op o;
  if (t.first()) {
    t.barrier();
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto content = payload(size, i);
      e.send(1, content, o);
      e.tx().wait_ok(o, "datagram");
    }
  } else {
    std::vector<std::byte> buffer(count * size);
    const iovec v{buffer.data(), buffer.size()};
    post_recvmsg(e, kind::msg, {&v, 1}, {}, o, FI_MULTI_RECV);
    t.barrier();
    for (std::uint64_t i = 0; i < count; ++i) {
      const completion c = e.rx().wait_ok(o, "receive");
      CHECK(c.buf == buffer.data() + i * size);
      verify(std::span(buffer).subspan(i * size, size), i);
      CHECK_EQ((c.flags & FI_MULTI_RECV) != 0, i + 1 == count);
    }
  }
  t.barrier();
}

// Many peers at once, each with everybody.
CASE(many_peers, .ranks = 6) {
  dgram e(datagrams(FI_MSG | FI_SOURCE));
  e.meet(t);
  constexpr std::size_t each = 20, size = 64;
  const auto others = static_cast<std::size_t>(t.size() - 1);
  std::vector<op> received(each * others);
  std::vector<std::array<std::byte, size>> into(received.size());
  for (std::size_t i = 0; i < received.size(); ++i)
    e.recv(into[i], received[i]);
  t.barrier();
  const auto content = payload(size, static_cast<std::uint64_t>(t.rank()));
  for (std::size_t n = 0; n < each; ++n)
    for (int r = 0; r < t.size(); ++r)
      if (r != t.rank()) {
        op o;
        e.send(r, content, o);
        e.tx().wait_ok(o, "datagram");
      }
  t.barrier();
  // Some may have been lost.
  for (std::optional<completion> c = e.rx().next("datagrams"); c; c = arrived_now(e.rx())) {
    CHECK_EQ(c->err, 0);
    for (std::size_t i = 0; i < received.size(); ++i)
      if (c->is(received[i])) {
        std::uint64_t sender = 0;
        while (e.at(static_cast<int>(sender)) != c->source)
          ++sender;
        verify(into[i], sender);
      }
  }
  t.barrier();
}

// Sends to nobody complete, and are gone.
CASE(peer_that_is_not_there) {
  bytes gone;
  {
    dgram e;
    e.meet(t);
    gone = e.name_at(t.other());
    t.barrier();
  }
  t.barrier();
  dgram e;
  const fi_addr_t to = e.add(gone);
  for (int i = 0; i < 50; ++i) {
    op o;
    const auto content = payload(100, 1);
    POST(e, fi_send(e.ep(), content.data(), content.size(), nullptr, to, &o));
    e.tx().wait_ok(o, "datagram to nobody");
  }
  t.barrier();
}

// A peer is killed amid traffic: the others go on.
CASE(killed_peer, .ranks = 3, .may_die = 1u << 2) {
  dgram e;
  e.meet(t);
  const auto content = payload(500, 1);
  if (t.rank() == 2) {
    op o;
    for (int i = 0;; ++i) {
      e.send(i % 2, content, o);
      e.tx().wait_ok(o, "datagram");
      if (i == 200)
        raise(SIGKILL);
    }
  }
  op received;
  guarded_buffer into(500);
  for (int i = 0; i < 500; ++i) { // to the one that dies
    op o;
    e.send(2, content, o);
    e.tx().wait_ok(o, "datagram");
  }
  t.barrier();
  e.recv(into.span(), received);
  bool arrived = false;
  send_until(e, t.other(), content, [&] {
    if (!arrived)
      if (const auto c = arrived_now(e.rx()))
        arrived = c->is(received);
    return arrived;
  });
  verify(into.span(), 1);
  // The other may still wait for one.
  for (int i = 0; i < 100; ++i) {
    op o;
    e.send(t.other(), content, o);
    e.tx().wait_ok(o, "datagram");
  }
  t.barrier();
}

} // namespace fabtest
