// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/daemon/messages.h"

#include "unit/link_daemon/harness.h"

#include <array>
#include <cerrno>

using namespace link_daemon;

namespace {

Request attach_request() {
  Request request = make_request(Ask::attach);
  put_text(request.device, "net0");
  request.port = 4000;
  request.ring_bytes = 64 * 1024;
  return request;
}

// What a request is answered that differs from a good one as `change` says.
int status_of(const std::function<void(Request &)> &change, bool with_memory = true) {
  Request request = attach_request();
  change(request);
  int status = 0;
  return request_fault(request, sizeof(request), with_memory, status) != nullptr ? status : 0;
}

} // namespace

static void request__that_is_whole_has_no_fault(void **) {
  assert_int_equal(status_of([](Request &) {}), 0);
  for (const Ask ask : {Ask::devices, Ask::status}) {
    int status = 0;
    assert_null(request_fault(make_request(ask), sizeof(Request), false, status));
  }
  assert_int_equal(status_of([](Request &r) { r.start = 64; }), 0);
  assert_int_equal(status_of([](Request &r) { r.start = -64; }), 0);
  assert_int_equal(status_of([](Request &r) { r.has_dscp = 1, r.dscp = 63; }), 0);
  assert_int_equal(status_of([](Request &r) { r.ring_bytes = host::max_ring_bytes; }), 0);
}

static void request__with_a_fault_is_told_which(void **) {
  int status = 0;
  assert_non_null(request_fault(attach_request(), sizeof(Request) - 1, true, status));
  assert_int_equal(status, -EPROTO);
  assert_int_equal(status_of([](Request &r) { r.magic[7] = '2'; }), -EPROTO);
  assert_int_equal(status_of([](Request &r) { ++r.version; }), -EPROTONOSUPPORT);
  assert_int_equal(status_of([](Request &r) { r.ask = 0; }, false), -EPROTO);
  assert_int_equal(status_of([](Request &r) { r.ask = 4; }, false), -EPROTO);
  assert_int_equal(status_of([](Request &r) { r.ask = 4; }), -EPROTO);
  assert_int_equal(status_of([](Request &r) { r.ask = 1; }), -EPROTO); // memory for nothing
  assert_int_equal(status_of([](Request &) {}, false), -EPROTO);       // and none
  for (const std::uint32_t bytes : {0u, 1u, 4096u, 32u * 1024, 65u * 1024, 1u << 31, UINT32_MAX})
    assert_int_equal(status_of([&](Request &r) { r.ring_bytes = bytes; }), -EPROTO);
  assert_int_equal(status_of([](Request &r) { r.start = 8; }), -EPROTO);
  assert_int_equal(status_of([](Request &r) { r.port = 0; }), -EPROTO);
  assert_int_equal(status_of([](Request &r) { r.dscp = 64; }), -EPROTO);
}

// Whatever else has changed with it.
static void request__of_another_version_is_told_so(void **) {
  Request request = attach_request();
  --request.version;
  constexpr std::size_t beginning = offsetof(Request, ask);
  for (const std::size_t received : {beginning, sizeof(Request) - 8, sizeof(Request)}) {
    int status = 0;
    assert_non_null(request_fault(request, received, true, status));
    assert_int_equal(status, -EPROTONOSUPPORT);
  }
  int status = 0;
  assert_non_null(request_fault(request, beginning - 1, true, status));
  assert_int_equal(status, -EPROTO);
}

static void reply__is_known_by_its_magic_version_and_status(void **) {
  Reply reply = make_reply(-ENODEV, "no such device");
  assert_true(is_reply(reply, sizeof(reply)));
  assert_string_equal(text_of(reply.text).c_str(), "no such device");
  assert_false(is_reply(reply, sizeof(reply) - 1));
  Reply wrong = reply;
  wrong.magic[0] = 'x';
  assert_false(is_reply(wrong, sizeof(wrong)));
  wrong = reply;
  ++wrong.version;
  assert_false(is_reply(wrong, sizeof(wrong)));
  wrong = reply;
  wrong.status = 1;
  assert_false(is_reply(wrong, sizeof(wrong)));
  wrong.status = -4096;
  assert_false(is_reply(wrong, sizeof(wrong)));
}

static void reply__agrees_with_a_length_that_can_be(void **) {
  Reply reply = make_reply(0);
  for (const std::uint32_t good : {548u, 1472u, 9950u}) {
    reply.max_datagram = good;
    assert_null(attach_reply_fault(reply));
  }
  for (const std::uint32_t bad : {0u, 547u, 9951u, UINT32_MAX}) {
    reply.max_datagram = bad;
    assert_non_null(attach_reply_fault(reply));
  }
}

// It comes from the other process, and goes into a log.
static void text__is_of_one_line(void **) {
  const Reply reply = make_reply(-EIO, "no\nroot: yes\x1b[2J\x7f \xc3\xa4");
  assert_string_equal(text_of(reply.text).c_str(), "no?root: yes?[2J? \xc3\xa4");
}

