// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/status_json.h"

#include "unit/daemon/example.h"
#include "unit/daemon/text.h"

using namespace dpdkx::daemon;

namespace {

Status read_back(const std::string &json) {
  Status out;
  std::string error;
  if (!status_from_json(json, out, error))
    fail_msg("%s", error.c_str());
  return out;
}

void expect_fault(const char *json, const char *part) {
  Status out;
  std::string error;
  assert_false(status_from_json(json, out, error));
  expect_parts(error, {"what dpdkxd has answered can't be read: ", part});
}

} // namespace

static void status_json__all_of_it_comes_back(void **) {
  const std::string json = status_to_json(example_status());
  assert_true(json.find('\n') == std::string::npos);
  const Status back = read_back(json);
  expect_equal(status_to_json(back), json.c_str());
  const RankStatus &rank = back.devices.at(0).ranks.at(0);
  assert_true(rank.address == dpdkx::Address::v4(0x0a000001, 49152));
  assert_true(rank.attached == std::chrono::seconds(75));
  assert_int_equal(rank.to_rank.bytes, 3'000'000);
  assert_int_equal(rank.ring_used, 1 << 19);
  assert_int_equal(back.devices[0].info.pci->domain, 0x10000);
  assert_int_equal(back.devices[0].info.mac.bytes[5], 0x1f);
  assert_int_equal(back.devices[0].probes.answered, 44);
  assert_int_equal(back.devices[0].counters.size(), 3);
}

static void status_json__the_most_that_counters_hold(void **) {
  Status status = example_status();
  status.turns = UINT64_MAX;
  assert_true(read_back(status_to_json(status)).turns == UINT64_MAX);
}

static void status_json__ipv6(void **) {
  Status status = example_status();
  dpdkx::net::Ip ip;
  assert_true(dpdkx::net::parse_ip("fd00::1", ip));
  status.devices[0].info.address = {ip, 64};
  status.devices[0].ranks[0].address = ip.with_port(5);
  const Status back = read_back(status_to_json(status));
  assert_true(back.devices[0].info.address == status.devices[0].info.address);
  assert_true(back.devices[0].ranks[0].address == status.devices[0].ranks[0].address);
}

static void status_json__other_versions_are_read(void **) {
  const Status back = read_back(R"({"version":"9","new":{"a":[]},"devices":[{"name":"x"}]})");
  expect_equal(back.version, "9");
  expect_equal(back.devices.at(0).info.name, "x");
  assert_int_equal(back.turns, 0);
}

static void status_json__what_is_no_status_is_told(void **) {
  expect_fault("", "");
  expect_fault("hello", "");
  expect_fault("[]", "an object is missing");
  expect_fault("{}", "no version");
  expect_fault(R"({"version":3})", "");
  expect_fault(R"({"version":"1","turns":"x"})", "turns isn't a whole number");
  expect_fault(R"({"version":"1","turns":1.5})", "turns isn't a whole number");
  expect_fault(R"({"version":"1","devices":[7]})", "an object is missing");
  expect_fault(R"({"version":"1","devices":[{"mac":"x"}]})", "mac isn't a MAC address");
  expect_fault(R"({"version":"1","devices":[{"address":"x"}]})", "address isn't an IP address");
}

static void status_json__names_need_not_be_utf8(void **) {
  Status status = example_status();
  status.devices[0].counters[0].first = "a\xff";
  assert_int_equal(read_back(status_to_json(status)).devices[0].counters[0].second, 333);
}

static void status_json__for_eyes_it_has_lines(void **) {
  expect_equal(indented_json(R"({"b":1,"a":[2]})"), "{\n  \"b\": 1,\n  \"a\": [\n    2\n  ]\n}\n");
  expect_equal(indented_json("no"), "no");
}

// Whoever answers: what is nested would take the stack of who shows it.
static void status_json__nested_without_end_stays_as_it_is(void **) {
  constexpr std::size_t depth = 1'000'000;
  const std::string text = std::string(depth, '[') + std::string(depth, ']');
  assert_true(indented_json(text) == text);
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(status_json__all_of_it_comes_back),
    cmocka_unit_test(status_json__the_most_that_counters_hold),
    cmocka_unit_test(status_json__ipv6),
    cmocka_unit_test(status_json__other_versions_are_read),
    cmocka_unit_test(status_json__what_is_no_status_is_told),
    cmocka_unit_test(status_json__names_need_not_be_utf8),
    cmocka_unit_test(status_json__for_eyes_it_has_lines),
    cmocka_unit_test(status_json__nested_without_end_stays_as_it_is),
};
static const unit::Group group{"status_json", cases};
