// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Where an endpoint lives: one IP address and UDP port, bound on the host link
// and, in a domain with a device, on the device too.
#include "dpdkx/ep.h"
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

} // namespace

int Endpoint::open_links() {
  if (linked_)
    return 0;
  if (const int rc = domain_.device() ? open_with_device() : open_host_only())
    return rc;
  linked_ = true;
  FI_INFO(&provider, FI_LOG_EP_CTRL, "endpoint at %s\n", to_string(self_).c_str());
  return 0;
}

int Endpoint::open_host_only() {
  if (!source_.is_any() && !link::host_address_is_local(source_))
    return told(-FI_EADDRNOTAVAIL, to_string(source_) +
                                       " is no address of this host; allowed without "
                                       "FI_DPDKX_DEVICE: the host's own");
  std::string error;
  if (const int rc = link::open_host_port(source_, domain_.settings().host, links_.host, error))
    return told(rc, error);
  self_ = links_.host->address();
  if (self_.is_any()) {
    self_ = primary_address(!source_.is_v4());
    self_.port = links_.host->address().port;
  }
  return 0;
}

int Endpoint::open_with_device() {
  link::Device &device = *domain_.device();
  Address name = device_address(device);
  const bool fits = source_.is_any() || source_.ip == name.ip ||
                    (source_.is_v4() == name.is_v4() && is_of_list(domain_.settings(), source_));
  if (!fits)
    return told(-FI_EADDRNOTAVAIL, to_string(source_) + " is not the address of device " +
                                       device.info().name + "; allowed: " + to_string(name));
  // The any address takes the port for all addresses of the host, of the device's family.
  Address wanted = source_.is_any() && source_.port ? any_address(name.is_v4()) : name;
  wanted.port = source_.port;

  const link::PortOptions options = port_options(domain_.settings(), traffic_class_);
  std::vector<std::unique_ptr<link::Port>> passed; // kept, so that others are chosen
  std::string error;
  for (int attempt = 0; attempt < port_attempts; ++attempt) {
    std::unique_ptr<link::Port> host, port;
    if (const int rc = link::open_host_port(wanted, domain_.settings().host, host, error))
      return told(rc, error);
    name.port = host->address().port;
    const int rc = device.open_port(name, options, port, error);
    if (rc == 0) {
      links_ = {std::move(host), std::move(port)};
      self_ = name;
      return 0;
    }
    if (rc != -EADDRINUSE || wanted.port != 0)
      return told(rc, error);
    passed.push_back(std::move(host));
  }
  return told(-FI_EADDRINUSE, error);
}

} // namespace dpdkx
