// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Shared receive contexts (fi_srx_context(3)) of connected endpoints, and of
// reliable datagram ones. All in one process.
#include "common/case.h"
#include "common/connected.h"

#include <array>
#include <set>

namespace fabtest {

namespace {

// `count` connections to one side whose endpoints share their receives.
struct shared_side {
  cm_base base;
  cm_listener listener;
  std::shared_ptr<fabric_and_domain> domain;
  owned_fid<fid_ep> srx;
  std::vector<std::unique_ptr<cm_endpoint>> callers, answerers;

  explicit shared_side(int count, const fi_rx_attr *attr = nullptr) : listener(base) {
    domain = std::make_shared<fabric_and_domain>(base.fabric(), info_ptr(fi_dupinfo(&base.info())));
    fi_rx_attr copy = attr ? *attr : *domain->info->rx_attr;
    CHECK_OK(fi_srx_context(**domain, &copy, srx.out(), nullptr));
    for (int i = 0; i < count; ++i) {
      callers.push_back(std::make_unique<cm_endpoint>(base));
      callers.back()->connect(listener.name());
      const cm_event request = listener.request();
      answerers.push_back(
          std::make_unique<cm_endpoint>(base, request.info.get(), srx.get(), domain));
      answerers.back()->accept();
      base.expect(FI_CONNECTED, callers.back()->fid());
      base.expect(FI_CONNECTED, answerers.back()->fid());
    }
  }
  ~shared_side() {
    answerers.clear(); // before what they are bound to
  }

