// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/ethdev/tap_socket.h"

#include "dpdkx/net/bytes.h"
#include "dpdkx/net/text.h"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <filesystem>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace dpdkx::link {

namespace {

std::vector<int> open_files() {
  std::vector<int> fds;
  std::error_code ignored;
  for (const auto &entry : std::filesystem::directory_iterator("/proc/self/fd", ignored))
    if (int fd; net::parse_number(entry.path().filename().native(), fd))
      fds.push_back(fd);
  // That of the folder is closed again: what is opened next has its number.
  std::erase_if(fds, [](int fd) { return fcntl(fd, F_GETFD) < 0; });
  std::sort(fds.begin(), fds.end());
  return fds;
}

int domain_of(int fd) {
  int domain = -1;
  socklen_t size = sizeof(domain);
  return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 ? domain : -1;
}

// A packet socket of the interface with the ring format that the driver uses.
bool is_packet_ring(int fd, unsigned interface_index) {
  sockaddr_ll address{};
  socklen_t size = sizeof(address);
  int version = -1;
  socklen_t version_size = sizeof(version);
  return domain_of(fd) == AF_PACKET &&
         getsockname(fd, reinterpret_cast<sockaddr *>(&address), &size) == 0 &&
         address.sll_ifindex == static_cast<int>(interface_index) &&
         getsockopt(fd, SOL_PACKET, PACKET_VERSION, &version, &version_size) == 0 &&
         version == TPACKET_V2;
}

// These don't tell their interface.
bool is_xdp(int fd) { return domain_of(fd) == AF_XDP; }

// More ports than that are told by their range alone.
constexpr std::size_t max_listed_ports = 64;

// Classic BPF of tests that each end the program or fall through to the next. Needs no memory,
// as it is made while packets come in.
class FilterProgram {
public:
  void load_half(std::uint32_t at) { add(BPF_LD | BPF_H | BPF_ABS, at); }
  void load_byte(std::uint32_t at) { add(BPF_LD | BPF_B | BPF_ABS, at); }
  void load_word(std::uint32_t at) { add(BPF_LD | BPF_W | BPF_ABS, at); }
  void accept() { add(BPF_RET | BPF_K, 0xffffffff); }
  void reject() { add(BPF_RET | BPF_K, 0); }
  void accept_if(std::uint32_t value) {
    jump_equal(value, 0, 1);
    accept();
  }
  void reject_if(std::uint32_t value) {
    jump_equal(value, 0, 1);
    reject();
  }
  void reject_unless(std::uint32_t value) {
    jump_equal(value, 1, 0);
    reject();
  }
  void accept_if_between(std::uint32_t low, std::uint32_t high) {
    add(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, low, 0, 2));
    add(BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, high, 1, 0));
    accept();
  }
  void reject_unless_between(std::uint32_t low, std::uint32_t high) {
    add(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, low, 0, 1));
    add(BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, high, 0, 1));
    reject();
  }
  sock_fprog program() { return {size_, code_.data()}; }

private:
  static constexpr std::size_t tests_of_address = 32; // at most

  void add(const sock_filter &step) { code_[size_++] = step; }
  void add(std::uint16_t code, std::uint32_t k) { add(BPF_STMT(code, k)); }
  void jump_equal(std::uint32_t value, std::uint8_t if_true, std::uint8_t if_false) {
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, if_true, if_false));
  }
  std::array<sock_filter, tests_of_address + 2 * max_listed_ports> code_{};
  unsigned short size_ = 0;
};

constexpr std::uint32_t ethertype = 12;

void pass_ipv4(FilterProgram &program, net::Ipv4 ip, bool groups) {
  constexpr std::uint32_t ip_protocol = 23, ip_destination = 30, udp_port = 36;
  program.accept_if(ETH_P_ARP);
  program.reject_unless(ETH_P_IP);
  program.load_word(ip_destination);
  if (groups)
    program.accept_if_between(0xe0000000, 0xefffffff);
  program.reject_unless(ip.value);
  program.load_byte(ip_protocol);
  program.accept_if(IPPROTO_ICMP);
  program.reject_unless(IPPROTO_UDP);
  program.load_half(udp_port); // IP options, which no peer sends, are told apart later
}

void pass_ipv6(FilterProgram &program, const net::Ip &ip, bool groups) {
  constexpr std::uint32_t next_header = 20, ip_destination = 38, udp_port = 56;
  program.reject_unless(ETH_P_IPV6);
  program.load_byte(next_header);
  program.accept_if(IPPROTO_ICMPV6); // neighbours ask groups
  program.reject_unless(IPPROTO_UDP);
  if (groups) {
    program.load_byte(ip_destination);
    program.accept_if(0xff);
  }
  for (std::uint32_t i = 0; i < net::Ip::size; i += 4) {
    program.load_word(ip_destination + i);
    program.reject_unless(net::load_be32(reinterpret_cast<const std::byte *>(&ip.bytes[i])));
  }
  program.load_half(udp_port);
}

FilterProgram make_filter(const net::Ip &ip, std::span<const std::uint16_t> ports, bool groups) {
  FilterProgram program;
  program.load_half(static_cast<std::uint32_t>(SKF_AD_OFF + SKF_AD_PKTTYPE));
  program.reject_if(PACKET_OUTGOING);
  program.load_half(ethertype);
  if (ip.is_v4())
    pass_ipv4(program, ip.v4(), groups);
  else
    pass_ipv6(program, ip, groups);
  if (ports.size() <= max_listed_ports) {
    for (auto port : ports)
      program.accept_if(port);
    program.reject();
  } else {
    auto [low, high] = std::minmax_element(ports.begin(), ports.end());
    program.reject_unless_between(*low, *high);
    program.accept();
  }
  return program;
}

} // namespace

void TapSocket::remember_open_files() { before_ = open_files(); }

void TapSocket::find(unsigned interface_index) {
  for (int fd : open_files()) {
    if (std::binary_search(before_.begin(), before_.end(), fd))
      continue;
    const bool packet = is_packet_ring(fd, interface_index);
    if (packet || (!packet_ && is_xdp(fd)))
      fds_.push_back(fd);
    packet_ |= packet;
  }
  before_ = {};
}

void TapSocket::filter(const net::Ip &ip, std::span<const std::uint16_t> ports, bool groups) {
  if (!valid() || !packet_)
    return;
  auto filter = make_filter(ip, ports, groups);
  const sock_fprog program = filter.program();
  for (const int fd : fds_)
    (void)setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

} // namespace dpdkx::link
