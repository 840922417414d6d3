// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/ethdev/packet_socket.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstring>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <numeric>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace dpdkx::link {

namespace {

// Of <linux/virtio_net.h>.
constexpr std::uint8_t needs_checksum = 1, joined_udp = 5, with_ecn = 0x80;
constexpr std::uint16_t udp_header = 8, udp_checksum_at = 6;

constexpr unsigned most_at_once = 32;
constexpr int send_buffer = 1 << 20; // frames that a NIC hasn't sent yet

int set(int fd, int option, int value) {
  return setsockopt(fd, SOL_PACKET, option, &value, sizeof(value)) == 0 ? 0 : -errno;
}

tpacket2_hdr *header_of(std::byte *slot) { return reinterpret_cast<tpacket2_hdr *>(slot); }

} // namespace

RingShape ring_shape(std::uint32_t bytes, std::uint32_t frames) {
  constexpr std::uint32_t link_header = ETH_HLEN + 4; // with a tag
  constexpr std::uint32_t kernel_header = 96 + sizeof(OffloadHeader), step = 1024;
  const auto page = static_cast<std::uint32_t>(sysconf(_SC_PAGESIZE));
  const std::uint32_t needed = bytes + link_header + kernel_header;
  const std::uint32_t frame = std::max((needed + step - 1) / step * step, 2 * step);
  const std::uint32_t block = std::lcm(frame, page), per_block = block / frame;
  return {frame, block, std::max(frames / per_block, 1u) * per_block};
}

RingShape ordinary_ring(std::uint32_t mtu, std::uint32_t frames) {
  constexpr std::uint32_t ring_bytes = 2u << 20;
  return ring_shape(mtu, frames ? frames : ring_bytes / ring_shape(mtu, 1).frame);
}

void PacketSocket::close() {
  if (ring_ != nullptr)
    munmap(std::exchange(ring_, nullptr), ring_size_);
  if (fd_ >= 0)
    ::close(std::exchange(fd_, -1));
}

int PacketSocket::open(unsigned interface_index, const RingShape &shape, bool direct) {
  fd_ = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0); // nothing comes before bind()
  if (fd_ < 0)
    return -errno;
  int rc = set(fd_, PACKET_VERSION, TPACKET_V2);
  if (rc == 0)
    rc = set(fd_, PACKET_VNET_HDR, 1);
  if (rc == 0 && direct)
    rc = set(fd_, PACKET_QDISC_BYPASS, 1);
  if (rc != 0)
    return rc;
  (void)set(fd_, PACKET_IGNORE_OUTGOING, 1); // spares work, where the kernel knows it
  if (setsockopt(fd_, SOL_SOCKET, SO_SNDBUFFORCE, &send_buffer, sizeof(send_buffer)) != 0)
    (void)setsockopt(fd_, SOL_SOCKET, SO_SNDBUF, &send_buffer, sizeof(send_buffer));
  const tpacket_req ring{shape.block, shape.frames / (shape.block / shape.frame), shape.frame,
                         shape.frames};
  if (setsockopt(fd_, SOL_PACKET, PACKET_RX_RING, &ring, sizeof(ring)) != 0)
    return -errno;
  ring_size_ = std::size_t{shape.frame} * shape.frames;
  void *const at =
      mmap(nullptr, ring_size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd_, 0);
  if (at == MAP_FAILED)
    return -errno;
  ring_ = static_cast<std::byte *>(at);
  shape_ = shape;
  sockaddr_ll where{};
  where.sll_family = AF_PACKET;
  where.sll_protocol = htons(ETH_P_ALL);
  where.sll_ifindex = static_cast<int>(interface_index);
  return bind(fd_, reinterpret_cast<const sockaddr *>(&where), sizeof(where)) == 0 ? 0 : -errno;
}

int PacketSocket::share_with(PacketSocket &other, std::uint32_t mtu) {
  constexpr int without_outgoing = 0x4000; // of Linux 5.18 and later
  int how = PACKET_FANOUT_CBPF | without_outgoing;
  int rc = set(fd_, PACKET_FANOUT, (how | PACKET_FANOUT_FLAG_UNIQUEID) << 16);
  if (rc == -EINVAL) {
    how = PACKET_FANOUT_CBPF;
    rc = set(fd_, PACKET_FANOUT, (how | PACKET_FANOUT_FLAG_UNIQUEID) << 16);
  }
  if (rc != 0)
    return rc;
  int group = 0;
  socklen_t size = sizeof(group);
  if (getsockopt(fd_, SOL_PACKET, PACKET_FANOUT, &group, &size) != 0)
    return -errno;
  rc = set(other.fd_, PACKET_FANOUT, how << 16 | (group & 0xffff));
  if (rc != 0)
    return rc;
  // The index of who gets it. The length is that of the IP packet.
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0),
      BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, mtu, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, 1),
      BPF_STMT(BPF_RET | BPF_K, 0),
  };
  const sock_fprog program{static_cast<unsigned short>(std::size(code)), code};
  return setsockopt(fd_, SOL_PACKET, PACKET_FANOUT_DATA, &program, sizeof(program)) == 0 ? 0
                                                                                         : -errno;
}

