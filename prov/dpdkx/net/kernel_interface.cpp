// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/net/kernel_interface.h"

#include "dpdkx/net/text.h"

#include <cstdio>
#include <cstring>
#include <ifaddrs.h>
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

Ipv4 ip_of(const sockaddr *address) {
  sockaddr_in in;
  std::memcpy(&in, address, sizeof(in));
  return {ntohl(in.sin_addr.s_addr)};
}

bool is_ipv4(const ifaddrs &entry) {
  return entry.ifa_addr != nullptr && entry.ifa_addr->sa_family == AF_INET &&
         entry.ifa_netmask != nullptr;
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

std::vector<Ipv4Network> addresses_of(const std::string &name) {
  std::vector<Ipv4Network> found;
  auto list = interface_addresses();
  for (auto *entry = list.get(); entry != nullptr; entry = entry->ifa_next) {
    if (!is_ipv4(*entry) || name != entry->ifa_name)
      continue;
    auto mask = ip_of(entry->ifa_netmask).value;
    found.push_back({ip_of(entry->ifa_addr), static_cast<std::uint8_t>(__builtin_popcount(mask))});
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
  if (name.empty() || name.size() >= sizeof(request.ifr_name))
    return std::nullopt;
  std::memcpy(request.ifr_name, name.data(), name.size());
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
  read_kernel_routes(read_file("/proc/thread-self/net/route"), name, found.routes);
  return found;
}

bool kernel_has_address(Ipv4 ip) {
  auto list = interface_addresses();
  for (auto *entry = list.get(); entry != nullptr; entry = entry->ifa_next)
    if (is_ipv4(*entry) && ip_of(entry->ifa_addr) == ip)
      return true;
  return false;
}

std::vector<std::pair<Ipv4, Mac>> permanent_neighbours(const std::string &interface) {
  // IP address, HW type, Flags, HW address, Mask, Device
  constexpr std::uint32_t complete_and_permanent = ATF_COM | ATF_PERM;
  std::vector<std::pair<Ipv4, Mac>> found;
  auto text = read_file("/proc/thread-self/net/arp");
  for (std::string_view rest = text; !rest.empty();) {
    auto line = next_line(rest);
    std::string_view field[6];
    for (auto &f : field)
      f = next_word(line);
    auto flags_text = field[2].starts_with("0x") ? field[2].substr(2) : field[2];
    std::uint32_t flags;
    std::pair<Ipv4, Mac> neighbour;
    if (field[5] == interface && parse_number(flags_text, flags, 16) &&
        (flags & complete_and_permanent) == complete_and_permanent &&
        parse_ipv4(field[0], neighbour.first) && parse_mac(field[3], neighbour.second))
      found.push_back(neighbour);
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
