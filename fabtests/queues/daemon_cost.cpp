// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What it costs that dpdkxd polls the device instead of the rank, in real time,
// on a device in memory: round trips, throughput, processor time. One line of
// JSON a figure; fabtests/bench/queues reads them.
//
// A round trip here passes one daemon on its way out and on its way back: as much
// as a message passes one way between two hosts that have one each.
#include "common/command_line.h"
#include "dpdkx/base/cpus.h"
#include "dpdkx/base/idle.h"
#include "dpdkx/daemon/daemon.h"
#include "dpdkx/link/daemon/client.h"
#include "queues/mirror.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <ctime>
#include <exception>
#include <pthread.h>
#include <sched.h>
#include <stdexcept>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

namespace {

using namespace dpdkx;
using namespace std::chrono_literals;
using queues::MirrorDevice;

struct Options {
  unsigned runs = 9, batches = 20;
  double milliseconds = 100; // of a run
  std::size_t size = 64;     // bytes of a datagram; 8 B of a message and the headers
  std::uint32_t window = 64;
  std::vector<unsigned> device_ns{0, 100, 1000};
  int rank_cpu = -1, daemon_cpu = -1; // -1: the first two of those that this process may use
};

double seconds_since(Time begin) {
  return std::chrono::duration<double>(SystemClock::instance().now() - begin).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.empty() ? 0 : values[values.size() / 2];
}

void print(const char *what, const char *way, unsigned ranks, unsigned run, const char *unit,
           double value) {
  fmt::print("{{\"what\": \"{}\", \"way\": \"{}\", \"ranks\": {}, \"run\": {}, \"unit\": \"{}\", "
             "\"value\": {:.4f}}}\n",
             what, way, ranks, run, unit, value);
  std::fflush(stdout);
}

std::vector<int> processors() {
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (may_run_on(cpu))
      cpus.push_back(cpu);
  return cpus;
}

// The calling thread, and what it starts.
void confine(const std::vector<int> &cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus)
    CPU_SET(static_cast<unsigned>(cpu), &set);
  if (sched_setaffinity(0, sizeof(set), &set) != 0)
    throw std::runtime_error("these processors can't be used");
}

// The daemon on a thread of its own.
class RunningDaemon {
public:
  RunningDaemon(int cpu, bool device_wakes, Duration device_takes = {})
      : socket_("@dpdkx-cost-" + std::to_string(getpid())) {
    daemon::Config config;
    config.socket = socket_;
    config.processor = cpu;
    config.devices.emplace_back();
    daemon::Daemon::Surroundings surroundings;
    surroundings.open_device = [device_wakes, device_takes](const daemon::DeviceConfig &,
                                                            std::shared_ptr<link::Device> &out,
                                                            std::string &) {
      out = std::make_shared<MirrorDevice>(device_wakes, device_takes);
      return 0;
    };
    std::string error;
    if (daemon::Daemon::create(config, std::move(surroundings), daemon_, error) != 0)
      throw std::runtime_error("no daemon: " + error);
    thread_ = std::thread([this] { daemon_->run(); });
  }
  ~RunningDaemon() {
    daemon_->stop();
    thread_.join();
  }

  std::unique_ptr<link::Port> attach(std::uint16_t number) const {
    link::DaemonOptions options;
    options.socket = socket_;
    std::shared_ptr<link::Device> device;
    std::unique_ptr<link::Port> port;
    std::string error;
    Address any;
    any.port = number;
    if (link::open_daemon_device(options, "mirror", device, error) != 0 ||
        device->open_port(any, {}, port, error) != 0)
      throw std::runtime_error("can't attach: " + error);
    return port;
  }

  double processor_seconds() {
    clockid_t clock;
    timespec used{};
    if (pthread_getcpuclockid(thread_.native_handle(), &clock) != 0 ||
        clock_gettime(clock, &used) != 0)
      throw std::runtime_error("no processor time of a thread");
    return double(used.tv_sec) + 1e-9 * double(used.tv_nsec);
  }

private:
  const std::string socket_;
  std::unique_ptr<daemon::Daemon> daemon_;
  std::thread thread_;
};

// An endpoint that sends to itself by the mirror: the link's part of an engine's turn.
class Rank {
public:
  Rank(std::unique_ptr<link::Port> port, const Options &options)
      : options_(options), port_(std::move(port)) {
    if (port_->open_path(Address::v4(0x0a4d0002, 9), path_) != 0)
      throw std::runtime_error("no path");
    while (!up_)
      turn();
  }

