// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/ethdev/packet_nic.h"

#include "dpdkx/base/log.h"
#include "dpdkx/net/bytes.h"
#include "dpdkx/net/frame.h"
#include "dpdkx/net/joined.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <linux/if_packet.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace dpdkx::link {

namespace {

// A frame is less than 64 KiB for the kernel, all headers included.
constexpr std::uint32_t max_joined = 65535 - net::ethernet_size - net::vlan_tag_size;
// Shorter ones are not worth it; and they may be padded.
constexpr std::uint32_t least_joined = 256;
constexpr unsigned most_joined = 64, most_at_once = 32;
constexpr std::uint32_t joined_frames = 64; // of the ring for them
// Of what doesn't fit, for who counts what isn't ours.
constexpr std::uint32_t first_bytes = 128;

const std::byte *bytes_of(const rte_mbuf *packet) {
  return rte_pktmbuf_mtod(packet, const std::byte *);
}

iovec piece(const std::byte *at, std::size_t size) { return {const_cast<std::byte *>(at), size}; }

// A frame's front, with its tag put back in.
std::byte *copy_front(std::byte *to, const PacketSocket::Frame &frame, std::uint32_t size) {
  if (frame.tag_type == 0) [[likely]] {
    std::memcpy(to, frame.data, size);
    return to + size;
  }
  constexpr std::uint32_t macs = 12;
  std::memcpy(to, frame.data, macs);
  net::store_be16(to + macs, frame.tag_type);
  net::store_be16(to + macs + 2, frame.tag);
  std::memcpy(to + macs + net::vlan_tag_size, frame.data + macs, size - macs);
  return to + size + net::vlan_tag_size;
}

void finish(rte_mbuf *packet, const PacketSocket::Frame &from, std::uint32_t size) {
  if (from.local)
    packet->ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_NONE; // "but its data are valid"
  packet->data_len = static_cast<std::uint16_t>(size);
  packet->pkt_len = size;
}

// The kernel has no room now.
bool is_full(int rc) { return rc == -EAGAIN || rc == -ENOBUFS || rc == -ENOMEM; }

} // namespace

// --- set-up ---

int PacketNic::open(const DeviceRequest &request, const DeviceOptions &options,
                    const net::DeviceDescription &description, DeviceInfo &info,
                    std::string &error) {
  interface_index_ = description.interface_index;
  name_ = description.link_name;
  for (const auto &[setting, value] :
       {std::pair{"FI_DPDKX_RX_DESCRIPTORS", options.rx_descriptors},
        std::pair{"FI_DPDKX_TX_DESCRIPTORS", options.tx_descriptors}})
    if (error = descriptors_fault(setting, value, request.spec.text, {}); !error.empty())
      return -EINVAL;
  if (const int rc = open_sockets(options, description)) {
    error = quoted(request) + "no packet socket: " + std::strerror(-rc) +
            (rc == -EPERM ? "; needs CAP_NET_RAW, which root has outside of containers" : "");
    return rc == -EPERM ? -EACCES : rc;
  }
  const PacketPool::Plan plan{.frame = description.mtu + net::ethernet_size + net::vlan_tag_size,
                              .socket = SOCKET_ID_ANY};
  const auto name = "dpdkx_packet_" + std::to_string(ordinary_.socket.fd());
  if (const int rc = pool_.open(name, plan, request, options, description.mtu, error))
    return rc;
  tap_.adopt(ordinary_.socket.fd());
  if (joins_)
    tap_.adopt(joined_.socket.fd());
  join_groups(description);
  info.name = description.link_name;
  info.driver = "af_packet";
  info.mac = description.mac;
  return 0;
}

int PacketNic::open_sockets(const DeviceOptions &options,
                            const net::DeviceDescription &description) {
  const std::uint32_t mtu = description.mtu;
  if (const int rc =
          ordinary_.socket.open(interface_index_, ordinary_ring(mtu, options.rx_descriptors), true))
    return rc;
  int rc = joined_.socket.open(interface_index_, ring_shape(max_joined, joined_frames), false);
  if (rc == 0)
    rc = ordinary_.socket.share_with(joined_.socket, mtu);
  joins_ = rc == 0;
  if (joins_)
    return 0;
  joined_.socket.close();
  log(LogLevel::info, [&] {
    return description.link_name + ": datagrams go and come one by one: " + std::strerror(-rc);
  });
  return 0;
}

