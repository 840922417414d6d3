// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The settings that name devices and their addresses, as text and as structs.
//
// FI_DPDKX_DEVICE: one or more entries, separated by ';' or blanks (a vdev's
// arguments have commas). An entry is
//   0000:01:00.0 or 01:00.0, with ",key=value..."   a PCI device
//   net_memif0,role=server,id=0                       a DPDK virtual device
//   mlx5_0, with ",key=value..."                      an RDMA device: the PCI device that it is
//   veth0                                             a kernel interface, by af_packet
//   xdp:veth0, with ",key=value..."                   a kernel interface, by af_xdp
//
// FI_DPDKX_ADDR: for each device, in the same order and separated the same way,
//   address/prefix[,gateway[,vlan]]                   10.0.0.1/24,10.0.0.254,100
//                                                     fd00::1/64,fe80::1
// or "-" where the kernel has the address. A gateway may be left empty.
//
// FI_DPDKX_NEIGHBORS: fixed neighbours, separated the same way
//   address=MAC                                       10.0.0.2=02:00:00:00:00:02
#pragma once

#include "dpdkx/net/ip.h"
#include "dpdkx/net/mac.h"
#include "dpdkx/net/rdma_device.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dpdkx::net {

enum class DeviceKind : std::uint8_t {
  pci,
  vdev,      // any DPDK virtual device, told in full
  af_packet, // from a kernel interface; processes share it
  af_xdp,    // from a kernel interface; takes all that its queue receives
};

struct DeviceSpec {
  DeviceKind kind{};
  std::string text;      // the entry as it was given
  std::string bus_name;  // "0000:01:00.0", "net_memif0"; empty for kernel interfaces
  std::string arguments; // "role=server,id=0": what follows the name
  std::string interface; // the kernel interface under it, if there is one
  std::string rdma;      // the name of the RDMA device, where it was given by that

  // One process at a time, claimed by name.
  bool exclusive() const { return kind != DeviceKind::af_packet; }
  // The same for entries that mean the same device.
  std::string identity() const;

  friend bool operator==(const DeviceSpec &, const DeviceSpec &) = default;
};

struct AddressSpec {
  Network network;
  Ip gateway; // any: none
  std::uint16_t vlan = 0;

  friend bool operator==(const AddressSpec &, const AddressSpec &) = default;
};

using FixedNeighbour = std::pair<Ip, Mac>;

// Of DeviceSpec::arguments.
bool has_argument(std::string_view arguments, std::string_view key);

using FindRdmaDevice = std::function<std::optional<RdmaDevice>(const std::string &name)>;
std::optional<RdmaDevice> find_rdma_device_here(const std::string &name);

// Each returns false with a text that names the setting, the value and what is
// allowed. Whether a device exists is for describe_device(); only whether a name is that of an
// RDMA device is looked up here. One that a kernel interface has, too, is the interface's.
bool parse_devices(std::string_view setting, std::vector<DeviceSpec> &out, std::string &error,
                   const FindRdmaDevice & = find_rdma_device_here);
bool parse_addresses(std::string_view setting, std::vector<std::optional<AddressSpec>> &out,
                     std::string &error);
bool parse_neighbours(std::string_view setting, std::vector<FixedNeighbour> &out,
                      std::string &error);

} // namespace dpdkx::net
