// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// An endpoint's attachment to a device of dpdkxd. port.cpp moves datagrams,
// port_life.cpp attaches, and attaches anew when the daemon has gone,
// port_wait.cpp sleeps.
//
// Paths outlive a daemon: the port opens them again with the next one. What was
// on its way is lost, as on any device; sessions bear that.
#pragma once

#include "dpdkx/link/daemon/channel.h"
#include "dpdkx/link/daemon/device.h"
#include "dpdkx/link/daemon/record.h"

#include <deque>
#include <optional>
#include <vector>

namespace dpdkx::link::daemon {

class DaemonPort final : public Port {
public:
  DaemonPort(const DaemonOptions &, const DeviceInfo &, const Address &,
             std::optional<std::uint8_t> dscp);
  ~DaemonPort() override;
  DaemonPort(const DaemonPort &) = delete;
  // Second half of construction, waits for the daemon's answer: 0 or negative errno, with a text.
  int start(std::string &error);

  const Traits &traits() const override { return traits_; }
  const Address &address() const override { return address_; }
  std::uint16_t bulk_port() const override { return bulk_port_; }

  int open_path(const Address &peer, PathId &) override;
  void close_path(PathId) override;
  void set_bulk_port(PathId, std::uint16_t) override;
  void set_joined(PathId, bool) override;
  Address peer_address(PathId id) const override { return path(id).peer; }

  TxRoom reserve(PathId, std::uint32_t len) override;
  void commit(PathId, const TxRoom &, std::uint32_t len) override;
  void cancel(PathId, const TxRoom &) override {}
  void flush() override;

  unsigned poll(RxDatagram *out, unsigned max) override;
  void release(RxDatagram *, unsigned n) override;

  Address source(const RxDatagram &) const override;
  void reply(const RxDatagram &to, std::span<const std::byte> bytes) override;
  bool origin(const RxDatagram &, Origin &out) const override;
  bool reply_to(const Origin &, std::span<const std::byte> bytes) override;
  void note_session(PathId, std::uint64_t local_token, std::uint64_t peer_token) override;

  unsigned poll_events(PathEvent *out, unsigned max, Time now) override;

  int wait_fd() override;
  bool arm() override;
  void disarm() override;
  bool blocked() const override { return state_ != State::attached && !inherited(); }

  PortCounters counters() const override { return counters_; }

private:
  enum class State : std::uint8_t {
    attached,
    lost,      // the daemon has gone; what it had put into the ring is still to be polled
    attaching, // another has been asked
  };

  struct Path {
    enum class State : std::uint8_t { closed, opening, up, failed };
    Address peer;
    State state = State::closed;
    std::uint16_t generation = 0;
    SessionOfPath session{};
  };

  // A record that tells the daemon of a path, waiting for room in the ring. Data go behind it.
  struct Notice {
    RecordKind kind;
    PathId path;
    std::uint16_t generation;
  };

  bool inherited() const {
    return generation_ != host::fork_generation.load(std::memory_order_relaxed);
  }
  Path &path(PathId id) { return paths_[static_cast<std::uint32_t>(id)]; }
  const Path &path(PathId id) const { return paths_[static_cast<std::uint32_t>(id)]; }

  // Data
  std::byte *begin_record(RecordKind, PathId, std::uint16_t generation, std::uint32_t body);
  void end_record(std::uint32_t body);
  bool take_record(const std::byte *data, std::uint32_t len, RxDatagram &out);
  void take_event(const RecordHeader &, const std::byte *data, std::uint32_t len);
  [[gnu::cold]] void malformed(const char *why);
  void fail(PathId, int error);
  void notify(RecordKind, PathId);
  void tell_session(PathId);
  [[gnu::cold]] bool send_notices(); // false: some are left
  bool send_notice(const Notice &);
  static Origin origin_in(const RxDatagram &);

  // Life
  int ask_to_attach(std::string &error);
  void adopt_next();
  void tell_of(PathId);
  [[gnu::cold]] void look(Time now);
  void look_while_attached(Time now);
  void look_while_lost(Time now);
  void look_for_answer(Time now);
  [[gnu::cold]] void lose(const char *why);
  [[gnu::cold]] void distrust(const char *why);
  void try_again(Time now, const std::string &error);
  bool drained() const;
  void watch_socket();
  void look_again_in(long ns); // 0: not by the timer

  const DaemonOptions options_;
  const DeviceInfo info_;
  const Address address_;
  const std::optional<std::uint8_t> dscp_;
  const std::uint32_t generation_;
  Traits traits_;
  std::uint16_t bulk_port_ = 0;
  State state_ = State::lost;
  bool dirty_ = false;      // records that the daemon may have to be woken for
  bool unreleased_ = false; // records read and not given back
  Channel channel_;
  Channel next_; // being attached
  std::vector<Path> paths_;
  std::vector<std::uint32_t> unused_paths_;
  std::deque<Notice> notices_;
  std::vector<PathEvent> events_;
  PortCounters counters_;

  Time next_look_{}, next_reopening_{};
  Time retry_at_{}, asked_at_{};
  std::optional<Time> lost_at_;
  std::optional<Time> told_loss_; // by the system's clock
  bool told_failure_ = false;     // to attach, since it was lost
  bool distrusted_ = false;       // it has written nonsense, once
  std::vector<PathId> to_reopen_; // a path that was up, and isn't any more at the daemon
  host::Fd epoll_, timer_;
};

} // namespace dpdkx::link::daemon
