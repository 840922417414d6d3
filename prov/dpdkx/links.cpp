// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/links.h"

#include "dpdkx/link/host/host_link.h"
#include "dpdkx/own_address.h"
#include "dpdkx/provider.h"

#include <algorithm>

namespace dpdkx {

namespace {

// A port that is free on one link and taken on the other: so many are tried.
constexpr int port_attempts = 64;

int told(int rc, const std::string &error) {
  FI_WARN(&provider, FI_LOG_EP_CTRL, "%s\n", error.c_str());
  return rc;
}

Address device_address(const link::Device &device) {
  return device.info().address.address.with_port(0);
}

Address any_address(bool v4) { return v4 ? Address::v4(0, 0) : Address{}; }

// Labels say what an application would like; only a DSCP says how to mark packets.
link::PortOptions port_options(const Settings &settings, std::uint32_t traffic_class) {
  link::PortOptions options = settings.ports();
  if (traffic_class & FI_TC_DSCP)
    options.dscp = fi_tc_dscp_get(traffic_class) & 0x3f;
  return options;
}

// Some entry of the list, or none that the endpoint could mean: fi_getinfo may
// have guessed another device than the one that was free in the end.
bool is_of_list(const Settings &settings, const Address &address) {
  const auto family = address.is_v4() ? net::Family::v4 : net::Family::v6;
  const auto requests = settings.device_requests(family);
  return std::any_of(requests.begin(), requests.end(), [&](const link::DeviceRequest &request) {
    net::DeviceDescription description;
    std::string error;
    return net::describe_device(request.spec, request.address, request.family, 0, description,
                                error) == 0 &&
           description.address.address == net::Ip::of(address);
  });
}

int open_host_only(const Settings &settings, const Address &source, engine::Links &links,
                   Address &self) {
  if (!source.is_any() && !link::host_address_is_local(source))
    return told(-FI_EADDRNOTAVAIL, to_string(source) +
                                       " is no address of this host; allowed without "
                                       "FI_DPDKX_DEVICE: the host's own");
  std::string error;
  if (const int rc = link::open_host_port(source, settings.host, links.host, error))
    return told(rc, error);
  self = links.host->address();
  if (self.is_any()) {
    self = primary_address(!source.is_v4());
    self.port = links.host->address().port;
  }
  return 0;
}

int open_with_device(const Settings &settings, link::Device &device, const Address &source,
                     std::uint32_t traffic_class, engine::Links &links, Address &self) {
  Address name = device_address(device);
  const bool fits = source.is_any() || source.ip == name.ip ||
                    (source.is_v4() == name.is_v4() && is_of_list(settings, source));
  if (!fits)
    return told(-FI_EADDRNOTAVAIL, to_string(source) + " is not the address of device " +
                                       device.info().name + "; allowed: " + to_string(name));
  // The any address takes the port for all addresses of the host, of the device's family.
  Address wanted = source.is_any() && source.port ? any_address(name.is_v4()) : name;
  wanted.port = source.port;

  const link::PortOptions options = port_options(settings, traffic_class);
  std::vector<std::unique_ptr<link::Port>> passed; // kept, so that others are chosen
  std::string error;
  for (int attempt = 0; attempt < port_attempts; ++attempt) {
    std::unique_ptr<link::Port> host, port;
    if (const int rc = link::open_host_port(wanted, settings.host, host, error))
      return told(rc, error);
    name.port = host->address().port;
    const int rc = device.open_port(name, options, port, error);
    if (rc == 0) {
      links = {std::move(host), std::move(port)};
      self = name;
      return 0;
    }
    if (rc != -EADDRINUSE || wanted.port != 0)
      return told(rc, error);
    passed.push_back(std::move(host));
  }
  return told(-FI_EADDRINUSE, error);
}

} // namespace

int open_links(const Settings &settings, link::Device *device, const Address &source,
               std::uint32_t traffic_class, engine::Links &links, Address &self) {
  const int rc = device ? open_with_device(settings, *device, source, traffic_class, links, self)
                        : open_host_only(settings, source, links, self);
  if (rc == 0)
    links.is_own_address = link::host_address_is_local;
  return rc;
}

} // namespace dpdkx
