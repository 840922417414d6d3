// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// fi_getinfo(3): which domains there are, at which addresses, and whether they
// fit what the application asks for. Touches no device and starts nothing.
#include "dpdkx/base_info.h"
#include "dpdkx/daemon_devices.h"
#include "dpdkx/domain.h"
#include "dpdkx/getinfo_address.h"
#include "dpdkx/link/ethdev/loader.h"
#include "dpdkx/nic.h"
#include "dpdkx/provider.h"
#include "util_ext/info.h"
#include "util_ext/ops.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <span>

namespace dpdkx {

namespace {

constexpr std::size_t max_auth_key = 4096; // any would do

const char *domain_asked_for(const fi_info *hints) {
  return hints && hints->domain_attr ? hints->domain_attr->name : nullptr;
}

bool named_by_application(const fi_info *hints) {
  // libfabric has compared the name already; layers are separated by ';'.
  return hints && hints->fabric_attr && hints->fabric_attr->prov_name &&
         strcasestr(hints->fabric_attr->prov_name, provider_name);
}

// Programs that choose the best of all providers must go on choosing what they
// chose before this one was installed.
bool asked_for(const fi_info *hints) {
  return named_by_application(hints) || named_by_user() || offered_to_all();
}

// Layered providers set this bit when they look for what to stand upon (libfabric's
// OFI_CORE_PROV_ONLY). They get nothing but what this provider has better itself: ofi_rxd upon
// datagrams would be listed before RDM endpoints, and programs take what comes first.
constexpr std::uint64_t asked_by_layer = std::uint64_t{1} << 59;

// A domain that can be opened, and the address that its endpoints have.
struct Candidate {
  std::string name;
  Address address;                  // port 0
  std::size_t max_datagram;         // bytes of its UDP datagrams, or the host link's
  std::function<fid_nic *()> nic{}; // none: the host link
  bool groups = false;              // of IP: FI_MULTICAST
};

// Devices that the process opens itself, or those of the daemon.
struct Devices {
  const Settings &settings;
  std::vector<link::DeviceInfo> of_daemon;

