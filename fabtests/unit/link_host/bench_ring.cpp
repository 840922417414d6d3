// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What a datagram costs on the host link, beside the floor: a flag that two
// processes pass to and fro through one cache line. Both are measured in turn,
// block by block, since a machine changes its speed under one's feet.
//
//     bench_ring [blocks]
#include "dpdkx/link/host/host_link.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace dpdkx;
using namespace dpdkx::link;

namespace {

// A block is short, so that many fall between the disturbances of a busy machine.
constexpr int round_trips = 500;
constexpr int flood_length = 4096;

struct Shared {
  alignas(64) std::atomic<std::uint32_t> flag;
  alignas(64) std::atomic<std::uint32_t> ready;
  alignas(64) std::atomic<std::uint32_t> port;
};

void pin(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu % static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)), &set);
  sched_setaffinity(0, sizeof(set), &set);
}

double now_ns() {
  return static_cast<double>(SystemClock::instance().now().time_since_epoch().count());
}

[[noreturn]] void fail(const char *what) {
  std::fprintf(stderr, "bench_ring: %s\n", what);
  std::_Exit(1);
}

class Side {
public:
  Side(Shared &shared, bool parent) : shared_(shared), parent_(parent) {
    pin(parent ? 0 : 1);
    std::string error;
    if (open_host_port(Address::v4(0x7f000001, 0), HostOptions{}, port_, error) != 0)
      fail(error.c_str());
    if (parent) {
      shared.port.store(port_->address().port);
      wait_for(PathEventKind::accepted);
    } else {
      while (shared.port.load() == 0)
        sched_yield();
      const auto number = static_cast<std::uint16_t>(shared.port.load());
      if (port_->open_path(Address::v4(0x7f000001, number), path_) != 0)
        fail("no path");
      wait_for(PathEventKind::up);
    }
  }

  // Nanoseconds a round trip.
  double pass_flag() {
    meet();
    const double start = now_ns();
    const std::uint32_t mine = parent_ ? 0 : 1;
    for (int i = 0; i < round_trips; ++i) {
      while ((shared_.flag.load(std::memory_order_acquire) & 1) != mine) {
      }
      shared_.flag.store(mine ^ 1, std::memory_order_release);
    }
    while (parent_ && shared_.flag.load(std::memory_order_acquire) != 0) {
    }
    return (now_ns() - start) / round_trips;
  }

  double pass_datagram(std::uint32_t size) {
    meet();
    const double start = now_ns();
    for (int i = 0; i < round_trips; ++i) {
      if (parent_)
        send(size);
      receive();
      if (!parent_)
        send(size);
    }
    return (now_ns() - start) / round_trips;
  }

  // Nanoseconds a datagram, one way, `burst` of them to a flush.
  double flood(std::uint32_t size, int burst) {
    meet();
    const double start = now_ns();
    if (parent_) {
      for (int i = 0; i < flood_length; i += burst) {
        for (int j = 0; j < burst; ++j)
          put(size);
        port_->flush();
      }
      receive();
    } else {
      for (int got = 0; got < flood_length;)
        got += receive();
      send(8);
    }
    return (now_ns() - start) / flood_length;
  }

  double poll_idle() {
    meet();
    const double start = now_ns();
    RxDatagram d[32];
    for (int i = 0; i < 2000; ++i)
      if (port_->poll(d, 32) != 0)
        fail("a datagram from nowhere");
    return (now_ns() - start) / 2000;
  }

  // From here on, senders must fence.
  void sleep_once() {
    meet();
    const double start = now_ns();
    port_->arm();
    if (parent_)
      std::printf("first arm() %.0f ns\n", now_ns() - start);
    port_->disarm();
  }

