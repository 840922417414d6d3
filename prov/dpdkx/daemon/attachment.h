// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A rank's endpoint, attached to a device: the memory shared with it on one
// side, its port on the device on the other. Nothing that it writes is believed;
// what it does wrong costs it its attachment, and nobody else anything.
#pragma once

#include "dpdkx/daemon/acknowledger.h"
#include "dpdkx/daemon/config.h"
#include "dpdkx/daemon/status.h"
#include "dpdkx/link/daemon/channel.h"
#include "dpdkx/link/daemon/messages.h"
#include "dpdkx/link/daemon/record.h"

#include <memory>
#include <vector>

namespace dpdkx::daemon {

class Attachment {
public:
  // Paths of one endpoint.
  static constexpr std::uint32_t max_paths = 1u << 17;
  // From the device, before others have their turn.
  static constexpr unsigned datagrams_a_turn = 256;

  Attachment(const Config &, link::host::Segment &&, link::host::Fd socket, link::host::Fd process,
             const link::host::Peer &who, const link::daemon::Request &,
             std::unique_ptr<link::Port>, Time now);

  // What has come from either side goes to the other. True: something did.
  bool turn(Time now);
  // The device's side of that alone, while the rank's is armed.
  bool take_in(Time now);
  // The rank is gone, or has been thrown out; what it had sent before is sent.
  void end();
  bool broken() const { return fault_ != nullptr; }
  const char *fault() const { return fault_; } // what it wrote that no rank would; null: nothing
  [[gnu::cold]] void malformed(const char *what);

  // Around the daemon's sleep. arm() answers false if there is something to do.
  bool arm();
  void disarm();
  // Waits for room, at the device or in the rank's ring, of which nobody tells.
  bool waits_for_room() const { return held_ != nullptr || !untold_.empty(); }

  link::Port &port() { return *port_; }
  const link::host::Fd &socket() const { return channel_.socket; }
  link::host::Fd give_socket() { return std::move(channel_.socket); } // after end()
  const link::host::Fd &process() const { return process_; }
  const Address &address() const { return status_.address; }
  uid_t user() const { return status_.uid; }
  pid_t pid() const { return status_.pid; }
  RankStatus status(Time now);

private:
  struct Path {
    link::PathId port_path = link::PathId::none;
    std::uint16_t generation = 0;
    bool up = false;
  };

  // From the rank
  bool forward_out(unsigned budget);
  bool take_record(const std::byte *data, std::uint32_t len);
  bool send(Path &, const link::daemon::RecordHeader &, const std::byte *data, std::uint32_t len);
  bool open(const link::daemon::RecordHeader &, const std::byte *data, std::uint32_t len);
  void close(std::uint32_t number);
  void note_session(std::uint32_t number, const std::byte *data, std::uint32_t len);
  void reply(const std::byte *data, std::uint32_t len);
  Path *path_of(const link::daemon::RecordHeader &); // null: there is none, or another now

  // To the rank
  bool forward_in(Time now);
  bool give(const link::RxDatagram &, Time now);
  bool forward_events(Time now);
  void tell(std::uint32_t number, link::PathEventKind, int error);
  void send_untold();
  void wake_rank(bool looks_again);
  void acknowledge();

  Acknowledger acknowledger_;
  link::daemon::Channel channel_;
  link::host::Fd process_;
  std::unique_ptr<link::Port> port_;
  const std::uint32_t max_datagram_; // of the port
  const Time since_;

  std::vector<Path> paths_;                 // by the rank's number
  std::vector<std::uint32_t> by_port_path_; // the rank's number, by the port's
  std::uint32_t open_paths_ = 0;

  bool many_ = false; // records lay there, the last time

  // A record for which there is no room now.
  const std::byte *held_ = nullptr;
  std::uint32_t held_len_ = 0;

  static constexpr unsigned burst = 32, events_at_once = 16;
  link::RxDatagram datagrams_[burst]; // here, as making so many costs more than a turn in vain
  link::PathEvent events_[events_at_once];

  // Events that found no room in the ring.
  struct Untold {
    link::daemon::RecordHeader header;
    link::daemon::WireEvent event;
  };
  std::vector<Untold> untold_;

  bool dirty_ = false; // the rank may have to be woken
  const char *fault_ = nullptr;
  bool ending_ = false;
  RankStatus status_;
};

} // namespace dpdkx::daemon
