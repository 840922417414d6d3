// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Two live endpoints talk to each other, by a session, over a connection that a
// third has made, or by datagrams, while datagrams come in
// that the input has made: of whole cloth, or from what they have just sent,
// with checksums repaired, so that they get as far as they can. Both expose
// memory and counters to each other, and close them again. Whatever comes, nothing
// may crash, leak or hang, memory that was not given to the engine, or is not
// registered any more, is not touched, a counter changes by nothing but an add that
// names it while it may be added to, and an operation completes once.
//
// The input is a series of commands, see Fuzz::step().
#include "fuzz/forged_frame.h"
#include "fuzz/input.h"
#include "sim/common/world.h"

#include "dpdkx/base/log.h"
#include "dpdkx/op/atomic.h"
#include "dpdkx/wire/packet.h"
#include "harness/forwarding_port.h"
#include "sim/common/check.h"
#include "sim/common/payload.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <utility>

namespace {

using namespace sim;
using namespace fuzz;
namespace link = dpdkx::link;
namespace wire = dpdkx::wire;

// A peer may ask to have any address pulled. A kernel answers -EFAULT where
// there is nothing; the simulated link would crash.
class GuardedPull final : public harness::ForwardingPort {
public:
  GuardedPull(std::unique_ptr<link::Port> port, const World &world)
      : ForwardingPort(std::move(port)), world_(world) {}

  int pull(link::PathId path, std::span<const iovec> local,
           std::span<const iovec> remote) override {
    const bool known = std::ranges::all_of(remote, [&](const iovec &v) {
      return world_.is_memory(static_cast<const std::byte *>(v.iov_base), v.iov_len);
    });
    return known ? ForwardingPort::pull(path, local, remote) : -EFAULT;
  }

private:
  const World &world_;
};

class Fuzz {
public:
  Fuzz(std::span<const std::uint8_t> bytes) : in_(bytes), how_(in_.byte()), world_(1, setup()) {
    world_.add();
    if (stranger_)
      world_.add_stranger();
    else
      world_.add();
    if (connects())
      world_.add(Role::listener);
    world_.on_remote = [](NodeId, const Done &) {}; // forged ones tell anything
    for (NodeId id = 0; id < 2; ++id)
      expose(id);
    if (how_ & 0x40)
      world_.network().set_faults({.loss = 0.1, .duplicate = 0.1, .reorder = 0.1});
    world_.set_hook([this](const link::sim::Departure &d) {
      NodeId to = 0;
      while (d.to != World::address_of(to))
        ++to;
      auto &last = seen_[to];
      if (last.size() == most_seen)
        last.erase(last.begin());
      last.emplace_back(d.bytes.begin(), d.bytes.end());
      const auto verdict = rewrite_ ? rewrite_(d) : link::sim::Verdict{};
      each_frame(d.bytes, [this, to](const wire::Frame &f) { note(to, f); });
      return verdict;
    });
    begin();
  }

  void run() {
    for (unsigned steps = 0; steps < 200 && !in_.empty(); ++steps) {
      step();
      check_counters();
    }
    rewrite_ = nullptr;
    world_.run_for(5s); // whatever is left times out
    check_counters();
    for (NodeId id = 0; id < world_.size(); ++id)
      if (world_.alive(id))
        world_.close(id);
    CHECK_EQ(world_.network().counters().misuse, 0u);
  }

private:
  static constexpr std::size_t most_seen = 16;
  static constexpr NodeId listener = 2;

  // Of the first byte: the link, what is spoken, how, and on what network.
  bool lossless() const { return how_ % 4 == 3; }
  bool connects() const { return (how_ >> 2) % 4 == 1; }
  bool datagrams() const { return (how_ >> 2) % 4 == 2; }
  // Node 1 is in no address book until it is introduced: nobody sends to it.
  bool reaches(NodeId from) const { return world_.alive(from) && !(from == 0 && stranger_); }

