// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/check_port.h"

#include "dpdkx/daemon/daemon.h"
#include "harness/hub.h"
#include "unit/daemon/fakes.h"

using namespace daemon_test;
using daemon::CheckPort;
using daemon::Config;
using daemon::Daemon;
using harness::Hub;

namespace {

constexpr std::uint16_t asking = 5000;

std::unique_ptr<link::Port> port_of(Hub &hub, std::uint16_t number) {
  std::unique_ptr<link::Port> port;
  std::string error;
  Address own;
  own.port = number;
  assert_int_equal(hub.open_port(own, {}, port, error), 0);
  return port;
}

// Somebody on the device's network.
struct Asker {
  explicit Asker(Hub &hub) : port(port_of(hub, asking)) {}
  void ask(const wire::Probe &probe = {}) const {
    Address to = port->address();
    to.port = check::default_port;
    link::PathId path;
    assert_int_equal(port->open_path(to, path), 0);
    const link::TxRoom room = port->reserve(path, wire::min_probe);
    port->commit(path, room, wire::encode_datagram(room.data, probe));
    port->close_path(path);
  }
  std::vector<wire::Probe> answers() const {
    std::vector<wire::Probe> out;
    link::RxDatagram d[16];
    const unsigned n = port->poll(d, 16);
    for (unsigned i = 0; i < n; ++i) {
      std::span<const std::byte> in(d[i].data, d[i].len);
      wire::Probe p;
      assert_true(wire::verify(in) && wire::decode_header(in) && wire::decode(in, p));
      out.push_back(p);
    }
    port->release(d, n);
    return out;
  }

  std::unique_ptr<link::Port> port;
};

struct Scene {
  explicit Scene(std::uint16_t check_port = check::default_port) {
    Config config;
    config.socket = fresh_name();
    config.check_port = check_port;
    config.devices.resize(1);
    assert_int_equal(create(config), 0);
  }
  int create(const Config &config) {
    return Daemon::create(config,
                          {.open_device =
                               [this](const daemon::DeviceConfig &,
                                      std::shared_ptr<link::Device> &out, std::string &) {
                                 out = hub;
                                 return 0;
                               },
                           .describe = [](const daemon::Status &) { return std::string(); },
                           .version = "1"},
                          daemon, error);
  }
  void turn() const { daemon->turn(SystemClock::instance().now()); }

  std::shared_ptr<Hub> hub = std::make_shared<Hub>();
  std::unique_ptr<Daemon> daemon;
  std::string error;
};

void check_port__answers_without_ranks(void **) {
  const Scene s;
  const Asker a(*s.hub);
  a.ask({.sequence = 3, .asker = 8});
  s.turn();
  const auto got = a.answers();
  assert_int_equal(got.size(), 1);
  assert_true(got[0].kind == wire::ProbeKind::answer && got[0].role == wire::ProbeRole::daemon);
  assert_int_equal(got[0].sequence, 3);
  assert_int_equal(got[0].asker, 8);
  assert_int_equal(got[0].max_datagram, 1472);
}

void check_port__may_be_left_out(void **) {
  const Scene s(0);
  const Asker a(*s.hub);
  a.ask();
  s.turn();
  assert_true(a.answers().empty());
}

// What isn't a question.
void check_port__answers_nothing_else(void **) {
  Hub hub;
  const Asker a(hub);
  CheckPort check(port_of(hub, check::default_port));
  const auto send = [&](std::span<const std::byte> bytes) {
    assert_true(a.port->reply_to({check.port().address(), {}}, bytes));
    return check.turn(Time{});
  };
  std::byte d[wire::min_probe];
  wire::encode_datagram(d, {.kind = wire::ProbeKind::answer});
  assert_true(send(d));
  wire::encode_datagram(d, {});
  d[wire::packet_header_size + 5] ^= std::byte{1}; // damaged
  assert_true(send(d));
  wire::encode_datagram(d, {});
  d[2] = std::byte{}; // without a checksum
  assert_true(send(d));
  wire::encode_datagram(d, {});
  d[1] = std::byte{static_cast<std::uint8_t>(wire::PacketType::hello)};
  wire::seal(d);
  assert_true(send(d));
  assert_true(send(std::span(d).first(10)));
  assert_true(a.answers().empty());
  assert_int_equal(check.answered(), 0);
  assert_false(check.turn(Time{}));
  wire::encode_datagram(d, {});
  assert_true(send(d));
  assert_int_equal(a.answers().size(), 1);
  assert_int_equal(check.answered(), 1);
}

void check_port__counts_what_it_answers(void **) {
  const Scene s;
  const Asker a(*s.hub);
  a.ask();
  s.turn();
  const daemon::ProbeStatus probes = s.daemon->status().devices.at(0).probes;
  assert_int_equal(probes.port, check::default_port);
  assert_int_equal(probes.answered, 1);
  assert_int_equal(probes.refused, 0);
  assert_int_equal(Scene(0).daemon->status().devices.at(0).probes.port, 0);
}

// Those of one moment that are too many are counted apart.
void check_port__refuses_a_flood(void **) {
  Hub hub;
  const Asker a(hub);
  CheckPort check(port_of(hub, check::default_port));
  for (unsigned i = 0; i < check::Responder::burst + 5; ++i) {
    a.ask();
    assert_true(check.turn(Time{}));
  }
  assert_int_equal(check.answered(), check::Responder::burst);
  assert_int_equal(check.refused(), 5);
}

// Somebody else has the port: ranks are served all the same.
void check_port__that_is_taken_is_told(void **) {
  static std::string logged;
  logged.clear();
  set_log_sink([](LogLevel, std::string_view text) { logged += text; });
  Scene s(0);
  const auto other = port_of(*s.hub, check::default_port);
  Config config;
  config.socket = fresh_name();
  config.devices.resize(1);
  assert_int_equal(s.create(config), 0);
  s.turn();
  set_log_sink(nullptr);
  assert_true(logged.find("check-port: 4797: ") != std::string::npos);
}

const CMUnitTest cases[] = {
    cmocka_unit_test(check_port__answers_without_ranks),
    cmocka_unit_test(check_port__may_be_left_out),
    cmocka_unit_test(check_port__answers_nothing_else),
    cmocka_unit_test(check_port__counts_what_it_answers),
    cmocka_unit_test(check_port__refuses_a_flood),
    cmocka_unit_test(check_port__that_is_taken_is_told),
};
const unit::Group group{"check_port", cases};

} // namespace
