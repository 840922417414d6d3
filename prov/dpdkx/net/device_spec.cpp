// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/net/device_spec.h"

#include "dpdkx/net/text.h"
#include "dpdkx/net/vdev_arguments.h"

#include <algorithm>
#include <cctype>
#include <net/if.h>

namespace dpdkx::net {

namespace {

constexpr std::string_view separators = "; \t\n";

std::string device_fault(std::string_view entry, std::string_view what) {
  return "FI_DPDKX_DEVICE: '" + std::string(entry) + "': " + std::string(what) +
         "; allowed: a PCI address (0000:01:00.0), an RDMA device (mlx5_0), a DPDK virtual device "
         "(net_memif0,role=server,id=0), a kernel interface (eth0, or xdp:eth0 for af_xdp), or "
         "several of them separated by ';'";
}

// [dddd:]bb:dd.f in hexadecimal; `out` in full.
bool parse_pci(std::string_view text, std::string &out) {
  std::string full(text);
  if (std::count(text.begin(), text.end(), ':') == 1)
    full.insert(0, "0000:");
  constexpr std::string_view shape = "hhhh:hh:hh.h";
  if (full.size() != shape.size())
    return false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    auto c = static_cast<unsigned char>(full[i]);
    if (shape[i] == 'h' ? !std::isxdigit(c) : c != static_cast<unsigned char>(shape[i]))
      return false;
    full[i] = static_cast<char>(std::tolower(c));
  }
  out = full;
  return full.back() <= '7';
}

// What the kernel accepts as an interface's name (dev_valid_name).
bool is_interface_name(std::string_view name) {
  return !name.empty() && name.size() < IFNAMSIZ && name != "." && name != ".." &&
         name.find_first_of("/:,= \t\n") == std::string_view::npos;
}

std::string_view argument(std::string_view arguments, std::string_view key) {
  while (!arguments.empty()) {
    auto pair = cut(arguments, ",");
    auto name = cut(pair, "=");
    if (name == key)
      return pair;
  }
  return {};
}

bool well_formed(std::string_view arguments) {
  while (!arguments.empty()) {
    auto pair = cut(arguments, ",");
    if (pair.find('=') == 0 || pair.find('=') == std::string_view::npos)
      return false;
  }
  return true;
}

std::string arguments_fault(const DeviceSpec &spec) {
  if (spec.kind == DeviceKind::pci)
    return {};
  if (!spec.bus_name.empty())
    return vdev_arguments_fault(spec.bus_name, spec.arguments);
  if (!argument(spec.arguments, "iface").empty())
    return "names its interface, so it takes no 'iface'; allowed: one of the two";
  return vdev_arguments_fault(spec.kind == DeviceKind::af_xdp ? "net_af_xdp" : "net_af_packet",
                              spec.arguments);
}

// The name of an RDMA device, which stands for the PCI device under it. False: it isn't one.
bool is_rdma_device(std::string_view name, const FindRdmaDevice &find, DeviceSpec &out) {
  const auto device = find(std::string(name));
  if (!device || if_nametoindex(device->name.c_str()) != 0)
    return false;
  out.kind = DeviceKind::pci;
  out.rdma = name;
  out.bus_name = device->pci;
  return true;
}

bool parse_device(std::string_view entry, const FindRdmaDevice &find_rdma, DeviceSpec &out,
                  std::string &error) {
  auto comma = std::min(entry.find(','), entry.size());
  auto name = entry.substr(0, comma);
  out = {};
  out.text = entry;
  out.arguments = entry.substr(std::min(comma + 1, entry.size()));
  if (!well_formed(out.arguments)) {
    error = device_fault(entry, "what follows the name isn't key=value,...");
    return false;
  }
  if (parse_pci(name, out.bus_name)) {
    out.kind = DeviceKind::pci;
  } else if (name.starts_with("net_") || name.starts_with("eth_")) {
    out.bus_name = name;
    bool packet = name.starts_with("net_af_packet") || name.starts_with("eth_af_packet");
    bool xdp = name.starts_with("net_af_xdp");
    out.kind = packet ? DeviceKind::af_packet : xdp ? DeviceKind::af_xdp : DeviceKind::vdev;
    // net_tap's iface is one that the driver makes: the other end of a wire.
    if (out.kind != DeviceKind::vdev)
      out.interface = argument(out.arguments, "iface");
  } else if (is_rdma_device(name, find_rdma, out)) {
    if (out.bus_name.empty()) {
      error = device_fault(entry, "an RDMA device that is none on PCI");
      return false;
    }
  } else {
    bool xdp = name.starts_with("xdp:");
    out.kind = xdp ? DeviceKind::af_xdp : DeviceKind::af_packet;
    out.interface = xdp ? name.substr(4) : name;
  }
  bool needs_interface = out.kind == DeviceKind::af_packet || out.kind == DeviceKind::af_xdp;
  if (needs_interface && !is_interface_name(out.interface)) {
    error = device_fault(entry, "not a device");
    return false;
  }
  if (auto what = arguments_fault(out); !what.empty()) {
    error = "FI_DPDKX_DEVICE: '" + out.text + "': " + what;
    return false;
  }
  return true;
}

std::string part_fault(std::string_view part, std::string_view value, std::string_view allowed) {
  return std::string(part) + " '" + std::string(value) + "'; allowed: " + std::string(allowed);
}

// A link-local address would need the interface's name with it, which nothing above the
// device has a place for.
bool is_endpoint(const Ip &ip) { return ip.is_host() && !ip.is_link_local(); }

// IPv6 routers tell others their link-local address.
bool is_gateway(const AddressSpec &spec) {
  const auto &network = spec.network;
  return spec.gateway.is_host() && spec.gateway != network.address &&
         (network.contains(spec.gateway) ||
          (spec.gateway.is_link_local() && !network.address.is_v4()));
}

// What is wrong with an entry of FI_DPDKX_ADDR; empty: nothing.
std::string read_address(std::string_view entry, AddressSpec &out) {
  constexpr std::string_view form = "address/prefix[,gateway[,vlan]] (10.0.0.1/24,10.0.0.254,100, "
                                    "or fd00::1/64), or '-' where the kernel has the address";
  out = {};
  auto rest = entry;
  auto prefix = cut(rest, ",");
  const auto address = cut(prefix, "/");
  auto &network = out.network;
  if (!parse_ip(address, network.address) || !is_endpoint(network.address))
    return part_fault("address", address,
                      "the IPv4 or IPv6 address of one host, not of the link alone (fe80::/10), "
                      "in " +
                          std::string(form));
  const bool v4 = network.address.is_v4();
  if (!parse_number(prefix, network.prefix) || network.prefix > (v4 ? 32 : 128))
    return part_fault("prefix", prefix, (v4 ? "0-32, in " : "0-128, in ") + std::string(form));
  if (network.is_reserved(network.address))
    return part_fault("address", address,
                      "one of " + to_string(network) + " other than its first" +
                          (v4 ? " and its last" : ""));
  const auto gateway = cut(rest, ",");
  if (!gateway.empty() && (!parse_ip(gateway, out.gateway) || !is_gateway(out)))
    return part_fault("gateway", gateway,
                      "empty, or another host's address on the network of " + to_string(network) +
                          (v4 ? "" : ", or of the link (fe80::/10)"));
  const auto vlan = cut(rest, ",");
  if (!vlan.empty() && (!parse_number(vlan, out.vlan) || out.vlan == 0 || out.vlan > 4094))
    return part_fault("VLAN", vlan, "empty, or 1-4094");
  if (!rest.empty() || entry.ends_with(','))
    return "more than it takes; allowed: " + std::string(form);
  return {};
}

// The same of FI_DPDKX_NEIGHBORS.
std::string read_neighbour(std::string_view entry, FixedNeighbour &out) {
  constexpr std::string_view form =
      "address=MAC (10.0.0.2=02:00:00:00:00:02, or fd00::2=02:00:00:00:00:02)";
  auto mac = entry;
  const auto address = cut(mac, "=");
  if (!parse_ip(address, out.first) || !out.first.is_host())
    return part_fault("address", address,
                      "the IPv4 or IPv6 address of one host, in " + std::string(form));
  if (!parse_mac(mac, out.second) || out.second.is_multicast() || out.second.is_zero())
    return part_fault("MAC", mac, "the MAC address of one host, in " + std::string(form));
  return {};
}

// Calls each(entry) for what stands between separators; stops at false.
template <class Each> bool for_each_entry(std::string_view setting, Each &&each) {
  while (!setting.empty())
    if (auto entry = cut(setting, separators); !entry.empty() && !each(entry))
      return false;
  return true;
}

} // namespace

