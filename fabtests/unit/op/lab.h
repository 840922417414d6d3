// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Messengers joined by hand: what one commits stands in a queue until the test
// moves it, in whatever order; acks, credit and pushes go when the test says so.
// run() does what an engine would, until nothing is left to do.
#pragma once

#include "allocations.h"
#include "dpdkx/op/messenger.h"
#include "util_ext/domain.h"

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "unit/unit.h" // last: cmocka defines fail

namespace lab {

using namespace dpdkx;
using namespace dpdkx::op;
using Bytes = std::vector<std::byte>;
using wire::FrameType;

inline Bytes pattern(std::size_t len, unsigned seed = 1) {
  Bytes b(len);
  for (std::size_t i = 0; i < len; ++i)
    b[i] = static_cast<std::byte>(i * 7 + seed * 131 + (i >> 8));
  return b;
}

// What to send beyond the bytes.
struct SendHow {
  std::optional<std::uint64_t> tag{};  // tagged
  std::optional<std::uint64_t> data{}; // FI_REMOTE_CQ_DATA
  std::uint64_t flags = 0;             // besides FI_COMPLETION
  std::size_t pieces = 1;              // iov entries that the memory is cut into
  bool silent = false;                 // without FI_COMPLETION
};

struct ReceiveHow {
  std::optional<std::uint64_t> tag{};
  std::uint64_t ignore = 0;
  fi_addr_t src = FI_ADDR_UNSPEC;
  std::uint64_t flags = 0; // besides FI_COMPLETION
  std::size_t pieces = 1;
};

// One completion, as read from the CQ.
struct Done {
  std::uint64_t flags = 0;
  std::size_t len = 0;
  std::byte *buf = nullptr;
  std::uint64_t data = 0, tag = 0;
  fi_addr_t src = FI_ADDR_NOTAVAIL;
  int err = 0; // positive
  std::size_t olen = 0;
  Bytes err_data{};
};

// One call of the application, its memory, and what became of it.
struct Call {
  Bytes memory;
  std::vector<iovec> iov;
  std::vector<Done> done;

  explicit Call(Bytes bytes = {}, std::size_t pieces = 1);
  Call(const Call &) = delete;
  bool open() const { return done.empty(); }
  bool ok() const { return done.size() == 1 && done[0].err == 0; }
  int error() const { return done.size() == 1 ? done[0].err : 0; }
  bool holds(const Bytes &b) const { return memory == b; }
  bool starts_with(const Bytes &) const;
};

class Domain final : public util_ext::Domain, private util_ext::WaitSource {
public:
  Domain();
  void progress() override {}
  util_ext::WaitSource &wait_source() override { return *this; }

private:
  int fd() override { return -1; }
  bool arm() override { return false; }
  void disarm() override {}
};

// A packet of one frame, on its way.
struct Packet {
  PacketNumber pn;
  Bytes frames; // without what the operation's memory holds
  const TxOp *source = nullptr;
  std::uint32_t generation = 0; // of the source when the packet was made
  std::uint64_t offset = 0;
  std::uint32_t tail = 0;

  // Reads the operation's memory: it must still be there.
  Bytes bytes() const;
  FrameType type() const { return static_cast<FrameType>(frames[0]); }
};

// A peer, and the direction to it.
struct Remote : Peer {
  std::deque<Packet> out;
  PacketNumber next_pn{0xfffffff0}, acked{0xfffffff0};
  bool push = false, ack = false;
  unsigned probes = 0;
  std::string violation;
  bool failed_later = false; // a violation wants it failed
};

struct Options {
  bool lossless = false, can_pull = true;
  std::uint32_t max_frames = 1000;
  std::uint32_t credit = 256; // units
  std::uint32_t first_mn = 0xfffffffd;
  Limits limits{.tx_size = 64,
                .rx_size = 64,
                .rendezvous_host = 16384,
                .rendezvous_device = 8192,
                .unexpected_pool = 1u << 20,
                .unexpected_peer = 256u << 10,
                .pull = true};
  bool source_err = false;
  std::size_t cq_size = 256;
  bool cqs = true;
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
  void reap();                         // completions to their calls
  std::vector<FrameType> in_flight(unsigned to) const;
  Remote &to(unsigned peer) { return *remotes[peer]; }
  bool on_frame(unsigned from, const wire::Frame &);

  // --- Outlet
  std::byte *begin(Peer &, std::uint32_t len) override;
  PacketNumber commit(Peer &, std::uint32_t len, const TxOp *, std::uint64_t,
                      std::uint32_t tail) override;
  void want_push(Peer &p) override { remote(p).push = true; }
  void want_ack(Peer &p) override { remote(p).ack = true; }
  void want_probe(Peer &p) override { ++remote(p).probes; }
  PacketNumber acked(const Peer &p) const override { return static_cast<const Remote &>(p).acked; }
  void violation(Peer &, const char *what) override;
  int pull(Peer &, std::span<const iovec> local, std::span<const iovec> remote) override;
  std::size_t raw_address(const Peer &, std::byte (&out)[32]) const override;

  std::size_t room = SIZE_MAX; // packets that begin() still has room for
  int pull_result = 0;
  unsigned pulls = 0;

  Domain domain;
  Completers completers;
  std::unique_ptr<Messenger> m;
  std::vector<std::unique_ptr<Remote>> remotes; // by number; one's own is not used
  std::deque<Call> calls;
  std::uint64_t sends_ok() const { return completers.tx_cntr->value(); }
  std::uint64_t sends_failed() const { return completers.tx_cntr->errors(); }
  std::uint64_t receives_ok() const { return completers.rx_cntr->value(); }
  std::uint64_t receives_failed() const { return completers.rx_cntr->errors(); }

private:
  static Remote &remote(Peer &p) { return static_cast<Remote &>(p); }
  void reap(util_ext::Cq &);

  fid_cq *tx_cq_ = nullptr, *rx_cq_ = nullptr;
  fid_cntr *tx_cntr_ = nullptr, *rx_cntr_ = nullptr;
  Bytes scratch_;
  std::uint32_t begun_ = 0; // bytes of a begin() without its commit()
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
