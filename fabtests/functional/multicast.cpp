// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// FI_MULTICAST: endpoints for datagrams in groups of IP. Needs a device; between two hosts
// run-hosts runs it.
#include "common/case.h"
#include "common/endpoint.h"

#include <arpa/inet.h>
#include <cstring>
#include <memory>
#include <rdma/fi_collective.h>

namespace fabtest {

namespace {

constexpr std::uint16_t group_port = 7000;

request in_groups(std::uint64_t caps = FI_MSG | FI_MULTICAST | FI_SOURCE, std::uint64_t flags = 0) {
  return {.type = FI_EP_DGRAM, .caps = caps, .order = 0, .tx_op_flags = flags, .enable = false};
}

// With an event queue, and enabled.
struct member : endpoint {
  explicit member(const request &r = in_groups()) : endpoint(r, "FI_MULTICAST") { start(); }
  explicit member(std::shared_ptr<fabric_and_domain> base, const request &r = in_groups())
      : endpoint(std::move(base), r) {
    start();
  }

  void start() {
    fi_eq_attr attr{};
    attr.wait_obj = FI_WAIT_NONE;
    CHECK_OK(fi_eq_open(fabric(), &attr, eq.out(), nullptr));
    CHECK_OK(fi_ep_bind(ep(), eq.as_fid(), 0));
    CHECK_OK(fi_enable(ep()));
  }
  ~member() { close_ep(); } // before the queue

  // Group `number`, in the endpoint's format.
  [[nodiscard]] sockaddr_storage group(std::uint8_t number, std::uint16_t port = group_port) const {
    sockaddr_storage out{};
    if (info().addr_format == FI_SOCKADDR_IN6) {
      auto &name = reinterpret_cast<sockaddr_in6 &>(out);
      name.sin6_family = AF_INET6;
      name.sin6_port = htons(port);
      name.sin6_addr.s6_addr[0] = 0xff;
      name.sin6_addr.s6_addr[1] = 0x15; // transient, site-local
      name.sin6_addr.s6_addr[15] = number;
    } else {
      auto &name = reinterpret_cast<sockaddr_in &>(out);
      name.sin_family = AF_INET;
      name.sin_port = htons(port);
      name.sin_addr.s_addr = htonl(0xefff0000u | number);
    }
    return out;
  }

  // Joins, and reads the event of it.
  owned_fid<fid_mc> join(std::uint8_t number, std::uint64_t flags = 0,
                         std::uint16_t port = group_port) {
    const sockaddr_storage address = group(number, port);
    owned_fid<fid_mc> mc;
    CHECK_OK(fi_join(ep(), &address, flags, mc.out(), &mc));
    std::uint32_t event = 0;
    fi_eq_entry entry{};
    CHECK_EQ(fi_eq_read(eq.get(), &event, &entry, sizeof entry, 0),
             static_cast<ssize_t>(sizeof entry));
    CHECK_EQ(event, std::uint32_t{FI_JOIN_COMPLETE});
    CHECK(entry.fid == mc.as_fid());
    CHECK(entry.context == &mc);
    return mc;
  }
  [[nodiscard]] int join_code(const sockaddr_storage &address, std::uint64_t flags = 0) const {
    fid_mc *mc = nullptr;
    return fi_join(ep(), &address, flags, &mc, nullptr);
  }

  void send_to(const owned_fid<fid_mc> &mc, std::span<const std::byte> content, op &o) {
    const iovec v{const_cast<std::byte *>(content.data()), content.size()};
    fi_msg m{};
    m.msg_iov = &v;
    m.iov_count = 1;
    m.addr = fi_mc_addr(mc.get());
    m.context = &o;
    POST(*this, fi_sendmsg(ep(), &m, FI_MULTICAST | FI_COMPLETION));
    const completion c = tx().wait_ok(o, "datagram to a group");
    CHECK_EQ(c.flags, std::uint64_t{FI_MSG | FI_SEND});
  }

  owned_fid<fid_eq> eq;
};

// A receive that waits, and what has come to it.
struct expected {
  expected(member &at, std::size_t size) : at(at), into(size) { at.recv(into.span(), o); }
  void check(std::uint64_t seed, fi_addr_t source) {
    const completion c = at.rx().wait_ok(o, "datagram of a group");
    CHECK_EQ(c.len, into.span().size());
    CHECK_EQ(c.source, source);
    verify(into.span(), seed);
  }

  member &at;
  op o;
  guarded_buffer into;
};

} // namespace

CASE(the_host_link_has_none, .ranks = 1) {
  const info_ptr hints = make_hints(in_groups());
  std::free(std::exchange(hints->domain_attr->name, strdup("host")));
  info_ptr list;
  CHECK_CODE(-FI_ENODATA, get_info(hints.get(), {}, list));
}

CASE(all_members_get_it_but_the_sender) {
  member a, b(a.base());
  a.meet(t);
  const fi_addr_t seen_by_b[] = {b.add(a.name_at(0)), b.add(a.name_at(1))};
  const auto ga = a.join(1), gb = b.join(1);
  const std::size_t longest = a.info().ep_attr->max_msg_size;
  std::uint64_t round = 0;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{500}, longest})
    for (int sender = 0; sender < 2; ++sender) {
      ++round;
      expected at_b(b, size);
      std::unique_ptr<expected> at_a;
      if (t.rank() != sender)
        at_a = std::make_unique<expected>(a, size);
      t.barrier();
      if (t.rank() == sender) {
        op o;
        a.send_to(ga, payload(size, round), o);
      }
      at_b.check(round, seen_by_b[sender]);
      if (at_a)
        at_a->check(round, a.at(sender));
      t.barrier();
    }
  a.rx().expect_empty();
}

