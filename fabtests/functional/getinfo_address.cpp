// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Node, service, source and destination in fi_getinfo(3), for socket addresses.
#include "common/address.h"
#include "common/case.h"
#include "common/endpoint.h"
#include "common/settings.h"

#include <cstdlib>
#include <cstring>

namespace fabtest {

namespace {

constexpr std::uint32_t api = FI_VERSION(1, 17);

struct answer {
  int code = 0;
  info_ptr list;
};

answer ask(const char *node, const char *service, std::uint64_t flags, const fi_info *hints) {
  fi_info *list = nullptr;
  answer a;
  a.code = fi_getinfo(api, node, service, flags, hints, &list);
  a.list.reset(list);
  return a;
}

info_ptr socket_hints() {
  const info_ptr info = find_info({});
  if (!is_socket_format(info->addr_format))
    skip("addresses are not socket addresses");
  return make_hints({});
}

bytes source(const fi_info &i) {
  const auto *p = static_cast<const std::byte *>(i.src_addr);
  return p ? bytes(p, p + i.src_addrlen) : bytes{};
}

bytes destination(const fi_info &i) {
  const auto *p = static_cast<const std::byte *>(i.dest_addr);
  return p ? bytes(p, p + i.dest_addrlen) : bytes{};
}

bool is_ipv6() { return find_info({})->addr_format == FI_SOCKADDR_IN6; }

// Of the family that the provider chooses by itself.
std::string own_node() {
  const char *loopback = is_ipv6() ? "::1" : "127.0.0.1";
  return config().node.empty() ? loopback : config().node;
}

// The format whose addresses are as long as socket_address() makes them.
std::uint32_t own_format() { return is_ipv6() ? FI_SOCKADDR_IN6 : FI_SOCKADDR_IN; }

void set_address(void *&address, std::size_t &size, const bytes &value) {
  address = std::malloc(value.size());
  std::memcpy(address, value.data(), value.size());
  size = value.size();
}

} // namespace

CASE(source_node_and_service, .ranks = 1) {
  const info_ptr hints = socket_hints();
  const auto a = ask(own_node().c_str(), "23456", FI_SOURCE, hints.get());
  CHECK_OK(a.code);
  CHECK(source(*a.list) == socket_address(own_node(), 23456));
  CHECK(a.list->dest_addr == nullptr);
}

CASE(source_node_alone, .ranks = 1) {
  const info_ptr hints = socket_hints();
  const auto a = ask(own_node().c_str(), nullptr, FI_SOURCE, hints.get());
  CHECK_OK(a.code);
  CHECK_EQ(host_of(source(*a.list)), own_node());
}

CASE(source_service_alone, .ranks = 1) {
  const info_ptr hints = socket_hints();
  const auto a = ask(nullptr, "23456", FI_SOURCE, hints.get());
  CHECK_OK(a.code);
  CHECK_EQ(port_of(source(*a.list)), 23456u);
}

CASE(destination_node_and_service, .ranks = 1) {
  const info_ptr hints = socket_hints();
  const auto a = ask(own_node().c_str(), "23456", 0, hints.get());
  CHECK_OK(a.code);
  CHECK(destination(*a.list) == socket_address(own_node(), 23456));
}

CASE(text_as_node, .ranks = 1) {
  const info_ptr hints = socket_hints();
  const std::string text = is_ipv6() ? "fi_sockaddr_in6://[" + own_node() + "]:23456"
                                     : "fi_sockaddr_in://" + own_node() + ":23456";
  const auto a = ask(text.c_str(), nullptr, FI_SOURCE, hints.get());
  CHECK_OK(a.code);
  CHECK(source(*a.list) == socket_address(own_node(), 23456));
}

CASE(source_in_hints, .ranks = 1) {
  const info_ptr hints = socket_hints();
  hints->addr_format = own_format();
  set_address(hints->src_addr, hints->src_addrlen, socket_address(own_node(), 23457));
  const auto a = ask(nullptr, nullptr, 0, hints.get());
  CHECK_OK(a.code);
  CHECK(source(*a.list) == socket_address(own_node(), 23457));
}

CASE(destination_in_hints, .ranks = 1) {
  const info_ptr hints = socket_hints();
  hints->addr_format = own_format();
  set_address(hints->dest_addr, hints->dest_addrlen, socket_address(own_node(), 23458));
  const auto a = ask(nullptr, nullptr, 0, hints.get());
  CHECK_OK(a.code);
  CHECK(destination(*a.list) == socket_address(own_node(), 23458));
}

// An address of another host can't be a source.
CASE(foreign_source_is_refused, .ranks = 1) {
  const info_ptr hints = socket_hints();
  const auto a = ask("192.0.2.77", "23456", FI_SOURCE, hints.get()); // TEST-NET-1
  CHECK(a.code != 0);
}

CASE(unknown_node_is_refused, .ranks = 1) {
  const info_ptr hints = socket_hints();
  CHECK(ask("no-such-host.invalid", nullptr, FI_NUMERICHOST, hints.get()).code != 0);
  CHECK(ask("localhost", nullptr, FI_NUMERICHOST | FI_SOURCE, hints.get()).code != 0);
}

CASE(formats, .ranks = 1) {
  socket_hints();
  for (const std::uint32_t format :
       {FI_SOCKADDR, FI_SOCKADDR_IN, FI_SOCKADDR_IN6, FI_ADDR_STR, FI_SOCKADDR_IB, FI_ADDR_PSMX2}) {
    const info_ptr hints = make_hints({});
    hints->addr_format = format;
    const auto a = ask(nullptr, nullptr, 0, hints.get());
    CHECK(a.code == 0 || a.code == -FI_ENODATA);
    for (const fi_info *i = a.list.get(); i; i = i->next) {
      CHECK(i->addr_format == format ||
            (format == FI_SOCKADDR && is_socket_format(i->addr_format)));
      if (i->src_addr && format == FI_SOCKADDR_IN)
        CHECK_EQ(family_of(source(*i)), AF_INET);
      if (i->src_addr && format == FI_SOCKADDR_IN6)
        CHECK_EQ(family_of(source(*i)), AF_INET6);
    }
  }
}

// A domain with addresses of both is told once for each; who asks for one gets that.
CASE(both_ip_versions, .ranks = 1) {
  const info_ptr hints = socket_hints();
  const auto all = ask(nullptr, nullptr, 0, hints.get());
  CHECK_OK(all.code);
  const fi_info *v4 = all.list.get(), *v6 = v4->next;
  if (v4->addr_format != FI_SOCKADDR_IN || !v6 || v6->addr_format != FI_SOCKADDR_IN6)
    skip("the domain has no addresses of both IP versions");
  CHECK_EQ(std::string(v4->domain_attr->name), std::string(v6->domain_attr->name));
  for (const fi_info *wanted : {v4, v6}) {
    hints->addr_format = wanted->addr_format;
    const auto one = ask(nullptr, nullptr, 0, hints.get());
    CHECK_OK(one.code);
    CHECK(one.list->next == nullptr && source(*one.list) == source(*wanted));
    hints->addr_format = FI_FORMAT_UNSPEC;
    const auto by_source = ask(host_of(source(*wanted)).c_str(), "0", FI_SOURCE, hints.get());
    CHECK_OK(by_source.code);
    CHECK(by_source.list->next == nullptr && source(*by_source.list) == source(*wanted));
    const endpoint e(std::make_shared<fabric_and_domain>(info_ptr(fi_dupinfo(wanted))), {});
    CHECK_EQ(host_of(e.name()), host_of(source(*wanted)));
  }
}

// An endpoint that is opened from it has the address.
CASE(endpoint_gets_the_address, .ranks = 1) {
  const info_ptr hints = socket_hints();
  bytes name;
  {
    const endpoint first;
    name = first.name(); // a port that is free
  }
  const std::string port = std::to_string(port_of(name));
  const endpoint e({.service = port});
  CHECK_EQ(port_of(e.name()), port_of(name));
}

} // namespace fabtest
