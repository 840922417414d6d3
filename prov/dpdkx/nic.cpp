// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/nic.h"

#include "util_ext/ops.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

namespace dpdkx {

namespace {

// With all that it points to. Copies share nothing.
struct Nic final : fid_nic {
  Nic() : fid_nic() { point(); }
  Nic(const Nic &other)
      : fid_nic(other), name(other.name), device_id(other.device_id), vendor_id(other.vendor_id),
        driver(other.driver), address(other.address), bus(other.bus), link(other.link) {
    point();
  }
  Nic &operator=(const Nic &) = delete;
  static const Nic &from(const struct fid *f) {
    return *static_cast<const Nic *>(reinterpret_cast<const fid_nic *>(f));
  }

  void point(); // to the strings, which have been set
  std::string text() const;

  std::string name, device_id, vendor_id, driver, address; // empty: unknown
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
  device.vendor_id = or_null(vendor_id);
  device.driver = or_null(driver);
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
  out += line(3, "name", name) + line(3, "device_id", device_id) + line(3, "device_version", "") +
         line(3, "vendor_id", vendor_id) + line(3, "driver", driver) + line(3, "firmware", "");
  out += "        fi_bus_attr:\n";
  out += line(3, "bus_type", bus.bus_type == FI_BUS_PCI ? "FI_BUS_PCI" : "FI_BUS_UNKNOWN");
  if (bus.bus_type == FI_BUS_PCI) {
    const fi_pci_attr &pci = bus.attr.pci;
    out += "            fi_pci_attr:\n";
    out += line(4, "domain_id", std::to_string(pci.domain_id)) +
           line(4, "bus_id", std::to_string(pci.bus_id)) +
           line(4, "device_id", std::to_string(pci.device_id)) +
           line(4, "function_id", std::to_string(pci.function_id));
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

// ---- what the kernel tells

std::string first_word(const std::filesystem::path &file) {
  std::string word;
  std::ifstream(file) >> word;
  return word;
}

std::string name_of_link(const std::filesystem::path &link) {
  std::error_code none;
  return std::filesystem::read_symlink(link, none).filename();
}

// "0000:3b:02.1"
std::optional<fi_pci_attr> parse_pci(const std::string &text) {
  unsigned domain, bus, device, function;
  char more;
  if (std::sscanf(text.c_str(), "%4x:%2x:%2x.%1x%c", &domain, &bus, &device, &function, &more) != 4)
    return std::nullopt;
  return fi_pci_attr{static_cast<std::uint16_t>(domain), static_cast<std::uint8_t>(bus),
                     static_cast<std::uint8_t>(device), static_cast<std::uint8_t>(function)};
}

} // namespace

fid_nic *make_nic(const net::DeviceSpec &spec, const net::DeviceDescription &description) {
  auto nic = std::make_unique<Nic>();
  nic->name = description.link_name;
  nic->link.mtu = description.mtu;
  nic->link.speed = description.speed_mbps * 1'000'000;
  std::filesystem::path device; // in sysfs
  if (spec.kind == net::DeviceKind::pci) {
    device = std::filesystem::path("/sys/bus/pci/devices") / spec.bus_name;
  } else if (!spec.interface.empty()) {
    device = std::filesystem::path("/sys/class/net") / spec.interface / "device";
    nic->address = net::to_string(description.mac);
    nic->link.state = FI_LINK_UP; // else it would not have been described
  }
  if (!device.empty()) {
    nic->vendor_id = first_word(device / "vendor");
    nic->device_id = first_word(device / "device");
    nic->driver = name_of_link(device / "driver");
    const std::string name =
        spec.kind == net::DeviceKind::pci ? spec.bus_name : name_of_link(device);
    if (const auto pci = parse_pci(name)) {
      nic->bus.bus_type = FI_BUS_PCI;
      nic->bus.attr.pci = *pci;
    }
  }
  nic->point();
  return nic.release();
}

} // namespace dpdkx