void PacketNic::take_all_groups() {
  packet_mreq request{};
  request.mr_ifindex = static_cast<int>(interface_index_);
  request.mr_type = PACKET_MR_ALLMULTI;
  (void)setsockopt(ordinary_.socket.fd(), SOL_PACKET, PACKET_ADD_MEMBERSHIP, &request,
                   sizeof(request));
}

// --- in ---

unsigned PacketNic::receive(std::uint16_t, rte_mbuf **out, unsigned max) {
  unsigned n = 0;
  PacketSocket::Frame frame;
  while (n < max) {
    Source *const from = oldest(frame);
    if (from == nullptr)
      break;
    const std::uint32_t headers =
        frame.joined != 0 && !frame.truncated ? net::udp_headers({frame.data, frame.len}) : 0;
    if (headers != 0 ? !give_apart(*from, frame, headers, out, max, n)
                     : !frame.outgoing && !give(frame, out, n))
      break;
    from->socket.pop();
  }
  counted_.rx += n;
  return n;
}

// In the order in which they have come, else a session would see gaps. Of what came to one of them
// before the other was looked at, one hears by looking again.
PacketNic::Source *PacketNic::oldest(PacketSocket::Frame &frame) {
  PacketSocket::Frame joined;
  bool other = joins_ && joined_.socket.front(joined);
  const bool one = ordinary_.socket.front(frame);
  other = other || (one && joins_ && joined_.socket.front(joined));
  if (!other)
    return one ? &ordinary_ : nullptr;
  if (one && frame.ns <= joined.ns)
    return &ordinary_;
  frame = joined;
  return &joined_;
}

bool PacketNic::give(const PacketSocket::Frame &frame, rte_mbuf **out, unsigned &n) {
  rte_mbuf *const packet = rte_pktmbuf_alloc(pool());
  if (packet == nullptr) {
    ++counted_.rx_no_packet;
    return false;
  }
  const std::uint32_t room = rte_pktmbuf_tailroom(packet) - net::vlan_tag_size;
  auto *const at = rte_pktmbuf_mtod(packet, std::byte *);
  const std::byte *const end = copy_front(at, frame, frame.len <= room ? frame.len : first_bytes);
  finish(packet, frame, static_cast<std::uint32_t>(end - at));
  out[n++] = packet;
  return true;
}

bool PacketNic::give_apart(Source &from, const PacketSocket::Frame &frame, std::uint32_t headers,
                           rte_mbuf **out, unsigned max, unsigned &n) {
  const std::uint32_t all = frame.len - headers, left = all - from.given;
  const unsigned count = std::min(max - n, (left + frame.joined - 1) / frame.joined);
  if (rte_pktmbuf_alloc_bulk(pool(), out + n, count) != 0) {
    ++counted_.rx_no_packet;
    return false;
  }
  for (const unsigned end = n + count; n < end; ++n) {
    auto *const at = rte_pktmbuf_mtod(out[n], std::byte *);
    const std::uint32_t size = std::min(frame.joined, all - from.given);
    std::byte *const payload = copy_front(at, frame, headers);
    const auto front = static_cast<std::uint32_t>(payload - at);
    // One that is longer than any of ours is cut, and so of no use.
    const std::uint32_t kept = std::min(size, rte_pktmbuf_tailroom(out[n]) - front);
    net::set_udp_payload(at, front, size, false);
    std::memcpy(payload, frame.data + headers + from.given, kept);
    finish(out[n], frame, front + kept);
    from.given += size;
  }
  if (from.given < all)
    return false;
  from.given = 0;
  ++counted_.rx_joined;
  return true;
}

// --- out ---

