// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Messengers joined by hand: what one commits stands in a queue until the test
// moves it, in whatever order; acks, credit and pushes go when the test says so.
// run() does what an engine would, until nothing is left to do.
#pragma once

#include "allocations.h"
#include "calls.h"
#include "dpdkx/op/messenger.h"

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "unit/unit.h" // last: cmocka defines fail

namespace lab {

using namespace dpdkx;
using namespace dpdkx::op;
using wire::FrameType;

// A packet of one frame, on its way.
struct Packet {
  PacketNumber pn;
  Bytes frames; // without what the operation's memory holds
  const TxOp *source = nullptr;
  std::uint32_t generation = 0; // of the source when the packet was made
  std::uint64_t offset = 0;
  std::uint32_t tail = 0;
  Load load = Load::any;

  // Reads the operation's memory: it must still be there.
  Bytes bytes() const;
  FrameType type() const { return static_cast<FrameType>(frames[0]); }
};

// A peer, and the direction to it.
struct Remote : Peer {
  std::deque<Packet> out;
  PacketNumber next_pn{0xfffffff0}, acked{0xfffffff0};
  bool push = false, ack = false;
  unsigned probes = 0, awaited = 0;
  std::string violation;
  bool failed_later = false; // a violation wants it failed
};

struct Options {
  bool lossless = false, can_pull = true;
  std::uint16_t max_frames = 1000;
  std::uint32_t credit = 256; // units
  std::uint32_t first_mn = 0xfffffffd;
  Limits limits{.tx_size = 64,
                .rx_size = 64,
                .rendezvous_host = 16384,
                .rendezvous_device = 8192,
                .unexpected_pool = 1u << 20,
                .unexpected_peer = 256u << 10,
                .pull = true};
  QueueOptions queues{};
  bool open = true; // the sessions are up
};

class Side final : public Outlet {
public:
  static constexpr unsigned max_peers = 3;

  Side(const Options &, unsigned self, unsigned peers);
  ~Side();

  // As the application calls, with memory of the lab's own.
  Call &send(unsigned to, Bytes, const SendHow & = {});
  Call &receive(std::size_t size, const ReceiveHow & = {});
  ssize_t try_send(Call &, unsigned to, const SendHow & = {});
  ssize_t try_receive(Call &, const ReceiveHow & = {});
  Call &peek(const ReceiveHow & = {});
  void lose(unsigned peer, int error); // Messenger::fail, which cmocka has a macro for
  void reap() { queues.reap(); }
  std::vector<FrameType> in_flight(unsigned to) const;
  Remote &to(unsigned peer) { return *remotes[peer]; }
  bool on_frame(unsigned from, const wire::Frame &);

  // --- Outlet
  std::byte *begin(Peer &, std::uint32_t len, Load) override;
  PacketNumber commit(Peer &, std::uint32_t len, const TxOp *, std::uint64_t,
                      std::uint32_t tail) override;
  void await_ack(Peer &p) override { ++remote(p).awaited; }
  void want_push(Peer &p) override { remote(p).push = true; }
  void want_ack(Peer &p) override { remote(p).ack = true; }
  void want_ack_soon(Peer &p) override { remote(p).ack = true; }
  void want_told(Peer &p) override { remote(p).ack = true; }
  void tell_in_order(Peer &) override {}
  void await_told(Peer &) override {}
  void want_probe(Peer &p) override { ++remote(p).probes; }
  PacketNumber acked(const Peer &p) const override { return static_cast<const Remote &>(p).acked; }
  bool lives(Peer &) override { return !gone; }
  void on_connection(Peer &, const wire::ConnectionFrame &f) override;
  void violation(Peer &, const char *what) override;
  void out_of_memory(Peer &) override;
  int pull(Peer &, std::span<const iovec> local, std::span<const iovec> remote) override;
  std::size_t raw_address(const Peer &, std::byte (&out)[32]) const override;

  std::vector<std::pair<wire::ConnectionFrame, Bytes>> connection_frames; // with their data
  std::size_t room = SIZE_MAX; // packets that begin() still has room for
  bool gone = false;           // its peers
  int pull_result = 0;
  unsigned pulls = 0;

  Queues queues;
  std::unique_ptr<Messenger> m;
  std::vector<std::unique_ptr<Remote>> remotes; // by number; one's own is not used
  std::deque<Call> calls;

private:
  static Remote &remote(Peer &p) { return static_cast<Remote &>(p); }

  Bytes scratch_;
  std::uint32_t begun_ = 0; // bytes of a begin() without its commit()
  Load load_ = Load::any;   // ... and what they are
};

class Lab {
public:
  explicit Lab(const Options & = {}, unsigned sides = 2);

  Side &a, &b;
  Side &side(unsigned i) { return *sides_[i]; }

  void open(unsigned from, unsigned to); // the session is up at `from`
  // Takes a packet off the queue and hands its frame on. What on_frame() says.
  bool deliver(unsigned from, unsigned to, std::size_t which = 0);
  void deliver_all(unsigned from, unsigned to); // in order; every frame must make sense
  // What `from` has received and processed, and its credit, gets to `to`.
  void tell(unsigned from, unsigned to);
  void push(unsigned from, unsigned to); // as the engine's turn does
  void run();                            // all of it, until nothing happens any more

private:
  Lab(const Options &, std::vector<std::unique_ptr<Side>>);

  std::vector<std::unique_ptr<Side>> sides_;
  const Options options_;
};

} // namespace lab
