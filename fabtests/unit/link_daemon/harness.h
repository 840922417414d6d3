// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A daemon that does what a test tells it to, and a rank's port that is attached
// to it: the test holds both ends of the rings.
#pragma once

#include "dpdkx/link/daemon/channel.h"
#include "dpdkx/link/daemon/port.h"
#include "dpdkx/link/host/unix_socket.h"
#include "unit/link_daemon/record.h"
#include "unit/unit.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace link_daemon {

using namespace dpdkx;
using namespace dpdkx::link;
using namespace dpdkx::link::daemon;
using namespace std::chrono_literals;

// Tests wait for what must happen; this long means that it won't.
inline constexpr int patience_ms = 20'000;

std::string fresh_name(); // of a socket, in this process's own name space: "@..."

DeviceInfo device_info();             // 10.1.0.1/24, link name "net0"
Address peer(std::uint32_t host = 2); // 10.1.0.<host>:4000

// The daemon's end of one attachment.
struct Attached {
  Request request{};
  Channel channel;

  std::optional<Record> next(); // releases it
  Record expect(RecordKind);    // the next one is that
  std::vector<Record> all();
  bool give(RecordKind, std::uint32_t path, std::uint16_t generation, std::string_view body);
  void event(std::uint32_t path, std::uint16_t generation, PathEventKind, int error = 0);
  bool stranger(const Origin &, std::string_view text);
  bool woken(); // the rank has woken it; takes that off the socket
};

class FakeDaemon {
public:
  explicit FakeDaemon(const std::string &name);

  // The next connection's request, which has to be there already or to come soon.
  void hear(host::Fd &socket, Request &, host::Fd &memory);
  Attached attach(std::uint32_t max_datagram = 1472); // hears one, and agrees
  void refuse(int status, std::string_view text);
  void turn_away(int status, std::string_view text); // without having heard
  bool has_guest() const;                            // somebody waits

private:
  host::Fd accept();

  host::Fd listener_;
};

// A daemon, a device of it, and a port that is attached.
struct Scene {
  explicit Scene(std::uint32_t ring_bytes = 64 * 1024);

  std::string name = fresh_name();
  std::optional<FakeDaemon> daemon;
  std::shared_ptr<DaemonDevice> device;
  std::unique_ptr<Port> port;
  Attached end;
  Time now = SystemClock::instance().now(); // what the port is told; arm() asks that clock itself

  std::vector<PathEvent> events(); // a millisecond later
  std::vector<std::string> poll(); // texts of what has come, released
  // A path that is up, its open taken off the ring.
  PathId open_up(const Address &to = peer());
  std::uint16_t generation(PathId) const { return generation_; } // of the last one opened
  bool send(PathId, std::string_view);
  void kill();                                    // the daemon
  void revive(std::uint32_t max_datagram = 1472); // and the port attaches

private:
  std::uint16_t generation_ = 0;
};

// Opens a port while another thread answers as `serve` does.
int open_port(DaemonDevice &, const Address &, const PortOptions &, std::unique_ptr<Port> &,
              std::string &error, const std::function<void()> &serve);

bool readable(int fd, int timeout_ms = 0);
pid_t in_child(const std::function<bool()> &); // exits 0 if it returns true
bool succeeded(pid_t child);

// Collects warnings while it exists.
class LogCapture {
public:
  LogCapture();
  ~LogCapture();
  std::size_t count(std::string_view text) const;
};

} // namespace link_daemon
