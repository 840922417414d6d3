// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/net/kernel_interface.h"

#include "dpdkx/net/text.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/if_addr.h>
#include <linux/sockios.h>
#include <memory>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <set>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace dpdkx::net {

namespace {

using InterfaceAddresses = std::unique_ptr<ifaddrs, decltype(&freeifaddrs)>;

InterfaceAddresses interface_addresses() {
  ifaddrs *list = nullptr;
  if (getifaddrs(&list) != 0)
    list = nullptr;
  return {list, &freeifaddrs};
}

Ip ip_of(const sockaddr *address) {
  if (address->sa_family == AF_INET6) {
    sockaddr_in6 in6;
    std::memcpy(&in6, address, sizeof(in6));
    return Ip::load(reinterpret_cast<const std::byte *>(&in6.sin6_addr));
  }
  sockaddr_in in;
  std::memcpy(&in, address, sizeof(in));
  return Ipv4{ntohl(in.sin_addr.s_addr)};
}

bool has_ip(const ifaddrs &entry) {
  return entry.ifa_addr != nullptr && entry.ifa_netmask != nullptr &&
         (entry.ifa_addr->sa_family == AF_INET || entry.ifa_addr->sa_family == AF_INET6);
}

Network network_of(const ifaddrs &entry) {
  auto ip = ip_of(entry.ifa_addr), mask = ip_of(entry.ifa_netmask);
  int prefix = 0;
  for (std::size_t i = ip.is_v4() ? 12 : 0; i < Ip::size; ++i)
    prefix += std::popcount(mask.bytes[i]);
  return {ip, static_cast<std::uint8_t>(prefix)};
}

// A file of /proc, whose size isn't known beforehand. Empty if it can't be read.
std::string read_file(const char *path) {
  std::string text;
  std::unique_ptr<FILE, int (*)(FILE *)> file(std::fopen(path, "re"), &std::fclose);
  char block[4096];
  while (file != nullptr) {
    auto n = std::fread(block, 1, sizeof(block), file.get());
    if (n == 0)
      break;
    text.append(block, n);
  }
  return text;
}

class ControlSocket {
public:
  ControlSocket() : fd_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {}
  ~ControlSocket() {
    if (fd_ >= 0)
      close(fd_);
  }
  ControlSocket(const ControlSocket &) = delete;
  bool ask(unsigned long what, ifreq &request) { return ioctl(fd_, what, &request) == 0; }

private:
  int fd_;
};

bool put_name(const std::string &name, ifreq &request) {
  if (name.empty() || name.size() >= sizeof(request.ifr_name))
    return false;
  std::memcpy(request.ifr_name, name.data(), name.size());
  return true;
}

std::vector<Network> addresses_of(const std::string &name) {
  std::vector<Network> found;
  auto unfit = unfit_addresses(read_file("/proc/thread-self/net/if_inet6"));
  auto list = interface_addresses();
  for (auto *entry = list.get(); entry != nullptr; entry = entry->ifa_next) {
    if (!has_ip(*entry) || name != entry->ifa_name)
      continue;
    auto network = network_of(*entry);
    if (std::find(unfit.begin(), unfit.end(), network.address) == unfit.end())
      found.push_back(network);
  }
  return found;
}

std::uint64_t speed_of(const std::string &name) {
  auto text = read_file(("/sys/class/net/" + name + "/speed").c_str());
  std::uint64_t speed = 0;
  return parse_number(trim(text), speed) ? speed : 0; // "-1": unknown
}

} // namespace

std::optional<KernelInterface> find_kernel_interface(const std::string &name) {
  ifreq request{};
  if (!put_name(name, request))
    return std::nullopt;
  ControlSocket control;
  KernelInterface found;
  if (!control.ask(SIOCGIFINDEX, request))
    return std::nullopt;
  found.index = static_cast<unsigned>(request.ifr_ifindex);
  if (control.ask(SIOCGIFFLAGS, request))
    found.up = request.ifr_flags & IFF_UP;
  if (control.ask(SIOCGIFMTU, request))
    found.mtu = static_cast<std::uint32_t>(request.ifr_mtu);
  if (control.ask(SIOCGIFHWADDR, request)) {
    found.ethernet = request.ifr_hwaddr.sa_family == ARPHRD_ETHER;
    std::memcpy(found.mac.bytes.data(), request.ifr_hwaddr.sa_data, found.mac.bytes.size());
  }
  found.speed_mbps = speed_of(name);
  found.addresses = addresses_of(name);
  read_ipv4_routes(read_file("/proc/thread-self/net/route"), name, found.routes);
  read_ipv6_routes(read_file("/proc/thread-self/net/ipv6_route"), name, found.routes);
  return found;
}

ReceiveQueues receive_queues(const std::string &interface) {
  ifreq request{};
  ethtool_channels channels{};
  channels.cmd = ETHTOOL_GCHANNELS;
  request.ifr_data = reinterpret_cast<char *>(&channels);
  if (!put_name(interface, request) || !ControlSocket().ask(SIOCETHTOOL, request))
    return {};
  return {channels.combined_count, channels.rx_count};
}

bool kernel_has_address(const Ip &ip) {
  auto list = interface_addresses();
  for (auto *entry = list.get(); entry != nullptr; entry = entry->ifa_next)
    if (has_ip(*entry) && ip_of(entry->ifa_addr) == ip)
      return true;
  return false;
}

std::vector<Ip> unfit_addresses(std::string_view if_inet6) {
  // Address, interface index, prefix, scope, flags, interface
  constexpr std::uint32_t unfit =
      IFA_F_TENTATIVE | IFA_F_DADFAILED | IFA_F_DEPRECATED | IFA_F_TEMPORARY;
  std::vector<Ip> found;
  while (!if_inet6.empty()) {
    auto line = next_line(if_inet6);
    std::string_view field[5];
    for (auto &f : field)
      f = next_word(line);
    Ip ip;
    std::uint32_t flags;
    if (parse_hex_ip(field[0], ip) && parse_number(field[4], flags, 16) &&
        (flags & unfit || ip.is_link_local()))
      found.push_back(ip);
  }
  return found;
}

std::string kernel_interface_names() {
  std::set<std::string> names;
  auto list = interface_addresses();
  for (auto *entry = list.get(); entry != nullptr; entry = entry->ifa_next)
    if (!(entry->ifa_flags & IFF_LOOPBACK))
      names.insert(entry->ifa_name);
  std::string text;
  for (const auto &name : names)
    text += (text.empty() ? "" : ", ") + name;
  return text;
}

} // namespace dpdkx::net
