// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "unit/link_host/harness.h"

#include <arpa/inet.h>
#include <cerrno>
#include <sched.h>
#include <set>
#include <unistd.h>

using namespace link_host;

namespace {

int open_at(const Address &wanted, std::unique_ptr<Port> &port, std::string &error,
            const HostOptions &options = {}) {
  return open_host_port(wanted, options, port, error);
}

Address v6(const char *text, std::uint16_t port) {
  Address address;
  assert_int_equal(inet_pton(AF_INET6, text, address.ip.data()), 1);
  address.port = port;
  return address;
}

constexpr std::uint32_t host_2 = 0x7f000002;

} // namespace

static void open__taken_name_is_refused(void **) {
  const auto first = open_port();
  std::unique_ptr<Port> second;
  std::string error;
  assert_int_equal(open_at(first->address(), second, error), -EADDRINUSE);
  assert_null(second.get());
  assert_non_null(strstr(error.c_str(), to_string(first->address()).c_str()));
}

static void open__name_is_free_after_close(void **) {
  auto first = open_port();
  const Address address = first->address();
  first.reset();
  assert_true(open_port({}, address.port)->address() == address);
}

static void open__one_number_serves_several_addresses(void **) {
  const auto first = open_port();
  std::unique_ptr<Port> second;
  std::string error;
  assert_int_equal(open_at(Address::v4(host_2, first->address().port), second, error), 0);
}

static void open__automatic_numbers_come_from_the_range(void **) {
  HostOptions options;
  options.first_port = 50100;
  options.last_port = 50109;
  std::vector<std::unique_ptr<Port>> ports;
  std::set<std::uint16_t> numbers;
  for (int i = 0; i < 10; ++i) {
    ports.push_back(open_port(options));
    numbers.insert(ports.back()->address().port);
  }
  assert_int_equal(numbers.size(), 10);
  assert_int_equal(*numbers.begin(), 50100);
  assert_int_equal(*numbers.rbegin(), 50109);
  std::unique_ptr<Port> none;
  std::string error;
  assert_int_equal(open_at(loopback(), none, error, options), -EADDRINUSE);
  assert_non_null(strstr(error.c_str(), "50100"));
  assert_non_null(strstr(error.c_str(), "50109"));
}

static void open__bad_options_are_named(void **) {
  const auto expect = [](void (*change)(HostOptions &), const char *named) {
    HostOptions options;
    change(options);
    std::unique_ptr<Port> port;
    std::string error;
    assert_int_equal(open_at(loopback(), port, error, options), -EINVAL);
    assert_non_null(strstr(error.c_str(), named));
  };
  expect([](HostOptions &o) { o.ring_bytes = 100000; }, "100000");
  expect([](HostOptions &o) { o.ring_bytes = 4096; }, "4096");
  expect([](HostOptions &o) { o.ring_bytes = 1u << 31; }, "1073741824");
  expect([](HostOptions &o) { o.max_datagram = o.ring_bytes; }, "131072");
  expect([](HostOptions &o) { o.max_datagram = 0; }, "datagram size 0");
  expect([](HostOptions &o) { o.first_port = 9, o.last_port = 8; }, "9-8");
  expect([](HostOptions &o) { o.first_port = 0; }, "0-65535");
}

static void any_address__is_found_by_each_own_address(void **) {
  std::unique_ptr<Port> any;
  std::string error;
  assert_int_equal(open_at(Address::v4(0, 0), any, error), 0);
  const auto peer = open_port();
  const Address named = loopback(any->address().port);
  PathId path;
  assert_int_equal(peer->open_path(named, path), 0);
  const PathEvent accepted = await_event(*any, PathEventKind::accepted);
  assert_true(any->peer_address(accepted.path) == peer->address());
  assert_true(peer->peer_address(path) == named);
}

static void any_address__is_not_found_by_a_stranger(void **) {
  std::unique_ptr<Port> any;
  std::string error;
  assert_int_equal(open_at(Address::v4(0, 0), any, error), 0);
  PathId path;
  const Address stranger = Address::v4(0xc0000201, any->address().port); // 192.0.2.1
  assert_int_equal(open_port()->open_path(stranger, path), -EHOSTUNREACH);
}

