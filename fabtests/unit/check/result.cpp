// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "lab.h"

#include <string>

using namespace lab;

namespace {

const Scene scene{"b", "4797", 28, 1472};

void expect(const Result &r, std::initializer_list<const char *> parts, const Scene &at = scene) {
  const std::string words = explain(r, at);
  for (const char *part : parts) {
    if (words.find(part) == std::string::npos)
      print_error("'%s' lacks '%s'\n", words.c_str(), part);
    assert_true(words.find(part) != std::string::npos);
  }
}

void explain__says_what_to_do(void **) {
  assert_true(explain({.verdict = Verdict::well}, scene).empty());
  expect({.verdict = Verdict::unreachable, .error = EHOSTUNREACH}, {"ARP", "b ", "FI_DPDKX_ADDR"});
  expect({.verdict = Verdict::unreachable, .error = EMFILE}, {"Too many open files"});
  expect({.verdict = Verdict::silent}, {"UDP port 4797", "dpdkxd", "--listen", "firewall"});
  Scene endpoint = scene;
  endpoint.of_endpoint = true;
  expect({.verdict = Verdict::silent}, {"UDP port 4797", "process", "firewall"}, endpoint);
  expect({.verdict = Verdict::key}, {"FI_DPDKX_AUTH_KEY"});
  expect({.verdict = Verdict::version, .version_min = 2, .version_max = 3},
         {"versions 2 to 3", "this is 1"});
  expect({.verdict = Verdict::version, .version_min = 255, .version_max = 255}, {"no version"});
  expect({.verdict = Verdict::lossy, .standard = {1472, {8, 4}, {8, 8}}}, {"4 of 16"});
}

void explain__names_size_and_direction(void **) {
  Result r{.verdict = Verdict::mtu, .standard = {1472, {8, 8}, {8, 8}}, .largest = 3000};
  r.jumbo = {8972, {4, 0}, {8, 8}};
  expect(r, {"8972 bytes (MTU 9000)", "on the way there", "FI_DPDKX_MTU to 3028"});
  r.jumbo = {8972, {8, 8}, {4, 0}};
  expect(r, {"on the way back"});
  r.jumbo = {8972, {4, 0}, {4, 0}};
  expect(r, {"both ways"});
  r.standard.to.heard = 0;
  r.largest = 1372;
  expect(r, {"1472 bytes (MTU 1500)", "FI_DPDKX_MTU to 1400"});
  Scene v6 = scene;
  v6.headers = 48;
  expect(r, {"FI_DPDKX_MTU to 1420"}, v6);
}

void explain__tells_firewalls_apart(void **) {
  expect({.verdict = Verdict::one_way, .hears_it = true}, {"what is sent to it does not", "4797"});
  expect({.verdict = Verdict::one_way, .small = {80, {16, 16}, {16, 16}}},
         {"nobody has asked for", "FI_DPDKX_PORT_RANGE"});
}

void remark__compares_devices(void **) {
  assert_true(remark({.max_datagram = 1472}, scene).empty());
  assert_true(remark({}, scene).empty());
  assert_true(remark({.max_datagram = 8972}, scene).find("MTU of 9000, this one 1500") !=
              std::string::npos);
}

void name_of__has_one_for_each(void **) {
  for (int v = 0; v <= static_cast<int>(Verdict::lossy); ++v)
    assert_true(*name_of(static_cast<Verdict>(v)) != '\0');
}

const CMUnitTest cases[] = {
    cmocka_unit_test(explain__says_what_to_do),
    cmocka_unit_test(explain__names_size_and_direction),
    cmocka_unit_test(explain__tells_firewalls_apart),
    cmocka_unit_test(remark__compares_devices),
    cmocka_unit_test(name_of__has_one_for_each),
};
const unit::Group group{"result", cases};

} // namespace
