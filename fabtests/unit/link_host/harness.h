// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What the tests of the host link share: ports, pairs of them, children, and
// what a process holds.
#pragma once

#include "dpdkx/link/host/host_link.h"
#include "unit/unit.h"

#include <functional>
#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

namespace link_host {

using namespace dpdkx;
using namespace dpdkx::link;

// Tests wait for what must happen; this long means that it won't.
inline constexpr int patience_ms = 20'000;

Time now();
Address loopback(std::uint16_t port = 0);

// A port on 127.0.0.1, at an automatic number unless one is given.
std::unique_ptr<Port> open_port(const HostOptions &options = {}, std::uint16_t number = 0);

// The next event; fails the test when there is none in time.
PathEvent await_event(Port &port);
PathEvent await_event(Port &port, PathEventKind kind);
// Whether there is none after two looks.
bool no_event(Port &port);

// Two ports of this process with a path between them.
struct Pair {
  std::unique_ptr<Port> opener, acceptor;
  PathId out = PathId::none; // the opener's name for the path
  PathId in = PathId::none;  // the acceptor's

  explicit Pair(const HostOptions &options = {});
};

// Sends a datagram and flushes; false without room.
bool send(Port &port, PathId path, const void *bytes, std::uint32_t len);
bool send(Port &port, PathId path, const std::string &text);
// Polls one datagram and releases it; waits for it.
std::string receive(Port &port, PathId *from = nullptr);

// Armed, as soon as all senders know that it may sleep; false: not in a tenth of a second.
bool fall_asleep(Port &port);

// Runs in a forked child, which exits 0 if it returns true. Children don't fail
// asserts: they return.
pid_t in_child(const std::function<bool()> &what);
// Waits for the child to exit by itself; whether with 0.
bool succeeded(pid_t child);
void kill_hard(pid_t child);
// As user 65534, who no longer is root.
bool become_nobody();

// A pipe between a child and its parent.
class Signal {
public:
  Signal();
  ~Signal();
  void give(std::uint32_t value = 1);
  std::uint32_t await(); // 0 when the other side is gone

private:
  int fds_[2];
};

// Collects what is logged while it exists.
class LogCapture {
public:
  LogCapture();
  ~LogCapture();
  std::vector<std::string> lines() const;
  bool contains(const std::string &text) const;
  std::size_t count(const std::string &text) const;
};

std::size_t open_descriptors();    // of this process
std::size_t ring_mappings();       // "dpdkx-ring" in this process' address space
std::size_t ring_resident_bytes(); // what of them takes memory

} // namespace link_host