  void round_trip() {
    const std::uint64_t before = received_;
    while (!send())
      turn();
    port_->flush();
    while (received_ == before)
      turn();
  }

  // Datagrams, many at a time, until told to stop; counts those that came back.
  void stream(const std::atomic<bool> &stop, std::atomic<std::uint64_t> &count) {
    std::uint64_t sent = received_;
    while (!stop.load(std::memory_order_relaxed)) {
      unsigned n = 0;
      while (n < burst && sent - received_ < options_.window && send()) {
        ++sent;
        ++n;
      }
      if (n != 0)
        port_->flush();
      turn();
      count.store(received_, std::memory_order_relaxed);
    }
  }

private:
  static constexpr unsigned burst = 32;

  bool send() {
    const auto len = static_cast<std::uint32_t>(options_.size);
    const link::TxRoom room = port_->reserve(path_, len);
    if (room.data == nullptr)
      return false;
    std::memset(room.data, 1, len);
    port_->commit(path_, room, len);
    return true;
  }

  void turn() {
    link::PathEvent events[4];
    const unsigned told = port_->poll_events(events, 4, SystemClock::instance().now());
    for (unsigned i = 0; i < told; ++i)
      up_ |= events[i].kind == link::PathEventKind::up;
    link::RxDatagram datagrams[burst];
    const unsigned n = port_->poll(datagrams, burst);
    for (unsigned i = 0; i < n; ++i)
      sum_ += static_cast<unsigned>(datagrams[i].data[datagrams[i].len - 1]);
    if (n != 0)
      port_->release(datagrams, n);
    received_ += n;
    idle_.after_turn(n != 0);
  }

  const Options &options_;
  std::unique_ptr<link::Port> port_;
  link::PathId path_ = link::PathId::none;
  bool up_ = false;
  std::uint64_t received_ = 0;
  unsigned sum_ = 0; // reads what came
  Idle idle_{0};
};

std::unique_ptr<link::Port> own_port(std::uint16_t number, Duration device_takes = {}) {
  return std::make_unique<queues::MirrorPort>(Address::v4(0x0a4d0001, number), false, device_takes);
}

// us, the median of batches.
double round_trips(Rank &rank, const Options &options) {
  for (int i = 0; i < 200; ++i)
    rank.round_trip();
  std::vector<double> values;
  for (unsigned i = 0; i < options.batches; ++i) {
    const Time begin = SystemClock::instance().now();
    const double until = 1e-3 * options.milliseconds / options.batches;
    unsigned trips = 0;
    double took = 0;
    do {
      for (int k = 0; k < 16; ++k)
        rank.round_trip();
      trips += 16;
      took = seconds_since(begin);
    } while (took < until);
    values.push_back(1e6 * took / trips);
  }
  return median(std::move(values));
}

// us; of single ones, among others that keep the processors busy.
double median_round_trip(Rank &rank, const Options &options) {
  std::vector<double> values;
  const Time begin = SystemClock::instance().now();
  while (seconds_since(begin) < 1e-3 * options.milliseconds) {
    const Time before = SystemClock::instance().now();
    rank.round_trip();
    values.push_back(1e6 * seconds_since(before));
  }
  return median(std::move(values));
}

struct Throughput {
  double rate = 0;         // datagrams a second that came back, of all ranks
  double processor_ns = 0; // of the daemon, for each that it moved; twice for each that came back
};

// Each rank has a thread; the only one a processor of its own. `daemon` null: each polls the device
// itself.
Throughput throughput(RunningDaemon *daemon, unsigned ranks, const Options &options, int rank_cpu,
                      Duration device_takes) {
  std::atomic<bool> stop{false};
  std::vector<std::atomic<std::uint64_t>> counts(ranks);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < ranks; ++i)
    threads.emplace_back([&, i] {
      if (ranks == 1)
        confine({rank_cpu});
      const auto number = static_cast<std::uint16_t>(2000 + i);
      Rank rank(daemon ? daemon->attach(number) : own_port(number, device_takes), options);
      rank.stream(stop, counts[i]);
    });
  const auto all = [&] {
    std::uint64_t sum = 0;
    for (const auto &count : counts)
      sum += count.load(std::memory_order_relaxed);
    return sum;
  };
  while (std::ranges::any_of(counts, [](const auto &count) { return count == 0; }))
    std::this_thread::yield();
  const Time begin = SystemClock::instance().now();
  const std::uint64_t before = all();
  const double used = daemon ? daemon->processor_seconds() : 0;
  std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(options.milliseconds));
  const auto came = static_cast<double>(all() - before);
  const double took = seconds_since(begin);
  Throughput out{.rate = came / took};
  if (daemon)
    out.processor_ns = 1e9 * (daemon->processor_seconds() - used) / (2 * came);
  stop = true;
  for (std::thread &thread : threads)
    thread.join();
  return out;
}

