// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "unit/face/face.h"

#include "dpdkx/ep.h"

#include <cstring>
#include <initializer_list>
#include <iterator>
#include <rdma/fi_atomic.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_rma.h>

#include "unit/unit.h"

using namespace dpdkx;
using face::Fid;
using face::Opened;
using face::Peer;

namespace {

// Every slot behind `size` of an op table.
template <class Ops> bool no_slot_is_null(const Ops *ops) {
  void *slots[(sizeof(Ops) - sizeof(std::size_t)) / sizeof(void *)];
  std::memcpy(slots, reinterpret_cast<const char *>(ops) + sizeof(std::size_t), sizeof(slots));
  for (const void *slot : slots)
    if (slot == nullptr)
      return false;
  return ops->size == sizeof(Ops);
}

std::uint64_t count(fid_cntr *cntr, std::uint64_t at_least) {
  assert_int_equal(fi_cntr_wait(cntr, at_least, 20000), 0);
  return fi_cntr_read(cntr);
}

} // namespace

static void ep__all_slots_answer(void **) {
  Opened opened;
  const Fid<fid_ep> ep = opened.ep();
  assert_true(no_slot_is_null(ep->fid.ops));
  assert_true(no_slot_is_null(ep->ops));
  assert_true(no_slot_is_null(ep->cm));
  assert_true(no_slot_is_null(ep->msg));
  assert_true(no_slot_is_null(ep->tagged));
  assert_true(no_slot_is_null(ep->rma));
  assert_true(no_slot_is_null(ep->atomic));
  assert_true(no_slot_is_null(ep->collective));
  assert_true(no_slot_is_null(opened.domain->fid.ops));
  assert_true(no_slot_is_null(opened.domain->ops));
  assert_true(no_slot_is_null(opened.domain->mr));
  assert_true(no_slot_is_null(opened.fabric->fid.ops));
  assert_true(no_slot_is_null(opened.fabric->ops));
  assert_int_equal(fi_barrier(ep.get(), 0, nullptr), -FI_ENOSYS);
}

static void ep__enable_wants_queues_and_an_address_vector(void **) {
  Opened opened;
  const Fid<fid_cq> cq = opened.cq();
  const Fid<fid_av> av = opened.av();
  const Fid<fid_ep> ep = opened.ep();
  assert_int_equal(fi_enable(ep.get()), -FI_ENOCQ);
  assert_int_equal(fi_ep_bind(ep.get(), &cq->fid, FI_TRANSMIT), 0);
  assert_int_equal(fi_enable(ep.get()), -FI_ENOCQ);
  assert_int_equal(fi_ep_bind(ep.get(), &cq->fid, FI_RECV), 0);
  assert_int_equal(fi_enable(ep.get()), -FI_ENOAV);
  assert_int_equal(fi_send(ep.get(), "", 0, nullptr, 0, nullptr), -FI_EOPBADSTATE);
  assert_int_equal(fi_ep_bind(ep.get(), &av->fid, 0), 0);
  assert_int_equal(fi_enable(ep.get()), 0);
  assert_int_equal(fi_enable(ep.get()), -FI_EOPBADSTATE);
}

// Queues are for what an endpoint completes.
static void ep__enable_by_capabilities(void **) {
  constexpr struct {
    std::uint64_t caps, needs;
  } table[] = {{FI_RMA, FI_TRANSMIT},
               {FI_RMA | FI_READ, FI_TRANSMIT},
               {FI_ATOMIC | FI_WRITE, FI_TRANSMIT},
               {FI_RMA | FI_REMOTE_READ | FI_REMOTE_WRITE, 0},
               {FI_MSG | FI_RECV | FI_RMA | FI_REMOTE_WRITE, FI_RECV},
               {FI_MSG | FI_RMA | FI_REMOTE_WRITE, FI_TRANSMIT | FI_RECV},
               {FI_TAGGED | FI_SEND, FI_TRANSMIT}};
  Opened opened;
  for (const auto &[caps, needs] : table) {
    opened.info->caps = caps;
    const Fid<fid_cq> cq = opened.cq();
    const Fid<fid_av> av = opened.av();
    for (const std::uint64_t given :
         std::initializer_list<std::uint64_t>{0, FI_TRANSMIT, FI_RECV, FI_TRANSMIT | FI_RECV}) {
      const Fid<fid_ep> ep = opened.ep();
      assert_int_equal(fi_ep_bind(ep.get(), &av->fid, 0), 0);
      if (given)
        assert_int_equal(fi_ep_bind(ep.get(), &cq->fid, given), 0);
      assert_int_equal(fi_enable(ep.get()), needs & ~given ? -FI_ENOCQ : 0);
    }
  }
}

