// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Endpoints for datagrams: what arrives, what gets lost, and that nobody minds.
#include "lab.h"

using namespace lab;

namespace {

Options datagrams() {
  Options o;
  o.config.datagrams = true;
  return o;
}

// Posts a datagram as soon as there is room, and a way.
Call &post(World &w, unsigned from, fi_addr_t to, Bytes bytes, const SendHow &how = {}) {
  Node &n = w.node(from);
  Call &c = n.calls.emplace_back(std::move(bytes));
  const op::SendRequest r = request(c, to, how);
  ssize_t rc = -FI_EAGAIN;
  assert_true(w.run_until([&] { return (rc = n.endpoint->send_datagram(r)) != -FI_EAGAIN; }));
  assert_int_equal(rc, 0);
  n.queues.reap();
  assert_true(c.ok()); // that it has left is all there is to tell
  return c;
}

const Seen *last(const World &w, PacketType type) {
  for (auto s = w.seen.rbegin(); s != w.seen.rend(); ++s)
    if (s->type == type)
      return &*s;
  return nullptr;
}

void datagram__arrives_with_its_data_and_source(void **) {
  for (const On on : {On::device, On::host}) {
    World w(datagrams());
    w.start(on);
    w.start(on);
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{1}, std::size_t{700}, w.node(0).endpoint->max_datagram()}) {
      Call &in = w.node(1).receive(size);
      const Bytes content(size, std::byte{0x5a});
      post(w, 0, 1, content, {.data = 0x1122334455667788});
      assert_true(w.finish({&in}));
      assert_true(in.ok());
      assert_int_equal(in.done[0].len, size);
      assert_int_equal(in.done[0].data, 0x1122334455667788);
      assert_int_equal(in.done[0].flags, FI_RECV | FI_MSG | FI_REMOTE_CQ_DATA);
      assert_int_equal(in.done[0].src, 0);
      assert_true(in.holds(content));
    }
    assert_int_equal(w.count(PacketType::hello), 0);
    assert_int_equal(w.count(PacketType::ack), 0);
  }
}

void datagram__without_a_receive_is_dropped_and_counted(void **) {
  World w(datagrams());
  w.start();
  w.start();
  post(w, 0, 1, Bytes(10));
  assert_true(w.run_until([&] { return w.node(1).statistics().no_receive == 1; }));
  Call &in = w.node(1).receive(10);
  w.run_for(1s);
  assert_true(in.open());
  post(w, 0, 1, Bytes(10));
  assert_true(w.finish({&in}));
}

void datagram__too_long_for_its_receive_is_cut(void **) {
  World w(datagrams());
  w.start();
  w.start();
  Call &in = w.node(1).receive(10);
  post(w, 0, 1, Bytes(17));
  assert_true(w.finish({&in}));
  assert_int_equal(in.error(), FI_ETRUNC);
  assert_int_equal(in.done[0].olen, 7);
  assert_int_equal(in.done[0].len, 10);
}

void datagram__to_nobody_is_lost_until_somebody_is_there(void **) {
  for (const On on : {On::device, On::host}) {
    Options options = datagrams();
    options.is_own_address = all_own;
    World w(options);
    w.start(on);
    w.start(on);
    w.kill(1);
    w.run_for(1s);
    for (int i = 0; i < 5; ++i)
      post(w, 0, 1, Bytes(10));
    w.restart(1, on);
    Call &in = w.node(1).receive(10);
    for (int i = 0; i < 100 && in.open(); ++i) {
      post(w, 0, 1, Bytes(10));
      w.run_for(20ms);
    }
    assert_true(in.ok());
    w.kill(1); // one that was there
    w.run_for(1s);
    for (int i = 0; i < 5; ++i)
      post(w, 0, 1, Bytes(10));
  }
}

void datagram__of_another_job_is_dropped(void **) {
  Options options = datagrams();
  options.config.session.key[0] = std::byte{1};
  World w(options);
  w.start();
  w.options.config.session.key[0] = std::byte{2};
  w.start();
  Call &in = w.node(1).receive(10);
  post(w, 0, 1, Bytes(10));
  assert_true(w.run_until([&] { return w.node(1).statistics().unknown_token == 1; }));
  assert_true(in.open());
}