void measure_run(unsigned run, const Options &options, int rank_cpu, int daemon_cpu) {
  const std::vector<int> cpus = processors();
  {
    confine({rank_cpu});
    Rank rank(own_port(1), options);
    print("round trip", "rank-polled", 1, run, "us", round_trips(rank, options));
    confine(cpus);
  }
  {
    RunningDaemon daemon(daemon_cpu, false);
    confine({rank_cpu});
    Rank rank(daemon.attach(1), options);
    print("round trip", "daemon", 1, run, "us", round_trips(rank, options));
    confine(cpus);
  }
  for (const unsigned ns : options.device_ns) {
    const Duration takes(ns);
    const std::string rate = fmt::format("rate at {} ns", ns);
    const Throughput alone = throughput(nullptr, 1, options, rank_cpu, takes);
    print(rate.c_str(), "rank-polled", 1, run, "Mpps", 1e-6 * alone.rate);
    for (const unsigned ranks : {1u, 4u}) {
      RunningDaemon daemon(daemon_cpu, false, takes);
      const Throughput through = throughput(&daemon, ranks, options, rank_cpu, takes);
      print(rate.c_str(), "daemon", ranks, run, "Mpps", 1e-6 * through.rate);
      if (ns == 0)
        print("processor time a packet", "daemon", ranks, run, "ns", through.processor_ns);
    }
  }
  {
    // Three that are busy on two processors: the rank, the daemon, and one that computes.
    confine({rank_cpu, daemon_cpu});
    RunningDaemon daemon(-1, false);
    std::atomic<bool> stop{false};
    std::thread computes([&] {
      while (!stop.load(std::memory_order_relaxed)) {
      }
    });
    Rank rank(daemon.attach(1), options);
    print("crowded round trip", "daemon", 1, run, "us", median_round_trip(rank, options));
    stop = true;
    computes.join();
    confine(cpus);
  }
  for (const bool wakes : {false, true}) {
    RunningDaemon daemon(daemon_cpu, wakes);
    const auto port = daemon.attach(1); // who attaches, and says nothing
    std::this_thread::sleep_for(50ms);  // it polls for a while after that
    const double before = daemon.processor_seconds();
    const Time begin = SystemClock::instance().now();
    std::this_thread::sleep_for(
        std::chrono::duration<double, std::milli>(std::max(5 * options.milliseconds, 500.0)));
    print("idle", wakes ? "daemon (device wakes)" : "daemon (device can't wake)", 1, run, "%",
          100 * (daemon.processor_seconds() - before) / seconds_since(begin));
  }
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  fabtest::command_line app("What it costs that dpdkxd polls a device, on a device in memory.");
  app.add("--runs", options.runs, "of all, in turn");
  app.add("--ms", options.milliseconds, "a run of one figure");
  app.add("--size", options.size, "bytes of a datagram").between(1, 1472);
  app.add("--window", options.window, "datagrams under way, for throughput").between(1, 256);
  app.add("--device-ns", options.device_ns,
          "that the device takes of its user's time for a datagram, each way; throughput")
      .comma_separated();
  app.add("--rank-cpu", options.rank_cpu, "of the rank; -1: the first");
  app.add("--daemon-cpu", options.daemon_cpu, "of the daemon; -1: the second");
  if (const auto code = app.parse(argc, argv))
    return *code;
  try {
    const std::vector<int> cpus = processors();
    if (cpus.size() < 2)
      throw std::runtime_error("one processor; at least two are needed");
    const int rank_cpu = options.rank_cpu >= 0 ? options.rank_cpu : cpus[0];
    const int daemon_cpu = options.daemon_cpu >= 0 ? options.daemon_cpu : cpus[1];
    for (unsigned run = 1; run <= options.runs; ++run)
      measure_run(run, options, rank_cpu, daemon_cpu);
  } catch (const std::exception &e) {
    fmt::print(stderr, "daemon_cost: {}\n", e.what());
    return 1;
  }
  return 0;
}
