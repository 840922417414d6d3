// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/check/command/report.h"

#include "dpdkx/check/responder.h"

#include "unit/daemon/text.h"

#include <cerrno>
#include <nlohmann/json.hpp>

using namespace dpdkx;
using namespace dpdkx::check;
using namespace std::chrono_literals;
using Json = nlohmann::json;

namespace {

const OwnSide own{.device = "eth0", .max_datagram = 1472};

Checked well(const char *host) {
  Checked out{host, Address::v4(0x0a000002, 4797), {}};
  out.result.verdict = Verdict::well;
  out.result.round_trip = 12'340ns;
  out.result.small = {80, {16, 16}, {16, 16}};
  out.result.standard = {1472, {8, 8}, {8, 7}};
  out.result.role = wire::ProbeRole::daemon;
  out.result.version_min = out.result.version_max = 1;
  out.result.max_datagram = 1472;
  return out;
}

Checked unreachable() {
  Checked out{"a-longer-name", Address::v4(0x0a000003, 4000), {}};
  out.result.verdict = Verdict::unreachable;
  out.result.error = EHOSTUNREACH;
  return out;
}

std::vector<std::string> lines_of(const std::string &text) {
  std::vector<std::string> out;
  for (std::size_t at = 0, end; at < text.size(); at = end + 1) {
    end = text.find('\n', at);
    assert_true(end != std::string::npos); // the last one, too, ends
    out.push_back(text.substr(at, end - at));
  }
  return out;
}

wire::Probe probe_of(std::uint64_t asker, std::uint32_t asked, std::uint32_t heard) {
  wire::Probe out;
  out.asker = asker;
  out.asked = asked;
  out.heard = heard;
  return out;
}

} // namespace

static void table__has_a_line_for_each_host(void **) {
  const std::vector<Checked> checked{well("b"), unreachable()};
  const std::vector<std::string> lines = lines_of(table(checked, own));
  assert_true(lines.size() == 4); // the last is what to do about the one that is unreachable
  expect_equal(lines[0],
               "host           round trip    small    MTU to      fro  jumbo to      fro  "
               "verdict");
  expect_equal(lines[1],
               "b                 12.3 us    16/16       8/8      7/8         -        -  "
               "well");
  expect_equal(lines[2],
               "a-longer-name           -        -         -        -         -        -  "
               "unreachable");
  expect_parts(lines[3], {"  ", "a-longer-name", "ARP"});
  assert_false(all_well(checked));
  assert_true(all_well(std::span(checked).first(1)));
}

static void json__tells_the_same(void **) {
  Checked mtu = well("c");
  mtu.result.verdict = Verdict::mtu;
  mtu.result.jumbo = {8972, {4, 0}, {4, 4}};
  mtu.result.largest = 3000;
  const std::vector<Checked> checked{well("b"), unreachable(), mtu};
  const Json all = Json::parse(json(checked, own));
  assert_true(all["device"] == "eth0" && all["max_datagram"] == 1472 && all["well"] == false);
  const Json &b = all["hosts"][0], &a = all["hosts"][1], &c = all["hosts"][2];
  assert_true(b["host"] == "b" && b["address"] == "10.0.0.2:4797" && b["well"] == true);
  assert_true(b["verdict"] == "well" && b["explanation"] == "" && !b.contains("remark"));
  assert_true(b["round_trip_us"] == 12.34);
  assert_true(b["mtu_sized"] == Json::parse(R"({"bytes":1472,"to":{"asked":8,"heard":8},)"
                                            R"("fro":{"asked":8,"heard":7}})"));
  assert_true(b["jumbo"].is_null() && b["unasked"].is_null());
  assert_true(b["peer"] ==
              Json::parse(R"({"is":"dpdkxd","mtu":1500,"version_min":1,"version_max":1})"));
  assert_true(a["verdict"] == "unreachable" && a["round_trip_us"].is_null());
  assert_true(a["small"].is_null() && !a.contains("peer") && a["explanation"] != "");
  assert_true(c["mtu"] == 3028 && !b.contains("mtu"));
  assert_true(c["jumbo"]["to"]["heard"] == 0);
}

static void json__of_other_families_counts_their_headers(void **) {
  Checked v6 = well("b");
  v6.address = Address{{0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 4797};
  v6.result.max_datagram = 1452;
  const std::vector<Checked> checked{v6};
  assert_true(Json::parse(json(checked, own))["hosts"][0]["peer"]["mtu"] == 1500);
}

static void asker__is_told_of_when_it_is_quiet(void **) {
  Askers askers;
  const Address one = Address::v4(0x0a000002, 4000), other = Address::v4(0x0a000003, 4000);
  Time now{1h};
  for (std::uint32_t i = 0; i < 10; i += 2) { // every other one is lost
    askers.asked(one, probe_of(7, i, i / 2), i == 4 ? 1472 : 80, now);
    now += 400ms;
    expect_equal(askers.quiet(now, false), "");
  }
  askers.asked(other, probe_of(8, 0, 0), 80, now);
  now += 200ms;
  expect_equal(askers.quiet(now, false), "10.0.0.2:4000 has asked 9 times; 5 of these came, of up "
                                         "to 1472 bytes; it has heard 4 answers\n");
  now += 1s;
  const Json told = Json::parse(askers.quiet(now, true));
  assert_true(told == Json::parse(R"({"asker":"10.0.0.3:4000","asked":1,"came":1,"largest":80,)"
                                  R"("heard":0,"deaf":false})"));
  expect_equal(askers.quiet(now + 1s, true), "");
}

static void asker__that_hears_nothing_is_deaf(void **) {
  for (const bool as_json : {false, true}) {
    Askers askers;
    const Address who = Address::v4(0x0a000002, 4000);
    Time now{1h};
    for (std::uint32_t i = 0; i < Responder::deaf_after; ++i)
      askers.asked(who, probe_of(7, i, 0), 80, now);
    expect_parts(askers.quiet(now + 1s, as_json),
                 {as_json ? "\"deaf\":true" : "what is sent to it does not arrive"});
  }
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(table__has_a_line_for_each_host),
    cmocka_unit_test(json__tells_the_same),
    cmocka_unit_test(json__of_other_families_counts_their_headers),
    cmocka_unit_test(asker__is_told_of_when_it_is_quiet),
    cmocka_unit_test(asker__that_hears_nothing_is_deaf),
};
static const unit::Group group{"report", cases};
