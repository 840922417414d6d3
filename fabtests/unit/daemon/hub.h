// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A device that carries datagrams between its own ports, in order and without
// loss but where a receiver's queue is full. For a daemon's thread alone.
#pragma once

#include "unit/daemon/fakes.h"

#include <map>
#include <sys/eventfd.h>

namespace daemon_test {

class Hub final : public link::Device {
public:
  explicit Hub(bool wakes = true) : wakes_(wakes) {
    info_.name = info_.link_name = "net0";
    info_.address = {.address = net::Ip(Address::v4(0x0a010001, 0).ip), .prefix = 24};
    info_.mtu = 1500;
  }

  const link::DeviceInfo &info() const override { return info_; }
  int open_port(const Address &wanted, const link::PortOptions &, std::unique_ptr<link::Port> &out,
                std::string &error) override {
    if (!wanted.is_any() && wanted.ip != info_.address.address.bytes) {
      error = "not its address";
      return -EADDRNOTAVAIL;
    }
    if (ports_.count(wanted.port) != 0) {
      error = "taken";
      return -EADDRINUSE;
    }
    Address address = wanted;
    address.ip = info_.address.address.bytes;
    out = std::make_unique<HubPort>(*this, address);
    return 0;
  }
  std::vector<std::pair<std::string, std::uint64_t>> statistics() const override {
    return {{"ports", ports_.size()}};
  }

private:
  struct Arrival {
    Address from;
    std::string text;
  };

  class HubPort final : public link::Port {
  public:
    HubPort(Hub &hub, const Address &address) : hub_(hub), address_(address) {
      hub_.ports_[address.port] = this;
      if (hub_.wakes_) {
        const link::host::ForkHold hold;
        wake_ = link::host::Fd(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), hold);
      }
    }
    ~HubPort() override { hub_.ports_.erase(address_.port); }

    const link::Traits &traits() const override { return traits_; }
    const Address &address() const override { return address_; }
    int open_path(const Address &to, link::PathId &id) override {
      id = link::PathId{next_path_++};
      paths_[static_cast<std::uint32_t>(id)] = to;
      events_.push_back({link::PathEventKind::up, id, 0});
      return 0;
    }
    void close_path(link::PathId id) override { paths_.erase(static_cast<std::uint32_t>(id)); }
    Address peer_address(link::PathId id) const override {
      return paths_.at(static_cast<std::uint32_t>(id));
    }
    link::TxRoom reserve(link::PathId, std::uint32_t len) override {
      buffer_.resize(len);
      return {buffer_.data(), len, nullptr};
    }
    void commit(link::PathId id, const link::TxRoom &, std::uint32_t len) override {
      hub_.deliver(address_, paths_.at(static_cast<std::uint32_t>(id)),
                   {reinterpret_cast<const char *>(buffer_.data()), len});
    }
    void cancel(link::PathId, const link::TxRoom &) override {}
    void flush() override {}
    unsigned poll(link::RxDatagram *out, unsigned max) override {
      unsigned n = 0;
      for (; n < max && n < inbox_.size(); ++n) {
        link::PathId path = link::PathId::none;
        for (const auto &[id, to] : paths_)
          if (to == inbox_[n].from)
            path = link::PathId{id};
        out[n] = {reinterpret_cast<const std::byte *>(inbox_[n].text.data()),
                  static_cast<std::uint32_t>(inbox_[n].text.size()), path, &inbox_[n]};
      }
      return n;
    }
    void release(link::RxDatagram *, unsigned n) override {
      inbox_.erase(inbox_.begin(), inbox_.begin() + n);
    }
    Address source(const link::RxDatagram &d) const override {
      return static_cast<const Arrival *>(d.handle)->from;
    }
    void reply(const link::RxDatagram &to, std::span<const std::byte> bytes) override {
      reply_to({source(to), {}}, bytes);
    }
    bool origin(const link::RxDatagram &d, link::Origin &out) const override {
      out.source = source(d);
      return true;
    }
    bool reply_to(const link::Origin &to, std::span<const std::byte> bytes) override {
      hub_.deliver(address_, to.source,
                   {reinterpret_cast<const char *>(bytes.data()), bytes.size()});
      return true;
    }
    unsigned poll_events(link::PathEvent *out, unsigned max, Time) override {
      unsigned n = 0;
      for (; n < max && !events_.empty(); ++n) {
        out[n] = events_.front();
        events_.pop_front();
      }
      return n;
    }
    int wait_fd() override { return wake_ ? wake_.get() : -1; }
    bool arm() override { return inbox_.empty() && events_.empty(); }
    void disarm() override {
      eventfd_t unused;
      if (wake_)
        (void)eventfd_read(wake_.get(), &unused);
    }
    link::PortCounters counters() const override { return {}; }

    void take(Arrival &&arrival) {
      if (inbox_.size() < 4096)
        inbox_.push_back(std::move(arrival));
      if (wake_)
        (void)eventfd_write(wake_.get(), 1);
    }

  private:
    Hub &hub_;
    const Address address_;
    const link::Traits traits_{.lossless = false,
                               .ordered = false,
                               .checksum = true,
                               .can_pull = false,
                               .max_datagram = 1472};
    link::host::Fd wake_;
    std::vector<std::byte> buffer_;
    std::map<std::uint32_t, Address> paths_;
    std::uint32_t next_path_ = 0;
    std::deque<Arrival> inbox_;
    std::deque<link::PathEvent> events_;
  };

  void deliver(const Address &from, const Address &to, std::string_view text) {
    if (const auto port = ports_.find(to.port); port != ports_.end() && to.ip == from.ip)
      port->second->take({from, std::string(text)});
  }

  const bool wakes_;
  link::DeviceInfo info_;
  std::map<std::uint16_t, HubPort *> ports_;
};

} // namespace daemon_test
