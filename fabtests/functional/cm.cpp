// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Connections (fi_cm(3)): how they come up, are refused, and end, in whatever
// order things are closed. Both ends in one process, unless a case says more.
#include "common/address.h"
#include "common/case.h"
#include "common/connected.h"
#include "common/settings.h"

#include <array>
#include <csignal>
#include <cstring>

namespace fabtest {

namespace {

constexpr std::size_t data_size = 256;

std::size_t cm_data_size(fid_t fid) {
  std::size_t size = 0, len = sizeof size;
  CHECK_OK(fi_getopt(fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, &size, &len));
  CHECK_EQ(len, sizeof size);
  return size;
}

bytes name_of_fid(fid_t fid) {
  bytes name(128);
  std::size_t len = name.size();
  CHECK_OK(fi_getname(fid, name.data(), &len));
  name.resize(len);
  return name;
}

bytes peer_of(fid_ep *ep) {
  bytes name(128);
  std::size_t len = name.size();
  CHECK_OK(fi_getpeer(ep, name.data(), &len));
  name.resize(len);
  return name;
}

bytes address_in(const void *address, std::size_t len) {
  const auto *from = static_cast<const std::byte *>(address);
  return {from, from + len};
}

void expect_not_connected(cm_endpoint &e) {
  std::array<std::byte, 8> buffer{};
  op o;
  bytes name(128);
  std::size_t len = name.size();
  CHECK_CODE(-FI_ENOTCONN, fi_send(e.ep(), buffer.data(), 8, nullptr, 0, &o));
  CHECK_CODE(-FI_ENOTCONN, fi_inject(e.ep(), buffer.data(), 8, 0));
  CHECK_CODE(-FI_ENOTCONN, fi_tsend(e.ep(), buffer.data(), 8, nullptr, 0, 1, &o));
  CHECK_CODE(-FI_ENOTCONN, fi_senddata(e.ep(), buffer.data(), 8, nullptr, 1, 0, &o));
  CHECK_CODE(-FI_ENOTCONN, fi_getpeer(e.ep(), name.data(), &len));
  CHECK_CODE(-FI_ENOTCONN, fi_shutdown(e.ep(), 0));
}

} // namespace

CASE(offered, .ranks = 1) {
  const info_ptr info = connected_info({});
  CHECK_EQ(info->ep_attr->type, FI_EP_MSG);
  CHECK(info->src_addr != nullptr);
}

CASE(data_three_ways, .ranks = 1) {
  cm_base base;
  cm_listener listener(base);
  CHECK(cm_data_size(&listener.pep()->fid) >= data_size);
  const auto asked = payload(data_size, 1), agreed = payload(data_size, 2),
             declined = payload(data_size, 3);
  {
    cm_endpoint caller(base);
    CHECK(cm_data_size(caller.fid()) >= data_size);
    caller.connect(listener.name(), asked);
    const cm_event request = listener.request();
    CHECK(request.data == asked);
    CHECK_OK(fi_reject(listener.pep(), request.info->handle, declined.data(), declined.size()));
    const cm_event refusal = base.expect_error(FI_ECONNREFUSED, caller.fid());
    CHECK(refusal.data == declined);
    // A request is answered once.
    CHECK_CODE(-FI_EINVAL, fi_reject(listener.pep(), request.info->handle, nullptr, 0));
  }
  cm_endpoint caller(base);
  caller.connect(listener.name(), asked);
  const cm_event request = listener.request();
  cm_endpoint answerer(base, request.info.get());
  answerer.accept(agreed);
  CHECK(base.expect(FI_CONNECTED, caller.fid()).data == agreed);
  CHECK(base.expect(FI_CONNECTED, answerer.fid()).data.empty());
  cm_exchange(caller, answerer, 100);
  cm_exchange(answerer, caller, 100'000);
}

CASE(data_beyond_the_limit, .ranks = 1) {
  cm_base base;
  cm_listener listener(base);
  cm_endpoint caller(base);
  const bytes too_much(cm_data_size(caller.fid()) + 1);
  const bytes name = listener.name();
  CHECK_CODE(-FI_EINVAL, fi_connect(caller.ep(), name.data(), too_much.data(), too_much.size()));
  caller.connect(name);
  const cm_event request = listener.request();
  CHECK_CODE(-FI_EINVAL,
             fi_reject(listener.pep(), request.info->handle, too_much.data(), too_much.size()));
  cm_endpoint answerer(base, request.info.get());
  CHECK_CODE(-FI_EINVAL, fi_accept(answerer.ep(), too_much.data(), too_much.size()));
  answerer.accept();
  base.expect(FI_CONNECTED, caller.fid());
}

CASE(names, .ranks = 1) {
  cm_base base;
  cm_listener listener(base);
  cm_endpoint caller(base);
  caller.connect(listener.name());
  const cm_event request = listener.request();
  CHECK(address_in(request.info->src_addr, request.info->src_addrlen) == listener.name());
  CHECK(address_in(request.info->dest_addr, request.info->dest_addrlen) ==
        name_of_fid(caller.fid()));
  cm_endpoint answerer(base, request.info.get());
  answerer.accept();
  base.expect(FI_CONNECTED, caller.fid());
  base.expect(FI_CONNECTED, answerer.fid());
  CHECK(name_of_fid(answerer.fid()) == listener.name());
  CHECK(peer_of(caller.ep()) == listener.name());
  CHECK(peer_of(answerer.ep()) == name_of_fid(caller.fid()));
  std::array<std::byte, 1> little{};
  std::size_t len = little.size();
  CHECK_CODE(-FI_ETOOSMALL, fi_getpeer(caller.ep(), little.data(), &len));
  CHECK_EQ(len, listener.name().size());
}

// fi_connect without an address goes where the fi_info says.
CASE(destination_of_the_info, .ranks = 1) {
  cm_base base;
  cm_listener listener(base);
  cm_endpoint lost(base);
  CHECK_CODE(-FI_EINVAL, fi_connect(lost.ep(), nullptr, nullptr, 0));
  info_ptr info(fi_dupinfo(&base.info()));
  const bytes name = listener.name();
  info->dest_addr = std::malloc(name.size());
  std::memcpy(info->dest_addr, name.data(), name.size());
  info->dest_addrlen = name.size();
  cm_endpoint caller(base, info.get());
  CHECK_OK(fi_connect(caller.ep(), nullptr, nullptr, 0));
  listener.request();
}

// Connecting enables.
CASE(enabled_by_connecting, .ranks = 1) {
  cm_base base;
  cm_listener listener(base);
  fabric_and_domain domain(base.fabric(), info_ptr(fi_dupinfo(&base.info())));
  fi_cq_attr attr{};
  queue cq(*domain, attr);
  owned_fid<fid_ep> ep;
  CHECK_OK(fi_endpoint(*domain, domain.info.get(), ep.out(), nullptr));
  const bytes name = listener.name();
  CHECK_CODE(-FI_ENOEQ, fi_connect(ep.get(), name.data(), nullptr, 0));
  CHECK_OK(fi_ep_bind(ep.get(), &base.eq()->fid, 0));
  CHECK_CODE(-FI_ENOCQ, fi_connect(ep.get(), name.data(), nullptr, 0));
  CHECK_OK(fi_ep_bind(ep.get(), &cq.get()->fid, FI_TRANSMIT | FI_RECV));
  CHECK_OK(fi_connect(ep.get(), name.data(), nullptr, 0));
  listener.request();
  CHECK_CODE(-FI_EISCONN, fi_connect(ep.get(), name.data(), nullptr, 0));
}

CASE(what_is_bound, .ranks = 1) {
  cm_base base;
  cm_listener listener(base);
  CHECK_CODE(-FI_EOPBADSTATE, fi_listen(listener.pep()));
  CHECK_CODE(-FI_EINVAL, fi_pep_bind(listener.pep(), &base.eq()->fid, 0));
  owned_fid<fid_pep> lone;
  const info_ptr info(fi_dupinfo(&base.info()));
  CHECK_OK(fi_passive_ep(base.fabric(), info.get(), lone.out(), nullptr));
  CHECK_CODE(-FI_ENOEQ, fi_listen(lone.get()));
  CHECK_CODE(-FI_EINVAL, fi_reject(lone.get(), &base.eq()->fid, nullptr, 0));
  info->ep_attr->type = FI_EP_RDM;
  owned_fid<fid_pep> wrong;
  fid_pep *out = nullptr;
  CHECK_CODE(-FI_EINVAL, fi_passive_ep(base.fabric(), info.get(), &out, nullptr));
}

CASE(calls_before_a_connection, .ranks = 1) {
  cm_base base;
  cm_listener listener(base);
  cm_endpoint caller(base);
  expect_not_connected(caller);
  CHECK_CODE(-FI_EOPBADSTATE, fi_accept(caller.ep(), nullptr, 0));
  // Receives may be there first.
  std::array<std::byte, 100> into{};
  op received, sent;
  caller.recv(into, received);
  caller.connect(listener.name());
  const cm_event request = listener.request();
  std::array<std::byte, 8> buffer{};
  op o;
  CHECK_CODE(-FI_ENOTCONN, fi_send(caller.ep(), buffer.data(), 8, nullptr, 0, &o));
  cm_endpoint answerer(base, request.info.get());
  CHECK_CODE(-FI_EOPBADSTATE, fi_connect(answerer.ep(), listener.name().data(), nullptr, 0));
  answerer.accept();
  base.expect(FI_CONNECTED, caller.fid());
  base.expect(FI_CONNECTED, answerer.fid());
  const auto content = payload(100, 1);
  answerer.send(content, sent);
  caller.cq().wait_ok(received, "receive");
  verify(into, 1);
}

// --- refused

CASE(nobody_listens, .ranks = 1) {
  cm_base base;
  bytes gone;
  {
    cm_listener listener(base);
    gone = listener.name();
  }
  cm_endpoint caller(base);
  caller.connect(gone);
  base.expect_error(FI_ECONNREFUSED, caller.fid());
  expect_not_connected(caller);
}

CASE(an_endpoint_that_does_not_listen, .ranks = 1) {
  setenv("FI_DPDKX_CONNECT_TIMEOUT", "500ms", 1);
  cm_base base;
  cm_listener idle(base, false);
  cm_endpoint other(base), caller(base);
  caller.connect(name_of_fid(other.fid()));
  base.expect_error(FI_ECONNREFUSED, caller.fid());
  cm_endpoint again(base);
  again.connect(idle.name()); // its name is settled, and nobody answers there
  CHECK(base.next(again.fid(), "a refusal").err != 0);
}

// Who has not been answered when the passive endpoint closes is refused.
CASE(closed_listener_refuses, .ranks = 1) {
  cm_base base;
  auto listener = std::make_unique<cm_listener>(base);
  std::vector<std::unique_ptr<cm_endpoint>> callers;
  for (int i = 0; i < 5; ++i) {
    callers.push_back(std::make_unique<cm_endpoint>(base));
    callers.back()->connect(listener->name());
  }
  for (int i = 0; i < 2; ++i)
    listener->request(); // read, and not answered
  listener->request();
  listener.reset();
  for (auto &c : callers)
    base.expect_error(FI_ECONNREFUSED, c->fid());
}

// An endpoint that has been opened for a request, and is closed instead.
CASE(closed_answerer_refuses, .ranks = 1) {
  cm_base base;
  cm_listener listener(base);
  cm_endpoint caller(base);
  caller.connect(listener.name());
  const cm_event request = listener.request();
  { cm_endpoint answerer(base, request.info.get()); }
  base.expect_error(FI_ECONNREFUSED, caller.fid());
  // The handle is spent.
  fabric_and_domain domain(base.fabric(), info_ptr(fi_dupinfo(&base.info())));
  domain.info->handle = request.info->handle;
  fid_ep *ep = nullptr;
  CHECK_CODE(-FI_EINVAL, fi_endpoint(*domain, domain.info.get(), &ep, nullptr));
}

CASE(backlog_is_bounded, .ranks = 1) {
  setenv("FI_DPDKX_LISTEN_BACKLOG", "5", 1);
  cm_base base;
  cm_listener listener(base, false);
  int backlog = 0;
  CHECK_CODE(-FI_EINVAL, fi_control(&listener.pep()->fid, FI_BACKLOG, &backlog));
  backlog = 2;
  CHECK_OK(fi_control(&listener.pep()->fid, FI_BACKLOG, &backlog));
  CHECK_OK(fi_listen(listener.pep()));
  CHECK_CODE(-FI_EOPBADSTATE, fi_control(&listener.pep()->fid, FI_BACKLOG, &backlog));
  std::vector<std::unique_ptr<cm_endpoint>> callers;
  std::vector<cm_event> requests;
  for (int i = 0; i < 2; ++i) {
    callers.push_back(std::make_unique<cm_endpoint>(base));
    callers.back()->connect(listener.name());
    requests.push_back(listener.request());
  }
  cm_endpoint surplus(base);
  surplus.connect(listener.name());
  base.expect_error(FI_ECONNREFUSED, surplus.fid());
  CHECK_OK(fi_reject(listener.pep(), requests[0].info->handle, nullptr, 0));
  base.expect_error(FI_ECONNREFUSED, callers[0]->fid());
  cm_endpoint next(base);
  next.connect(listener.name());
  listener.request();
}

// --- orders of closing

// The listener may go as soon as fi_accept has returned, or before it.
CASE(listener_goes_early, .ranks = 1) {
  cm_base base;
  for (const bool before : {true, false}) {
    auto listener = std::make_unique<cm_listener>(base);
    const bytes name = listener->name();
    cm_endpoint caller(base);
    caller.connect(name);
    const cm_event request = listener->request();
    cm_endpoint answerer(base, request.info.get());
    if (before)
      listener.reset();
    answerer.accept();
    listener.reset();
    base.expect(FI_CONNECTED, caller.fid());
    base.expect(FI_CONNECTED, answerer.fid());
    cm_exchange(caller, answerer, 1000);
    cm_exchange(answerer, caller, 1000);
  }
}

CASE(caller_goes_early, .ranks = 1) {
  cm_base base;
  cm_listener listener(base);
  {
    cm_endpoint caller(base);
    caller.connect(listener.name());
  }
  { // and one whose request has been read
    cm_endpoint caller(base);
    caller.connect(listener.name());
    const cm_event request = listener.request();
    caller.close();
    cm_endpoint answerer(base, request.info.get());
    answerer.accept();
    base.expect_error(FI_ECONNREFUSED, answerer.fid());
  }
  cm_endpoint caller(base);
  caller.connect(listener.name());
  for (;;) { // the first caller's request may have come, and be dead
    const cm_event request = listener.request();
    cm_endpoint answerer(base, request.info.get());
    answerer.accept();
    const cm_event e = base.next(answerer.fid(), "an answer", config().limit(30));
    if (e.err != 0)
      continue;
    base.expect(FI_CONNECTED, caller.fid());
    break;
  }
}

// ... and had another of the host's addresses than the listener: nobody is there, on this host.
CASE(caller_from_another_address_goes_early, .ranks = 1) {
  cm_base base;
  const bytes loopback = socket_address("127.0.0.1", 0);
  const bytes usual = address_in(base.info().src_addr, base.info().src_addrlen);
  if (base.info().addr_format != FI_SOCKADDR_IN || host_of(usual) == host_of(loopback))
    skip("this host has but one address");
  const info_ptr info(fi_dupinfo(&base.info()));
  CHECK_EQ(info->src_addrlen, loopback.size());
  std::memcpy(info->src_addr, loopback.data(), loopback.size());
  owned_fid<fid_pep> listener;
  CHECK_OK(fi_passive_ep(base.fabric(), info.get(), listener.out(), nullptr));
  CHECK_OK(fi_pep_bind(listener.get(), &base.eq()->fid, 0));
  CHECK_OK(fi_listen(listener.get()));
  cm_endpoint caller(base);
  caller.connect(name_of_fid(&listener.get()->fid));
  const cm_event request = base.expect(FI_CONNREQ, &listener.get()->fid);
  caller.close();
  cm_endpoint answerer(base, request.info.get());
  answerer.accept();
  base.expect_error(FI_ECONNREFUSED, answerer.fid());
}

CASE(closed_while_connecting, .ranks = 1) {
  cm_base base;
  cm_listener listener(base);
  for (int i = 0; i < 20; ++i) {
    cm_endpoint caller(base);
    caller.connect(listener.name());
    for (int turns = 0; turns < i; ++turns)
      drive_progress();
    if (i % 2)
      fi_shutdown(caller.ep(), 0);
  }
}

CASE(unread_events_are_forgotten, .ranks = 1) {
  cm_base base;
  {
    cm_listener listener(base);
    cm_endpoint caller(base);
    caller.connect(listener.name());
    const cm_event request = listener.request();
    cm_endpoint answerer(base, request.info.get());
    answerer.accept();
    for (int i = 0; i < 1000; ++i)
      for (cm_endpoint *e : {&caller, &answerer})
        e->cq().expect_empty();
    cm_endpoint another(base);
    another.connect(listener.name());
    std::byte little;
    std::uint32_t event;
    while (fi_eq_read(base.eq(), &event, &little, 1, 0) == -FI_EAGAIN)
      ; // something is there now
  }
  base.expect_no_event();
}

// --- the end

CASE(shutdown_is_told_on_both_sides, .ranks = 1) {
  cm_base base;
  cm_pair pair(base);
  CHECK_CODE(-FI_EINVAL, fi_shutdown(pair.caller->ep(), 1));
  CHECK_OK(fi_shutdown(pair.caller->ep(), 0));
  base.expect(FI_SHUTDOWN, pair.answerer->fid());
  base.expect(FI_SHUTDOWN, pair.caller->fid());
  expect_not_connected(*pair.caller);
  expect_not_connected(*pair.answerer);
  base.expect_no_event();
}

CASE(close_is_told, .ranks = 1) {
  cm_base base;
  cm_pair pair(base);
  pair.caller->close();
  base.expect(FI_SHUTDOWN, pair.answerer->fid());
  expect_not_connected(*pair.answerer);
}

// Small and large, posted before the end; received after the sender has asked for it.
CASE(shutdown_lets_everything_arrive, .ranks = 1) {
  cm_base base;
  for (const std::size_t size : {std::size_t{100}, std::size_t{10'000}, std::size_t{1'000'000}}) {
    cm_pair pair(base);
    constexpr std::size_t count = 10;
    std::vector<op> sent(count), received(count);
    std::vector<std::vector<std::byte>> content, into(count, std::vector<std::byte>(size));
    for (std::size_t i = 0; i < count; ++i) {
      content.push_back(payload(size, i));
      pair.caller->send(content[i], sent[i]);
    }
    CHECK_OK(fi_shutdown(pair.caller->ep(), 0));
    for (std::size_t i = 0; i < count; ++i) {
      pair.answerer->recv(into[i], received[i]);
      pair.answerer->cq().wait_ok(received[i], "receive");
      verify(into[i], i);
    }
    for (auto &o : sent)
      pair.caller->cq().wait_ok(o, "send");
    base.expect(FI_SHUTDOWN, pair.answerer->fid());
    base.expect(FI_SHUTDOWN, pair.caller->fid());
  }
}

CASE(shutdown_ends_receives, .ranks = 1) {
  cm_base base;
  cm_pair pair(base);
  std::array<std::byte, 100> here{}, there{};
  op mine, other;
  pair.caller->recv(here, mine);
  pair.answerer->recv(there, other);
  CHECK_OK(fi_shutdown(pair.caller->ep(), 0));
  CHECK_EQ(pair.caller->cq().wait(mine, "cancelled receive").err, FI_ECANCELED);
  CHECK_EQ(pair.answerer->cq().wait(other, "cancelled receive").err, FI_ECANCELED);
}

// Some hundred connections, one after the other and side by side, leave nothing behind.
CASE(many, .ranks = 1, .seconds = 60) {
  cm_base base;
  cm_listener listener(base);
  std::vector<std::unique_ptr<cm_endpoint>> ends;
  for (int i = 0; i < 100; ++i) {
    auto caller = std::make_unique<cm_endpoint>(base);
    caller->connect(listener.name());
    const cm_event request = listener.request();
    auto answerer = std::make_unique<cm_endpoint>(base, request.info.get());
    answerer->accept();
    base.expect(FI_CONNECTED, caller->fid());
    base.expect(FI_CONNECTED, answerer->fid());
    cm_exchange(*caller, *answerer, 100, static_cast<std::uint64_t>(i));
    if (i % 3 == 0)
      continue; // closed at once
    ends.push_back(std::move(caller));
    ends.push_back(std::move(answerer));
  }
  while (!ends.empty())
    ends.pop_back();
}

// --- fi_info::handle

// An active endpoint takes over a passive one's address (fi_getinfo(3)).
CASE(address_of_a_passive_endpoint, .ranks = 1) {
  cm_base base;
  cm_listener listener(base);
  auto source = std::make_unique<cm_listener>(base, false);
  const bytes name = source->name();
  info_ptr info(fi_dupinfo(&base.info()));
  info->handle = &source->pep()->fid;
  cm_endpoint caller(base, info.get());
  source.reset();
  CHECK(name_of_fid(caller.fid()) == name);
  caller.connect(listener.name());
  const cm_event request = listener.request();
  CHECK(address_in(request.info->dest_addr, request.info->dest_addrlen) == name);
  info->handle = &listener.pep()->fid; // which listens
  fabric_and_domain domain(base.fabric(), std::move(info));
  fid_ep *ep = nullptr;
  CHECK_CODE(-FI_EOPBADSTATE, fi_endpoint(*domain, domain.info.get(), &ep, nullptr));
}

// --- two processes

CASE(between_processes) {
  cm_base base;
  if (t.first()) {
    cm_listener listener(base);
    t.allgather(listener.name());
    const cm_event request = listener.request();
    cm_endpoint answerer(base, request.info.get());
    answerer.accept();
    base.expect(FI_CONNECTED, answerer.fid());
    std::vector<std::byte> into(100'000);
    op received;
    answerer.recv(into, received);
    answerer.cq().wait_ok(received, "receive");
    verify(into, 7);
    base.expect(FI_SHUTDOWN, answerer.fid());
    t.barrier();
    return;
  }
  const bytes name = t.allgather({})[0];
  cm_endpoint caller(base);
  caller.connect(name);
  base.expect(FI_CONNECTED, caller.fid());
  const auto content = payload(100'000, 7);
  op sent;
  caller.send(content, sent);
  CHECK_OK(fi_shutdown(caller.ep(), 0));
  base.expect(FI_SHUTDOWN, caller.fid());
  caller.cq().wait_ok(sent, "send");
  t.barrier();
}

// Nothing is under way when the peer is killed, and something is.
CASE(killed_peer, .seconds = 90, .may_die = 0b010) {
  cm_base base;
  if (!t.first()) {
    const bytes name = t.allgather({})[0];
    cm_endpoint idle(base), busy(base);
    for (cm_endpoint *e : {&idle, &busy}) {
      e->connect(name);
      base.expect(FI_CONNECTED, e->fid());
    }
    t.barrier();
    raise(SIGKILL);
  }
  cm_listener listener(base);
  t.allgather(listener.name());
  std::vector<std::unique_ptr<cm_endpoint>> ends;
  for (int i = 0; i < 2; ++i) {
    const cm_event request = listener.request();
    ends.push_back(std::make_unique<cm_endpoint>(base, request.info.get()));
    ends.back()->accept();
    base.expect(FI_CONNECTED, ends.back()->fid());
  }
  const auto content = payload(1 << 20, 1);
  std::array<std::byte, 100> into{};
  op sent, received;
  ends[1]->send(content, sent);
  ends[1]->recv(into, received);
  t.barrier();
  const auto limit = config().limit(config().death_limit);
  base.expect(FI_SHUTDOWN, ends[0]->fid(), limit);
  base.expect(FI_SHUTDOWN, ends[1]->fid(), limit);
  CHECK(ends[1]->cq().wait(sent, "send to a dead peer").err != 0);
  CHECK(ends[1]->cq().wait(received, "receive from a dead peer").err != 0);
  expect_not_connected(*ends[0]);
}

CASE(killed_listener, .seconds = 90, .may_die = 0b010) {
  cm_base base;
  if (!t.first()) {
    cm_listener listener(base);
    t.allgather(listener.name());
    listener.request();
    t.barrier();
    raise(SIGKILL);
  }
  cm_endpoint caller(base);
  caller.connect(t.allgather({})[1]);
  t.barrier();
  const cm_event e = base.next(caller.fid(), "the end", config().limit(config().death_limit));
  CHECK(e.err != 0);
}

// --- waiting

CASE(waits_in_the_event_queue) {
  cm_base base;
  if (t.first()) {
    cm_listener listener(base);
    t.allgather(listener.name());
    fi_eq_cm_entry entry{};
    std::uint32_t event = 0;
    CHECK_CODE(static_cast<long>(sizeof entry),
               fi_eq_sread(base.eq(), &event, &entry, sizeof entry,
                           static_cast<int>(default_wait().count()), 0));
    CHECK_EQ(event, static_cast<std::uint32_t>(FI_CONNREQ));
    const info_ptr info(entry.info);
    cm_endpoint answerer(base, info.get());
    answerer.accept();
    CHECK_CODE(static_cast<long>(sizeof entry),
               fi_eq_sread(base.eq(), &event, &entry, sizeof entry,
                           static_cast<int>(default_wait().count()), 0));
    CHECK_EQ(event, static_cast<std::uint32_t>(FI_CONNECTED));
    CHECK_CODE(static_cast<long>(sizeof entry),
               fi_eq_sread(base.eq(), &event, &entry, sizeof entry,
                           static_cast<int>(default_wait().count()), 0));
    CHECK_EQ(event, static_cast<std::uint32_t>(FI_SHUTDOWN));
    t.barrier();
    return;
  }
  const bytes name = t.allgather({})[0];
  cm_endpoint caller(base);
  caller.connect(name);
  fi_eq_cm_entry entry{};
  std::uint32_t event = 0;
  CHECK_CODE(static_cast<long>(sizeof entry),
             fi_eq_sread(base.eq(), &event, &entry, sizeof entry,
                         static_cast<int>(default_wait().count()), 0));
  CHECK_EQ(event, static_cast<std::uint32_t>(FI_CONNECTED));
  CHECK_OK(fi_shutdown(caller.ep(), 0));
  CHECK_CODE(static_cast<long>(sizeof entry),
             fi_eq_sread(base.eq(), &event, &entry, sizeof entry,
                         static_cast<int>(default_wait().count()), 0));
  CHECK_EQ(event, static_cast<std::uint32_t>(FI_SHUTDOWN));
  t.barrier();
}

} // namespace fabtest