unsigned PacketNic::transmit(rte_mbuf **packets, unsigned n) {
  unsigned sent = 0;
  while (sent < n) {
    const Run run = next_run(packets + sent, n - sent);
    const int rc = send(packets + sent, run);
    if (is_full(rc))
      break;
    unsigned done = static_cast<unsigned>(rc);
    if (rc < 0) { // lost, as if on the way: the interface is down, or its MTU has become smaller
      done = run.joined() ? run.packets : 1;
      counted_.tx_failed += done;
      tell_once(rc);
    } else {
      counted_.tx += done;
    }
    rte_pktmbuf_free_bulk(packets + sent, done);
    sent += done;
  }
  return sent;
}

// The sessions only see silence.
void PacketNic::tell_once(int error) {
  if (std::exchange(told_, error) == error)
    return;
  log(LogLevel::warn, [&] {
    return name_ + ": what it is given to send is lost: " + std::strerror(-error) +
           "; is the interface there, up, and of the MTU that it had?";
  });
}

// As many as can be joined, or all up to where some can.
PacketNic::Run PacketNic::next_run(rte_mbuf *const *packets, unsigned n) const {
  const auto may_join = [](const rte_mbuf *p) {
    return (p->ol_flags & RTE_MBUF_F_TX_UDP_SEG) != 0;
  };
  if (!joins_ || !may_join(packets[0]) || !kernel_joins_)
    return {.packets = std::min(n, most_at_once)};
  const std::byte *const first = bytes_of(packets[0]);
  const std::uint32_t headers = net::udp_headers({first, packets[0]->data_len});
  const std::uint32_t each = headers != 0 ? net::udp_payload(first, headers) : 0;
  if (each < least_joined)
    return {};
  Run run{.packets = 1, .headers = headers, .each = each, .all = each};
  for (bool last = false; run.packets < std::min(n, most_joined) && !last; ++run.packets) {
    const rte_mbuf *const packet = packets[run.packets];
    const std::byte *const next = bytes_of(packet);
    if (!may_join(packet) || packet->data_len < headers || !net::same_headers(first, next, headers))
      break;
    const std::uint32_t size = net::udp_payload(next, headers);
    if (size == 0 || size > each || headers + run.all + size > max_joined)
      break;
    run.all += size;
    last = size < each;
  }
  return run;
}

int PacketNic::send(rte_mbuf *const *packets, const Run &run) {
  if (run.joined()) {
    const int rc = send_joined(packets, run);
    if (rc != -EINVAL && rc != -EOPNOTSUPP)
      return rc;
    kernel_joins_ = false;
    log(LogLevel::info, [&] {
      return std::string("datagrams go one by one: the kernel takes none that are joined (") +
             std::strerror(-rc) + "); needed: Linux 6.2";
    });
  }
  std::array<iovec, most_at_once> frames;
  const unsigned n = std::min(run.packets, most_at_once);
  for (unsigned i = 0; i < n; ++i)
    frames[i] = piece(bytes_of(packets[i]), packets[i]->data_len);
  return ordinary_.socket.send(frames.data(), n);
}

int PacketNic::send_joined(rte_mbuf *const *packets, const Run &run) {
  std::array<std::byte, net::max_control_frame> front;
  std::array<iovec, most_joined + 1> pieces;
  std::memcpy(front.data(), bytes_of(packets[0]), run.headers);
  net::set_udp_payload(front.data(), run.headers, run.all, true);
  pieces[0] = piece(front.data(), run.headers);
  for (unsigned i = 0; i < run.packets; ++i) {
    const std::byte *const at = bytes_of(packets[i]);
    pieces[i + 1] = piece(at + run.headers, net::udp_payload(at, run.headers));
  }
  if (const int rc =
          joined_.socket.send_joined(pieces.data(), run.packets + 1, run.headers, run.each))
    return rc;
  ++counted_.tx_joined;
  return static_cast<int>(run.packets);
}

std::vector<std::pair<std::string, std::uint64_t>> PacketNic::statistics() const {
  return {{"rx_good_packets", counted_.rx},
          {"tx_good_packets", counted_.tx},
          {"rx_missed_errors", ordinary_.socket.missed() + (joins_ ? joined_.socket.missed() : 0)},
          {"rx_mbuf_allocation_errors", counted_.rx_no_packet},
          {"tx_errors", counted_.tx_failed},
          {"rx_joined_frames", counted_.rx_joined},
          {"tx_joined_frames", counted_.tx_joined}};
}

} // namespace dpdkx::link
