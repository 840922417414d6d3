// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A port on the host link. host_port.cpp moves datagrams, paths.cpp opens and
// closes paths, events.cpp looks after sockets, wait.cpp sleeps.
#pragma once

#include "dpdkx/link/host/host_link.h"
#include "dpdkx/link/host/path.h"

#include <vector>

namespace dpdkx::link::host {

class HostPort final : public Port {
public:
  HostPort(const Address &bound, const HostOptions &options, Fd listener);
  ~HostPort() override;
  // Second half of construction: 0 or negative errno.
  int start();

  const Traits &traits() const override { return traits_; }
  const Address &address() const override { return bound_; }

  int open_path(const Address &peer, PathId &path) override;
  void close_path(PathId id) override;
  Address peer_address(PathId id) const override { return path(id).peer; }

  TxRoom reserve(PathId id, std::uint32_t len) override;
  void commit(PathId id, const TxRoom &room, std::uint32_t len) override;
  void cancel(PathId, const TxRoom &) override {}
  void flush() override;
  void tell(PathId id, std::uint64_t word) override;
  std::uint64_t told(PathId id) const override;

  unsigned poll(RxDatagram *out, unsigned max) override;
  void release(RxDatagram *datagrams, unsigned n) override;

  Address source(const RxDatagram &datagram) const override { return path(datagram.path).peer; }
  void reply(const RxDatagram &to, std::span<const std::byte> bytes) override;

  bool lives(PathId id, Time now) override;
  unsigned poll_events(PathEvent *out, unsigned max, Time now) override;

  int pull(PathId id, std::span<const iovec> local, std::span<const iovec> remote) override;

  int wait_fd() override { return inherited() ? -1 : epoll_.get(); }
  bool arm() override;
  void disarm() override;

  PortCounters counters() const override { return counters_; }

private:
  // What an event of the epoll set is about.
  enum class Source : std::uint32_t { listener, guest, socket, process };

  // A connection that hasn't said Hello yet.
  struct Guest {
    Fd socket;
    Peer who;
    Time deadline;
  };

  // A ring to look at: alone in a dense array, so that looking at many idle
  // ones costs a line each and no more.
  struct Watch {
    const std::uint64_t *word;
    Path *path;
  };

  // In a child of the process that opened the port: then it does nothing.
  bool inherited() const { return generation_ != fork_generation.load(std::memory_order_relaxed); }
  Path &path(PathId id) { return *paths_[static_cast<std::uint32_t>(id)]; }
  const Path &path(PathId id) const { return *paths_[static_cast<std::uint32_t>(id)]; }

  // Data
  unsigned drain(Watch &watch, RxDatagram *out, unsigned max);
  [[gnu::cold]] void break_path(Path &path, const char *what);
  void to_flush(Path &path);
  void wake_if_asleep(Path &path);
  bool all_senders_fence();
  [[gnu::cold]] void poll_only_again();

  // Paths
  Path *add_path(const Address &peer); // null: no memory
  bool make_room_for_paths(std::size_t n);
  void remove_path(Path &path);
  bool is_self(const Address &peer) const;
  int open_to_self(Path &path);
  static void tell_failure(const Path &path, int result);
  void tell_crowd();
  int reach(Path &path);
  int prepare(Path &path);
  int greet(Path &path);
  std::uint64_t start_of_rings(const Path &path) const;
  int listen_to_peer(Path &path);
  void part_from_peer(Path &path);
  void attach(Path &path, std::uint64_t start_rx, std::uint64_t start_tx,
              std::uint32_t max_rx_datagram);
  int check_user(const Path &path) const;
  void start_watching(Path &path);
  void stop_watching(Path &path);

  // Events
  void look(Time now);
  [[gnu::cold]] void look_at_sockets();
  void accept_guests();
  void refuse_for_want_of_descriptors();
  void take_spare();
  void hear_guest(std::uint32_t slot);
  int admit(Guest &guest, const Hello &hello, const Fd &memfd);
  void refuse(const Guest &guest, int status, const char *why);
  [[gnu::cold]] void look_at(Path &path, Time now);
  void hear_peer(Path &path);
  void refused_by_peer(Path &path, std::int32_t status);
  [[gnu::cold]] void end_path(Path &path, int error);
  void retry_connecting();
  void expire_guests(Time now);
  void settle_ending();
  void trim_idle();
  int add_to_epoll(const Fd &fd, Source source, std::uint32_t index);
  void take_from_epoll(const Fd &fd);

  Traits traits_;
  Address bound_;
  const std::uint32_t generation_;
  const pid_t own_pid_;
  bool armed_ = false;
  bool crowd_told_ = false;
  bool needs_fence_ = true; // others' barrier_everywhere() doesn't reach this process

  // HostOptions::calm_polls; see wait.cpp.
  bool senders_fence_ = false;
  Time all_fence_at_{}; // from then on for sure
  std::uint32_t polls_awake_ = 0, calm_polls_;

  // Of these and of events_, add_path() makes room for all paths: what comes later can't fail.
  std::uint32_t next_watch_ = 0;
  std::vector<Watch> watched_;
  std::vector<Path *> unflushed_, unreleased_, ending_;
  std::vector<PathEvent> events_;
  Time next_look_{};
  PortCounters counters_;

  std::vector<std::unique_ptr<Path>> paths_; // by id; null where none
  std::vector<std::uint32_t> free_ids_;
  std::vector<Path *> connecting_;
  std::vector<Guest> guests_; // an empty socket marks a free slot
  std::uint32_t refusals_logged_ = 0;

  const HostOptions options_;
  Time now_{}, next_trim_{};
  Fd epoll_, listener_;
  Fd spare_; // given up for a moment to refuse a connection when none is left
};

} // namespace dpdkx::link::host
