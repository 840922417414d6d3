// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A device that carries datagrams between its own ports, in order and without
// loss but where a receiver's queue is full. For a daemon's thread alone.
#pragma once

#include "dpdkx/link/ethdev/module.h"
#include "dpdkx/link/host/fork_guard.h"

#include <cerrno>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <sys/eventfd.h>
#include <vector>

namespace harness {

namespace link = dpdkx::link;
using dpdkx::Address;
using dpdkx::Time;

class Hub final : public link::Device {
public:
  // What a port does otherwise than it should, as a test has it.
  struct Mood {
    int room = -1;           // datagrams that it still takes; -1: all
    int open_result = 0;     // of paths
    bool opens_late = false; // a path is up when tell() says so
  };

  explicit Hub(bool wakes = true) : wakes_(wakes) {
    info_.name = info_.link_name = "net0";
    info_.address = {.address = dpdkx::net::Ip(Address::v4(0x0a010001, 0).ip), .prefix = 24};
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
    out = std::make_unique<HubPort>(*this, info_.address.address.with_port(wanted.port));
    return 0;
  }
  std::vector<std::pair<std::string, std::uint64_t>> statistics() const override {
    return {{"ports", ports_.size()}};
  }

  // From one of its ports, or from anybody else on the network.
  void deliver(const Address &from, const Address &to, std::string_view text) {
    if (const auto port = ports_.find(to.port);
        port != ports_.end() && to.ip == info_.address.address.bytes)
      port->second->take({from, std::string(text)});
  }
  Mood &mood(std::uint16_t port) { return moods_[port]; } // also before there is one
  // Of all paths of a port, what has become of them.
  void tell(std::uint16_t port, link::PathEventKind kind, int error) {
    if (const auto found = ports_.find(port); found != ports_.end())
      found->second->report(kind, error);
  }
  std::function<void()> on_arm; // somebody is about to sleep

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
      if (mood().open_result != 0)
        return mood().open_result;
      id = link::PathId{next_path_++};
      paths_[static_cast<std::uint32_t>(id)] = to;
      if (!mood().opens_late)
        events_.push_back({link::PathEventKind::up, id, 0});
      return 0;
    }
    void close_path(link::PathId id) override {
      must(paths_.erase(static_cast<std::uint32_t>(id)) == 1);
      std::erase_if(events_, [id](const link::PathEvent &event) { return event.path == id; });
    }
    Address peer_address(link::PathId id) const override { return peer(id); }
    link::TxRoom reserve(link::PathId id, std::uint32_t len) override {
      (void)peer(id);
      must(len <= traits_.max_datagram);
      if (mood().room == 0)
        return {};
      mood().room -= mood().room > 0;
      buffer_.resize(len);
      return {buffer_.data(), len, nullptr};
    }
    void commit(link::PathId id, const link::TxRoom &, std::uint32_t len) override {
      hub_.deliver(address_, peer(id), {reinterpret_cast<const char *>(buffer_.data()), len});
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
      must(bytes.size() <= traits_.max_datagram);
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
    bool arm() override {
      if (hub_.on_arm)
        hub_.on_arm();
      return inbox_.empty() && events_.empty();
    }
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
    void report(link::PathEventKind kind, int error) {
      for (const auto &[id, to] : paths_)
        events_.push_back({kind, link::PathId{id}, error});
    }

  private:
    // Who uses a path that isn't open, or sends more than it may, is at fault, whatever a test
    // is about.
    static void must(bool condition) {
      if (!condition)
        std::abort();
    }
    const Address &peer(link::PathId id) const {
      const auto found = paths_.find(static_cast<std::uint32_t>(id));
      must(found != paths_.end());
      return found->second;
    }
    Mood &mood() const { return hub_.mood(address_.port); }

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

  const bool wakes_;
  link::DeviceInfo info_;
  std::map<std::uint16_t, HubPort *> ports_;
  std::map<std::uint16_t, Mood> moods_;
};

} // namespace harness
