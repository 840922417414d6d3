// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Two live endpoints with a session talk to each other while datagrams come in
// that the input has made: of whole cloth, or from what they have just sent,
// with checksums repaired, so that they get as far as they can. Both expose
// memory to each other, and close it again. Whatever comes, nothing may crash,
// leak or hang, memory that was not given to the engine, or is not registered any
// more, is not touched, and an operation completes once.
//
// The input is a series of commands, see Fuzz::step().
#include "fuzz/forged_frame.h"
#include "fuzz/input.h"
#include "sim/common/world.h"

#include "dpdkx/op/atomic.h"
#include "dpdkx/wire/packet.h"
#include "harness/forwarding_port.h"
#include "sim/common/check.h"
#include "sim/common/payload.h"

#include <algorithm>
#include <cstdlib>

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
  Fuzz(std::span<const std::uint8_t> bytes)
      : in_(bytes), lossless_(in_.byte() % 4 == 3), world_(1, setup()) {
    world_.add(2);
    world_.on_remote = [](NodeId, const Done &) {}; // forged ones tell anything
    for (NodeId id = 0; id < 2; ++id)
      expose(id);
    world_.set_hook([this](const link::sim::Departure &d) {
      const NodeId to = d.to == World::address_of(0) ? 0 : 1;
      note_number(to, d.bytes);
      auto &last = seen_[to];
      if (last.size() == most_seen)
        last.erase(last.begin());
      last.emplace_back(d.bytes.begin(), d.bytes.end());
      return rewrite_ ? rewrite_(d) : link::sim::Verdict{};
    });
    world_.receive(1, 100, {.tag = 1});
    world_.send(0, 1, bytes_of(100, 1), {.tag = 1});
    world_.run_for(1ms);
  }

  void run() {
    for (unsigned steps = 0; steps < 200 && !in_.empty(); ++steps)
      step();
    rewrite_ = nullptr;
    world_.run_for(5s); // whatever is left times out
    for (NodeId id = 0; id < 2; ++id)
      if (world_.alive(id))
        world_.close(id);
    CHECK_EQ(world_.network().counters().misuse, 0u);
  }

