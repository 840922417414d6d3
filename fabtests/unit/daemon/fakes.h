// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What stands on both sides of a daemon in its tests: a device's port that does
// what the test says, and a rank's end of the rings.
#pragma once

#include "dpdkx/daemon/attachment.h"
#include "dpdkx/link/daemon/channel.h"
#include "dpdkx/link/daemon/messages.h"
#include "dpdkx/link/daemon/record.h"
#include "dpdkx/link/host/unix_socket.h"
#include "unit/link_daemon/record.h"
#include "unit/unit.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <netinet/in.h>
#include <optional>
#include <poll.h>
#include <set>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace daemon_test {

using namespace dpdkx;
using namespace std::chrono_literals;
using link::daemon::RecordHeader;
using link::daemon::RecordKind;
using link::daemon::SessionOfPath;
using link::daemon::WireEvent;
using link::daemon::WireOrigin;
using link_daemon::Record;

inline constexpr int patience_ms = 20'000;

inline Address peer(std::uint32_t host) { return Address::v4(0x0a010000 + host, 4000); }

class FakePort final : public link::Port {
public:
  explicit FakePort(const Address &address) : address_(address) {}

  struct Sent {
    link::PathId path;
    std::string text;
  };
  struct Arrival {
    link::PathId path;
    link::Origin origin;
    std::string text;
  };
  int room = -1; // datagrams that it still takes; -1: all
  int open_result = 0;
  std::uint32_t reservations = 0, flushes = 0, unflushed = 0;
  std::vector<Sent> sent;
  std::vector<std::pair<link::Origin, std::string>> replies;
  std::deque<link::PathEvent> events;
  std::deque<Arrival> arrivals;
  std::map<std::uint32_t, Address> paths; // that are open
  std::uint32_t next_path = 0;
  bool up_at_once = true;
  link::Traits its_traits{.lossless = false,
                          .ordered = false,
                          .checksum = true,
                          .can_pull = false,
                          .max_datagram = 1472};

  const link::Traits &traits() const override { return its_traits; }
  const Address &address() const override { return address_; }
  int open_path(const Address &to, link::PathId &id) override {
    if (open_result != 0)
      return open_result;
    id = link::PathId{next_path++};
    paths[static_cast<std::uint32_t>(id)] = to;
    if (up_at_once)
      events.push_back({link::PathEventKind::up, id, 0});
    return 0;
  }
  void close_path(link::PathId id) override {
    assert_int_equal(paths.erase(static_cast<std::uint32_t>(id)), 1);
  }
  Address peer_address(link::PathId id) const override {
    return paths.at(static_cast<std::uint32_t>(id));
  }
  link::TxRoom reserve(link::PathId id, std::uint32_t len) override {
    assert_int_equal(paths.count(static_cast<std::uint32_t>(id)), 1);
    assert_true(len <= its_traits.max_datagram);
    ++reservations;
    if (room == 0)
      return {};
    room -= room > 0;
    buffer_.assign(len, std::byte{0});
    return {buffer_.data(), len, nullptr};
  }
  void commit(link::PathId id, const link::TxRoom &, std::uint32_t len) override {
    sent.push_back({id, {reinterpret_cast<const char *>(buffer_.data()), len}});
    ++unflushed;
  }
  void cancel(link::PathId, const link::TxRoom &) override {}
  void flush() override {
    ++flushes;
    unflushed = 0;
  }
  unsigned poll(link::RxDatagram *out, unsigned max) override {
    assert_true(polled_.empty());
    unsigned n = 0;
    for (; n < max && !arrivals.empty(); ++n) {
      polled_.push_back(std::move(arrivals.front()));
      arrivals.pop_front();
    }
    for (unsigned i = 0; i < n; ++i)
      out[i] = {reinterpret_cast<const std::byte *>(polled_[i].text.data()),
                static_cast<std::uint32_t>(polled_[i].text.size()), polled_[i].path, &polled_[i]};
    return n;
  }
  void release(link::RxDatagram *, unsigned n) override {
    assert_int_equal(n, polled_.size());
    polled_.clear();
  }
  Address source(const link::RxDatagram &d) const override { return arrival(d).origin.source; }
  void reply(const link::RxDatagram &, std::span<const std::byte>) override {}
  bool origin(const link::RxDatagram &d, link::Origin &out) const override {
    out = arrival(d).origin;
    return true;
  }
  bool reply_to(const link::Origin &to, std::span<const std::byte> bytes) override {
    replies.emplace_back(to,
                         std::string(reinterpret_cast<const char *>(bytes.data()), bytes.size()));
    return true;
  }
  unsigned poll_events(link::PathEvent *out, unsigned max, Time) override {
    unsigned n = 0;
    for (; n < max && !events.empty(); ++n) {
      out[n] = events.front();
      events.pop_front();
    }
    return n;
  }
  link::PortCounters counters() const override { return {}; }

private:
  static const Arrival &arrival(const link::RxDatagram &d) {
    return *static_cast<const Arrival *>(d.handle);
  }

