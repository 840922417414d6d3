// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The paper's hybrid: what a rank's peers send to its bulk port comes to a queue
// that the rank polls by itself, all else the way that it takes otherwise. That
// queue is a port of its own at the simulated network, at the next port number.
#pragma once

#include "harness/forwarding_port.h"

#include <cstring>
#include <vector>

namespace queues {

class HybridPort final : public harness::ForwardingPort {
public:
  HybridPort(std::unique_ptr<dpdkx::link::Port> eager, std::unique_ptr<dpdkx::link::Port> own)
      : ForwardingPort(std::move(eager)), own_(std::move(own)) {}

  static dpdkx::Address own_address(dpdkx::Address of) {
    ++of.port;
    return of;
  }

  std::uint16_t bulk_port() const override { return own_->address().port; }
  void set_bulk_port(dpdkx::link::PathId path, std::uint16_t port) override {
    forget(path);
    dpdkx::Address peer = ForwardingPort::peer_address(path);
    peer.port = port;
    dpdkx::link::PathId own = none;
    if (port == 0 || own_->open_path(peer, own) != 0)
      return;
    put(own_of_, path, own);
    put(path_of_, own, path);
  }
  void close_path(dpdkx::link::PathId path) override {
    forget(path);
    ForwardingPort::close_path(path);
  }

  void commit(dpdkx::link::PathId path, const dpdkx::link::TxRoom &room,
              std::uint32_t len) override {
    const auto own = get(own_of_, path);
    if (own == none || !room.bulk)
      return ForwardingPort::commit(path, room, len);
    const dpdkx::link::TxRoom there = own_->reserve(own, len);
    if (there.data == nullptr)
      return ForwardingPort::commit(path, room, len);
    std::memcpy(there.data, room.data, len);
    own_->commit(own, there, len);
    ForwardingPort::cancel(path, room);
  }
  void flush() override {
    ForwardingPort::flush();
    own_->flush();
  }

  // By turns, so that neither starves.
  unsigned poll(dpdkx::link::RxDatagram *out, unsigned max) override {
    for (int i = 0; i < 2; ++i) {
      from_own_ = !from_own_;
      const unsigned n = from_own_ ? poll_own(out, max) : ForwardingPort::poll(out, max);
      if (n != 0)
        return n;
    }
    return 0;
  }
  void release(dpdkx::link::RxDatagram *datagrams, unsigned n) override {
    from_own_ ? own_->release(datagrams, n) : ForwardingPort::release(datagrams, n);
  }
  dpdkx::Address source(const dpdkx::link::RxDatagram &d) const override {
    if (!from_own_)
      return ForwardingPort::source(d);
    dpdkx::Address from = own_->source(d);
    --from.port;
    return from;
  }
  unsigned poll_events(dpdkx::link::PathEvent *out, unsigned max, dpdkx::Time now) override {
    dpdkx::link::PathEvent unused[8];
    (void)own_->poll_events(unused, 8, now); // paths there are up at once
    return ForwardingPort::poll_events(out, max, now);
  }

private:
  static constexpr dpdkx::link::PathId none = dpdkx::link::PathId::none;
  using Ids = std::vector<dpdkx::link::PathId>;

  static void put(Ids &ids, dpdkx::link::PathId at, dpdkx::link::PathId value) {
    const auto i = static_cast<std::size_t>(at);
    if (i >= ids.size())
      ids.resize(i + 1, none);
    ids[i] = value;
  }
  static dpdkx::link::PathId get(const Ids &ids, dpdkx::link::PathId at) {
    const auto i = static_cast<std::size_t>(at);
    return i < ids.size() ? ids[i] : none;
  }

  unsigned poll_own(dpdkx::link::RxDatagram *out, unsigned max) {
    const unsigned n = own_->poll(out, max);
    for (unsigned i = 0; i < n; ++i)
      out[i].path = get(path_of_, out[i].path);
    return n;
  }

  void forget(dpdkx::link::PathId path) {
    const auto own = get(own_of_, path);
    if (own == none)
      return;
    put(path_of_, own, none);
    put(own_of_, path, none);
    own_->close_path(own);
  }

  const std::unique_ptr<dpdkx::link::Port> own_;
  Ids own_of_, path_of_; // by path, and by the path there
  bool from_own_ = false;
};

} // namespace queues