  void recv(std::span<std::byte> into, op &o) const {
    CHECK_OK(fi_recv(srx.get(), into.data(), into.size(), nullptr, 0, &o));
  }
  void trecv(std::span<std::byte> into, std::uint64_t tag, op &o) const {
    CHECK_OK(fi_trecv(srx.get(), into.data(), into.size(), nullptr, 0, tag, 0, &o));
  }
};

} // namespace

CASE(offered, .ranks = 1) {
  const info_ptr hints = make_hints({});
  hints->ep_attr->type = FI_EP_MSG;
  hints->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
  info_ptr info;
  CHECK_OK(get_info(hints.get(), {}, info));
  CHECK_EQ(info->ep_attr->rx_ctx_cnt, static_cast<std::size_t>(FI_SHARED_CONTEXT));
  hints->ep_attr->rx_ctx_cnt = 0;
  hints->ep_attr->tx_ctx_cnt = FI_SHARED_CONTEXT;
  CHECK_CODE(-FI_ENODATA, get_info(hints.get(), {}, info));
}

// Messages of all endpoints take the receives in the order in which these were posted.
CASE(takes_messages_of_all, .ranks = 1) {
  shared_side s(4);
  for (const std::size_t size : {std::size_t{0}, std::size_t{100}, std::size_t{200'000}}) {
    for (const bool early : {false, true}) { // receives, or messages
      std::vector<op> sent(4), received(4);
      std::vector<std::vector<std::byte>> into(4, std::vector<std::byte>(size)), content;
      for (std::size_t i = 0; i < 4; ++i)
        content.push_back(payload(size, i));
      const auto post_receives = [&] {
        for (std::size_t i = 0; i < 4; ++i)
          s.recv(into[i], received[i]);
      };
      if (early)
        post_receives();
      for (std::size_t i = 0; i < 4; ++i)
        s.callers[i]->send(content[i], sent[i]);
      for (int i = 0; i < 100; ++i)
        drive_progress();
      if (!early)
        post_receives();
      std::set<std::size_t> from;
      for (std::size_t r = 0; r < 4; ++r) {
        for (std::size_t i = 0; i < 4; ++i) { // whose queue it came to says whose message it is
          while (const auto c = s.answerers[i]->cq().poll()) {
            CHECK_EQ(c->err, 0);
            for (std::size_t k = 0; k < 4; ++k)
              if (c->is(received[k]))
                verify(into[k], i);
            from.insert(i);
          }
        }
        if (from.size() < 4)
          r = 0;
        drive_progress();
      }
      for (std::size_t i = 0; i < 4; ++i)
        s.callers[i]->cq().wait_ok(sent[i], "send");
    }
  }
}

CASE(tags_and_plain_messages, .ranks = 1) {
  shared_side s(2);
  std::array<std::byte, 100> plain{}, one{}, two{};
  op p, o, w, sent[3];
  s.trecv(two, 2, w);
  s.trecv(one, 1, o);
  s.recv(plain, p);
  const auto a = payload(100, 1), b = payload(100, 2), c = payload(100, 3);
  CHECK_OK(fi_tsend(s.callers[0]->ep(), a.data(), a.size(), nullptr, 0, 1, &sent[0]));
  CHECK_OK(fi_tsend(s.callers[1]->ep(), b.data(), b.size(), nullptr, 0, 2, &sent[1]));
  s.callers[1]->send(c, sent[2]);
  CHECK_EQ(s.answerers[0]->cq().wait_ok(o, "tag 1").tag, 1u);
  CHECK_EQ(s.answerers[1]->cq().wait_ok(w, "tag 2").tag, 2u);
  s.answerers[1]->cq().wait_ok(p, "plain");
  verify(one, 1);
  verify(two, 2);
  verify(plain, 3);
}

// One buffer for messages of several endpoints.
CASE(multi_receive, .ranks = 1) {
  shared_side s(2);
  std::size_t least = 100;
  CHECK_OK(
      fi_setopt(&s.srx.get()->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, sizeof least));
  std::vector<std::byte> buffer(450);
  const iovec v{buffer.data(), buffer.size()};
  op o, sent[4];
  fi_msg m{};
  m.msg_iov = &v;
  m.iov_count = 1;
  m.context = &o;
  CHECK_OK(fi_recvmsg(s.srx.get(), &m, FI_MULTI_RECV));
  const auto content = payload(100, 1);
  unsigned released = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    s.callers[i % 2]->send(content, sent[i]);
    const completion c = s.answerers[i % 2]->cq().wait_ok(o, "a part of the buffer");
    CHECK(c.buf == buffer.data() + 100 * i);
    verify(std::span(buffer).subspan(100 * i, 100), 1);
    released += (c.flags & FI_MULTI_RECV) != 0;
  }
  CHECK_EQ(released, 1u);
}

CASE(calls_that_are_refused, .ranks = 1) {
  shared_side s(1);
  std::array<std::byte, 8> into{};
  op o;
  CHECK_CODE(-FI_EOPNOTSUPP, fi_recv(s.answerers[0]->ep(), into.data(), 8, nullptr, 0, &o));
  CHECK_CODE(-FI_EOPNOTSUPP, fi_trecv(s.answerers[0]->ep(), into.data(), 8, nullptr, 0, 0, 0, &o));
  CHECK_CODE(-FI_ENOSYS, fi_send(s.srx.get(), into.data(), 8, nullptr, 0, &o));
  CHECK_CODE(-FI_EBUSY, fi_close(&s.srx.get()->fid));
  // Of transmit contexts there are none to share, and no scalable endpoints.
  fid_stx *stx = nullptr;
  CHECK_CODE(-FI_ENOSYS, fi_stx_context(**s.domain, nullptr, &stx, nullptr));
  fid_ep *sep = nullptr;
  CHECK_CODE(-FI_ENOSYS, fi_scalable_ep(**s.domain, s.domain->info.get(), &sep, nullptr));
  // An endpoint that is to share its receives needs a context.
  info_ptr info(fi_dupinfo(&s.base.info()));
  info->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
  owned_fid<fid_ep> ep;
  CHECK_OK(fi_endpoint(**s.domain, info.get(), ep.out(), nullptr));
  CHECK_OK(fi_ep_bind(ep.get(), &s.base.eq()->fid, 0));
  CHECK_OK(fi_ep_bind(ep.get(), &s.answerers[0]->cq().get()->fid, FI_TRANSMIT | FI_RECV));
  CHECK_CODE(-FI_EOPBADSTATE, fi_enable(ep.get()));
}

CASE(cancel, .ranks = 1) {
  shared_side s(1);
  std::array<std::byte, 100> into{};
  op first, second, sent;
  s.recv(into, first);
  s.recv(into, second);
  CHECK_OK(fi_cancel(&s.srx.get()->fid, &first));
  CHECK_EQ(s.answerers[0]->cq().wait(first, "cancelled receive").err, FI_ECANCELED);
  CHECK_CODE(-FI_ENOENT, fi_cancel(&s.srx.get()->fid, &first));
  const auto content = payload(100, 1);
  s.callers[0]->send(content, sent);
  s.answerers[0]->cq().wait_ok(second, "receive");
  verify(into, 1);
}

CASE(size_is_a_limit, .ranks = 1) {
  const info_ptr info = connected_info({});
  fi_rx_attr attr = *info->rx_attr;
  attr.size = 4;
  shared_side s(1, &attr);
  std::array<std::byte, 8> into{};
  std::vector<op> ops(5);
  for (int i = 0; i < 4; ++i)
    s.recv(into, ops[static_cast<std::size_t>(i)]);
  CHECK_CODE(-FI_EAGAIN, fi_recv(s.srx.get(), into.data(), 8, nullptr, 0, &ops[4]));
}

// The end of one connection leaves the others their receives.
CASE(one_connection_ends, .ranks = 1) {
  shared_side s(2);
  std::vector<std::byte> into(100);
  op received, sent;
  s.recv(into, received);
  CHECK_OK(fi_shutdown(s.callers[0]->ep(), 0));
  s.base.expect(FI_SHUTDOWN, s.answerers[0]->fid());
  s.answerers[0]->cq().expect_empty();
  s.answerers[0].reset();
  const auto content = payload(100, 1);
  s.callers[1]->send(content, sent);
  s.answerers[1]->cq().wait_ok(received, "receive");
  verify(into, 1);
}

// What has come by an endpoint goes with it; what came by others stays.
CASE(closed_with_messages_waiting, .ranks = 1) {
  shared_side s(2);
  const auto lost = payload(100, 1), kept = payload(100, 2);
  op sent[2], received;
  s.callers[0]->send(lost, sent[0]);
  s.callers[1]->send(kept, sent[1]);
  for (int i = 0; i < 200; ++i)
    drive_progress();
  s.answerers[0].reset();
  std::vector<std::byte> into(100);
  s.recv(into, received);
  s.answerers[1]->cq().wait_ok(received, "receive");
  verify(into, 2);
}

// Reliable datagram endpoints, also from one source alone.
CASE(reliable_datagrams, .ranks = 1) {
  const request wanted{.caps = FI_MSG | FI_TAGGED | FI_DIRECTED_RECV | FI_SOURCE};
  const info_ptr hints = make_hints(wanted);
  hints->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
  info_ptr list;
  if (get_info(hints.get(), {}, list) == -FI_ENODATA)
    skip("the provider lacks shared receive contexts of reliable datagram endpoints");
  const auto base = std::make_shared<fabric_and_domain>(info_ptr(fi_dupinfo(list.get())));
  owned_fid<fid_ep> srx;
  CHECK_OK(fi_srx_context(**base, base->info->rx_attr, srx.out(), nullptr));
  fi_av_attr av_attr{};
  av_attr.type = FI_AV_TABLE;
  owned_fid<fid_av> av;
  CHECK_OK(fi_av_open(**base, &av_attr, av.out(), nullptr));
  fi_cq_attr cq_attr{};
  cq_attr.format = FI_CQ_FORMAT_TAGGED;
  queue cq(**base, cq_attr);
  std::array<owned_fid<fid_ep>, 2> sharing;
  std::array<fi_addr_t, 2> at{};
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK_OK(fi_endpoint(**base, base->info.get(), sharing[i].out(), nullptr));
    CHECK_OK(fi_ep_bind(sharing[i].get(), &srx->fid, 0));
    CHECK_OK(fi_ep_bind(sharing[i].get(), &av->fid, 0));
    CHECK_OK(fi_ep_bind(sharing[i].get(), &cq.get()->fid, FI_TRANSMIT | FI_RECV));
    CHECK_OK(fi_enable(sharing[i].get()));
    at[i] = insert(av.get(), name_of(sharing[i].get()), base->info->addr_format);
  }
  // Each sends to the other; the receives say from whom.
  std::array<std::array<std::byte, 100>, 2> into{};
  std::array<op, 2> received, sent;
  for (std::size_t i = 0; i < 2; ++i)
    CHECK_OK(fi_recv(srx.get(), into[i].data(), 100, nullptr, at[1 - i], &received[i]));
  std::array<std::vector<std::byte>, 2> content{payload(100, 0), payload(100, 1)};
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK_OK(fi_send(sharing[i].get(), content[i].data(), 100, nullptr, at[1 - i], &sent[i]));
    const completion c = cq.wait_ok(received[1 - i], "receive from one source");
    CHECK_EQ(c.source, at[i]);
    cq.wait_ok(sent[i], "send");
    verify(into[1 - i], i);
  }
}

} // namespace fabtest