  // Who asks for the host link alone needs nothing of the daemon.
  Devices(const Settings &s, const char *name) : settings(s) {
    if (!name || std::strcmp(name, host_domain_name) != 0)
      of_daemon = daemon_devices(s);
  }
  bool empty() const { return settings.devices.empty() && of_daemon.empty(); }
};

bool is_domain(const Devices &devices, const char *name) {
  const Settings &settings = devices.settings;
  return std::strcmp(name, host_domain_name) == 0 ||
         std::any_of(
             devices.of_daemon.begin(), devices.of_daemon.end(),
             [name](const link::DeviceInfo &info) { return daemon_domain_name(info) == name; }) ||
         std::any_of(settings.devices.begin(), settings.devices.end(),
                     [name](const net::DeviceSpec &spec) { return spec.text == name; });
}

// The device that a process would get now, by its place in the list; false: none.
bool find_device(std::span<const link::DeviceRequest> requests, const char *name, std::size_t &i) {
  i = 0;
  if (name) {
    while (requests[i].spec.text != name) // which there is
      ++i;
  } else if ((i = link::find_free_device(requests)) == requests.size()) {
    FI_WARN(&provider, FI_LOG_CORE,
            "FI_DPDKX_DEVICE: other processes use every device of the list; allowed: one device "
            "for each process of the host (kernel interfaces by af_packet are shared)\n");
    return false;
  }
  return true;
}

std::size_t max_datagram(const Settings &settings, std::size_t mtu, const Address &own) {
  const std::size_t of_device = mtu - (own.is_v4() ? 28 : 48); // IP and UDP headers
  return std::min<std::size_t>(of_device, settings.host.max_datagram);
}

// One address each.
void add_devices_of_daemon(const Devices &devices, const char *name, const Wanted &wanted,
                           std::vector<Candidate> &out) {
  const auto family = wanted.family();
  for (const link::DeviceInfo &info : devices.of_daemon) {
    const Address own = info.address.address.with_port(0);
    const std::string domain = daemon_domain_name(info);
    if ((name && domain != name) || (family && (*family == net::Family::v4) != own.is_v4()) ||
        !wanted.suits_device(own))
      continue;
    out.push_back({domain, own, max_datagram(devices.settings, info.mtu, own),
                   [info] { return make_nic(spec_of(info), description_of(info)); }});
  }
}

// Once for each family that it has an address of, unless the call is about one of them.
void add_device(const Settings &settings, const char *name, const Wanted &wanted,
                std::vector<Candidate> &out) {
  const auto requests = settings.device_requests(net::Family::v4);
  std::size_t i;
  if (!find_device(requests, name, i))
    return;
  const auto &spec = requests[i].spec;
  std::string error;
  if (!link::ethdev_module_exists(error)) {
    FI_WARN(&provider, FI_LOG_CORE, "FI_DPDKX_DEVICE: '%s': %s\n", spec.text.c_str(),
            error.c_str());
    return;
  }
  const auto family = wanted.family();
  for (const net::Family preferred : {net::Family::v4, net::Family::v6}) {
    if (family && *family != preferred && !requests[i].address)
      continue;
    net::DeviceDescription description;
    if (net::describe_device(spec, requests[i].address, preferred, settings.device_options.mtu,
                             description, error) != 0) {
      FI_WARN(&provider, FI_LOG_CORE, "%s\n", error.c_str());
      return;
    }
    const Address own = description.address.address.with_port(0);
    const bool again = !out.empty() && out.back().address == own;
    if (!again && wanted.suits_device(own))
      out.push_back({spec.text, own, max_datagram(settings, description.mtu, own),
                     [spec, description] { return make_nic(spec, description); }, true});
    if (requests[i].address)
      return; // the setting's, and no other
  }
}

// With devices, the host link alone is offered to who asks for it, by name or by
// an address that no device has, and to who asks for everything.
bool wants_host(const Devices &devices, const fi_info *hints, const Wanted &wanted) {
  if (const char *name = domain_asked_for(hints))
    return std::strcmp(name, host_domain_name) == 0;
  return devices.empty() || !hints || (wanted.source && !wanted.source->is_any());
}

std::vector<Candidate> candidates(const Devices &devices, const fi_info *hints,
                                  const Wanted &wanted) {
  const Settings &settings = devices.settings;
  std::vector<Candidate> found;
  const char *name = domain_asked_for(hints);
  if (!name || std::strcmp(name, host_domain_name) != 0) {
    if (!settings.devices.empty())
      add_device(settings, name, wanted, found);
    else
      add_devices_of_daemon(devices, name, wanted, found);
  }
  if (found.empty() || !hints) {
    if (wants_host(devices, hints, wanted)) {
      if (wanted.suits_host())
        found.push_back({host_domain_name, wanted.host_address(), settings.host.max_datagram});
      else if (found.empty())
        util_ext::refuse_hint(provider, "src_addr", to_string(*wanted.source).c_str(),
                              "allowed: addresses of this host, or of a device");
    }
  }
  return found;
}

// The candidate's info, if it fits the hints. 0, -FI_ENODATA, -FI_ENOMEM.
int make_info(const Settings &settings, const Candidate &candidate, fi_ep_type type,
              std::uint32_t api_version, const fi_info *hints, const Wanted &wanted, InfoPtr &out) {
  const char *const domain = candidate.name.c_str();
  const InfoPtr base =
      type == FI_EP_DGRAM
          ? datagram_info(domain, candidate.max_datagram - engine::datagram_overhead,
                          candidate.groups)
          : base_info(domain, type);
  const util_ext::Offer offer{
      .info = base.get(),
      .addr_formats = {FI_SOCKADDR, FI_SOCKADDR_IN, FI_SOCKADDR_IN6, FI_ADDR_STR},
      .max_auth_key_size = max_auth_key,
      .traffic_classes = true};
  fi_info *chosen = nullptr;
  if (const int rc = util_ext::choose(provider, api_version, offer, hints, &chosen))
    return rc;
  out.reset(chosen);
  if (!hints) // a default that would make an address something else than who opens this thinks
    out->tx_attr->op_flags &= ~FI_MULTICAST;
  set_sizes(settings, hints, *out);
  if (candidate.nic && FI_VERSION_GE(api_version, FI_VERSION(1, 7))) // which has fi_info::nic
    out->nic = candidate.nic();
  wanted.fill(candidate.address, *out);
  return 0;
}

// Best first, of which the later can do no more than the first. Utility providers would build
// reliable datagrams on the others, and libfabric lists theirs before ours: they get no connected
// ones, unless the user has named one of them with this one, and never datagrams.
std::span<const fi_ep_type> types_for(std::uint64_t flags) {
  static constexpr fi_ep_type types[] = {FI_EP_RDM, FI_EP_MSG, FI_EP_DGRAM};
  if (!(flags & asked_by_layer))
    return types;
  return std::span(types).first(layered_by_user() ? 2 : 1);
}

int find(std::uint32_t api_version, const char *node, const char *service, std::uint64_t flags,
         const fi_info *hints, fi_info **info) {
  if (!asked_for(hints)) {
    FI_INFO(&provider, FI_LOG_CORE,
            "not named: dpdkx answers with FI_PROVIDER=dpdkx, prov_name \"dpdkx\" in the hints, or "
            "FI_DPDKX_OFFER=yes\n");
    return -FI_ENODATA;
  }
  // Layered providers ask for types that they don't get: no need to look, and to tell, further.
  const std::span types = types_for(flags);
  const unsigned asked_type = hints && hints->ep_attr ? util_ext::raw(hints->ep_attr->type) : 0u;
  if (asked_type != FI_EP_UNSPEC &&
      std::find(types.begin(), types.end(), asked_type) == types.end())
    return util_ext::refuse_hint(provider, "ep_attr->type", asked_type, "the best is", FI_EP_RDM);
  Settings settings;
  if (const int rc = current_settings(settings))
    return rc;
  Wanted wanted;
  if (const int rc = wanted.read(node, service, flags, hints))
    return rc;
  const char *const name = domain_asked_for(hints);
  const Devices devices(settings, name);
  if (name && !is_domain(devices, name))
    return util_ext::refuse_hint(provider, "domain_attr->name", name,
                                 "allowed: 'host', an entry of FI_DPDKX_DEVICE, or without those "
                                 "'dpdkxd:' and the name of a device of the daemon");
  InfoPtr list;
  fi_info *last = nullptr;
  const std::vector<Candidate> domains = candidates(devices, hints, wanted);
  for (const fi_ep_type type : types) {
    if (asked_type == FI_EP_UNSPEC ? type != FI_EP_RDM && !list : asked_type != type)
      continue;
    for (const Candidate &candidate : domains) {
      InfoPtr found;
      const int rc = make_info(settings, candidate, type, api_version, hints, wanted, found);
      if (rc == -FI_ENODATA)
        continue;
      if (rc)
        return rc;
      fi_info *next = found.release();
      if (last)
        last->next = next;
      else
        list.reset(next);
      last = next;
    }
  }
  *info = list.release();
  return *info ? 0 : -FI_ENODATA;
}

} // namespace

int getinfo(std::uint32_t api_version, const char *node, const char *service, std::uint64_t flags,
            const fi_info *hints, fi_info **info) {
  if (!info)
    return -FI_EINVAL;
  *info = nullptr;
  return util_ext::guard([&] { return find(api_version, node, service, flags, hints, info); });
}

} // namespace dpdkx
