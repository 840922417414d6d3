// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/wire/probe.h"
#include "lab.h"

#include <algorithm>

using namespace lab;

namespace {

constexpr std::uint32_t stranger = 9;

Bytes question(std::uint32_t len) {
  wire::Probe p;
  p.asker = 5;
  p.length = len;
  p.padding = len - wire::min_probe;
  Bytes out(len);
  wire::encode_datagram(out.data(), p);
  return out;
}

std::vector<wire::Probe> answers(const World &w) {
  std::vector<wire::Probe> out;
  for (const Seen &s : w.seen) {
    wire::Probe p;
    std::span<const std::byte> in(s.bytes);
    if (s.type == PacketType::probe && wire::decode_header(in) && wire::decode(in, p) &&
        p.kind == wire::ProbeKind::answer)
      out.push_back(p);
  }
  return out;
}

void probe__is_answered_by_endpoints_of_both_kinds(void **) {
  for (const bool datagrams : {false, true}) {
    World w;
    w.options.config.datagrams = datagrams;
    w.options.config.session.key.fill(std::byte{3});
    Node &a = w.start();
    w.device.inject(address(stranger), a.address, question(200), {});
    w.run_for(1ms);
    assert_int_equal(answers(w).size(), 1);
    const wire::Probe p = answers(w)[0];
    assert_true(p.role == wire::ProbeRole::endpoint);
    assert_int_equal(p.length, 200);
    assert_true(p.key == wire::probe_key(w.options.config.session.key));
    assert_int_equal(w.seen.back().bytes.size(), 200);
    assert_int_equal(a.statistics().malformed, 0);
  }
}

void probe__is_answered_while_the_application_computes(void **) {
  World w;
  Node &a = w.start();
  a.computes = true;
  w.device.inject(address(stranger), a.address, question(80), {});
  w.run_for(1ms);
  assert_int_equal(answers(w).size(), 0);
  a.service();
  assert_int_equal(answers(w).size(), 1);
}

void probe__that_is_malformed_is_counted(void **) {
  World w;
  Node &a = w.start();
  Bytes bad = question(80);
  bad[wire::packet_header_size + 2] = std::byte{7}; // kind
  wire::seal(bad);
  w.device.inject(address(stranger), a.address, bad, {});
  w.run_for(1ms);
  assert_int_equal(a.statistics().malformed, 1);
  Bytes bare = question(80);
  bare[2] = std::byte{}; // no checksum
  w.device.inject(address(stranger), a.address, bare, {});
  w.run_for(1ms);
  assert_int_equal(a.statistics().bad_checksum, 1);
  assert_int_equal(answers(w).size(), 0);
}

// --- Why there is no session

// What is told of a send to host 2, which fails.
struct Failure {
  explicit Failure(int error, const std::function<void(World &)> &prepare, bool check = true) {
    w.options.config.check = check;
    w.start();
    w.start();
    prepare(w);
    Call &s = w.node(0).send(1, pattern(10));
    assert_true(w.finish({&s}));
    assert_int_equal(s.error(), error);
  }
  World w;
  const Log log{};
};

bool handshakes(PacketType t) {
  return t == PacketType::hello || t == PacketType::challenge || t == PacketType::confirm;
}

void inquiry__finds_nobody(void **) {
  const Failure f(ETIMEDOUT, [](World &w) { w.kill(1); });
  assert_true(f.log.has("peer 10.0.0.2:4000 is lost"));
  assert_true(f.log.has("nobody answers on UDP port 4000"));
  assert_true(f.w.count(PacketType::probe) >= 4);
}

void inquiry__need_not_ask_where_nobody_has_the_address(void **) {
  const Failure f(EHOSTUNREACH, [](World &w) { w.device.set_unresolvable(address(2), true); });
  assert_true(f.log.has("(ARP, neighbor discovery)"));
  assert_int_equal(f.w.count(PacketType::probe), 0);
}

void inquiry__finds_that_large_ones_get_lost(void **) {
  constexpr std::uint32_t carried = 140; // a hello, and no frames that sessions could use
  const Failure f(ETIMEDOUT, [](World &w) { w.device.set_faults({.black_hole = carried}); });
  assert_true(f.log.has("those of 1472 bytes (MTU 1500) get lost both ways"));
  assert_true(f.log.has("FI_DPDKX_MTU to 168 "));
}

void inquiry__tells_that_all_passes(void **) {
  const Failure f(ETIMEDOUT, [](World &w) {
    w.hook = [](const Departure &, PacketType t) { return Verdict{.drop = handshakes(t)}; };
  });
  assert_true(f.log.has("yet datagrams of all sizes pass"));
}

void inquiry__is_made_on_request(void **) {
  const Failure f(
      ETIMEDOUT, [](World &w) { w.kill(1); }, false);
  assert_true(f.log.has("peer 10.0.0.2:4000 is lost"));
  assert_false(f.log.has("UDP port"));
  assert_int_equal(f.w.count(PacketType::probe), 0);
}

// A session that comes up after all ends it.
void inquiry__ends_with_the_trouble(void **) {
  World w;
  w.options.config.check = true;
  w.start();
  w.start();
  w.hook = [&w](const Departure &, PacketType t) {
    return Verdict{.drop = handshakes(t) && w.now() < VirtualClock::start + 4s};
  };
  w.exchange(0, 1);
  assert_true(w.count(PacketType::probe) > 0);
  w.run_for(1s);
  w.seen.clear();
  w.run_for(30s);
  assert_int_equal(w.count(PacketType::probe), 0);
}

const CMUnitTest cases[] = {
    cmocka_unit_test(probe__is_answered_by_endpoints_of_both_kinds),
    cmocka_unit_test(probe__is_answered_while_the_application_computes),
    cmocka_unit_test(probe__that_is_malformed_is_counted),
    cmocka_unit_test(inquiry__finds_nobody),
    cmocka_unit_test(inquiry__need_not_ask_where_nobody_has_the_address),
    cmocka_unit_test(inquiry__finds_that_large_ones_get_lost),
    cmocka_unit_test(inquiry__tells_that_all_passes),
    cmocka_unit_test(inquiry__is_made_on_request),
    cmocka_unit_test(inquiry__ends_with_the_trouble),
};
const unit::Group group{"probe", cases};

} // namespace
