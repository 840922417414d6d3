// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A port that hands every call on to another. Tests that stand between an engine
// and its link derive from it, and override what they change.
#pragma once

#include "dpdkx/link/link.h"

#include <memory>
#include <utility>

namespace harness {

namespace link = dpdkx::link;

class ForwardingPort : public link::Port {
public:
  explicit ForwardingPort(std::unique_ptr<link::Port> port) : port_(std::move(port)) {}

  const link::Traits &traits() const override { return port_->traits(); }
  const dpdkx::Address &address() const override { return port_->address(); }
  std::uint16_t bulk_port() const override { return port_->bulk_port(); }
  int open_path(const dpdkx::Address &peer, link::PathId &path) override {
    return port_->open_path(peer, path);
  }
  int join(const dpdkx::Address &group, bool receives, link::PathId &path) override {
    return port_->join(group, receives, path);
  }
  void close_path(link::PathId path) override { port_->close_path(path); }
  void set_bulk_port(link::PathId path, std::uint16_t port) override {
    port_->set_bulk_port(path, port);
  }
  dpdkx::Address peer_address(link::PathId path) const override {
    return port_->peer_address(path);
  }
  link::TxRoom reserve(link::PathId path, std::uint32_t len) override {
    return port_->reserve(path, len);
  }
  void commit(link::PathId path, const link::TxRoom &room, std::uint32_t len) override {
    port_->commit(path, room, len);
  }
  void cancel(link::PathId path, const link::TxRoom &room) override { port_->cancel(path, room); }
  void flush() override { port_->flush(); }
  void tell(link::PathId path, std::uint64_t word) override { port_->tell(path, word); }
  std::uint64_t told(link::PathId path) const override { return port_->told(path); }
  unsigned poll(link::RxDatagram *out, unsigned max) override { return port_->poll(out, max); }
  void release(link::RxDatagram *d, unsigned n) override { port_->release(d, n); }
  dpdkx::Address source(const link::RxDatagram &d) const override { return port_->source(d); }
  void reply(const link::RxDatagram &to, std::span<const std::byte> bytes) override {
    port_->reply(to, bytes);
  }
  bool origin(const link::RxDatagram &d, link::Origin &out) const override {
    return port_->origin(d, out);
  }
  bool reply_to(const link::Origin &to, std::span<const std::byte> bytes) override {
    return port_->reply_to(to, bytes);
  }
  void note_session(link::PathId path, std::uint64_t local, std::uint64_t peer) override {
    port_->note_session(path, local, peer);
  }
  bool lives(link::PathId path, dpdkx::Time now) override { return port_->lives(path, now); }
  unsigned poll_events(link::PathEvent *out, unsigned max, dpdkx::Time now) override {
    return port_->poll_events(out, max, now);
  }
  int pull(link::PathId path, std::span<const iovec> local,
           std::span<const iovec> remote) override {
    return port_->pull(path, local, remote);
  }
  int wait_fd() override { return port_->wait_fd(); }
  bool arm() override { return port_->arm(); }
  void disarm() override { port_->disarm(); }
  bool blocked() const override { return port_->blocked(); }
  link::PortCounters counters() const override { return port_->counters(); }

private:
  const std::unique_ptr<link::Port> port_;
};

} // namespace harness
