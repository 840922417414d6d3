// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What the provider sees of libdpdkx-ethdev.so, the module that links DPDK.
// Both are built from one tree; the number of the interface keeps a leftover of
// another build from being called.
//
// Threads: every call here may be made from any thread.
#pragma once

#include "dpdkx/base/log.h"
#include "dpdkx/link/link.h"
#include "dpdkx/net/describe.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dpdkx::link {

enum class HugePages : std::uint8_t {
  where_needed, // only if the first device is a PCI device
  always,
  never,
};

// What a port of its own holds of packet buffers: some being sent, some being read.
inline constexpr std::uint32_t min_mbufs = 256;
inline constexpr std::uint32_t max_rx_queues = 64;
// Of a queue, whatever the device; it may take less.
inline constexpr std::uint32_t min_descriptors = 32, max_descriptors = 32768;

// How DPDK and devices are set up. What concerns DPDK as a whole counts with the
// first device of the process.
struct DeviceOptions {
  // DPDK as a whole
  std::string eal_args{}; // more arguments to rte_eal_init(), separated by blanks
  HugePages huge_pages = HugePages::where_needed;
  std::uint32_t memory_mb = 0; // 0: 256 without huge pages, as needed with them

  // A device
  std::uint32_t mtu = 0;            // 0: the interface's, or 1500
  std::uint32_t mbufs = 0;          // 0: enough for the queues
  std::uint32_t rx_descriptors = 0; // 0: fits the device; of an interface: frames of the ring
  std::uint32_t tx_descriptors = 0;
  // Receive queues that share all traffic, and more for rules, by which endpoints get one of their
  // own. A device may take fewer; see DeviceInfo::steering.
  std::uint32_t rx_queues = 1, rule_queues = 0;
  bool checksum_offload = false; // the NIC computes and checks UDP checksums, where it can
  std::uint8_t dscp = 0;         // 0-63; ports may have another
  Duration resolve_timeout = std::chrono::seconds(10); // then a path has failed
  std::vector<net::FixedNeighbour> neighbours{};
  // One thread alone calls the device and its ports, and takes in for all of them by
  // Device::collect().
  bool collected = false;
};

// How a kernel interface is taken: by packet sockets of our own, or, where its entry has something
// to say to DPDK's driver or several queues are wanted, by that.
inline bool by_packet_sockets(const net::DeviceSpec &spec, const DeviceOptions &options) {
  return spec.kind == net::DeviceKind::af_packet && spec.bus_name.empty() &&
         spec.arguments.empty() && options.rx_queues == 1;
}

// One entry of FI_DPDKX_DEVICE with what FI_DPDKX_ADDR has for it.
struct DeviceRequest {
  net::DeviceSpec spec;
  std::optional<net::AddressSpec> address;
  net::Family family = net::Family::v4; // preferred, where the kernel has addresses of both
};

struct PciIdentity {
  std::uint32_t domain = 0;
  std::uint8_t bus = 0, device = 0, function = 0;
  std::uint16_t vendor_id = 0, device_id = 0, subsystem_vendor_id = 0, subsystem_device_id = 0;
  std::uint8_t revision = 0;
};

struct DeviceInfo {
  std::string name;      // the DPDK device's: "0000:01:00.0", "net_memif0"
  std::string driver;    // "net_ixgbe"
  std::string link_name; // the kernel interface's where there is one, or the name
  net::Mac mac;
  net::Network address;
  std::uint32_t mtu = 0;
  std::uint64_t bits_per_second = 0; // 0: unknown
  int numa_node = -1;
  std::string steering; // how packets come to its queues: "RSS over 4 queues"
  std::optional<PciIdentity> pci;
};

// A receive queue of a device.
struct DeviceQueue {
  std::uint32_t index = 0;
  Address owner; // of a queue with a rule; port 0: the pool's, or nobody's
  bool of_pool = true;
  std::uint64_t packets = 0; // taken from it
};

// How a port is set up.
struct PortOptions {
  std::uint16_t first = 49152, last = 65535; // the range for ports that are chosen
  std::optional<std::uint8_t> dscp{};        // of its packets; none: the device's
  std::uint16_t bulk_port = 0; // one that peers know already: kept, with a queue of its own or not
};

// One per process and device, shared by all who open it; it ends with its last
// owner. Ports own it too. It has one address, of one family.
class Device {
public:
  virtual ~Device() = default;
  virtual const DeviceInfo &info() const = 0;

  // Attaches an endpoint. wanted.ip is the device's address, or any; wanted.port
  // 0: a free one of the range. -EADDRNOTAVAIL, -EADDRINUSE, -ENOMEM, with a text.
  virtual int open_port(const Address &wanted, const PortOptions &, std::unique_ptr<Port> &,
                        std::string &error) = 0;

  // Whether it was opened as `collected`, and can be. Then collect() deals up to `max` frames to
  // the ports, which poll nothing else: each has room for 512 that nobody has polled. Any port's
  // wait_fd() stands for all of them: arm() looks at the device, and the others have been polled
  // until nothing was left.
  virtual bool collects() const { return false; }
  virtual void collect(unsigned max) { (void)max; }

  virtual std::vector<DeviceQueue> queues() const { return {}; }

  // What the driver counts (its xstats), and what was dropped here and why.
  // For eyes, not for programs: names depend on the driver.
  virtual std::vector<std::pair<std::string, std::uint64_t>> statistics() const = 0;
};

struct EthdevModule {
  static constexpr std::uint32_t current_abi = 5;
  static constexpr const char *symbol = "dpdkx_ethdev_module";

  std::uint32_t abi;
  const char *dpdk_version;

  // The module has its own copy of dpdkx/base: hands on what is logged there.
  void (*set_log)(void (*sink)(LogLevel, std::string_view), bool (*filter)(LogLevel));

  // Starts DPDK if need be, and the device; or gives the Device that this
  // process has open. 0, or a negative errno with a text that names setting,
  // value and what is allowed. -EBUSY: another process has the device.
  int (*open_device)(const DeviceRequest &, const DeviceOptions &, std::shared_ptr<Device> &,
                     std::string &error);

  bool (*is_open)(const net::DeviceSpec &); // by this process
};

} // namespace dpdkx::link

extern "C" const dpdkx::link::EthdevModule *dpdkx_ethdev_module();