  // The child opens so many more paths, which stay idle.
  void open_more(int paths) {
    meet();
    const PathId busy = path_;
    for (int i = 0; i < paths; ++i) {
      PathId more;
      if (!parent_ && port_->open_path(port_->peer_address(busy), more) != 0)
        fail("no path");
      wait_for(parent_ ? PathEventKind::accepted : PathEventKind::up);
    }
    path_ = busy;
  }

private:
  void put(std::uint32_t size) {
    TxRoom room;
    while ((room = port_->reserve(path_, size)).data == nullptr) {
    }
    std::memcpy(room.data, buffer_, size);
    port_->commit(path_, room, size);
  }
  void send(std::uint32_t size) {
    put(size);
    port_->flush();
  }
  int receive() {
    RxDatagram d[32];
    unsigned n;
    while ((n = port_->poll(d, 32)) == 0) {
    }
    for (unsigned i = 0; i < n; ++i)
      std::memcpy(buffer_, d[i].data, d[i].len);
    port_->release(d, n);
    return static_cast<int>(n);
  }
  void wait_for(PathEventKind kind) {
    PathEvent event;
    while (port_->poll_events(&event, 1, SystemClock::instance().now()) == 0)
      sched_yield();
    if (event.kind != kind)
      fail("unexpected event");
    path_ = event.path;
  }
  void meet() {
    const std::uint32_t target = ++meetings_ * 2;
    shared_.ready.fetch_add(1);
    while (shared_.ready.load() < target) {
    }
  }

  Shared &shared_;
  const bool parent_;
  std::unique_ptr<Port> port_;
  PathId path_ = PathId::none;
  std::uint32_t meetings_ = 0;
  std::byte buffer_[16384] = {};
};

struct Series {
  std::string name;
  double (*measure)(Side &);
  std::vector<double> values{};

  double quantile(double q) const {
    return values[static_cast<std::size_t>(q * static_cast<double>(values.size()))];
  }
};

template <std::uint32_t... sizes> void add_round_trips(std::vector<Series> &all) {
  (all.push_back({"round trip, " + std::to_string(sizes) + " B",
                  [](Side &side) { return side.pass_datagram(sizes); }}),
   ...);
}

// In turn, block by block.
void measure(Side &side, int blocks, bool print, const char *title) {
  std::vector<Series> all{{"round trip, the flag", [](Side &side) { return side.pass_flag(); }}};
  add_round_trips<0, 8, 16, 32, 56, 64, 120, 128, 256, 1024, 4096, 16384>(all);
  all.push_back({"one way, 8 B, flush each", [](Side &s) { return s.flood(8, 1); }});
  all.push_back({"one way, 8 B, flush per 32", [](Side &s) { return s.flood(8, 32); }});
  all.push_back({"one way, 256 B, flush per 32", [](Side &s) { return s.flood(256, 32); }});
  all.push_back({"one way, 16384 B, flush each", [](Side &s) { return s.flood(16384, 1); }});
  all.push_back({"poll that finds nothing", [](Side &s) { return s.poll_idle(); }});
  for (int i = 0; i < blocks; ++i)
    for (Series &series : all)
      series.values.push_back(series.measure(side));
  if (!print)
    return;
  std::printf("%-32s %9s %9s %9s   x floor\n", title, "min ns", "p10 ns", "median ns");
  for (Series &series : all) {
    std::sort(series.values.begin(), series.values.end());
    std::printf("%-32s %9.1f %9.1f %9.1f   %5.2f %5.2f\n", series.name.c_str(), series.values[0],
                series.quantile(0.1), series.quantile(0.5), series.values[0] / all[0].values[0],
                series.quantile(0.1) / all[0].quantile(0.1));
  }
}

void run(Side &side, int blocks, bool print) {
  measure(side, blocks, print, "one path, polling only");
  side.sleep_once();
  measure(side, blocks, print, "one path, senders fence");
  side.open_more(127);
  measure(side, blocks, print, "128 paths, senders fence");
}

} // namespace

int main(int argc, char **argv) {
  const int blocks = argc > 1 ? std::atoi(argv[1]) : 100;
  auto *shared = static_cast<Shared *>(
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  const pid_t child = fork();
  {
    Side side(*shared, child != 0);
    run(side, blocks, child != 0);
  }
  if (child == 0)
    std::_Exit(0);
  int status;
  waitpid(child, &status, 0);
  return status;
}