  // Enough of it for every timeout several times; of more nothing new comes, but hours of turns.
  void wait(Duration d) {
    d = std::min(d, patience_);
    patience_ -= d;
    world_.run_for(d);
  }

  Setup setup() {
    Setup s = setup_for(lossless());
    s.config.datagrams = datagrams();
    if (connects())
      s.role = Role::connection;
    s.backlog = 2;
    if (how_ & 0x20) {
      s.config.pull = false;
      s.config.rendezvous_host = s.config.rendezvous_device = 2000;
      s.source_err = true;
    }
    s.wrap = [this](std::unique_ptr<link::Port> port) {
      return std::make_unique<GuardedPull>(std::move(port), world_);
    };
    s.config.session.peer_timeout = s.config.connect_timeout = 2s;
    s.cq_size = 64;
    return s;
  }

  // Mostly so that they have spoken with each other before.
  void begin() {
    if (how_ & 0x80)
      return;
    if (connects()) {
      CHECK_EQ(world_.connect(0, listener), 0);
      world_.run_for(1ms);
      while (!world_.node(listener).requests().waiting.empty())
        answer_request(0, 0);
      world_.run_for(1ms);
    }
    const NodeId from = stranger_ ? 1 : 0;
    world_.try_receive(1 - from, 100);
    world_.try_send(from, 1 - from, bytes_of(100, 1));
    world_.run_for(1ms);
  }

  void step() {
    const std::uint8_t command = in_.byte();
    const NodeId node = command >> 7;
    if (connects() && command % 64 >= 48)
      return connect_step(node);
    switch (command % 30) {
    case 0:
    case 1:
      return send(node);
    case 2:
      return receive(node);
    case 3:
    case 4:
      return inject_changed(anyone(node));
    case 5:
    case 6:
    case 7:
      return inject_made(anyone(node));
    case 8:
      return change_next(node);
    case 9: // heard again
      if (const auto *bytes = seen(node))
        inject(node, *bytes, false);
      return;
    case 10:
      return world_.run_for(1us * in_.word());
    case 11:
      return wait(50ms * in_.byte());
    case 12:
      return cancel();
    case 13: // its service thread alone answers
      if (world_.alive(node))
        world_.compute_until(node, world_.now() + 20ms * in_.byte());
      return;
    case 14:
    case 15:
      return rma(node);
    case 16:
      return atomic(node);
    case 17:
    case 18:
      return inject_forged(anyone(node));
    case 19:
      return reopen(node);
    case 20:
    case 21:
    case 22:
      return transfer(node);
    case 23:
    case 24:
      return count(node);
    case 25:
      return change_counter(node);
    case 26:
      return introduce();
    case 27:
      return claim(node);
    case 28:
      return atomic(node);
    default:
      return restart(node);
    }
  }

  // --- The valid conversation

  void send(NodeId from) {
    if (!reaches(from))
      return;
    static constexpr std::size_t sizes[] = {0, 8, 1000, 3000, 20'000, 70'000};
    static constexpr std::uint64_t flags[] = {0,        FI_DELIVERY_COMPLETE, FI_MATCH_COMPLETE,
                                              FI_FENCE, FI_TRANSMIT_COMPLETE, FI_INJECT_COMPLETE};
    const std::uint8_t how = in_.byte();
    SendHow h;
    if (how & 1 && !datagrams())
      h.tag = how >> 1 & 1;
    if (how & 4)
      h.data = how;
    std::size_t size = sizes[in_.byte() % std::size(sizes)];
    if (datagrams())
      size = std::min(size, world_.node(from).endpoint().max_datagram());
    else
      h.flags = flags[(how >> 3) % std::size(flags)];
    keep(world_.try_send(from, 1 - from, bytes_of(size, how), h));
  }