static void text__may_fill_its_field(void **) {
  const std::string longest(sizeof(Request::device), 'x');
  Request request = make_request(Ask::attach);
  put_text(request.device, longest + "y");
  assert_string_equal(text_of(request.device).c_str(), longest.c_str());
  const Reply reply = make_reply(-EIO, std::string(1000, 'z'));
  assert_int_equal(text_of(reply.text).size(), sizeof(reply.text));
}

static void entry__carries_a_device(void **) {
  DeviceInfo info = link_daemon::device_info();
  info.mac = {{2, 0, 0, 0, 0, 1}};
  info.bits_per_second = 25'000'000'000;
  info.numa_node = 1;
  info.pci = PciIdentity{1, 2, 3, 4, 0x8086, 0x1572, 0x8086, 7, 9};
  const DeviceInfo got = daemon::device_info(make_entry(info));
  assert_string_equal(got.name.c_str(), info.name.c_str());
  assert_string_equal(got.driver.c_str(), info.driver.c_str());
  assert_string_equal(got.link_name.c_str(), info.link_name.c_str());
  assert_true(got.mac.bytes == info.mac.bytes);
  assert_true(got.address.address.bytes == info.address.address.bytes);
  assert_int_equal(got.address.prefix, info.address.prefix);
  assert_int_equal(got.mtu, info.mtu);
  assert_int_equal(got.bits_per_second, info.bits_per_second);
  assert_int_equal(got.numa_node, 1);
  assert_true(got.pci.has_value());
  assert_int_equal(got.pci->domain, 1);
  assert_int_equal(got.pci->bus, 2);
  assert_int_equal(got.pci->device, 3);
  assert_int_equal(got.pci->function, 4);
  assert_int_equal(got.pci->vendor_id, 0x8086);
  assert_int_equal(got.pci->device_id, 0x1572);
  assert_int_equal(got.pci->subsystem_device_id, 7);
  assert_int_equal(got.pci->revision, 9);
  assert_false(daemon::device_info(make_entry(link_daemon::device_info())).pci.has_value());
}

static void entry__of_a_device_that_cant_be_has_a_fault(void **) {
  const auto is_good = [](const std::function<void(DeviceInfo &)> &change) {
    DeviceInfo info = link_daemon::device_info();
    change(info);
    return entry_fault(make_entry(info)) == nullptr;
  };
  constexpr std::array<std::uint8_t, 16> v6{0xfd, 1};
  assert_true(is_good([](DeviceInfo &) {}));
  assert_false(is_good([](DeviceInfo &info) { info.link_name.clear(); }));
  assert_true(is_good([](DeviceInfo &info) { info.address.prefix = 32; }));
  assert_false(is_good([](DeviceInfo &info) { info.address.prefix = 33; }));
  assert_false(is_good([](DeviceInfo &info) { info.address.address = {}; }));
  assert_true(is_good([&](DeviceInfo &info) { info.address = {net::Ip(v6), 128}; }));
  assert_false(is_good([&](DeviceInfo &info) { info.address = {net::Ip(v6), 129}; }));
  for (const std::uint32_t mtu : {576u, 9978u})
    assert_true(is_good([&](DeviceInfo &info) { info.mtu = mtu; }));
  for (const std::uint32_t mtu : {0u, 575u, 9979u, UINT32_MAX})
    assert_false(is_good([&](DeviceInfo &info) { info.mtu = mtu; }));
  assert_false(
      is_good([&](DeviceInfo &info) { info.address.address = net::Ip(v6), info.mtu = 1279; }));
}

static void name__of_a_socket_is_abstract_or_a_path(void **) {
  for (const char *good : {"@d", "@dpdkxd", "/run/dpdkxd", "/x"})
    assert_true(is_socket_name(good));
  for (const char *bad : {"", "@", "/", "dpdkxd", "./x"})
    assert_false(is_socket_name(bad));
  assert_true(is_socket_name("@" + std::string(host::SocketName::max_length - 1, 'x')));
  assert_false(is_socket_name("@" + std::string(host::SocketName::max_length, 'x')));
  assert_false(is_socket_name(std::string_view("@a\0b", 4)));
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(request__that_is_whole_has_no_fault),
    cmocka_unit_test(request__with_a_fault_is_told_which),
    cmocka_unit_test(request__of_another_version_is_told_so),
    cmocka_unit_test(reply__is_known_by_its_magic_version_and_status),
    cmocka_unit_test(reply__agrees_with_a_length_that_can_be),
    cmocka_unit_test(text__is_of_one_line),
    cmocka_unit_test(text__may_fill_its_field),
    cmocka_unit_test(entry__carries_a_device),
    cmocka_unit_test(entry__of_a_device_that_cant_be_has_a_fault),
    cmocka_unit_test(name__of_a_socket_is_abstract_or_a_path),
};
static const unit::Group group{"messages", cases};
