// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Every allocation that an endpoint makes fails once, by itself or with all
// that follow for a while. Nothing is thrown, nothing hangs, nothing leaks: each
// operation that was taken ends once, well or with an error, and when there is
// memory again peers find each other again.
#include "lab.h"

#include "common/sanitized.h"
#include "harness/forwarding_port.h"
#include "unit/op/allocations.h"

#include <algorithm>
#include <cinttypes>

using namespace lab;

namespace {

// What the simulated link allocates is not the endpoint's.
class Exempt final : public harness::ForwardingPort {
  using Off = allocations::Watch;
  using Base = harness::ForwardingPort;

public:
  using Base::Base;
  int open_path(const Address &to, link::PathId &id) override {
    const Off off(false);
    return Base::open_path(to, id);
  }
  void close_path(link::PathId id) override {
    const Off off(false);
    Base::close_path(id);
  }
  link::TxRoom reserve(link::PathId id, std::uint32_t len) override {
    const Off off(false);
    return Base::reserve(id, len);
  }
  void commit(link::PathId id, const link::TxRoom &r, std::uint32_t len) override {
    const Off off(false);
    Base::commit(id, r, len);
  }
  void cancel(link::PathId id, const link::TxRoom &r) override {
    const Off off(false);
    Base::cancel(id, r);
  }
  void flush() override {
    const Off off(false);
    Base::flush();
  }
  unsigned poll(link::RxDatagram *d, unsigned n) override {
    const Off off(false);
    return Base::poll(d, n);
  }
  void release(link::RxDatagram *d, unsigned n) override {
    const Off off(false);
    Base::release(d, n);
  }
  void reply(const link::RxDatagram &d, std::span<const std::byte> b) override {
    const Off off(false);
    Base::reply(d, b);
  }
  unsigned poll_events(link::PathEvent *e, unsigned n, Time now) override {
    const Off off(false);
    return Base::poll_events(e, n, now);
  }
};

constexpr std::size_t sizes[] = {10, 700, 5000, 40000, 100000};
constexpr std::uint64_t levels[] = {0, FI_DELIVERY_COMPLETE, FI_INJECT};
constexpr std::size_t sends_a_peer = std::size(sizes) * std::size(levels);

using Calls = std::vector<std::unique_ptr<Call>>;

void receive(Node &n, Calls &calls, std::size_t how_many) {
  for (std::size_t i = 0; i < how_many; ++i) {
    auto c = std::make_unique<Call>(Bytes(100000));
    const ssize_t rc = n.try_receive(*c);
    if (rc == 0)
      calls.push_back(std::move(c));
    else
      assert_int_equal(rc, -FI_ENOMEM);
  }
}

// Messages of each route.
void send(Node &n, Calls &calls, fi_addr_t to) {
  for (const std::size_t size : sizes)
    for (const std::uint64_t level : levels) {
      auto c = std::make_unique<Call>(pattern(size));
      const ssize_t rc = n.try_send(*c, to, {.flags = level});
      if (rc == 0)
        calls.push_back(std::move(c));
      else
        assert_int_equal(rc, -FI_ENOMEM);
    }
}

bool all_ended(const Calls &calls) {
  return std::ranges::none_of(calls, [](const auto &c) { return c->open(); });
}

// Receives that nothing has come for end when they are cancelled: each has ended once.
void end_receives(Node &n, const Calls &receives) {
  for (const auto &c : receives) {
    if (c->open()) {
      const std::lock_guard lock(n.endpoint->mutex());
      assert_int_equal(n.endpoint->cancel(c.get()), 0);
    }
    n.queues.reap();
    assert_int_equal(c->done.size(), 1);
  }
}

// Queues have their memory: what they do without is for their own tests.
void keep_completions(Queues &q) {
  Call c;
  for (util_ext::Cq *cq : {q.completers.tx_cq, q.completers.rx_cq})
    cq->write({.op_context = &c});
  q.reap();
}

void compute(World &w, Node &n) {
  n.computes = true;
  for (int i = 0; i < 4; ++i) {
    w.run_for(5ms);
    n.service();
  }
  n.computes = false;
}

void scenario(On on, std::uint64_t seed, bool computes, std::size_t first, std::size_t count,
              std::size_t &counted) {
  Options o;
  o.config.session.peer_timeout = 2s;
  o.config.connect_timeout = 2s;
  o.config.pull = seed % 2;
  o.wrap_device = o.wrap_host = [](std::unique_ptr<link::Port> p) {
    return std::make_unique<Exempt>(std::move(p));
  };
  World w(o, seed);
  w.records = false;
  w.device.set_faults({.loss = 0.02, .duplicate = 0.02, .reorder = 0.05});
  for (int i = 0; i < 3; ++i)
    keep_completions(w.start(on).queues);
  Calls sends, at_0, at_1;
  const auto receive_all = [&](std::size_t of_each) {
    receive(w.node(1), at_1, 2 * of_each);
    receive(w.node(0), at_0, of_each);
  };
  {
    const allocations::Shortage shortage(first, count);
    receive_all(sends_a_peer / 3); // the others come unexpected
    send(w.node(0), sends, 1);
    send(w.node(1), sends, 0);
    send(w.node(2), sends, 1);
    w.run_for(5ms);
    if (computes)
      compute(w, w.node(1));
    receive_all(sends_a_peer / 3);
    w.run_for(50ms);
    counted = allocations::Shortage::counted();
  }
  receive_all(sends_a_peer);
  if (!w.run_until([&] { return all_ended(sends); }, 100s)) {
    for (const auto &c : sends)
      if (c->open())
        print_message("of %zu: open: %zu bytes\n", sends.size(), c->memory.size());
    fail_msg("seed %" PRIu64 ", %zu allocations from %zu on fail: sends are left\n", seed, count,
             first);
  }
  end_receives(w.node(1), at_1);
  end_receives(w.node(0), at_0);
  for (const auto &c : sends)
    assert_int_equal(c->done.size(), 1);

  // A session that has ended may have to be found out first.
  for (const unsigned peer : {1, 2}) {
    bool well = false;
    for (int tries = 0; tries < 3 && !well; ++tries) {
      Call &s = w.node(0).send(peer, pattern(10), {.flags = FI_DELIVERY_COMPLETE});
      assert_true(w.finish({&s}, 100s));
      well = s.ok();
    }
    assert_true(well);
  }
}

// Under sanitizers each of them once: alone, as the first of some, or of all.
void every_allocation(On on, bool computes) {
  constexpr std::size_t step = fabtest::sanitized ? 3 : 1;
  std::size_t begin = 0;
  for (const std::size_t count : {std::size_t{1}, std::size_t{40}, SIZE_MAX / 2}) {
    for (std::size_t first = begin, counted = SIZE_MAX; first < counted; first += step)
      scenario(on, 1 + first % 5, computes, first, count, counted);
    begin = (begin + 1) % step;
  }
}

void no_memory__on_the_device(void **) { every_allocation(On::device, false); }
void no_memory__while_the_application_computes(void **) { every_allocation(On::device, true); }
void no_memory__on_the_host_link(void **) { every_allocation(On::host, false); }

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(no_memory__on_the_device),
    cmocka_unit_test(no_memory__while_the_application_computes),
    cmocka_unit_test(no_memory__on_the_host_link),
};
static const unit::Group group{"no_memory", cases};