static void ep__wrong_bindings_are_refused(void **) {
  Opened opened;
  const Fid<fid_cq> cq = opened.cq();
  const Fid<fid_cntr> cntr = opened.cntr();
  const Fid<fid_av> av = opened.av();
  const Fid<fid_ep> ep = opened.ep();
  assert_int_equal(fi_ep_bind(ep.get(), &cq->fid, 0), -FI_EINVAL);
  assert_int_equal(fi_ep_bind(ep.get(), &cq->fid, FI_TRANSMIT | FI_WRITE), -FI_EINVAL);
  assert_int_equal(fi_ep_bind(ep.get(), &cq->fid, FI_TRANSMIT), 0);
  assert_int_equal(fi_ep_bind(ep.get(), &cq->fid, FI_TRANSMIT | FI_RECV), -FI_EINVAL);
  assert_int_equal(fi_ep_bind(ep.get(), &cntr->fid, 0), -FI_EINVAL);
  assert_int_equal(fi_ep_bind(ep.get(), &cntr->fid, FI_SEND), 0);
  assert_int_equal(fi_ep_bind(ep.get(), &cntr->fid, FI_SEND), -FI_EINVAL);
  assert_int_equal(fi_ep_bind(ep.get(), &av->fid, 0), 0);
  assert_int_equal(fi_ep_bind(ep.get(), &av->fid, 0), -FI_EINVAL);
  assert_int_equal(fi_ep_bind(ep.get(), &opened.domain->fid, 0), -FI_EINVAL);
}

// Of each kind of operation one counter, which may count other kinds as well.
static void ep__counters_count_any_mix_of_kinds(void **) {
  constexpr std::uint64_t kinds[] = {FI_SEND,  FI_RECV,        FI_READ,
                                     FI_WRITE, FI_REMOTE_READ, FI_REMOTE_WRITE};
  Opened opened;
  const Fid<fid_cntr> cntr = opened.cntr(), other = opened.cntr();
  for (unsigned mix = 1; mix < 1u << std::size(kinds); ++mix) {
    const Fid<fid_ep> ep = opened.ep();
    std::uint64_t flags = 0;
    for (unsigned i = 0; i < std::size(kinds); ++i)
      flags |= mix >> i & 1 ? kinds[i] : 0;
    assert_int_equal(fi_ep_bind(ep.get(), &cntr->fid, flags | FI_TAGGED), -FI_EINVAL);
    assert_int_equal(fi_ep_bind(ep.get(), &cntr->fid, flags), 0);
    for (const std::uint64_t kind : kinds)
      assert_int_equal(fi_ep_bind(ep.get(), &other->fid, kind), flags & kind ? -FI_EINVAL : 0);
    assert_int_equal(fi_close(&cntr->fid), -FI_EBUSY);
  }
}

