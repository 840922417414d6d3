// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/daemon/messages.h"

#include "dpdkx/link/daemon/record.h"
#include "dpdkx/link/host/segment.h"
#include "dpdkx/link/host/unix_socket.h"
#include "dpdkx/net/frame.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace dpdkx::link::daemon {

namespace {

constexpr char magic[8] = {'d', 'p', 'd', 'k', 'x', 'd', ' ', '1'};

} // namespace

Request make_request(Ask ask) {
  Request request{};
  std::memcpy(request.magic, magic, sizeof(magic));
  request.version = protocol_version;
  request.ask = static_cast<std::uint32_t>(ask);
  return request;
}

const char *request_fault(const Request &request, std::size_t received, bool with_memory,
                          int &status) {
  status = -EPROTO;
  constexpr const char *no_request = "it doesn't speak dpdkxd's protocol";
  if (received < offsetof(Request, ask) || std::memcmp(request.magic, magic, sizeof(magic)) != 0)
    return no_request;
  // Before the length, which another version may have another of.
  if (request.version != protocol_version) {
    status = -EPROTONOSUPPORT;
    return "it is of another version of dpdkx than dpdkxd; allowed: the same on both sides";
  }
  if (received != sizeof(request))
    return no_request;
  const bool attaches = request.ask == static_cast<std::uint32_t>(Ask::attach);
  if (attaches != with_memory)
    return attaches ? "it attaches without memory" : "it passes memory for nothing";
  if (!attaches) {
    const bool known = request.ask == static_cast<std::uint32_t>(Ask::devices) ||
                       request.ask == static_cast<std::uint32_t>(Ask::status);
    return known ? nullptr : "it asks for something that dpdkxd doesn't know";
  }
  if (const char *fault = host::ring_size_fault(request.ring_bytes))
    return fault;
  if (request.ring_bytes < min_ring_bytes)
    return "its rings are smaller than 64 KiB";
  if (request.start % host::cache_line != 0)
    return "its rings begin within a line";
  if (request.port == 0 || request.dscp > 63)
    return "it has no UDP port, or a DSCP above 63";
  return nullptr;
}

Reply make_reply(int status, std::string_view text) {
  Reply reply{};
  std::memcpy(reply.magic, magic, sizeof(magic));
  reply.version = protocol_version;
  reply.status = status;
  put_text(reply.text, text);
  return reply;
}

bool is_reply(const Reply &reply, std::size_t received) {
  return received == sizeof(reply) && std::memcmp(reply.magic, magic, sizeof(magic)) == 0 &&
         reply.version == protocol_version && (reply.status == 0 || is_error(reply.status));
}

const char *attach_reply_fault(const Reply &reply) {
  constexpr std::uint32_t headers = net::ipv4_size + net::udp_size;
  constexpr std::uint32_t least = net::min_mtu - headers;
  constexpr std::uint32_t most = net::max_mtu - headers;
  static_assert(least == 548 && most == 9950); // as the text has it
  const bool can_be = reply.max_datagram >= least && reply.max_datagram <= most;
  return can_be ? nullptr : "datagrams of a length that can't be; allowed: 548 to 9950 bytes";
}

std::string printable(std::string_view text) {
  std::string out(text);
  std::ranges::replace_if(
      out, [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
  return out;
}

DeviceEntry make_entry(const DeviceInfo &info) {
  DeviceEntry entry{};
  put_text(entry.name, info.name);
  put_text(entry.driver, info.driver);
  put_text(entry.link_name, info.link_name);
  std::ranges::copy(info.mac.bytes, entry.mac);
  std::ranges::copy(info.address.address.bytes, entry.ip);
  entry.prefix = static_cast<std::uint8_t>(info.address.prefix);
  entry.bits_per_second = info.bits_per_second;
  entry.mtu = info.mtu;
  entry.numa_node = info.numa_node;
  if (const auto &pci = info.pci) {
    entry.has_pci = 1;
    entry.pci_domain = pci->domain;
    entry.pci_bus = pci->bus;
    entry.pci_device = pci->device;
    entry.pci_function = pci->function;
    entry.pci_revision = pci->revision;
    const std::uint16_t ids[] = {pci->vendor_id, pci->device_id, pci->subsystem_vendor_id,
                                 pci->subsystem_device_id};
    std::ranges::copy(ids, entry.pci_ids);
  }
  return entry;
}

const char *entry_fault(const DeviceEntry &entry) {
  const DeviceInfo info = device_info(entry);
  const net::Ip &ip = info.address.address;
  if (info.link_name.empty())
    return "it has no name";
  if (!ip.is_host() || info.address.prefix > (ip.is_v4() ? 32 : 128))
    return "its address is none that a host has";
  if (info.mtu < (ip.is_v4() ? net::min_mtu : net::min_mtu_ipv6) || info.mtu > net::max_mtu)
    return "its MTU can't be; allowed: 576 to 9978, with an IPv6 address from 1280 on";
  return nullptr;
}

DeviceInfo device_info(const DeviceEntry &entry) {
  DeviceInfo info;
  info.name = text_of(entry.name);
  info.driver = text_of(entry.driver);
  info.link_name = text_of(entry.link_name);
  std::ranges::copy(entry.mac, info.mac.bytes.begin());
  std::ranges::copy(entry.ip, info.address.address.bytes.begin());
  info.address.prefix = entry.prefix;
  info.bits_per_second = entry.bits_per_second;
  info.mtu = entry.mtu;
  info.numa_node = entry.numa_node;
  if (entry.has_pci)
    info.pci = PciIdentity{entry.pci_domain,   entry.pci_bus,    entry.pci_device,
                           entry.pci_function, entry.pci_ids[0], entry.pci_ids[1],
                           entry.pci_ids[2],   entry.pci_ids[3], entry.pci_revision};
  return info;
}

const DeviceInfo *find_device(const std::vector<DeviceInfo> &devices, const std::string &link_name,
                              std::string &error) {
  const auto found = std::ranges::find(devices, link_name, &DeviceInfo::link_name);
  if (found != devices.end())
    return &*found;
  error = "no device '" + link_name + "'; allowed:";
  for (const DeviceInfo &info : devices)
    error += " " + info.link_name;
  return nullptr;
}

bool is_socket_name(std::string_view name) {
  return name.size() > 1 && name.size() <= host::SocketName::max_length &&
         (name[0] == '@' || name[0] == '/') && name.find('\0') == std::string_view::npos;
}

int connect_to_daemon(std::string_view name, host::Fd &socket) {
  return host::connect_to(name[0] == '@' ? host::SocketName::abstract(name.substr(1))
                                         : host::SocketName::path(name),
                          socket);
}

} // namespace dpdkx::link::daemon
