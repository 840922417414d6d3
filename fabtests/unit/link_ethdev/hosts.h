// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Two hosts for a case: processes in network namespaces of their own, joined by
// a veth pair, dpx0 (10.77.0.1, or fd00:77::1) and dpx1 (10.77.0.2, or fd00:77::2).
// Everything ends with the case. DPDK starts in the processes only, so that each case has a fresh
// one.
#pragma once

#include "dpdkx/link/ethdev/module.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace hosts {

using namespace dpdkx;

// In the processes, where cmocka's assertions can't be used.
#define CHECK(condition)                                                                           \
  ((condition) ? (void)0                                                                           \
               : throw std::runtime_error(std::string(__FILE__ ":") + std::to_string(__LINE__) +   \
                                          ": " #condition))

// Thrown by a part: the case is skipped.
struct Skip : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Shared;

// A process's view of the case.
class Host {
public:
  Host(Shared &shared, int rank) : shared_(shared), rank_(rank) {}

  int rank() const { return rank_; }
  const char *interface() const { return rank_ == 0 ? "dpx0" : "dpx1"; }
  bool v6() const; // what Setup has said
  net::Ip ip() const { return ip_of(rank_, v6()); }
  net::Ip peer_ip() const { return ip_of(1 - rank_, v6()); }
  std::string setting() const;             // of the address: "10.77.0.1/24"
  static net::Ip ip_of(int rank, bool v6); // also of ranks that there aren't
  std::size_t max_datagram(std::size_t mtu) const { return mtu - (v6() ? 48 : 28); }

  void meet() const;                             // all processes are here
  std::atomic<std::uint64_t> &word(int i) const; // shared by all
  std::atomic<std::uint64_t> &arrivals() const;
  std::uint64_t arrive(); // for one more meeting; as many arrivals as there will be then

private:
  Shared &shared_;
  int rank_;
  std::uint64_t meetings_ = 0;
};

using Part = std::function<void(Host &)>;

// What a pair of namespaces has beside the veth.
struct Setup {
  unsigned mtu = 1500;
  bool addresses = true; // the kernel has 10.77.0.1 and .2
  bool v6 = false;       // or fd00:77::1 and ::2, and no IPv4 at all
};

// Runs one part in each namespace, or more: part i runs as rank i % 2, on a processor of that
// rank's. Fails the case if one fails or they take longer than a minute; skips it without the
// right to make namespaces.
void run(const Setup &, std::vector<Part>);
// The same without namespaces: on the machine as it is.
void run_here(std::vector<Part>, bool v6 = false);

// Runs a command of the shell, in the process's namespace. False if it fails.
bool shell(const std::string &command);
// The kernel's "destination unreachable" messages so far, of the host's family.
long kernel_unreachables(const Host &);
// The IP packets that have come to it, of the host's family.
long kernel_arrivals(const Host &);
// Of these the datagrams to ports that nobody has.
long kernel_without_port(const Host &);

// --- a device, a port, and its traffic ---

link::DeviceRequest request(const std::string &device, const std::string &address = "");
std::shared_ptr<link::Device> open(const link::DeviceRequest &, const link::DeviceOptions & = {});
// Expected to fail: the code, and the text in `error`.
int fail_to_open(const link::DeviceRequest &, const link::DeviceOptions &, std::string &error);

class End {
public:
  End() = default;
  End(std::shared_ptr<link::Device>, std::uint16_t port, const link::PortOptions & = {});

  link::Port &port() { return *port_; }
  link::PathId open_path(const Address &peer);
  link::PathId connect(const Address &peer); // and waits until it is up
  // The kind and error of the next event; fails after ten seconds without one.
  link::PathEvent wait_event();

  void meet(Host &); // as Host::meet(), and goes on answering meanwhile
  void send(link::PathId, const std::vector<std::byte> &, bool bulk = false);
  struct Received {
    std::vector<std::byte> bytes;
    Address source;
    link::PathId path;
  };
  Received receive();                    // fails after ten seconds without one
  bool quiet(std::chrono::milliseconds); // nothing comes in meanwhile
  void turn();                           // looks at everything once; keeps what comes

private:
  std::unique_ptr<link::Port> port_;
  std::vector<Received> received_;
  std::vector<link::PathEvent> events_;
};

inline Address at(const net::Ip &ip, std::uint16_t port) { return ip.with_port(port); }

// Of device.statistics().
std::uint64_t statistic(link::Device &, const std::string &name);

// Each size there and back between two ends at port 5000, with its contents.
void echo_sizes(Host &, const std::vector<std::size_t> &sizes,
                const std::shared_ptr<link::Device> &, const net::Ip &peer);
inline void echo_sizes(Host &host, const std::vector<std::size_t> &sizes,
                       const std::shared_ptr<link::Device> &device) {
  echo_sizes(host, sizes, device, host.peer_ip());
}

// The same part on both hosts; and over IPv4, then IPv6.
void run_both(const Setup &, const Part &);
void run_each(Setup, const Part &);

// Bytes that tell their position and `seed`.
std::vector<std::byte> pattern(std::size_t size, unsigned seed);

} // namespace hosts
