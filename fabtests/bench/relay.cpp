// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A long cable: what comes in at one interface goes out at the other a fixed time later, both ways,
// in order. Sleeps between frames.
//   relay [--delay MICROSECONDS] [--largest BYTES] [--loses there|back|unasked] INTERFACE INTERFACE
// A faulty one loses IP packets that are longer, or UDP in one direction: from the first interface
// to the second (there), from the second to the first (back), or of the latter what no earlier
// packet there is answered by (unasked), as a firewall does that lets answers in.
// Prints a line when it forwards; ends by SIGTERM or SIGINT.
#include "common/channel.h"
#include "common/command_line.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <deque>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

namespace {

using fabtest::unique_fd;
// The kernel's stamps of frames are of this clock.
using time_point = std::chrono::time_point<std::chrono::system_clock, std::chrono::nanoseconds>;
using std::chrono::nanoseconds;

// struct virtio_net_hdr, which precedes each frame, so that offloads of segments and checksums pass
// through as they are; its header is none for C++.
constexpr std::size_t offload_header = 10;
// The kernel's longest frame, with a VLAN tag.
constexpr std::size_t longest = offload_header + 65536 + ETH_HLEN + 4;
// Some 100 ms of 10 Gb/s; beyond that, as any cable, it loses frames.
constexpr std::size_t most_bytes = 128u << 20;

[[noreturn]] void fail_errno(const std::string &what) {
  throw std::runtime_error(fmt::format("{}: {}", what, std::strerror(errno)));
}

struct frame {
  time_point leaves;
  std::vector<std::byte> data;
};

class end_of_cable {
public:
  explicit end_of_cable(const std::string &interface);
  [[nodiscard]] int fd() const { return fd_.get(); }
  // What has come, to leave `delay` later. False: nothing more is there.
  bool receive(nanoseconds delay, frame &out);
  // Room or link that lacks for it now loses the frame.
  void send(const frame &f) const;

private:
  void set(int option, const char *name) const;
  std::string interface_;
  unique_fd fd_;
};

void end_of_cable::set(int option, const char *name) const {
  const int on = 1;
  if (setsockopt(fd_.get(), SOL_PACKET, option, &on, sizeof on) != 0)
    fail_errno(fmt::format("{} of {}", name, interface_));
}

end_of_cable::end_of_cable(const std::string &interface)
    : interface_(interface), fd_(socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
  const unsigned index = if_nametoindex(interface.c_str());
  if (index == 0)
    fail_errno("interface " + interface);
  if (!fd_)
    fail_errno("a packet socket, which root can have");
  set(PACKET_VNET_HDR, "PACKET_VNET_HDR");
  set(PACKET_IGNORE_OUTGOING, "PACKET_IGNORE_OUTGOING");
  const int on = 1, room = 8 << 20;
  if (setsockopt(fd_.get(), SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) != 0)
    fail_errno("SO_TIMESTAMPNS of " + interface);
  setsockopt(fd_.get(), SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
  setsockopt(fd_.get(), SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof room);
  sockaddr_ll at{};
  at.sll_family = AF_PACKET;
  at.sll_protocol = htons(ETH_P_ALL);
  at.sll_ifindex = static_cast<int>(index);
  if (bind(fd_.get(), reinterpret_cast<sockaddr *>(&at), sizeof at) != 0)
    fail_errno("binding to " + interface);
}

time_point stamp_of(msghdr &m) {
  for (cmsghdr *c = CMSG_FIRSTHDR(&m); c != nullptr; c = CMSG_NXTHDR(&m, c))
    if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) {
      timespec t{};
      std::memcpy(&t, CMSG_DATA(c), sizeof t);
      return time_point(std::chrono::seconds(t.tv_sec) + nanoseconds(t.tv_nsec));
    }
  return std::chrono::system_clock::now();
}

bool end_of_cable::receive(nanoseconds delay, frame &out) {
  static std::vector<std::byte> buffer(longest);
  iovec piece{buffer.data(), buffer.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(timespec)) + 64];
  msghdr m{};
  m.msg_iov = &piece;
  m.msg_iovlen = 1;
  m.msg_control = control;
  m.msg_controllen = sizeof control;
  const ssize_t n = recvmsg(fd_.get(), &m, 0);
  if (n < 0) {
    if (errno == EAGAIN || errno == EINTR || errno == ENETDOWN)
      return false;
    fail_errno("receiving from " + interface_);
  }
  out.leaves = stamp_of(m) + delay;
  out.data.assign(buffer.begin(), buffer.begin() + n);
  return true;
}

void end_of_cable::send(const frame &f) const {
  if (::send(fd_.get(), f.data.data(), f.data.size(), 0) < 0 && errno != EAGAIN &&
      errno != ENOBUFS && errno != ENETDOWN)
    fail_errno(fmt::format("sending {} bytes to {}", f.data.size(), interface_));
}

// What is wrong with the cable.
class faults {
public:
  faults(std::size_t largest, const std::string &loses) : largest_(largest), loses_(loses) {}