  // A message that is waited for, or comes before.
  void transfer(NodeId from) {
    if (!reaches(from) || !world_.alive(1 - from))
      return;
    static constexpr std::size_t sizes[] = {1000, 5000, 20'000, 70'000};
    const std::uint8_t how = in_.byte();
    std::size_t size = sizes[how & 3], room = how & 4 ? size : 900;
    if (datagrams())
      size = std::min(size, world_.node(from).endpoint().max_datagram());
    SendHow h;
    if (how & 8 && !datagrams())
      h.flags = FI_MATCH_COMPLETE;
    h.pieces = 1 + (how >> 4 & 3);
    if (how & 64)
      keep(world_.try_receive(1 - from, room));
    keep(world_.try_send(from, 1 - from, bytes_of(size, how), h));
    if (how & 128)
      world_.run_for(1us * in_.byte());
    if (!(how & 64))
      keep(world_.try_receive(1 - from, room));
  }

  void receive(NodeId at) {
    if (!world_.alive(at))
      return;
    static constexpr std::size_t sizes[] = {0, 8, 900, 20'000, 100'000};
    static constexpr std::uint64_t flags[] = {
        0, 0, FI_MULTI_RECV, FI_PEEK, FI_PEEK | FI_DISCARD, FI_PEEK | FI_CLAIM};
    const std::uint8_t how = in_.byte();
    ReceiveHow h;
    if (how & 1 && !datagrams())
      h.tag = how >> 1 & 1;
    h.ignore = how >> 2 & 1;
    if (how & 8)
      h.src = 1 - at;
    h.flags = flags[(how >> 4) % std::size(flags)];
    if (datagrams())
      h.flags &= FI_MULTI_RECV;
    Op *const op = world_.try_receive(at, sizes[in_.byte() % std::size(sizes)], h);
    keep(op);
    if (op && h.flags & FI_CLAIM)
      claims_.push_back({op, h.tag});
  }

  // A message that has come is claimed; what has been is received, or is not wanted after all.
  void claim(NodeId node) {
    const std::uint8_t how = in_.byte();
    if (claims_.empty()) {
      if (reaches(1 - node) && world_.alive(node) && !datagrams())
        claim_next(node, how);
      return;
    }
    const auto at = claims_.begin() + how % static_cast<int>(claims_.size());
    const auto [op, tag] = *at;
    if (!op->finished())
      return;
    claims_.erase(at);
    if (!op->ok())
      return;
    op->done.clear();
    const std::uint64_t flags = how & 128 ? FI_CLAIM | FI_DISCARD : FI_CLAIM;
    const ssize_t rc = world_.post_receive(*op, {.tag = tag, .flags = flags});
    CHECK(rc == 0 || rc == -FI_EAGAIN || rc == -FI_EINVAL); // its sender may be gone, and the rest
  }

  void claim_next(NodeId at, std::uint8_t how) {
    static constexpr std::size_t sizes[] = {8, 3000, 20'000, 70'000};
    const std::optional<std::uint64_t> tag = how & 1;
    const std::size_t size = sizes[how >> 1 & 3];
    keep(world_.try_send(1 - at, at, bytes_of(size, how), {.tag = tag}));
    world_.run_for(1us * in_.byte());
    Op *const op = world_.try_receive(at, size, {.tag = tag, .flags = FI_PEEK | FI_CLAIM});
    if (op)
      claims_.push_back({op, tag});
  }

  void introduce() {
    if (!std::exchange(stranger_, false))
      return;
    world_.introduce(1);
  }

  // --- Connections

  // A node, or the listener.
  NodeId anyone(NodeId node) { return connects() && in_.byte() % 3 == 0 ? listener : node; }

  void connect_step(NodeId node) {
    const std::uint8_t what = in_.byte();
    const std::span data = data_;
    if (what % 8 < 2 && world_.alive(listener)) {
      if (!world_.node(listener).requests().waiting.empty())
        answer_request(what >> 3, node);
    } else if (what % 8 < 4 && world_.alive(node)) {
      const int rc = world_.connect(node, what & 8 ? 1 - node : listener, data.first(what));
      CHECK(rc == 0 || rc == -FI_EISCONN);
    } else if (what % 8 == 4 && world_.alive(node)) {
      const int rc = world_.shutdown(node);
      CHECK(rc == 0 || rc == -FI_ENOTCONN);
    } else if (what % 8 == 5) {
      restart(listener);
    } else {
      restart(node);
    }
  }

