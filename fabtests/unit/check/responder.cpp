// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/base/log.h"
#include "lab.h"

#include <string>

using namespace lab;

namespace {

std::string logged;

// A responder at a port, and a port that asks it by hand.
struct Pair {
  Pair()
      : asks(l.net.attach(address(1, asking), jumbo())),
        other(l.net.attach(address(1, unasked), jumbo())),
        answers(l.net.attach(address(2, default_port), jumbo())) {
    assert_int_equal(asks->open_path(address(2, default_port), path), 0);
    link::PathEvent e[4];
    l.net.advance_to(l.clock.now() + 1ms);
    assert_int_equal(asks->poll_events(e, 4, l.clock.now()), 1);
  }

  struct Answer {
    wire::Probe probe;
    std::uint32_t len;
  };
  std::vector<Answer> take(link::Port &port) const {
    std::vector<Answer> out;
    link::RxDatagram d[8];
    while (const unsigned n = port.poll(d, 8)) {
      for (unsigned i = 0; i < n; ++i) {
        std::span<const std::byte> in(d[i].data, d[i].len);
        assert_true(wire::verify(in));
        assert_true(wire::decode_header(in)->type == wire::PacketType::probe);
        wire::Probe p;
        assert_true(wire::decode(in, p));
        assert_true(port.source(d[i]) == address(2, default_port));
        out.push_back({p, d[i].len});
      }
      port.release(d, n);
    }
    return out;
  }
  void respond() {
    link::RxDatagram d[8];
    while (const unsigned n = answers->poll(d, 8)) {
      for (unsigned i = 0; i < n; ++i) {
        std::span<const std::byte> in(d[i].data, d[i].len);
        assert_true(wire::decode_header(in).has_value());
        responder.take(*answers, d[i], in, l.clock.now());
      }
      answers->release(d, n);
      answers->flush();
    }
  }
  void send(wire::Probe question, std::uint32_t len) {
    question.padding = len - wire::min_probe;
    const link::TxRoom room = asks->reserve(path, len);
    assert_non_null(room.data);
    asks->commit(path, room, wire::encode_datagram(room.data, question));
    asks->flush();
    l.net.advance_to(l.clock.now() + 100us);
    respond();
    l.net.advance_to(l.clock.now() + 100us);
  }
  std::vector<Answer> ask(const wire::Probe &question, std::uint32_t len) {
    send(question, len);
    return take(*asks);
  }