  const Address address_;
  std::vector<std::byte> buffer_;
  std::deque<Arrival> polled_;
};

template <class T> std::string bytes_of(const T &value) {
  return {reinterpret_cast<const char *>(&value), sizeof(value)};
}

// A rank's end: it writes what it likes.
struct Rank {
  link::daemon::Request request = link::daemon::make_request(link::daemon::Ask::attach);
  link::daemon::Channel channel;
  link::host::Fd memory;

  explicit Rank(std::uint32_t ring_bytes = 64 * 1024, std::uint16_t port = 4000,
                std::uint64_t start = 0) {
    link::daemon::put_text(request.device, "net0");
    request.port = port;
    request.ring_bytes = ring_bytes;
    request.start = start;
    link::host::Segment segment;
    assert_int_equal(link::host::Segment::create(ring_bytes, segment, memory), 0);
    for (const auto end : {link::host::End::opener, link::host::End::acceptor})
      segment.consumer_words(end).head = start;
    channel.attach(std::move(segment), link::host::End::opener, start,
                   link::daemon::max_record_overhead + net::max_mtu);
  }

  bool write(RecordKind kind, std::uint32_t path, std::uint16_t generation, std::string_view body) {
    return raw(bytes_of(RecordHeader{static_cast<std::uint8_t>(kind), 0, generation, path}) +
               std::string(body));
  }
  bool raw(std::string_view bytes) {
    std::byte *const at = channel.tx.reserve(static_cast<std::uint32_t>(bytes.size()));
    if (at == nullptr)
      return false;
    std::memcpy(at, bytes.data(), bytes.size());
    channel.tx.commit(static_cast<std::uint32_t>(bytes.size()));
    channel.wake_peer();
    return true;
  }
  bool open(std::uint32_t path, std::uint16_t generation, const Address &to) {
    return write(RecordKind::open, path, generation, bytes_of(link::daemon::wire_origin({to, {}})));
  }
  bool data(std::uint32_t path, std::uint16_t generation, std::string_view text) {
    return write(RecordKind::data, path, generation, text);
  }

  std::optional<Record> next() {
    const std::byte *data = nullptr;
    std::uint32_t len = 0;
    const auto what = channel.rx.next(data, len);
    assert_true(what != link::host::RingConsumer::Next::corrupt);
    if (what == link::host::RingConsumer::Next::none)
      return std::nullopt;
    Record out;
    assert_true(link::daemon::take(data, len, out.header));
    out.body.assign(data, data + len);
    channel.rx.release();
    return out;
  }
  std::vector<Record> all() {
    std::vector<Record> out;
    while (std::optional<Record> got = next())
      out.push_back(*got);
    return out;
  }
};

inline std::string fresh_name() {
  static unsigned count = 0;
  return "@dpdkx-test-daemon-" + std::to_string(getpid()) + "-" + std::to_string(count++);
}

inline bool readable(int fd, int timeout_ms) {
  pollfd wait{fd, POLLIN, 0};
  return ::poll(&wait, 1, timeout_ms) == 1;
}

inline std::pair<link::host::Fd, link::host::Fd> socket_pair() {
  int fds[2];
  const link::host::ForkHold hold;
  assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
  return {link::host::Fd(fds[0], hold), link::host::Fd(fds[1], hold)};
}

// A connection whose last close waits until what it has sent is read: by nobody.
class Lingering {
public:
  Lingering() {
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(at);
    assert_int_equal(bind(listener, reinterpret_cast<sockaddr *>(&at), length), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, reinterpret_cast<sockaddr *>(&at), &length), 0);
    {
      const link::host::ForkHold hold;
      end = link::host::Fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), hold);
    }
    assert_int_equal(connect(end.get(), reinterpret_cast<sockaddr *>(&at), length), 0);
    other_ = accept(listener, nullptr, nullptr);
    close(listener);
    const linger long_time{1, 60};
    assert_int_equal(setsockopt(end.get(), SOL_SOCKET, SO_LINGER, &long_time, sizeof(long_time)),
                     0);
    const std::vector<char> much(1 << 20);
    while (send(end.get(), much.data(), much.size(), MSG_DONTWAIT | MSG_NOSIGNAL) > 0) {
    }
  }
  ~Lingering() { close(other_); } // which ends the wait

  link::host::Fd end;

private:
  int other_;
};

} // namespace daemon_test
