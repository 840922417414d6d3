// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// An endpoint's life: what it needs before it is enabled, its name and options, cancelling, closing
// in the right and the wrong order, op tables without holes.
#include "common/address.h"
#include "common/case.h"
#include "common/forms.h"
#include "common/process_state.h"
#include "common/settings.h"

#include <array>
#include <cstring>

#include <rdma/fi_atomic.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_rma.h>

namespace fabtest {

namespace {

struct bare_endpoint {
  fabric_and_domain base;
  owned_fid<fid_av> av;
  owned_fid<fid_cq> cq;
  owned_fid<fid_ep> ep;

  bare_endpoint() : base(find_info({})) {
    fi_av_attr av_attr{};
    av_attr.type = FI_AV_TABLE;
    CHECK_OK(fi_av_open(*base, &av_attr, av.out(), nullptr));
    fi_cq_attr cq_attr{};
    cq_attr.format = FI_CQ_FORMAT_TAGGED;
    CHECK_OK(fi_cq_open(*base, &cq_attr, cq.out(), nullptr));
    CHECK_OK(fi_endpoint(*base, base.info.get(), ep.out(), this));
  }
};

// All members of an op table behind its size are function pointers.
void check_no_holes(const char *what, const void *table) {
  if (!table)
    fail(fmt::format("{} is NULL", what));
  std::size_t size = 0;
  std::memcpy(&size, table, sizeof size);
  const auto *slots = static_cast<const void *const *>(table);
  for (std::size_t i = 1; i < size / sizeof(void *); ++i)
    if (!slots[i])
      fail(fmt::format("slot {} of {} is NULL", i, what));
}

} // namespace

CASE(enable_without_queue, .ranks = 1) {
  bare_endpoint e;
  CHECK_OK(fi_ep_bind(e.ep.get(), &e.av->fid, 0));
  CHECK_CODE(-FI_ENOCQ, fi_enable(e.ep.get()));
}

CASE(enable_without_receive_queue, .ranks = 1) {
  bare_endpoint e;
  CHECK_OK(fi_ep_bind(e.ep.get(), &e.av->fid, 0));
  CHECK_OK(fi_ep_bind(e.ep.get(), &e.cq->fid, FI_TRANSMIT));
  CHECK_CODE(-FI_ENOCQ, fi_enable(e.ep.get()));
}

CASE(enable_without_av, .ranks = 1) {
  bare_endpoint e;
  CHECK_OK(fi_ep_bind(e.ep.get(), &e.cq->fid, FI_TRANSMIT | FI_RECV));
  CHECK(fi_enable(e.ep.get()) < 0);
}

// What was missing can be bound after a failed attempt.
CASE(enable_after_all, .ranks = 1) {
  bare_endpoint e;
  CHECK(fi_enable(e.ep.get()) < 0);
  CHECK_OK(fi_ep_bind(e.ep.get(), &e.av->fid, 0));
  CHECK_OK(fi_ep_bind(e.ep.get(), &e.cq->fid, FI_TRANSMIT | FI_RECV));
  CHECK_OK(fi_enable(e.ep.get()));
}

CASE(operations_before_enable, .ranks = 1) {
  bare_endpoint e;
  CHECK_OK(fi_ep_bind(e.ep.get(), &e.av->fid, 0));
  CHECK_OK(fi_ep_bind(e.ep.get(), &e.cq->fid, FI_TRANSMIT | FI_RECV));
  op o;
  std::array<std::byte, 8> buffer{};
  CHECK(fi_recv(e.ep.get(), buffer.data(), 8, nullptr, FI_ADDR_UNSPEC, &o) < 0);
  CHECK(fi_trecv(e.ep.get(), buffer.data(), 8, nullptr, FI_ADDR_UNSPEC, 0, 0, &o) < 0);
  CHECK(fi_send(e.ep.get(), buffer.data(), 8, nullptr, 0, &o) < 0);
  CHECK(fi_tsend(e.ep.get(), buffer.data(), 8, nullptr, 0, 0, &o) < 0);
}

CASE(bind_with_wrong_flags, .ranks = 1) {
  bare_endpoint e;
  CHECK(fi_ep_bind(e.ep.get(), &e.cq->fid, FI_MULTI_RECV) < 0);
  CHECK_OK(fi_ep_bind(e.ep.get(), &e.cq->fid, FI_TRANSMIT | FI_RECV));
  owned_fid<fid_cq> second;
  fi_cq_attr attr{};
  attr.format = FI_CQ_FORMAT_TAGGED;
  CHECK_OK(fi_cq_open(*e.base, &attr, second.out(), nullptr));
  CHECK(fi_ep_bind(e.ep.get(), &second->fid, FI_TRANSMIT) < 0); // one queue for each direction
}

CASE(name_needs_room, .ranks = 1) {
  endpoint e;
  const bytes name = e.name();
  for (std::size_t room = 0; room < name.size(); ++room) {
    bytes buffer(name.size(), std::byte{0x5a});
    std::size_t size = room;
    CHECK_CODE(-FI_ETOOSMALL, fi_getname(&e.ep()->fid, buffer.data(), &size));
    CHECK_EQ(size, name.size());
    for (std::size_t i = room; i < buffer.size(); ++i)
      CHECK(buffer[i] == std::byte{0x5a}); // not a byte more than there was room for
  }
  bytes large(name.size() + 50);
  std::size_t size = large.size();
  CHECK_OK(fi_getname(&e.ep()->fid, large.data(), &size));
  CHECK_EQ(size, name.size());
  large.resize(size);
  CHECK(large == name);
}

CASE(names_differ, .ranks = 1) {
  endpoint a, b;
  CHECK(a.name() != b.name());
}

// A name that a closed endpoint had is free again.
CASE(setname, .ranks = 1) {
  bytes name;
  {
    endpoint e;
    name = e.name();
  }
  bare_endpoint e;
  if (const int rc = fi_setname(&e.ep->fid, name.data(), name.size()); rc != 0) {
    if (rc == -FI_ENOSYS)
      skip("the provider has no fi_setname");
    fail_call("fi_setname", rc);
  }
  CHECK_OK(fi_ep_bind(e.ep.get(), &e.av->fid, 0));
  CHECK_OK(fi_ep_bind(e.ep.get(), &e.cq->fid, FI_TRANSMIT | FI_RECV));
  CHECK_OK(fi_enable(e.ep.get()));
  CHECK(name_of(e.ep.get()) == name);
}

CASE(options, .ranks = 1) {
  endpoint e({.caps = FI_MSG | FI_TAGGED | FI_MULTI_RECV}, "FI_MULTI_RECV");
  fid_t fid = &e.ep()->fid;
  std::size_t value = 300, size = sizeof value;
  CHECK_OK(fi_setopt(fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &value, sizeof value));
  value = 0;
  CHECK_OK(fi_getopt(fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &value, &size));
  CHECK_EQ(value, 300u);
  char tiny = 0;
  size = sizeof tiny;
  CHECK(fi_getopt(fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &tiny, &size) < 0);
  size = sizeof value;
  CHECK(fi_getopt(fid, FI_OPT_ENDPOINT, 9999, &value, &size) < 0);
  CHECK(fi_setopt(fid, FI_OPT_ENDPOINT, 9999, &value, sizeof value) < 0);
  CHECK(fi_setopt(fid, 77, FI_OPT_MIN_MULTI_RECV, &value, sizeof value) < 0);
}

// fi_endpoint(3): enabled by default, and -FI_EOPNOTSUPP is for what can't be had.
CASE(peer_to_peer_of_device_memory, .ranks = 1) {
  endpoint e;
  fid_t fid = &e.ep()->fid;
  int mode = -1;
  std::size_t size = sizeof mode;
  if (fi_getopt(fid, FI_OPT_ENDPOINT, FI_OPT_FI_HMEM_P2P, &mode, &size) == -FI_ENOPROTOOPT)
    skip("the provider has no FI_OPT_FI_HMEM_P2P");
  CHECK_EQ(mode, static_cast<int>(FI_HMEM_P2P_ENABLED));
  for (const int wanted :
       {FI_HMEM_P2P_DISABLED, FI_HMEM_P2P_ENABLED, FI_HMEM_P2P_PREFERRED, FI_HMEM_P2P_REQUIRED}) {
    const int rc = fi_setopt(fid, FI_OPT_ENDPOINT, FI_OPT_FI_HMEM_P2P, &wanted, sizeof wanted);
    CHECK(rc == 0 || (rc == -FI_EOPNOTSUPP && wanted == FI_HMEM_P2P_REQUIRED));
    CHECK_OK(fi_getopt(fid, FI_OPT_ENDPOINT, FI_OPT_FI_HMEM_P2P, &mode, &size));
    CHECK((mode == wanted) == (rc == 0));
  }
  mode = 99;
  CHECK(fi_setopt(fid, FI_OPT_ENDPOINT, FI_OPT_FI_HMEM_P2P, &mode, sizeof mode) < 0);
}

CASE(default_flags, .ranks = 1) {
  endpoint e;
  std::uint64_t flags = FI_TRANSMIT;
  if (fi_control(&e.ep()->fid, FI_GETOPSFLAG, &flags) == -FI_ENOSYS)
    skip("the provider has no FI_GETOPSFLAG");
  flags = FI_TRANSMIT | FI_COMPLETION | FI_TRANSMIT_COMPLETE;
  CHECK_OK(fi_control(&e.ep()->fid, FI_SETOPSFLAG, &flags));
  flags = FI_TRANSMIT;
  CHECK_OK(fi_control(&e.ep()->fid, FI_GETOPSFLAG, &flags));
  CHECK((flags & FI_TRANSMIT_COMPLETE) != 0);
  flags = FI_TRANSMIT | FI_RECV;
  CHECK(fi_control(&e.ep()->fid, FI_SETOPSFLAG, &flags) < 0); // one direction at a time
}

CASE(cancel, .ranks = 1) {
  endpoint e;
  e.meet(t);
  op first, second, sent;
  guarded_buffer a(64), b(64);
  const auto content = payload(64, 1);
  for (const auto k : {kind::msg, kind::tagged}) {
    post_recv(e, k, recv_form::plain, a.span(), {.tag = 5}, first);
    post_recv(e, k, recv_form::plain, b.span(), {.tag = 5}, second);
    CHECK_OK(fi_cancel(&e.ep()->fid, &first));
    const completion c = e.rx().wait(first, "cancelled receive");
    CHECK_EQ(c.err, FI_ECANCELED);
    CHECK((c.flags & FI_RECV) != 0);
    post_send(e, k, send_form::plain, 0, content, {.tag = 5}, sent);
    e.rx().wait_ok(second, "the receive behind the cancelled one");
    e.tx().wait_ok(sent, "send");
    verify(b.span(), 1);
    a.check_guards(0);
  }
  e.rx().expect_empty();
}

// Of several with the same context one is cancelled by each call; an unknown one changes nothing.
CASE(cancel_one_of_several, .ranks = 1) {
  endpoint e;
  e.meet(t);
  op same, unknown;
  std::array<std::byte, 8> buffer{};
  for (int i = 0; i < 3; ++i)
    e.trecv(buffer, 1, same);
  fi_cancel(&e.ep()->fid, &unknown);
  e.rx().expect_silence(config().limit(0.02));
  for (int i = 0; i < 3; ++i) {
    CHECK_OK(fi_cancel(&e.ep()->fid, &same));
    CHECK_EQ(e.rx().wait(same, "one of three").err, FI_ECANCELED);
    e.rx().expect_silence(config().limit(0.02));
  }
}

CASE(cancel_what_is_over, .ranks = 1) {
  endpoint e;
  e.meet(t);
  op sent, received;
  std::array<std::byte, 8> buffer{}, content{};
  e.trecv(buffer, 1, received);
  e.tsend(0, content, 1, sent);
  e.rx().wait_ok(received, "receive");
  e.tx().wait_ok(sent, "send");
  fi_cancel(&e.ep()->fid, &received);
  e.rx().expect_silence(config().limit(0.02));
}

// What is in use can't be closed, and works on as if nobody had tried.
CASE(busy, .ranks = 1) {
  endpoint e;
  e.meet(t);
  CHECK_CODE(-FI_EBUSY, fi_close(&e.rx().get()->fid));
  CHECK_CODE(-FI_EBUSY, fi_close(&e.av()->fid));
  CHECK_CODE(-FI_EBUSY, fi_close(&e.domain()->fid));
  CHECK_CODE(-FI_EBUSY, fi_close(&e.fabric()->fid));
  op sent, received;
  guarded_buffer into(100);
  const auto content = payload(100, 1);
  e.trecv(into.span(), 1, received);
  e.tsend(0, content, 1, sent);
  e.rx().wait_ok(received, "receive");
  e.tx().wait_ok(sent, "send");
  verify(into.span(), 1);
}

CASE(closed_with_receives_posted, .ranks = 1) {
  std::array<std::byte, 8> buffer{};
  op ops[20];
  endpoint e;
  e.meet(t);
  for (auto &o : ops)
    e.trecv(buffer, 1, o);
  e.close_ep();
  e.rx().expect_empty(); // discarded silently (fi_endpoint(3))
}

// Nothing is left behind: no descriptor, no thread, no growing memory.
CASE(opened_and_closed_a_hundred_times, .ranks = 1, .seconds = 120) {
  const auto once = [&] {
    endpoint e;
    op sent, received;
    guarded_buffer into(3000);
    const auto content = payload(3000, 1);
    const fi_addr_t self = e.add(e.name());
    e.trecv(into.span(), 1, received);
    POST(e, fi_tsend(e.ep(), content.data(), content.size(), nullptr, self, 1, &sent));
    e.rx().wait_ok(received, "receive");
    e.tx().wait_ok(sent, "send");
    verify(into.span(), 1);
  };
  for (int i = 0; i < 20; ++i)
    once();
  const auto descriptors = open_descriptors(), threads = thread_count(), memory = resident_bytes();
  for (int i = 0; i < 100; ++i)
    once();
  CHECK(open_descriptors() <= descriptors);
  CHECK(thread_count() <= threads);
  CHECK(resident_bytes() < memory + (8u << 20));
}

CASE(several_in_one_domain, .ranks = 1) {
  auto base = std::make_shared<fabric_and_domain>(find_info({}));
  endpoint a(base, {}), b(base, {});
  const fi_addr_t to_b = a.add(b.name());
  op sent, received;
  guarded_buffer into(70'000);
  const auto content = payload(70'000, 1);
  b.trecv(into.span(), 1, received);
  POST(a, fi_tsend(a.ep(), content.data(), content.size(), nullptr, to_b, 1, &sent));
  b.rx().wait_ok(received, "receive");
  a.tx().wait_ok(sent, "send");
  verify(into.span(), 1);
}

CASE(several_domains, .ranks = 1) {
  endpoint a, b, c;
  const fi_addr_t ab = a.add(b.name()), bc = b.add(c.name()), ca = c.add(a.name());
  op sends[3], receives[3];
  guarded_buffer in[3] = {guarded_buffer(9000), guarded_buffer(9000), guarded_buffer(9000)};
  const auto content = payload(9000, 1);
  endpoint *all[] = {&a, &b, &c};
  const fi_addr_t to[] = {ab, bc, ca};
  for (std::size_t i = 0; i < 3; ++i)
    all[i]->trecv(in[i].span(), 1, receives[i]);
  for (std::size_t i = 0; i < 3; ++i)
    POST(*all[i],
         fi_tsend(all[i]->ep(), content.data(), content.size(), nullptr, to[i], 1, &sends[i]));
  for (std::size_t i = 0; i < 3; ++i) {
    all[i]->rx().wait_ok(receives[i], "receive");
    all[i]->tx().wait_ok(sends[i], "send");
    verify(in[i].span(), 1);
  }
}

// An address vector of FI_SOCKADDR_IN6 takes both. The other one leads nowhere, which is told.
CASE(peer_of_the_other_ip_version, .ranks = 1) {
  const info_ptr hints = make_hints({});
  hints->addr_format = FI_SOCKADDR_IN6;
  info_ptr list;
  if (get_info(hints.get(), {}, list) == -FI_ENODATA)
    skip("the provider lacks FI_SOCKADDR_IN6");
  endpoint e(std::make_shared<fabric_and_domain>(info_ptr(fi_dupinfo(list.get()))), {});
  const bool is_ipv4 = host_of(e.name()).starts_with("::ffff:");
  const fi_addr_t other =
      e.add(socket_address(is_ipv4 ? "2001:db8::7" : "::ffff:198.51.100.7", 20'000));
  op o;
  POST(e, fi_send(e.ep(), nullptr, 0, nullptr, other, &o));
  CHECK_EQ(e.tx().wait(o, "a send that can't arrive").err, FI_EHOSTUNREACH);
}

// Collectives, and what the domain and the AV have to do with them.
CASE(collectives_are_not_there, .ranks = 1) {
  endpoint e({.caps = FI_MSG | FI_TAGGED});
  fi_collective_attr attr{};
  attr.op = FI_SUM;
  attr.datatype = FI_INT64;
  CHECK_CODE(-FI_ENOSYS, fi_query_collective(e.domain(), FI_BARRIER, &attr, 0));
  CHECK_CODE(-FI_ENOSYS, fi_query_collective(e.domain(), FI_ALLREDUCE, &attr, 0));
  fi_av_set_attr set_attr{};
  fid_av_set *set = nullptr;
  CHECK_CODE(-FI_ENOSYS, fi_av_set(e.av(), &set_attr, &set, nullptr));
  op o;
  CHECK_CODE(-FI_ENOSYS, fi_barrier(e.ep(), FI_ADDR_NOTAVAIL, &o));
}

// fi_control of what no object here knows, with and without an argument.
CASE(unknown_controls, .ranks = 1) {
  endpoint e({.caps = FI_MSG | FI_TAGGED, .wait = FI_WAIT_FD, .counters = true});
  const fid_t objects[] = {&e.fabric()->fid, &e.domain()->fid, &e.ep()->fid,
                           &e.av()->fid,     &e.sent()->fid,   &e.rx().get()->fid};
  std::uint64_t value = 0;
  for (const fid_t f : objects)
    for (const int command :
         {+FI_GETFIDFLAG, +FI_SETFIDFLAG, +FI_DUP, +FI_GET_VAL, +FI_SET_VAL, +FI_BACKLOG}) {
      CHECK_CODE(-FI_ENOSYS, fi_control(f, command, nullptr));
      CHECK_CODE(-FI_ENOSYS, fi_control(f, command, &value));
    }
  for (const fid_t f : objects) // which only domains may have
    if (f != &e.domain()->fid) {
      CHECK_CODE(-FI_ENOSYS, fi_control(f, FI_CANCEL_WORK, nullptr));
      CHECK_CODE(-FI_ENOSYS, fi_control(f, FI_CANCEL_WORK, &value));
    }
}

// Applications call what a table offers without looking; a slot must answer, if only -FI_ENOSYS.
CASE(no_holes_in_op_tables, .ranks = 1) {
  endpoint e({.caps = FI_MSG | FI_TAGGED, .counters = true});
  check_no_holes("fabric fi_ops", e.fabric()->fid.ops);
  check_no_holes("fabric ops", e.fabric()->ops);
  check_no_holes("domain fi_ops", e.domain()->fid.ops);
  check_no_holes("domain ops", e.domain()->ops);
  check_no_holes("domain mr", e.domain()->mr);
  check_no_holes("ep fi_ops", e.ep()->fid.ops);
  check_no_holes("ep ops", e.ep()->ops);
  check_no_holes("ep cm", e.ep()->cm);
  check_no_holes("ep msg", e.ep()->msg);
  check_no_holes("ep tagged", e.ep()->tagged);
  check_no_holes("ep rma", e.ep()->rma);
  check_no_holes("ep atomic", e.ep()->atomic);
  check_no_holes("ep collective", e.ep()->collective);
  check_no_holes("av fi_ops", e.av()->fid.ops);
  check_no_holes("av ops", e.av()->ops);
  check_no_holes("cq fi_ops", e.rx().get()->fid.ops);
  check_no_holes("cq ops", e.rx().get()->ops);
  check_no_holes("cntr fi_ops", e.sent()->fid.ops);
  check_no_holes("cntr ops", e.sent()->ops);
}

} // namespace fabtest