  Lab l;
  std::unique_ptr<link::Port> asks, other, answers;
  link::PathId path = link::PathId::none;
  Responder responder{{.role = wire::ProbeRole::daemon, .key = 77, .seed = 5}};
};

void responder__repeats_what_names_the_question(void **) {
  Pair p;
  const auto got = p.ask({.sequence = 9, .length = 100, .asker = 4, .max_datagram = 600}, 200);
  assert_int_equal(got.size(), 1);
  const wire::Probe &a = got[0].probe;
  assert_int_equal(got[0].len, 100);
  assert_true(a.kind == wire::ProbeKind::answer && a.role == wire::ProbeRole::daemon);
  assert_int_equal(a.sequence, 9);
  assert_int_equal(a.asker, 4);
  assert_int_equal(a.length, 200); // how long it came
  assert_int_equal(a.key, 77);
  assert_int_equal(a.max_datagram, 8972);
  assert_true(a.cookie != 0);
}

void responder__amplifies_nothing_for_who_has_no_cookie(void **) {
  Pair p;
  for (const std::uint64_t cookie : {0ull, 1ull, 12345ull}) {
    const auto got = p.ask({.length = 8972, .answer_port = unasked, .cookie = cookie}, 200);
    assert_int_equal(got.size(), 1); // and goes nowhere else
    assert_int_equal(got[0].len, 200);
    assert_true(p.take(*p.other).empty());
  }
}

void responder__sends_what_is_asked_for_to_who_has_a_cookie(void **) {
  Pair p;
  const std::uint64_t cookie = p.ask({}, 80)[0].probe.cookie;
  assert_int_equal(p.ask({.length = 8972, .cookie = cookie}, 80)[0].len, 8972);
  assert_int_equal(p.ask({.length = 100000, .cookie = cookie}, 80)[0].len, 8972);
  assert_int_equal(p.ask({.length = 0, .cookie = cookie}, 80)[0].len, wire::min_probe);
  assert_int_equal(p.ask({.length = 83, .cookie = cookie}, 80)[0].len, wire::min_probe);
  assert_true(p.ask({.answer_port = unasked, .cookie = cookie}, 80).empty());
  assert_int_equal(p.take(*p.other).size(), 1);
}

void responder__lets_cookies_grow_old(void **) {
  Pair p;
  const std::uint64_t cookie = p.ask({}, 80)[0].probe.cookie;
  p.l.net.advance_to(p.l.clock.now() + 9s);
  assert_int_equal(p.ask({.length = 200, .cookie = cookie}, 80)[0].len, 200);
  p.l.net.advance_to(p.l.clock.now() + 11s);
  assert_int_equal(p.ask({.length = 200, .cookie = cookie}, 80)[0].len, 80);
}

void responder__has_other_cookies_for_others(void **) {
  Pair p;
  const std::uint64_t cookie = p.ask({}, 80)[0].probe.cookie;
  const auto third = p.l.net.attach(address(3, asking), jumbo());
  wire::Probe q;
  q.length = 200;
  q.cookie = cookie;
  std::byte d[wire::min_probe];
  wire::encode_datagram(d, q);
  p.l.net.inject(address(3, asking), address(2, default_port), d, {});
  p.l.net.advance_to(p.l.clock.now() + 100us);
  p.respond();
  p.l.net.advance_to(p.l.clock.now() + 100us);
  const auto got = p.take(*third);
  assert_int_equal(got.size(), 1);
  assert_int_equal(got[0].len, 80);
  assert_true(got[0].probe.cookie != cookie);
}

void responder__answers_at_a_bounded_rate(void **) {
  Pair p;
  std::byte d[wire::min_probe];
  wire::encode_datagram(d, {});
  for (unsigned i = 0; i < 1000; ++i)
    p.l.net.inject(address(1, asking), address(2, default_port), d, i * 1us);
  p.l.net.advance_to(p.l.clock.now() + 2ms);
  p.respond();
  p.l.net.advance_to(p.l.clock.now() + 1ms);
  assert_int_equal(p.take(*p.asks).size(), Responder::burst);
  assert_true(p.responder.refused() >= 100); // the rest that the queue had room for
  p.l.net.advance_to(p.l.clock.now() + Responder::period);
  assert_int_equal(p.ask({}, 80).size(), 1);
}

void responder__answers_no_answer(void **) {
  Pair p;
  assert_true(p.ask({.kind = wire::ProbeKind::answer}, 80).empty());
}

void responder__tells_of_who_hears_nothing(void **) {
  set_log_filter([](LogLevel level) { return level == LogLevel::warn; });
  set_log_sink([](LogLevel, std::string_view text) { logged += std::string(text) + "\n"; });
  logged.clear();
  Pair p;
  p.ask({.asked = 3}, 80);
  p.ask({.asked = 10, .heard = 1}, 80);
  assert_true(logged.empty());
  p.ask({.asked = 4}, 80);
  assert_non_null(std::strstr(logged.c_str(), "10.0.0.1:5000 has asked 4 times"));
  assert_non_null(std::strstr(logged.c_str(), "UDP to port 5000"));
  logged.clear();
  p.ask({.asked = 5}, 80); // once a minute
  assert_true(logged.empty());
  p.l.net.advance_to(p.l.clock.now() + 1min);
  p.ask({.asked = 6}, 80);
  assert_false(logged.empty());
  set_log_sink(nullptr);
}

const CMUnitTest cases[] = {
    cmocka_unit_test(responder__repeats_what_names_the_question),
    cmocka_unit_test(responder__amplifies_nothing_for_who_has_no_cookie),
    cmocka_unit_test(responder__sends_what_is_asked_for_to_who_has_a_cookie),
    cmocka_unit_test(responder__lets_cookies_grow_old),
    cmocka_unit_test(responder__has_other_cookies_for_others),
    cmocka_unit_test(responder__answers_at_a_bounded_rate),
    cmocka_unit_test(responder__answers_no_answer),
    cmocka_unit_test(responder__tells_of_who_hears_nothing),
};
const unit::Group group{"responder", cases};

} // namespace