// It goes by the address that its peer has.
static void any_address__opens_paths_under_an_address(void **) {
  std::unique_ptr<Port> any;
  std::string error;
  assert_int_equal(open_at(Address::v4(0, 0), any, error), 0);
  const auto peer = open_port();
  PathId path;
  assert_int_equal(any->open_path(peer->address(), path), 0);
  const PathEvent accepted = await_event(*peer, PathEventKind::accepted);
  assert_true(peer->peer_address(accepted.path) == loopback(any->address().port));
}

static void any_address__conflicts_with_exact_ones(void **) {
  const auto exact = open_port();
  std::unique_ptr<Port> port, any;
  std::string error;
  assert_int_equal(open_at(Address::v4(0, exact->address().port), port, error), -EADDRINUSE);
  assert_int_equal(open_at(Address::v4(0, 0), any, error), 0);
  assert_int_equal(open_at(loopback(any->address().port), port, error), -EADDRINUSE);
  // The look for a conflict leaves no guest behind.
  assert_true(no_event(*any));
}

static void any_address__of_the_other_family_is_another(void **) {
  std::unique_ptr<Port> v4_port, v6_port;
  std::string error;
  assert_int_equal(open_at(Address::v4(0, 0), v4_port, error), 0);
  assert_int_equal(open_at(v6("::", v4_port->address().port), v6_port, error), 0);
}

static void ipv6__ports_meet(void **) {
  std::unique_ptr<Port> a, b;
  std::string error;
  assert_int_equal(open_at(v6("2001:db8::1", 0), a, error), 0); // known to no interface
  assert_int_equal(open_at(v6("::1", 0), b, error), 0);
  PathId path;
  assert_int_equal(b->open_path(a->address(), path), 0);
  assert_true(a->peer_address(await_event(*a, PathEventKind::accepted).path) == b->address());
}

static void open_path__nobody_there(void **) {
  const auto port = open_port();
  auto gone = open_port();
  const Address address = gone->address();
  gone.reset();
  PathId path;
  assert_int_equal(port->open_path(address, path), -ECONNREFUSED);
}

static void local__loopback_and_interfaces_only(void **) {
  assert_true(host_address_is_local(loopback(7)));
  assert_true(host_address_is_local(Address::v4(0x7f123456, 0)));
  assert_true(host_address_is_local(v6("::1", 0)));
  assert_false(host_address_is_local(Address::v4(0xc0000201, 0)));
  assert_false(host_address_is_local(Address::v4(0, 0)));
}

static void names__are_of_one_network_namespace(void **) {
  if (geteuid() != 0)
    skip();
  const auto port = open_port();
  const Address address = port->address();
  assert_true(succeeded(in_child([&] {
    if (unshare(CLONE_NEWNET) != 0)
      return false;
    std::unique_ptr<Port> other, same;
    std::string error;
    PathId path;
    return open_at(loopback(), other, error) == 0 &&
           other->open_path(address, path) == -ECONNREFUSED && open_at(address, same, error) == 0;
  })));
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(open__taken_name_is_refused),
    cmocka_unit_test(open__name_is_free_after_close),
    cmocka_unit_test(open__one_number_serves_several_addresses),
    cmocka_unit_test(open__automatic_numbers_come_from_the_range),
    cmocka_unit_test(open__bad_options_are_named),
    cmocka_unit_test(any_address__is_found_by_each_own_address),
    cmocka_unit_test(any_address__is_not_found_by_a_stranger),
    cmocka_unit_test(any_address__opens_paths_under_an_address),
    cmocka_unit_test(any_address__conflicts_with_exact_ones),
    cmocka_unit_test(any_address__of_the_other_family_is_another),
    cmocka_unit_test(ipv6__ports_meet),
    cmocka_unit_test(open_path__nobody_there),
    cmocka_unit_test(local__loopback_and_interfaces_only),
    cmocka_unit_test(names__are_of_one_network_namespace),
};
static const unit::Group group{"link_host.names", cases};