CASE(who_has_left_or_only_sends_gets_none) {
  member a;
  a.meet(t);
  owned_fid<fid_mc> left = a.join(1);
  const auto sending = a.join(2, FI_SEND), other_port = a.join(3, 0, group_port + 1),
             both = a.join(3);
  if (!t.first())
    left.close();
  expected last(a, 10);
  t.barrier();
  if (t.first()) {
    op o;
    a.send_to(left, payload(20, 1), o);
    a.send_to(sending, payload(20, 2), o);
    a.send_to(both, payload(10, 3), o);
  } else {
    last.check(3, a.at(0));
  }
  t.barrier();
  if (t.first()) // it is posted still
    CHECK_OK(fi_cancel(&a.ep()->fid, &last.o));
}

CASE(receive_only) {
  member a;
  a.meet(t);
  const auto listening = a.join(1, FI_RECV), sending = a.join(1, FI_SEND);
  const iovec none{nullptr, 0};
  fi_msg m{};
  m.msg_iov = &none;
  m.addr = fi_mc_addr(listening.get());
  CHECK_CODE(-FI_EINVAL, fi_sendmsg(a.ep(), &m, FI_MULTICAST));
  for (int sender = 0; sender < 2; ++sender) {
    std::unique_ptr<expected> e;
    if (t.rank() != sender)
      e = std::make_unique<expected>(a, 10);
    t.barrier();
    op o;
    if (e)
      e->check(5, a.at(sender));
    else
      a.send_to(sending, payload(10, 5), o);
    t.barrier();
  }
}

// With FI_MULTICAST among the endpoint's flags every address is a group's, that of fi_inject too.
CASE(by_default) {
  member a(in_groups(FI_MSG | FI_MULTICAST | FI_SOURCE, t.first() ? FI_MULTICAST : 0));
  a.meet(t);
  const auto group = a.join(1);
  const auto content = payload(10, 6);
  for (int i = 0; i < 2; ++i) {
    std::unique_ptr<expected> e;
    if (!t.first())
      e = std::make_unique<expected>(a, 10);
    t.barrier();
    if (e) {
      e->check(6, a.at(0));
    } else if (i == 0) {
      op o;
      POST(a,
           fi_send(a.ep(), content.data(), content.size(), nullptr, fi_mc_addr(group.get()), &o));
      a.tx().wait_ok(o, "datagram");
    } else {
      POST(a, fi_inject(a.ep(), content.data(), content.size(), fi_mc_addr(group.get())));
    }
    t.barrier();
  }
  if (t.first())
    CHECK_CODE(-FI_EINVAL, fi_inject(a.ep(), content.data(), content.size(), a.at(1)));
}

// The device shows a sleeper only what is for it.
CASE(wakes_who_sleeps) {
  request r = in_groups();
  r.wait = FI_WAIT_FD;
  member a(r);
  a.meet(t);
  const auto group = a.join(1);
  expected e(a, 10);
  t.barrier_without_progress();
  if (t.first()) {
    op o;
    a.send_to(group, payload(10, 7), o);
    CHECK_OK(fi_cancel(&a.ep()->fid, &e.o));
  } else {
    fi_cq_tagged_entry entry{};
    CHECK_EQ(
        fi_cq_sread(a.rx().get(), &entry, 1, nullptr, static_cast<int>(default_wait().count())), 1);
    CHECK(entry.op_context == &e.o);
    verify(e.into.span(), 7);
  }
  t.barrier();
}

CASE(refusals, .ranks = 1) {
  member a;
  const auto group = a.join(1);
  CHECK_CODE(-FI_EADDRINUSE, a.join_code(a.group(1)));
  CHECK_CODE(-FI_EINVAL, a.join_code(a.group(2, 0)));
  CHECK_CODE(-FI_EINVAL, a.join_code(a.group(2), FI_READ));
  CHECK_CODE(-FI_ENOSYS, a.join_code(a.group(2), FI_COLLECTIVE));
  sockaddr_storage unicast{};
  const bytes name = a.name();
  std::memcpy(&unicast, name.data(), name.size());
  CHECK_CODE(-FI_EINVAL, a.join_code(unicast));
  sockaddr_storage other = a.group(2);
  other.ss_family = other.ss_family == AF_INET ? AF_INET6 : AF_INET;
  CHECK_CODE(-FI_EINVAL, a.join_code(other));
  // An address of one kind is none of the other.
  CHECK_CODE(-FI_EINVAL, fi_inject(a.ep(), "x", 1, fi_mc_addr(group.get())));
  const iovec none{nullptr, 0};
  fi_msg m{};
  m.msg_iov = &none;
  CHECK_CODE(-FI_EINVAL, fi_sendmsg(a.ep(), &m, FI_MULTICAST));
  CHECK_CODE(-FI_EBUSY, fi_close(&a.ep()->fid));
  // Not one that may not, or can't.
  member plain(in_groups(FI_MSG));
  CHECK_CODE(-FI_ENOSYS, plain.join_code(a.group(2)));
  CHECK_CODE(-FI_EOPNOTSUPP, fi_sendmsg(plain.ep(), &m, FI_MULTICAST));
  endpoint early(a.base(), in_groups());
  fid_mc *mc = nullptr;
  const sockaddr_storage address = a.group(2);
  CHECK_CODE(-FI_EOPBADSTATE, fi_join(early.ep(), &address, 0, &mc, nullptr));
  CHECK_OK(fi_enable(early.ep()));
  CHECK_CODE(-FI_ENOEQ, fi_join(early.ep(), &address, 0, &mc, nullptr));
}

} // namespace fabtest