void datagram__corrupt_or_malformed_is_dropped(void **) {
  World w(datagrams());
  w.start();
  w.start();
  std::function<void(std::span<std::byte>)> change;
  w.hook = [&](const Departure &d, PacketType type) {
    if (type == PacketType::datagram)
      change(d.bytes);
    return Verdict{};
  };
  Call &in = w.node(1).receive(10);
  change = [](std::span<std::byte> bytes) { bytes.back() ^= std::byte{1}; };
  post(w, 0, 1, Bytes(10));
  assert_true(w.run_until([&] { return w.node(1).statistics().bad_checksum == 1; }));

  constexpr std::size_t frame = wire::packet_header_size;
  const struct {
    std::size_t at;
    std::uint8_t to;
  } faults[] = {{frame, 0},       // nothing
                {frame, 2},       // tagged
                {frame, 3},       // a part of something
                {frame + 1, 4},   // wants an answer
                {frame + 1, 2},   // more comes
                {frame + 2, 11}}; // longer than the packet
  std::uint64_t count = 0;
  for (const auto &fault : faults) {
    change = [fault](std::span<std::byte> bytes) {
      bytes[fault.at] = std::byte{fault.to};
      wire::seal(bytes);
    };
    post(w, 0, 1, Bytes(10));
    ++count;
    assert_true(w.run_until([&] { return w.node(1).statistics().malformed == count; }));
  }
  assert_true(in.open());
  change = [](std::span<std::byte>) {};
  post(w, 0, 1, Bytes(10));
  assert_true(w.finish({&in}));
}

void sessions__and_datagrams_do_not_meet(void **) {
  World w; // 0 has sessions, 1 has none
  w.start();
  w.options.config.datagrams = true;
  w.start();
  const Call &out = w.node(0).send(1, Bytes(10));
  assert_true(w.finish({&out}));
  assert_int_equal(out.error(), EPROTONOSUPPORT);
  post(w, 1, 0, Bytes(10));
  assert_true(w.run_until([&] { return w.node(0).statistics().malformed == 1; }));
  // Packets of sessions, straight from the wire.
  const Seen *hello = last(w, PacketType::hello);
  assert_non_null(hello);
  w.replay(*hello);
  w.run_for(1s);
  assert_int_equal(w.node(1).statistics().messages_received, 0);
}

void send__to_no_address_of_the_book(void **) {
  World w(datagrams());
  w.start();
  op::SendRequest r;
  r.dest = 7;
  r.flags = FI_MSG;
  assert_int_equal(w.node(0).endpoint->send_datagram(r), -FI_EINVAL);
}

void send__where_no_link_leads_is_refused_and_told_once(void **) {
  Log log;
  World w(datagrams());
  w.start(On::host);
  w.start(On::device);
  op::SendRequest r;
  r.dest = 1;
  r.flags = FI_MSG;
  for (int i = 0; i < 3; ++i)
    assert_int_equal(w.node(0).endpoint->send_datagram(r), -FI_EHOSTUNREACH);
  assert_true(log.has("FI_DPDKX_DEVICE"));
}

void service__keeps_datagrams_for_the_next_turn(void **) {
  World w(datagrams());
  w.start();
  w.start();
  const Call &first = w.node(1).receive(10);
  post(w, 0, 1, Bytes(10));
  assert_true(w.finish({&first}));
  w.node(1).computes = true;
  Call &in = w.node(1).receive(3);
  post(w, 0, 1, {std::byte{1}, std::byte{2}, std::byte{3}});
  w.run_for(10ms);
  w.node(1).service();
  assert_true(in.open());
  w.node(1).computes = false;
  assert_true(w.finish({&in}));
  assert_int_equal(in.done[0].src, 0);
  assert_true(in.memory[2] == std::byte{3});
}

void removed__address_is_sent_to_no_more(void **) {
  World w(datagrams());
  w.start();
  w.start();
  Call &in = w.node(1).receive(10);
  post(w, 0, 1, Bytes(10));
  assert_true(w.finish({&in}));
  w.book.remove(1);
  w.node(0).endpoint->address_removed(1);
  op::SendRequest r;
  r.dest = 1;
  r.flags = FI_MSG;
  assert_int_equal(w.node(0).endpoint->send_datagram(r), -FI_EINVAL);
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(datagram__arrives_with_its_data_and_source),
    cmocka_unit_test(datagram__without_a_receive_is_dropped_and_counted),
    cmocka_unit_test(datagram__too_long_for_its_receive_is_cut),
    cmocka_unit_test(datagram__to_nobody_is_lost_until_somebody_is_there),
    cmocka_unit_test(datagram__of_another_job_is_dropped),
    cmocka_unit_test(datagram__corrupt_or_malformed_is_dropped),
    cmocka_unit_test(sessions__and_datagrams_do_not_meet),
    cmocka_unit_test(send__to_no_address_of_the_book),
    cmocka_unit_test(send__where_no_link_leads_is_refused_and_told_once),
    cmocka_unit_test(service__keeps_datagrams_for_the_next_turn),
    cmocka_unit_test(removed__address_is_sent_to_no_more),
};
static const unit::Group group{"datagram", cases};