std::byte *PacketSocket::slot() const { return ring_ + std::size_t{shape_.frame} * next_; }

bool PacketSocket::front(Frame &out) const {
  std::byte *const at = slot();
  const tpacket2_hdr *const header = header_of(at);
  const std::uint32_t status = __atomic_load_n(&header->tp_status, __ATOMIC_ACQUIRE);
  if ((status & TP_STATUS_USER) == 0)
    return false;
  out.data = at + header->tp_mac;
  out.len = header->tp_snaplen;
  out.ns = std::uint64_t{header->tp_sec} * 1000000000 + header->tp_nsec;
  out.truncated = header->tp_snaplen < header->tp_len;
  const auto *const link =
      reinterpret_cast<const sockaddr_ll *>(at + TPACKET_ALIGN(sizeof(tpacket2_hdr)));
  out.outgoing = link->sll_pkttype == PACKET_OUTGOING;
  out.tag_type = 0;
  if ((status & TP_STATUS_VLAN_VALID) != 0) {
    out.tag_type = (status & TP_STATUS_VLAN_TPID_VALID) != 0 ? header->tp_vlan_tpid : ETH_P_8021Q;
    out.tag = header->tp_vlan_tci;
  }
  OffloadHeader offload;
  std::memcpy(&offload, out.data - sizeof(offload), sizeof(offload));
  out.local = (offload.flags & needs_checksum) != 0;
  out.joined = (offload.gso_type & ~with_ecn) == joined_udp ? offload.gso_size : 0;
  return true;
}

void PacketSocket::pop() {
  __atomic_store_n(&header_of(slot())->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
  if (++next_ == shape_.frames)
    next_ = 0;
}

int PacketSocket::send(const iovec *frames, unsigned n) {
  static OffloadHeader none; // never written
  std::array<mmsghdr, most_at_once> messages;
  std::array<iovec, 2 * most_at_once> pieces;
  n = std::min(n, most_at_once);
  for (unsigned i = 0; i < n; ++i) {
    pieces[2 * i] = {&none, sizeof(none)};
    pieces[2 * i + 1] = frames[i];
    messages[i] = {};
    messages[i].msg_hdr.msg_iov = &pieces[2 * i];
    messages[i].msg_hdr.msg_iovlen = 2;
  }
  if (n == 1) // most are
    return sendmsg(fd_, &messages[0].msg_hdr, MSG_DONTWAIT) >= 0 ? 1 : -errno;
  const int taken = sendmmsg(fd_, messages.data(), n, MSG_DONTWAIT);
  return taken >= 0 ? taken : -errno;
}

int PacketSocket::send_joined(const iovec *pieces, unsigned n, std::uint32_t headers,
                              std::uint32_t each) {
  constexpr unsigned most_pieces = 128;
  std::array<iovec, most_pieces> all;
  if (n + 1 > all.size())
    return -EINVAL;
  OffloadHeader offload{
      .flags = needs_checksum,
      .gso_type = joined_udp,
      .hdr_len = static_cast<std::uint16_t>(headers),
      .gso_size = static_cast<std::uint16_t>(each),
      .csum_start = static_cast<std::uint16_t>(headers - udp_header),
      .csum_offset = udp_checksum_at,
  };
  all[0] = {&offload, sizeof(offload)};
  std::copy_n(pieces, n, all.begin() + 1);
  msghdr message{};
  message.msg_iov = all.data();
  message.msg_iovlen = n + 1;
  return sendmsg(fd_, &message, MSG_DONTWAIT) >= 0 ? 0 : -errno;
}

std::uint64_t PacketSocket::missed() {
  tpacket_stats counted{}; // since the last look
  socklen_t size = sizeof(counted);
  if (getsockopt(fd_, SOL_PACKET, PACKET_STATISTICS, &counted, &size) == 0)
    missed_ += counted.tp_drops;
  return missed_;
}

} // namespace dpdkx::link