  void answer_request(std::uint8_t how, NodeId caller) {
    auto &waiting = world_.node(listener).requests().waiting;
    const auto at = waiting.begin() + how % static_cast<int>(waiting.size());
    const auto request = at->request;
    waiting.erase(at);
    if (how & 16)
      return world_.reject(listener, request.number, std::span(data_).first(how));
    world_.node(listener).forget(request.number);
    if (!world_.alive(1 - caller))
      return;
    const int rc = world_.accept(1 - caller, request, std::span(data_).first(how));
    CHECK(rc == 0 || rc == -FI_EISCONN);
  }

  // --- On memory

  static constexpr std::size_t region_size = 40'000;

  void expose(NodeId id) {
    regions_[id] = &world_.node(id).expose(region_size);
    export_counter(id, FI_REMOTE_WRITE);
    export_counter(id, FI_REMOTE_READ);
  }

  void reopen(NodeId id) {
    if (!world_.alive(id) || datagrams())
      return;
    const std::uint8_t how = in_.byte();
    if (how & 2 && reaches(1 - id)) { // while it is being read, or written
      const RemoteHow all{.key = regions_[id]->key()};
      keep(how & 4 ? world_.try_read(1 - id, id, region_size, all)
                   : world_.try_write(1 - id, id, bytes_of(region_size, how), all));
      world_.run_for(1us * in_.byte());
    }
    regions_[id]->close_for_good();
    if (how & 1)
      regions_[id] = &world_.node(id).expose(region_size);
  }

  // Mostly within the region, or about its end.
  RemoteHow place(NodeId at, std::size_t size) {
    const std::uint8_t how = in_.byte();
    RemoteHow h{.key = regions_[at] ? regions_[at]->key() : 1,
                .addr = region_size - std::min(size, region_size)};
    if (how & 1)
      h.addr = how & 2 ? in_.word() : 0;
    if (how % 32 == 4)
      h.key = in_.byte();
    if (how & 8)
      h.data = how;
    h.targets = 1 + (how >> 4 & 7);
    h.pieces = 1 + (how >> 6);
    return h;
  }