// OpenSHMEM's way. Queues and address vectors are a matter of before.
static void ep__counters_may_come_after_enable(void **) {
  Opened opened;
  const Fid<fid_cq> cq = opened.cq(), late_cq = opened.cq();
  const Fid<fid_cntr> sent = opened.cntr(), received = opened.cntr();
  const Fid<fid_av> av = opened.av(), late_av = opened.av();
  const Fid<fid_ep> ep = opened.ep();
  assert_int_equal(fi_ep_bind(ep.get(), &cq->fid, FI_TRANSMIT | FI_RECV), 0);
  assert_int_equal(fi_ep_bind(ep.get(), &av->fid, 0), 0);
  assert_int_equal(fi_enable(ep.get()), 0);
  sockaddr_in name{};
  std::size_t len = sizeof(name);
  assert_int_equal(fi_getname(&ep->fid, &name, &len), 0);
  fi_addr_t self = FI_ADDR_NOTAVAIL;
  assert_int_equal(fi_av_insert(av.get(), &name, 1, &self, 0, nullptr), 1);

  char into[2];
  assert_int_equal(fi_recv(ep.get(), into, 1, nullptr, FI_ADDR_UNSPEC, nullptr), 0); // under way
  assert_int_equal(fi_ep_bind(ep.get(), &sent->fid, FI_SEND), 0);
  assert_int_equal(fi_ep_bind(ep.get(), &received->fid, FI_RECV), 0);
  assert_int_equal(fi_ep_bind(ep.get(), &sent->fid, FI_SEND), -FI_EINVAL);
  assert_int_equal(fi_close(&sent->fid), -FI_EBUSY);
  assert_int_equal(fi_ep_bind(ep.get(), &late_cq->fid, FI_RECV), -FI_EOPBADSTATE);
  assert_int_equal(fi_ep_bind(ep.get(), &late_av->fid, 0), -FI_EOPBADSTATE);

  assert_int_equal(fi_recv(ep.get(), into + 1, 1, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  assert_int_equal(fi_send(ep.get(), "a", 1, nullptr, self, nullptr), 0);
  assert_int_equal(fi_inject(ep.get(), "b", 1, self), 0);
  assert_int_equal(count(sent.get(), 2), 2);
  assert_int_equal(count(received.get(), 2), 2);
}

static void ep__binds_what_is_of_its_domain(void **) {
  Opened opened, other;
  const Fid<fid_ep> ep = opened.ep();
  const Fid<fid_cq> cq = other.cq();
  const Fid<fid_cntr> cntr = other.cntr();
  const Fid<fid_av> av = other.av();
  fid_eq *eq = nullptr;
  assert_int_equal(fi_eq_open(other.fabric.get(), nullptr, &eq, nullptr), 0);
  assert_int_equal(fi_ep_bind(ep.get(), &cq->fid, FI_TRANSMIT), -FI_EINVAL);
  assert_int_equal(fi_ep_bind(ep.get(), &cntr->fid, FI_SEND), -FI_EINVAL);
  assert_int_equal(fi_ep_bind(ep.get(), &av->fid, 0), -FI_EINVAL);
  assert_int_equal(fi_ep_bind(ep.get(), &eq->fid, 0), -FI_EINVAL);
  assert_int_equal(fi_close(&eq->fid), 0);
}

static void ep__what_is_in_use_stays_open(void **) {
  Opened opened;
  Peer peer(opened);
  assert_int_equal(fi_close(&peer.cq->fid), -FI_EBUSY);
  assert_int_equal(fi_close(&peer.av->fid), -FI_EBUSY);
  assert_int_equal(fi_close(&peer.sent->fid), -FI_EBUSY);
  assert_int_equal(fi_close(&opened.domain->fid), -FI_EBUSY);
  assert_int_equal(fi_close(&opened.fabric->fid), -FI_EBUSY);
}

static void ep__getname_settles_the_address(void **) {
  Opened opened;
  const Fid<fid_ep> ep = opened.ep();
  sockaddr_in name{};
  std::size_t len = 4;
  assert_int_equal(fi_getname(&ep->fid, &name, &len), -FI_ETOOSMALL);
  assert_int_equal(len, sizeof(name));
  assert_int_equal(fi_getname(&ep->fid, &name, &len), 0);
  assert_int_not_equal(name.sin_port, 0);
  assert_int_not_equal(name.sin_addr.s_addr, 0);
  sockaddr_in again{};
  assert_int_equal(fi_getname(&ep->fid, &again, &len), 0);
  assert_memory_equal(&name, &again, sizeof(name));
  assert_int_equal(fi_setname(&ep->fid, &name, len), -FI_EOPBADSTATE);
}

static void ep__setname_picks_a_port_and_it_is_taken_then(void **) {
  Opened opened;
  const Fid<fid_ep> first = opened.ep(), second = opened.ep();
  sockaddr_in name{}, got{};
  std::size_t len = sizeof(name);
  assert_int_equal(fi_getname(&first->fid, &name, &len), 0);
  assert_int_equal(fi_setname(&second->fid, &name, 3), -FI_EINVAL);
  assert_int_equal(fi_setname(&second->fid, &name, len), 0);
  assert_int_equal(fi_getname(&second->fid, &got, &len), -FI_EADDRINUSE);
}

static void ep__the_any_address_gets_a_usable_name(void **) {
  Opened opened;
  const Fid<fid_ep> ep = opened.ep();
  sockaddr_in any{}, got{};
  any.sin_family = AF_INET;
  assert_int_equal(fi_setname(&ep->fid, &any, sizeof(any)), 0);
  std::size_t len = sizeof(got);
  assert_int_equal(fi_getname(&ep->fid, &got, &len), 0);
  assert_int_not_equal(got.sin_addr.s_addr, 0);
  assert_int_not_equal(got.sin_port, 0);
}

static void ep__messages_of_all_calls_arrive(void **) {
  Opened opened;
  Peer a(opened), b(opened);
  const fi_addr_t to_b = a.knows(b);
  b.knows(a);
  char in[64] = "";
  const iovec out[2] = {{const_cast<char *>("he"), 2}, {const_cast<char *>("llo"), 4}};
  const iovec place{in, sizeof(in)};
  const fi_msg msg{out, nullptr, 2, to_b, nullptr, 77};
  const auto received = [&](std::uint64_t data) {
    const fi_cq_tagged_entry entry = b.completion();
    assert_true(entry.flags & FI_RECV && entry.flags & FI_MSG);
    assert_int_equal(entry.len, 6);
    assert_string_equal(in, "hello");
    assert_int_equal(entry.flags & FI_REMOTE_CQ_DATA, data ? FI_REMOTE_CQ_DATA : 0);
    if (data)
      assert_int_equal(entry.data, data);
    std::memset(in, 0, sizeof(in));
  };
  const auto receive = [&] {
    assert_int_equal(fi_recvv(b.ep.get(), &place, nullptr, 1, FI_ADDR_UNSPEC, nullptr), 0);
  };

  receive();
  assert_int_equal(fi_send(a.ep.get(), "hello", 6, nullptr, to_b, in), 0);
  received(0);
  assert_ptr_equal(a.completion().op_context, in);
  receive();
  assert_int_equal(fi_sendv(a.ep.get(), out, nullptr, 2, to_b, nullptr), 0);
  received(0);
  a.completion();
  receive();
  assert_int_equal(fi_sendmsg(a.ep.get(), &msg, FI_REMOTE_CQ_DATA | FI_DELIVERY_COMPLETE), 0);
  received(77);
  a.completion();
  receive();
  assert_int_equal(fi_senddata(a.ep.get(), "hello", 6, nullptr, 78, to_b, nullptr), 0);
  received(78);
  a.completion();
  receive();
  assert_int_equal(fi_inject(a.ep.get(), "hello", 6, to_b), 0);
  received(0);
  receive();
  assert_int_equal(fi_injectdata(a.ep.get(), "hello", 6, 79, to_b), 0);
  received(79);
  assert_true(a.quiet()); // injected ones leave no entry, but count
  assert_int_equal(count(a.sent.get(), 6), 6);
  assert_int_equal(count(b.received.get(), 6), 6);
}

static void ep__tagged_messages_of_all_calls_arrive(void **) {
  Opened opened;
  Peer a(opened), b(opened);
  const fi_addr_t to_b = a.knows(b);
  b.knows(a);
  char in[64] = "";
  const iovec out{const_cast<char *>("tag"), 4}, place{in, sizeof(in)};
  const fi_msg_tagged smsg{&out, nullptr, 1, to_b, 3, 0, nullptr, 70};
  const fi_msg_tagged rmsg{&place, nullptr, 1, FI_ADDR_UNSPEC, 0, ~std::uint64_t{0}, in, 0};
  const auto received = [&](std::uint64_t tag) {
    assert_int_equal(fi_trecvmsg(b.ep.get(), &rmsg, 0), 0);
    const fi_cq_tagged_entry entry = b.completion();
    assert_true(entry.flags & FI_RECV && entry.flags & FI_TAGGED);
    assert_int_equal(entry.tag, tag);
    assert_ptr_equal(entry.op_context, in);
    assert_string_equal(in, "tag");
  };
  assert_int_equal(fi_tsend(a.ep.get(), "tag", 4, nullptr, to_b, 1, nullptr), 0);
  assert_int_equal(fi_tsendv(a.ep.get(), &out, nullptr, 1, to_b, 2, nullptr), 0);
  assert_int_equal(fi_tsendmsg(a.ep.get(), &smsg, FI_REMOTE_CQ_DATA), 0);
  assert_int_equal(fi_tinject(a.ep.get(), "tag", 4, to_b, 4), 0);
  assert_int_equal(fi_tsenddata(a.ep.get(), "tag", 4, nullptr, 9, to_b, 5, nullptr), 0);
  assert_int_equal(fi_tinjectdata(a.ep.get(), "tag", 4, 9, to_b, 6), 0);
  for (int i = 0; i < 4; ++i)
    a.completion();
  for (std::uint64_t tag = 1; tag <= 6; ++tag)
    received(tag);
}

static void ep__selective_completion(void **) {
  Opened opened;
  Peer a(opened, FI_SELECTIVE_COMPLETION), b(opened, FI_SELECTIVE_COMPLETION);
  const fi_addr_t to_b = a.knows(b);
  b.knows(a);
  char in[8];
  const iovec out{in, 1}, place{in, sizeof(in)};
  const fi_msg smsg{&out, nullptr, 1, to_b, nullptr, 0},
      rmsg{&place, nullptr, 1, FI_ADDR_UNSPEC, nullptr, 0};
  assert_int_equal(fi_recv(b.ep.get(), in, sizeof(in), nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  assert_int_equal(fi_send(a.ep.get(), "x", 1, nullptr, to_b, nullptr), 0);
  count(b.received.get(), 1);
  count(a.sent.get(), 1);
  assert_true(a.quiet());
  assert_true(b.quiet());
  assert_int_equal(fi_recvmsg(b.ep.get(), &rmsg, FI_COMPLETION), 0);
  assert_int_equal(fi_sendmsg(a.ep.get(), &smsg, FI_COMPLETION), 0);
  b.completion();
  a.completion();
}

static void ep__an_alias_has_defaults_of_its_own(void **) {
  Opened opened;
  Peer a(opened, FI_SELECTIVE_COMPLETION), b(opened);
  const fi_addr_t to_b = a.knows(b);
  b.knows(a);
  fid_ep *raw = nullptr;
  assert_int_equal(fi_ep_alias(a.ep.get(), &raw, FI_COMPLETION), -FI_EINVAL); // of what?
  assert_int_equal(fi_ep_alias(a.ep.get(), &raw, FI_TRANSMIT | FI_COMPLETION), 0);
  Fid<fid_ep> alias(raw);
  std::uint64_t flags = FI_TRANSMIT;
  assert_int_equal(fi_control(&alias->fid, FI_GETOPSFLAG, &flags), 0);
  assert_int_equal(flags, FI_COMPLETION);
  char in[8];
  for (int i = 0; i < 2; ++i)
    assert_int_equal(fi_recv(b.ep.get(), in, sizeof(in), nullptr, FI_ADDR_UNSPEC, nullptr), 0);
  assert_int_equal(fi_send(alias.get(), "x", 1, nullptr, to_b, in), 0);
  assert_ptr_equal(a.completion().op_context, in);
  assert_int_equal(fi_send(a.ep.get(), "x", 1, nullptr, to_b, nullptr), 0);
  count(a.sent.get(), 2);
  assert_true(a.quiet());
  flags = FI_TRANSMIT | FI_PEEK;
  assert_int_equal(fi_control(&alias->fid, FI_SETOPSFLAG, &flags), -FI_EINVAL);
}

static void ep__limits_are_kept(void **) {
  Opened opened;
  Peer a(opened);
  const fi_addr_t to_a = a.knows(a);
  char big[1025] = "";
  iovec many[op::max_iov + 1] = {};
  assert_int_equal(fi_inject(a.ep.get(), big, sizeof(big), to_a), -FI_EMSGSIZE);
  assert_int_equal(fi_sendv(a.ep.get(), many, nullptr, op::max_iov + 1, to_a, nullptr), -FI_EINVAL);
  assert_int_equal(fi_sendv(a.ep.get(), nullptr, nullptr, 1, to_a, nullptr), -FI_EINVAL);
  many[0] = {big, SIZE_MAX};
  many[1] = {big, 1};
  assert_int_equal(fi_sendv(a.ep.get(), many, nullptr, 2, to_a, nullptr), -FI_EINVAL);
  assert_int_equal(fi_send(a.ep.get(), big, SIZE_MAX, nullptr, to_a, nullptr), -FI_EMSGSIZE);
  assert_int_equal(fi_send(a.ep.get(), big, 1, nullptr, to_a + 1, nullptr), -FI_EINVAL);
  const fi_msg msg{many, nullptr, 0, to_a, nullptr, 0};
  assert_int_equal(fi_sendmsg(a.ep.get(), &msg, FI_TRIGGER), -FI_EINVAL);
  assert_int_equal(fi_sendmsg(a.ep.get(), &msg, FI_PEEK), -FI_EINVAL);
}

static void ep__calls_for_what_was_not_asked_for(void **) {
  const InfoPtr hints = face::named_hints();
  hints->caps = FI_TAGGED;
  Opened opened(hints.get());
  Peer a(opened);
  assert_int_equal(fi_send(a.ep.get(), "", 0, nullptr, 0, nullptr), -FI_ENOSYS);
}

static void ep__options(void **) {
  Opened opened;
  const Fid<fid_ep> ep = opened.ep();
  std::size_t bytes = 16384, len = sizeof(bytes);
  assert_int_equal(
      fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &bytes, sizeof(bytes)), 0);
  bytes = 0;
  assert_int_equal(fi_getopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &bytes, &len), 0);
  assert_int_equal(bytes, 16384);
  len = 1;
  assert_int_equal(fi_getopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &bytes, &len),
                   -FI_ETOOSMALL);
  assert_int_equal(len, sizeof(bytes));
  assert_int_equal(fi_setopt(&ep->fid, FI_OPT_ENDPOINT, 9999, &bytes, sizeof(bytes)),
                   -FI_ENOPROTOOPT);
  assert_int_equal(fi_getopt(&ep->fid, 9999, FI_OPT_MIN_MULTI_RECV, &bytes, &len), -FI_ENOPROTOOPT);
}

static void ep__cancel_ends_a_receive(void **) {
  Opened opened;
  Peer a(opened);
  char in[8];
  assert_int_equal(fi_recv(a.ep.get(), in, sizeof(in), nullptr, FI_ADDR_UNSPEC, in), 0);
  assert_int_equal(fi_cancel(&a.ep->fid, &a), -FI_ENOENT);
  assert_int_equal(fi_cancel(&a.ep->fid, in), 0);
  fi_cq_tagged_entry entry;
  ssize_t n;
  while ((n = fi_cq_read(a.cq.get(), &entry, 1)) == -FI_EAGAIN)
    ;
  assert_int_equal(n, -FI_EAVAIL);
  fi_cq_err_entry error{};
  assert_int_equal(fi_cq_readerr(a.cq.get(), &error, 0), 1);
  assert_int_equal(error.err, FI_ECANCELED);
  assert_ptr_equal(error.op_context, in);
}

static void ep__nowhere_to_put_it(void **) {
  Opened opened;
  assert_int_equal(fi_endpoint(opened.domain.get(), opened.info.get(), nullptr, nullptr),
                   -FI_EINVAL);
}

static void ep__a_multi_receive_has_one_buffer(void **) {
  Opened opened;
  Peer a(opened);
  char bytes[64];
  const iovec two[] = {{bytes, 32}, {bytes + 32, 32}};
  fi_msg msg{};
  msg.msg_iov = two;
  msg.addr = FI_ADDR_UNSPEC;
  for (const std::size_t count : {0, 2}) {
    msg.iov_count = count;
    assert_int_equal(fi_recvmsg(a.ep.get(), &msg, FI_MULTI_RECV), -FI_EINVAL);
    assert_int_equal(fi_recvmsg(a.ep.get(), &msg, 0), 0);
  }
  msg.iov_count = 1;
  assert_int_equal(fi_recvmsg(a.ep.get(), &msg, FI_MULTI_RECV), 0);
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(ep__nowhere_to_put_it),
    cmocka_unit_test(ep__a_multi_receive_has_one_buffer),
    cmocka_unit_test(ep__all_slots_answer),
    cmocka_unit_test(ep__enable_wants_queues_and_an_address_vector),
    cmocka_unit_test(ep__enable_by_capabilities),
    cmocka_unit_test(ep__wrong_bindings_are_refused),
    cmocka_unit_test(ep__counters_count_any_mix_of_kinds),
    cmocka_unit_test(ep__counters_may_come_after_enable),
    cmocka_unit_test(ep__binds_what_is_of_its_domain),
    cmocka_unit_test(ep__what_is_in_use_stays_open),
    cmocka_unit_test(ep__getname_settles_the_address),
    cmocka_unit_test(ep__setname_picks_a_port_and_it_is_taken_then),
    cmocka_unit_test(ep__the_any_address_gets_a_usable_name),
    cmocka_unit_test(ep__messages_of_all_calls_arrive),
    cmocka_unit_test(ep__tagged_messages_of_all_calls_arrive),
    cmocka_unit_test(ep__selective_completion),
    cmocka_unit_test(ep__an_alias_has_defaults_of_its_own),
    cmocka_unit_test(ep__limits_are_kept),
    cmocka_unit_test(ep__calls_for_what_was_not_asked_for),
    cmocka_unit_test(ep__options),
    cmocka_unit_test(ep__cancel_ends_a_receive),
};
static const unit::Group group{"ep", cases};
