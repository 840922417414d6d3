// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/nic.h"

#include "dpdkx/net/sysfs_device.h"
#include "util_ext/ops.h"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

namespace dpdkx {

namespace {

// With all that it points to. Copies share nothing.
struct Nic final : fid_nic {
  Nic() : fid_nic() { point(); }
  Nic(const Nic &other)
      : fid_nic(other), name(other.name), device_id(other.device_id), version(other.version),
        vendor_id(other.vendor_id), driver(other.driver), firmware(other.firmware),
        address(other.address), numa_node(other.numa_node), bus(other.bus), link(other.link) {
    point();
  }
  Nic &operator=(const Nic &) = delete;
  static const Nic &from(const struct fid *f) {
    return *static_cast<const Nic *>(reinterpret_cast<const fid_nic *>(f));
  }

  void point(); // to the strings, which have been set
  std::string text() const;

  std::string name, device_id, version, vendor_id, driver, firmware, address; // empty: unknown
  int numa_node = -1; // for eyes: fi_nic(3) has no place for it, and hwloc finds it by the bus
  fi_device_attr device{};
  fi_bus_attr bus{};
  fi_link_attr link{};

private:
  static int close(struct fid *);
  static int control(struct fid *, int command, void *arg);
  static int tostr(const struct fid *, char *buf, std::size_t len);
};

char *or_null(std::string &text) { return text.empty() ? nullptr : text.data(); }

void Nic::point() {
  static fi_ops ops = [] {
    auto t = util_ext::all_missing<fi_ops>();
    t.close = close;
    t.control = control;
    t.tostr = tostr;
    return t;
  }();
  static char ethernet[] = "Ethernet";
  fid = {FI_CLASS_NIC, nullptr, &ops};
  device.name = or_null(name);
  device.device_id = or_null(device_id);
  device.device_version = or_null(version);
  device.vendor_id = or_null(vendor_id);
  device.driver = or_null(driver);
  device.firmware = or_null(firmware);
  link.address = or_null(address);
  link.network_type = ethernet;
  device_attr = &device;
  bus_attr = &bus;
  link_attr = &link;
}

int Nic::close(struct fid *f) {
  delete &from(f);
  return 0;
}

int Nic::control(struct fid *f, int command, void *arg) {
  if (command != FI_DUP)
    return -FI_ENOSYS;
  if (!arg)
    return -FI_EINVAL;
  return util_ext::guard([&] {
    *static_cast<fid_nic **>(arg) = new Nic(from(f));
    return 0;
  });
}

// As libfabric shows those of its own providers.
std::string Nic::text() const {
  const auto line = [](int depth, const char *key, const std::string &value) {
    return std::string(static_cast<std::size_t>(depth) * 4, ' ') + key + ": " +
           (value.empty() ? "(null)" : value) + "\n";
  };
  std::string out = "    nic:\n        fi_device_attr:\n";
  out += line(3, "name", name) + line(3, "device_id", device_id) +
         line(3, "device_version", version) + line(3, "vendor_id", vendor_id) +
         line(3, "driver", driver) + line(3, "firmware", firmware);
  out += "        fi_bus_attr:\n";
  out += line(3, "bus_type", bus.bus_type == FI_BUS_PCI ? "FI_BUS_PCI" : "FI_BUS_UNKNOWN");
  if (bus.bus_type == FI_BUS_PCI) {
    const fi_pci_attr &pci = bus.attr.pci;
    out += "            fi_pci_attr:\n";
    out += line(4, "domain_id", std::to_string(pci.domain_id)) +
           line(4, "bus_id", std::to_string(pci.bus_id)) +
           line(4, "device_id", std::to_string(pci.device_id)) +
           line(4, "function_id", std::to_string(pci.function_id));
    if (numa_node >= 0)
      out += line(3, "numa_node", std::to_string(numa_node));
  }
  out += "        fi_link_attr:\n";
  out += line(3, "address", address) + line(3, "mtu", std::to_string(link.mtu)) +
         line(3, "speed", std::to_string(link.speed)) +
         line(3, "state", link.state == FI_LINK_UP ? "FI_LINK_UP" : "FI_LINK_UNKNOWN") +
         line(3, "network_type", link.network_type);
  return out;
}

// Adds to what is in the buffer.
int Nic::tostr(const struct fid *f, char *buf, std::size_t len) {
  return util_ext::guard([&] {
    const std::size_t used = strnlen(buf, len);
    std::snprintf(buf + used, len - used, "%s", from(f).text().c_str());
    return 0;
  });
}

// Not of domains beyond what fi_pci_attr holds (of Intel's VMD, say).
std::optional<fi_pci_attr> bus_attr_of(const net::SysfsDevice &device) {
  if (!device.pci || device.pci->domain > UINT16_MAX)
    return std::nullopt;
  return fi_pci_attr{static_cast<std::uint16_t>(device.pci->domain), device.pci->bus,
                     device.pci->device, device.pci->function};
}

} // namespace

fid_nic *make_nic(const net::DeviceSpec &spec, const net::DeviceDescription &description,
                  const std::filesystem::path &sysfs) {
  auto nic = std::make_unique<Nic>();
  const net::SysfsDevice device = net::look_at_device(spec, sysfs);
  nic->name = spec.rdma.empty() ? description.link_name : spec.rdma;
  nic->vendor_id = device.vendor_id;
  nic->device_id = device.device_id;
  nic->version = device.revision;
  nic->driver = device.driver;
  nic->firmware = device.firmware;
  nic->numa_node = device.numa_node;
  nic->link.mtu = description.mtu;
  nic->link.speed =
      (description.speed_mbps ? description.speed_mbps : device.speed_mbps) * 1'000'000;
  nic->address = description.mac.is_zero() ? device.mac : net::to_string(description.mac);
  // An interface that is down would not have been described.
  nic->link.state = device.up || !spec.interface.empty() ? FI_LINK_UP : FI_LINK_UNKNOWN;
  if (const auto pci = bus_attr_of(device)) {
    nic->bus.bus_type = FI_BUS_PCI;
    nic->bus.attr.pci = *pci;
  }
  nic->point();
  return nic.release();
}

} // namespace dpdkx