  void rma(NodeId from) {
    if (!reaches(from) || datagrams())
      return;
    static constexpr std::size_t sizes[] = {0, 8, 130, 1400, 3000, 20'000, 40'000, 40'001};
    static constexpr std::uint64_t flags[] = {0, FI_DELIVERY_COMPLETE, FI_FENCE, FI_INJECT};
    const std::uint8_t how = in_.byte();
    const std::size_t size = sizes[how & 7];
    RemoteHow h = place(1 - from, size);
    if (how & 8) {
      h.data.reset();
      h.flags = how & 16 ? FI_FENCE : 0;
      return keep(world_.try_read(from, 1 - from, size, h));
    }
    h.flags = flags[how >> 4 & 3];
    keep(world_.try_write(from, 1 - from, bytes_of(size, how), h));
  }

  void atomic(NodeId from) {
    if (!reaches(from) || datagrams())
      return;
    const std::uint8_t how = in_.byte();
    AtomicHow h{.op = static_cast<fi_op>(in_.byte() % (dpdkx::op::op_diff + 1)),
                .datatype =
                    static_cast<fi_datatype>(in_.byte() % (dpdkx::op::datatype_float8_e5m2 + 1)),
                .fetch = (how & 1) != 0};
    using dpdkx::op::AtomicKind;
    const bool compares = h.op >= FI_CSWAP && h.op <= FI_MSWAP;
    h.fetch |= h.op == FI_ATOMIC_READ;
    if (!dpdkx::op::atomic_defined(h.op, h.datatype,
                                   compares  ? AtomicKind::compare
                                   : h.fetch ? AtomicKind::fetch
                                             : AtomicKind::plain))
      return;
    const std::size_t element = dpdkx::op::atomic_size(h.datatype);
    const std::size_t size = (1 + (how >> 5)) % (dpdkx::op::max_atomic / element + 1) * element;
    if (size == 0)
      return;
    h.at = place(1 - from, size);
    h.at.targets = h.at.pieces = 1;
    std::vector<std::byte> compare;
    if (compares)
      compare = bytes_of(size, 1);
    keep(world_.try_atomic(from, 1 - from, bytes_of(size, how), h, compare));
  }

  // --- Counters

  struct Counter {
    std::uint64_t key;
    bool writable;              // not revoked, and with that right
    std::uint64_t stays_at = 0; // where it is not
  };

  void export_counter(NodeId id, std::uint64_t rights) {
    counters_[id].push_back(
        {world_.node(id).export_counter(rights), (rights & FI_REMOTE_WRITE) != 0});
  }

  void count(NodeId from) {
    if (!reaches(from) || datagrams())
      return;
    static constexpr std::uint64_t flags[] = {0, FI_DELIVERY_COMPLETE, FI_FENCE, 0};
    const std::uint8_t how = in_.byte();
    keep(world_.try_count(from, 1 - from,
                          {.key = how % 10u, .value = how, .flags = flags[how >> 6]}));
  }

  void change_counter(NodeId id) {
    const std::uint8_t how = in_.byte();
    auto &counters = counters_[id];
    if (!world_.alive(id))
      return;
    if (how % 4 < 2)
      return export_counter(id, how & 4 ? FI_REMOTE_WRITE : FI_REMOTE_READ);
    if (counters.empty())
      return;
    const auto at = counters.begin() + (how >> 2) % static_cast<int>(counters.size());
    if (how % 4 == 2) {
      world_.node(id).close_counter(at->key);
      counters.erase(at);
    } else if (at->writable) {
      at->stays_at = world_.node(id).counter(at->key);
      at->writable = false;
      world_.node(id).revoke_counter(at->key);
    }
  }

  void check_counters() {
    for (const NodeId id : {0, 1})
      for (const Counter &c : counters_[id])
        if (!c.writable || !asked_[id].contains(c.key))
          CHECK_EQ(world_.node(id).counter(c.key), c.stays_at);
  }

  void keep(Op *op) {
    if (op)
      ops_.push_back(op);
  }

  void cancel() {
    if (ops_.empty())
      return;
    Op &op = *ops_[in_.byte() % ops_.size()];
    if (world_.alive(op.node))
      world_.cancel(op);
  }

  void restart(NodeId id) {
    if (!world_.alive(id)) {
      world_.restart(id);
      if (id != listener)
        expose(id);
      return;
    }
    if (id != listener) {
      regions_[id] = nullptr;
      counters_[id].clear();
      asked_[id].clear();
    }
    std::erase_if(ops_, [id](const Op *op) { return op->node == id; });
    std::erase_if(claims_, [id](const Claim &c) { return c.op->node == id; });
    if (in_.byte() & 1)
      world_.kill(id);
    else
      world_.close(id);
  }

  // --- The hostile one

  const std::vector<std::byte> *seen(NodeId to) {
    const auto &last = seen_[to];
    return last.empty() ? nullptr : &last[last.size() - 1 - in_.byte() % last.size()];
  }

  void inject(NodeId to, std::vector<std::byte> bytes, bool repair = true) {
    if (repair && bytes.size() >= wire::packet_header_size) {
      bytes[2] |= std::byte{wire::packet_flag::checksummed};
      wire::seal(bytes);
    }
    each_frame(bytes, [this, to](const wire::Frame &f) { note_add(to, f); });
    const NodeId from = connects() && in_.byte() % 4 == 0 ? listener : to == 0 ? 1 : 0;
    world_.network().inject(World::address_of(from), World::address_of(to), bytes, 1us);
  }

  void change(std::span<std::byte> bytes) {
    for (unsigned edits = 1 + in_.byte() % 4; edits != 0 && !bytes.empty(); --edits) {
      // Headers more often than payload.
      const std::size_t at = in_.byte() & 1 ? in_.word() : in_.byte() % 96u;
      bytes[at % bytes.size()] = std::byte(in_.byte());
    }
  }

  void inject_changed(NodeId to) {
    const auto *original = seen(to);
    if (!original)
      return;
    std::vector<std::byte> bytes = *original;
    if (const std::size_t cut = in_.word(); cut < bytes.size() && in_.byte() % 4 == 0)
      bytes.resize(cut);
    change(bytes);
    inject(to, std::move(bytes));
  }

  // A header that fits the session, and a body from the input.
  void inject_made(NodeId to) {
    wire::PacketHeader header;
    const auto *original = seen(to);
    if (original) {
      std::span<const std::byte> bytes = *original;
      if (const auto h = wire::decode_header(bytes))
        header = *h;
    }
    const std::uint8_t how = in_.byte();
    header.type = wire::PacketType(how % 10);
    header.flags = in_.byte();
    header.pn = header.pn + static_cast<std::uint32_t>(static_cast<std::int8_t>(in_.byte()));
    std::vector<std::byte> bytes(wire::packet_header_size);
    wire::encode(bytes.data(), header);
    const auto body = in_.bytes(in_.word() % 1400);
    bytes.insert(bytes.end(), body.begin(), body.end());
    inject(to, std::move(bytes));
  }

  static void each_frame(std::span<const std::byte> datagram,
                         const std::function<void(const wire::Frame &)> &what) {
    const auto header = wire::decode_header(datagram);
    wire::AckBlock ack;
    if (!header || header->type != wire::PacketType::data ||
        (header->flags & wire::packet_flag::ack_block && !wire::decode_ack(datagram, ack)))
      return;
    wire::Frame f;
    while (wire::decode_frame(datagram, f) == wire::FrameResult::frame)
      what(f);
  }

  void note_add(NodeId to, const wire::Frame &f) {
    if (f.type == wire::FrameType::add)
      asked_[to].insert(f.add.key);
  }

  // What a node has been sent: the newest message number, connection and names of operations.
  void note(NodeId to, const wire::Frame &f) {
    note_add(to, f);
    const auto operation = [&](wire::OpId id) {
      auto &known = operations_;
      if (std::ranges::find(known, id) != known.end())
        return;
      if (known.size() == most_seen)
        known.erase(known.begin());
      known.push_back(id);
    };
    switch (f.type) {
    case wire::FrameType::message:
    case wire::FrameType::tagged:
      number_[to] = f.message.mn;
      return;
    case wire::FrameType::rts:
      number_[to] = f.rts.mn;
      return operation(f.rts.sender);
    case wire::FrameType::cts:
      operation(f.cts.sender);
      return operation(f.cts.receiver);
    case wire::FrameType::write:
      number_[to] = f.write.mn;
      return;
    case wire::FrameType::write_request:
      number_[to] = f.write_request.mn;
      return operation(f.write_request.sender);
    case wire::FrameType::read:
      number_[to] = f.read.mn;
      return operation(f.read.reader);
    case wire::FrameType::atomic:
      number_[to] = f.atomic.mn;
      return operation(f.atomic.reader);
    case wire::FrameType::add:
      number_[to] = f.add.mn;
      return;
    case wire::FrameType::connect:
    case wire::FrameType::accept:
    case wire::FrameType::ready:
    case wire::FrameType::reject:
    case wire::FrameType::shutdown:
      number_[to] = f.connection.mn;
      connection_ = f.connection.id;
      return;
    default:
      return;
    }
  }

  // A frame that its peer could have sent.
  void inject_forged(NodeId to) {
    const auto *original = seen(to);
    if (!original)
      return;
    std::span<const std::byte> rest = *original;
    auto header = wire::decode_header(rest);
    if (!header)
      return;
    header->type = wire::PacketType::data;
    header->flags = 0;
    header->pn = header->pn + 1u + in_.byte() % 32u;
    std::vector<std::byte> bytes(wire::packet_header_size);
    wire::encode(bytes.data(), *header);
    const NodeId at = to == listener ? 0 : to;
    const auto frame =
        forged_frame(in_, {.next = number_[to] + 1u,
                           .connection = connection_,
                           .operations = operations_,
                           .place = [&](std::size_t size) { return place(at, size); }});
    bytes.insert(bytes.end(), frame.begin(), frame.end());
    inject(to, std::move(bytes));
  }

  // The next datagram to a node is changed on its way; the only way to a
  // lossless port.
  void change_next(NodeId to) {
    unsigned skip = in_.byte() % 4;
    const auto from_input = in_.bytes(2 + in_.byte() % 12);
    std::vector<std::byte> edits(from_input.begin(), from_input.end());
    rewrite_ = [to, skip, edits](const link::sim::Departure &d) mutable {
      if (d.to != World::address_of(to) || edits.empty() || skip-- != 0)
        return link::sim::Verdict{};
      for (std::size_t i = 0; i + 1 < edits.size(); i += 2)
        if (!d.bytes.empty())
          d.bytes[static_cast<std::size_t>(edits[i]) % d.bytes.size()] = edits[i + 1];
      if (d.bytes.size() >= wire::packet_header_size &&
          (d.bytes[2] & std::byte{wire::packet_flag::checksummed}) != std::byte{})
        wire::seal(d.bytes);
      edits.clear(); // once
      return link::sim::Verdict{};
    };
  }

  Input in_;
  const std::uint8_t how_;
  World world_;
  bool stranger_ = (how_ & 0x10) && !connects();
  struct Claim {
    Op *op;
    std::optional<std::uint64_t> tag;
  };
  std::vector<Op *> ops_;
  std::vector<Claim> claims_;                   // asked for, or made
  Exposed *regions_[2] = {};                    // the one exposed last; null: none in this life
  std::vector<Counter> counters_[2];            // that are open
  std::set<std::uint64_t> asked_[3];            // keys of adds that each has been sent in this life
  dpdkx::MessageNumber number_[3];              // of messages sent to each
  std::uint64_t connection_ = 0;                // the last one's id
  std::vector<wire::OpId> operations_;          // named last
  std::vector<std::vector<std::byte>> seen_[3]; // the last datagrams sent to each
  const std::vector<std::byte> data_ = std::vector<std::byte>(256); // to say with a connection
  std::function<link::sim::Verdict(const link::sim::Departure &)> rewrite_;
  Duration patience_ = 20s;
};

} // namespace

// libFuzzer's entropic schedule takes longer than the run that it schedules; and a conversation is
// long from the start, where libFuzzer would take minutes to get there.
extern "C" int LLVMFuzzerInitialize(int *argc, char ***argv) {
  static std::vector<char *> arguments(*argv, *argv + *argc);
  static char schedule[] = "-entropic=0", length[] = "-len_control=0", most[] = "-max_len=1000";
  arguments.insert(arguments.begin() + 1, {schedule, length, most});
  arguments.push_back(nullptr);
  // What would be told is made, and nobody reads it.
  dpdkx::set_log_sink([](dpdkx::LogLevel, std::string_view) {});
  *argc = static_cast<int>(arguments.size()) - 1;
  *argv = arguments.data();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  try {
    Fuzz({data, size}).run();
  } catch (const std::exception &e) {
    fmt::print(stderr, "{}\n", e.what());
    std::abort();
  }
  if (const std::string late = take_late_failures(); !late.empty()) {
    fmt::print(stderr, "{}\n", late);
    std::abort();
  }
  return 0;
}