private:
  static constexpr std::size_t most_seen = 16;

  Setup setup() {
    Setup s = setup_for(lossless_);
    s.wrap = [this](std::unique_ptr<link::Port> port) {
      return std::make_unique<GuardedPull>(std::move(port), world_);
    };
    s.config.session.peer_timeout = s.config.connect_timeout = 2s;
    s.cq_size = 64;
    return s;
  }

  void step() {
    const std::uint8_t command = in_.byte();
    const NodeId node = command >> 7;
    switch (command % 21) {
    case 0:
    case 1:
      return send(node);
    case 2:
      return receive(node);
    case 3:
    case 4:
      return inject_changed(node);
    case 5:
    case 6:
    case 7:
      return inject_made(node);
    case 8:
      return change_next(node);
    case 9: // heard again
      if (const auto *bytes = seen(node))
        inject(node, *bytes, false);
      return;
    case 10:
      return world_.run_for(1us * in_.word());
    case 11:
      return world_.run_for(50ms * in_.byte());
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
      return inject_remote(node);
    case 19:
      return reopen(node);
    default:
      return restart(node);
    }
  }

  // --- The valid conversation

  void send(NodeId from) {
    if (!world_.alive(from))
      return;
    static constexpr std::size_t sizes[] = {0, 8, 1000, 3000, 20'000, 70'000};
    static constexpr std::uint64_t flags[] = {0,        FI_DELIVERY_COMPLETE, FI_MATCH_COMPLETE,
                                              FI_FENCE, FI_TRANSMIT_COMPLETE, FI_INJECT_COMPLETE};
    const std::uint8_t how = in_.byte();
    SendHow h;
    if (how & 1)
      h.tag = how >> 1 & 1;
    if (how & 4)
      h.data = how;
    h.flags = flags[(how >> 3) % std::size(flags)];
    keep(world_.try_send(from, 1 - from, bytes_of(sizes[in_.byte() % std::size(sizes)], how), h));
  }

  void receive(NodeId at) {
    if (!world_.alive(at))
      return;
    static constexpr std::size_t sizes[] = {0, 8, 900, 20'000, 100'000};
    static constexpr std::uint64_t flags[] = {
        0, 0, FI_MULTI_RECV, FI_PEEK, FI_PEEK | FI_DISCARD, FI_PEEK | FI_CLAIM};
    const std::uint8_t how = in_.byte();
    ReceiveHow h;
    if (how & 1)
      h.tag = how >> 1 & 1;
    h.ignore = how >> 2 & 1;
    if (how & 8)
      h.src = 1 - at;
    h.flags = flags[(how >> 4) % std::size(flags)];
    keep(world_.try_receive(at, sizes[in_.byte() % std::size(sizes)], h));
  }

  // --- On memory

  static constexpr std::size_t region_size = 40'000;

  void expose(NodeId id) { regions_[id] = &world_.node(id).expose(region_size); }

  void reopen(NodeId id) {
    if (!world_.alive(id))
      return;
    regions_[id]->close_for_good();
    if (in_.byte() & 1)
      expose(id);
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
    if (!world_.alive(from))
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
    if (!world_.alive(from))
      return;
    static constexpr fi_op ops[] = {FI_SUM, FI_ATOMIC_WRITE, FI_ATOMIC_READ, FI_CSWAP};
    static constexpr fi_datatype types[] = {FI_UINT8, FI_UINT64, FI_DOUBLE, FI_LONG_DOUBLE_COMPLEX};
    const std::uint8_t how = in_.byte();
    AtomicHow h{.op = ops[how & 3], .datatype = types[how >> 2 & 3], .fetch = (how & 16) != 0};
    const std::size_t element = dpdkx::op::atomic_size(h.datatype);
    const std::size_t size = (1 + (how >> 5)) % (dpdkx::op::max_atomic / element + 1) * element;
    if (size == 0)
      return;
    h.at = place(1 - from, size);
    h.at.targets = h.at.pieces = 1;
    std::vector<std::byte> compare;
    if (h.op == FI_CSWAP)
      compare = bytes_of(size, 1);
    h.fetch |= h.op == FI_ATOMIC_READ;
    keep(world_.try_atomic(from, 1 - from, bytes_of(size, how), h, compare));
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
      return expose(id);
    }
    regions_[id] = nullptr;
    std::erase_if(ops_, [id](const Op *op) { return op->node == id; });
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
    world_.network().inject(World::address_of(1 - to), World::address_of(to), bytes, 1us);
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

  // The newest message number that was sent to a node.
  void note_number(NodeId to, std::span<const std::byte> datagram) {
    const auto header = wire::decode_header(datagram);
    wire::AckBlock ack;
    if (!header || header->type != wire::PacketType::data ||
        (header->flags & wire::packet_flag::ack_block && !wire::decode_ack(datagram, ack)))
      return;
    wire::Frame f;
    while (wire::decode_frame(datagram, f) == wire::FrameResult::frame)
      if (f.type == wire::FrameType::write)
        number_[to] = f.write.mn;
      else if (f.type == wire::FrameType::read)
        number_[to] = f.read.mn;
      else if (f.type == wire::FrameType::atomic)
        number_[to] = f.atomic.mn;
      else if (f.type == wire::FrameType::tagged || f.type == wire::FrameType::message)
        number_[to] = f.message.mn;
  }

  // A frame that does something to a node's memory, as its peer could have sent it.
  void inject_remote(NodeId to) {
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
    const auto frame = forged_frame(in_, number_[to] + 1u + in_.byte() % 8u,
                                    [&](std::size_t size) { return place(to, size); });
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
  const bool lossless_;
  World world_;
  std::vector<Op *> ops_;
  Exposed *regions_[2] = {}; // the one exposed last; null: none in this life
  dpdkx::MessageNumber number_[2];
  std::vector<std::vector<std::byte>> seen_[2]; // the last datagrams sent to each
  std::function<link::sim::Verdict(const link::sim::Departure &)> rewrite_;
};

} // namespace

// libFuzzer's entropic schedule takes longer than the run that it schedules.
extern "C" int LLVMFuzzerInitialize(int *argc, char ***argv) {
  static std::vector<char *> arguments(*argv, *argv + *argc);
  static char option[] = "-entropic=0";
  arguments.insert(arguments.begin() + 1, option);
  arguments.push_back(nullptr);
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
