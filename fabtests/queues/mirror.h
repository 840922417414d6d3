// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A device in memory that reflects each datagram at once to the port that sent
// it: what is left of a network where nothing but who polls it costs time.
#pragma once

#include "dpdkx/link/ethdev/module.h"

#include <cstring>
#include <memory>
#include <sys/eventfd.h>
#include <unistd.h>
#include <vector>

namespace queues {

class MirrorPort final : public dpdkx::link::Port {
public:
  // `wakes`: who sleeps can wait for it (nothing ever comes by itself). `takes`: of its user's
  // processor time for a datagram, each way, as a driver does.
  MirrorPort(const dpdkx::Address &address, bool wakes, dpdkx::Duration takes = {})
      : address_(address), takes_(takes), memory_(slots * slot_size), lengths_(slots),
        paths_(slots), event_(wakes ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1) {}
  ~MirrorPort() override {
    if (event_ >= 0)
      ::close(event_);
  }

  const dpdkx::link::Traits &traits() const override { return traits_; }
  const dpdkx::Address &address() const override { return address_; }
  int open_path(const dpdkx::Address &peer, dpdkx::link::PathId &path) override {
    path = dpdkx::link::PathId(static_cast<std::uint32_t>(peers_.size()));
    peers_.push_back(peer);
    return 0;
  }
  void close_path(dpdkx::link::PathId) override {}
  dpdkx::Address peer_address(dpdkx::link::PathId path) const override {
    return peers_[static_cast<std::size_t>(path)];
  }

  dpdkx::link::TxRoom reserve(dpdkx::link::PathId, std::uint32_t len) override {
    if (committed_ - head_ == slots)
      return {};
    return {slot(committed_), len, nullptr};
  }
  void commit(dpdkx::link::PathId path, const dpdkx::link::TxRoom &, std::uint32_t len) override {
    lengths_[committed_ % slots] = len;
    paths_[committed_ % slots] = path;
    ++committed_;
  }
  void cancel(dpdkx::link::PathId, const dpdkx::link::TxRoom &) override {}
  void flush() override {
    spend(committed_ - flushed_);
    flushed_ = committed_;
  }

  unsigned poll(dpdkx::link::RxDatagram *out, unsigned max) override {
    while (polled_ < max && head_ + polled_ != flushed_) {
      const std::uint64_t at = head_ + polled_;
      out[polled_++] = {slot(at), lengths_[at % slots], paths_[at % slots], nullptr};
    }
    spend(polled_);
    return polled_;
  }
  void release(dpdkx::link::RxDatagram *, unsigned n) override {
    head_ += n;
    polled_ = 0;
  }

  dpdkx::Address source(const dpdkx::link::RxDatagram &d) const override {
    return peer_address(d.path);
  }
  void reply(const dpdkx::link::RxDatagram &, std::span<const std::byte>) override {}
  unsigned poll_events(dpdkx::link::PathEvent *out, unsigned max, dpdkx::Time) override {
    unsigned n = 0;
    for (; n < max && told_ < peers_.size(); ++told_)
      out[n++] = {dpdkx::link::PathEventKind::up,
                  dpdkx::link::PathId(static_cast<std::uint32_t>(told_)), 0};
    return n;
  }
  int wait_fd() override { return event_; }
  bool arm() override { return head_ == flushed_; }
  dpdkx::link::PortCounters counters() const override { return {}; }

private:
  static constexpr std::uint64_t slots = 512, slot_size = 2048;
  std::byte *slot(std::uint64_t position) { return memory_.data() + position % slots * slot_size; }

  void spend(std::uint64_t datagrams) const {
    if (takes_ == dpdkx::Duration{} || datagrams == 0)
      return;
    const dpdkx::Clock &clock = dpdkx::SystemClock::instance();
    const dpdkx::Time until = clock.now() + static_cast<std::int64_t>(datagrams) * takes_;
    while (clock.now() < until) {
    }
  }

  static constexpr dpdkx::link::Traits traits_{.lossless = false,
                                               .ordered = false,
                                               .checksum = true,
                                               .can_pull = false,
                                               .max_datagram = 1472};
  const dpdkx::Address address_;
  const dpdkx::Duration takes_;
  std::vector<std::byte> memory_;
  std::vector<std::uint32_t> lengths_;
  std::vector<dpdkx::link::PathId> paths_;
  std::vector<dpdkx::Address> peers_;
  std::size_t told_ = 0;
  std::uint64_t head_ = 0, flushed_ = 0, committed_ = 0;
  unsigned polled_ = 0;
  const int event_;
};

class MirrorDevice final : public dpdkx::link::Device {
public:
  explicit MirrorDevice(bool wakes, dpdkx::Duration takes = {}) : wakes_(wakes), takes_(takes) {
    info_.name = info_.link_name = "mirror";
    info_.driver = "memory";
    const dpdkx::Address address = dpdkx::Address::v4(0x0a4d0001, 0);
    std::memcpy(info_.address.address.bytes.data(), address.ip.data(), address.ip.size());
    info_.address.prefix = 24;
    info_.mtu = 1500;
  }
  const dpdkx::link::DeviceInfo &info() const override { return info_; }
  int open_port(const dpdkx::Address &wanted, const dpdkx::link::PortOptions &,
                std::unique_ptr<dpdkx::link::Port> &out, std::string &) override {
    out = std::make_unique<MirrorPort>(wanted, wakes_, takes_);
    return 0;
  }
  std::vector<std::pair<std::string, std::uint64_t>> statistics() const override { return {}; }

private:
  const bool wakes_;
  const dpdkx::Duration takes_;
  dpdkx::link::DeviceInfo info_;
};

} // namespace queues