std::string DeviceSpec::identity() const {
  switch (kind) {
  case DeviceKind::af_packet:
    return "packet:" + interface;
  case DeviceKind::af_xdp:
    return "xdp:" + interface;
  case DeviceKind::vdev:
    return text; // both ends of a memif may well have the same name
  default:
    return bus_name;
  }
}

bool has_argument(std::string_view arguments, std::string_view key) {
  while (!arguments.empty()) {
    auto pair = cut(arguments, ",");
    if (cut(pair, "=") == key)
      return true;
  }
  return false;
}

std::optional<RdmaDevice> find_rdma_device_here(const std::string &name) {
  return find_rdma_device(name);
}

bool parse_devices(std::string_view setting, std::vector<DeviceSpec> &out, std::string &error,
                   const FindRdmaDevice &find_rdma) {
  out.clear();
  auto add = [&](std::string_view entry) {
    return parse_device(entry, find_rdma, out.emplace_back(), error);
  };
  if (!for_each_entry(setting, add))
    return false;
  for (auto one = out.begin(); one != out.end(); ++one)
    for (auto other = out.begin(); other != one; ++other)
      if (one->identity() == other->identity()) {
        error = device_fault(one->text, "named twice");
        return false;
      }
  return true;
}

namespace {
// Which entry of which setting; true if nothing is wrong.
bool tell(std::string_view setting, std::size_t number, std::string_view entry,
          const std::string &what, std::string &error) {
  if (what.empty())
    return true;
  error = std::string(setting) + ": entry " + std::to_string(number) + ", '" + std::string(entry) +
          "': " + what;
  return false;
}
} // namespace

bool parse_addresses(std::string_view setting, std::vector<std::optional<AddressSpec>> &out,
                     std::string &error) {
  out.clear();
  return for_each_entry(setting, [&](std::string_view entry) {
    auto &address = out.emplace_back();
    return entry == "-" ||
           tell("FI_DPDKX_ADDR", out.size(), entry, read_address(entry, address.emplace()), error);
  });
}

bool parse_neighbours(std::string_view setting, std::vector<FixedNeighbour> &out,
                      std::string &error) {
  out.clear();
  return for_each_entry(setting, [&](std::string_view entry) {
    auto &neighbour = out.emplace_back();
    return tell("FI_DPDKX_NEIGHBORS", out.size(), entry, read_neighbour(entry, neighbour), error);
  });
}

} // namespace dpdkx::net