  bool loses(const frame &f, bool back) {
    constexpr std::size_t ip_at = offload_header + ETH_HLEN;
    if (f.data.size() <= ip_at)
      return false;
    const std::size_t length = f.data.size() - ip_at;
    const auto byte = [&](std::size_t i) {
      return i < length ? std::to_integer<unsigned>(f.data[ip_at + i]) : 0;
    };
    if (largest_ != 0 && length > largest_)
      return true;
    constexpr unsigned udp = 17, header = 20;
    if (loses_.empty() || byte(0) != 0x45 || byte(9) != udp)
      return false;
    const unsigned source = byte(header) << 8 | byte(header + 1);
    const unsigned destination = byte(header + 2) << 8 | byte(header + 3);
    if (loses_ != "unasked")
      return back == (loses_ == "back");
    if (!back)
      asked_.insert({source, destination});
    return back && asked_.count({destination, source}) == 0;
  }

private:
  const std::size_t largest_; // 0: no limit
  const std::string loses_;
  std::set<std::pair<unsigned, unsigned>> asked_; // ports
};

// One way of the cable.
class direction {
public:
  direction(end_of_cable &from, end_of_cable &to, nanoseconds delay, faults &wrong, bool back)
      : from_(from), to_(to), delay_(delay), wrong_(wrong), back_(back) {}

  void take_in() {
    frame f;
    while (from_.receive(delay_, f)) {
      if (bytes_ + f.data.size() > most_bytes || wrong_.loses(f, back_))
        continue;
      bytes_ += f.data.size();
      frames_.push_back(std::move(f));
    }
  }
  void let_out(time_point now) {
    while (!frames_.empty() && frames_.front().leaves <= now) {
      to_.send(frames_.front());
      bytes_ -= frames_.front().data.size();
      frames_.pop_front();
    }
  }
  // When the next frame leaves, if that is before `other`.
  [[nodiscard]] time_point next(time_point other) const {
    return frames_.empty() ? other : std::min(other, frames_.front().leaves);
  }

private:
  end_of_cable &from_, &to_;
  nanoseconds delay_;
  faults &wrong_;
  const bool back_;
  std::deque<frame> frames_;
  std::size_t bytes_ = 0;
};

void set_timer(int fd, time_point when) {
  itimerspec spec{};
  if (when != time_point::max()) {
    const auto ns = when.time_since_epoch().count();
    spec.it_value.tv_sec = static_cast<time_t>(ns / 1'000'000'000);
    spec.it_value.tv_nsec = static_cast<long>(ns % 1'000'000'000);
  }
  if (timerfd_settime(fd, TFD_TIMER_ABSTIME, &spec, nullptr) != 0)
    fail_errno("timerfd_settime");
}

// Those who talk through it may keep all processors busy: it goes first, and needs little.
void go_first() {
  sched_param p{};
  p.sched_priority = 1;
  if (sched_setscheduler(0, SCHED_FIFO, &p) != 0)
    fmt::print(stderr, "relay: no real-time priority ({}): frames may be late\n",
               std::strerror(errno));
}

unique_fd end_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  return unique_fd(signalfd(-1, &set, SFD_CLOEXEC));
}

void run(const std::vector<std::string> &interfaces, nanoseconds delay, faults wrong) {
  end_of_cable a(interfaces[0]), b(interfaces[1]);
  direction there(a, b, delay, wrong, false), back(b, a, delay, wrong, true);
  const unique_fd timer(timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC));
  const unique_fd signals = end_signals();
  if (!timer || !signals)
    fail_errno("timerfd_create, signalfd");
  go_first();
  fmt::print("{} us between {} and {}\n", delay / std::chrono::microseconds(1), interfaces[0],
             interfaces[1]);
  std::fflush(stdout);
  pollfd fds[] = {{a.fd(), POLLIN, 0},
                  {b.fd(), POLLIN, 0},
                  {timer.get(), POLLIN, 0},
                  {signals.get(), POLLIN, 0}};
  for (;;) {
    set_timer(timer.get(), there.next(back.next(time_point::max())));
    if (poll(fds, std::size(fds), -1) < 0 && errno != EINTR)
      fail_errno("poll");
    if (fds[3].revents != 0)
      return;
    there.take_in();
    back.take_in();
    const time_point now = std::chrono::system_clock::now();
    there.let_out(now);
    back.let_out(now);
  }
}

} // namespace

int main(int argc, char **argv) {
  fabtest::command_line app(
      "Forwards frames between two interfaces, each a fixed time after it came.");
  unsigned delay = 1000;
  std::size_t largest = 0;
  std::string loses;
  std::vector<std::string> interfaces;
  app.add("--delay", delay, "microseconds each way").between(0, 1'000'000);
  app.add("--largest", largest, "longer IP packets get lost");
  app.add("--loses", loses, "UDP over IPv4 that gets lost").one_of({"there", "back", "unasked"});
  app.add("interfaces", interfaces, "two interfaces").required().expected(2);
  if (const auto code = app.parse(argc, argv))
    return *code;
  try {
    run(interfaces, std::chrono::microseconds(delay), faults(largest, loses));
  } catch (const std::exception &e) {
    fmt::print(stderr, "relay: {}\n", e.what());
    return 1;
  }
  return 0;
}
