// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/ethdev/port.h"

#include "dpdkx/base/log.h"
#include "dpdkx/base/room.h"
#include "dpdkx/link/ethdev/eal.h"
#include "dpdkx/net/bytes.h"

#include <algorithm>
#include <rte_ip.h>
#include <rte_udp.h>

namespace dpdkx::link {

namespace {
constexpr std::uint32_t inbox_capacity = 512;
} // namespace

EthdevPort::EthdevPort(std::shared_ptr<EthdevDevice> device, const Address &address,
                       std::uint8_t dscp)
    : device_(std::move(device)), address_(address), is_v6_(device_->local().is_v6),
      encapsulation_(device_->local(), address.port, dscp, device_->nic().udp_checksum_offload()),
      inbox_(inbox_capacity) {
  traits_ = {.lossless = false,
             .ordered = false,
             .checksum = true,
             .can_pull = false,
             .max_datagram = device_->info().mtu - device_->local().ip_udp(),
             .takes_joined = device_->nic().joins()};
}

EthdevPort::~EthdevPort() {
  close_wait();
  if (eal_is_parents())
    return;
  flush();
  device_->remove(*this);
  for (unsigned i = 0; i < pending_count_; ++i)
    rte_pktmbuf_free(pending_[i]);
  for (unsigned i = 0; i < spare_count_; ++i)
    rte_pktmbuf_free(spare_[i]);
  for (auto &path : paths_)
    if (path.neighbour != nullptr)
      device_->release_neighbour(*path.neighbour);
}

// --- paths ---

int EthdevPort::open_path(const Address &peer, PathId &id) {
  auto ip = net::Ip::of(peer);
  const auto &network = device_->info().address;
  if (peer.port == 0)
    return -EINVAL;
  if (!can_reach(ip))
    return -EHOSTUNREACH;
  if (by_peer_.find(ip, peer.port) != PeerIndex::none)
    return -EEXIST;
  if (!make_room_for_path())
    return -ENOMEM;
  try {
    auto *neighbour = device_->acquire_neighbour(ip);
    if (neighbour == nullptr) {
      log(LogLevel::warn, [&] {
        return "FI_DPDKX_ADDR: no route to " + net::to_string(ip) + " from " +
               net::to_string(network) +
               "; allowed: peers on that network, or a gateway in the setting";
      });
      return -EHOSTUNREACH;
    }
    id = add_path(
        {.ip = ip, .port = peer.port, .state = PathState::opening, .neighbour = neighbour});
  } catch (const std::bad_alloc &) {
    return -ENOMEM;
  }
  return 0;
}

int EthdevPort::join(const Address &group, bool receives, PathId &id) {
  auto ip = net::Ip::of(group);
  if (!ip.is_multicast() || ip.is_v4() == is_v6_ || group.port == 0)
    return -EINVAL;
  if (!make_room_for_path())
    return -ENOMEM;
  if (const int rc = receives ? device_->join(*this, group) : 0)
    return rc;
  const auto index = unused_paths_.back();
  unused_paths_.pop_back();
  paths_[index] = {.ip = ip, .port = group.port, .state = PathState::up, .member = receives};
  id = PathId{index};
  return 0;
}

bool EthdevPort::can_reach(const net::Ip &ip) const {
  const auto &network = device_->info().address;
  if (ip.is_v4() == is_v6_) {
    log(LogLevel::warn, [&] {
      return "peer " + net::to_string(ip) + " is of another IP version than " +
             net::to_string(network) + ", the address of " + device_->info().link_name +
             "; allowed: peers of the endpoint's own";
    });
    return false;
  }
  if (ip.is_link_local() && !ip.is_v4()) {
    log(LogLevel::warn, [&] {
      return "peer " + net::to_string(ip) + " has a link-local address; allowed: one of " +
             net::to_string(network) + ", or one that is routed";
    });
    return false;
  }
  // One's own address never goes to the wire; the others name no single host.
  return ip.is_host() && ip != device_->local().ip && !network.is_reserved(ip);
}

// What comes later with it, until it is closed, must not fail.
bool EthdevPort::make_room_for_path() {
  if (!unused_paths_.empty())
    return true;
  const auto n = paths_.size() + 1;
  if (!make_room(paths_, n) || !make_room(unused_paths_, n) || !make_room(opening_, n))
    return false;
  paths_.emplace_back();
  unused_paths_.push_back(static_cast<std::uint32_t>(n - 1));
  return true;
}

PathId EthdevPort::add_path(const Path &path) {
  auto index = unused_paths_.back();
  try {
    by_peer_.insert(path.ip, path.port, index);
  } catch (const std::bad_alloc &) {
    device_->release_neighbour(*path.neighbour);
    throw;
  }
  unused_paths_.pop_back();
  opening_.push_back(index);
  paths_[index] = path;
  seen_changes_ = device_->neighbour_changes() - 1; // look at it with the next poll_events()
  return PathId{index};
}

void EthdevPort::close_path(PathId id) {
  auto &closing = path(id);
  if (closing.neighbour != nullptr) {
    device_->release_neighbour(*closing.neighbour);
    by_peer_.erase(closing.ip, closing.port);
  } else if (closing.member) {
    device_->leave(*this, peer_address(id));
  }
  if (closing.state == PathState::opening)
    std::erase(opening_, static_cast<std::uint32_t>(id));
  closing = {};
  unused_paths_.push_back(static_cast<std::uint32_t>(id));
}

void EthdevPort::set_bulk_port(PathId id, std::uint16_t port) { path(id).bulk_port = port; }

void EthdevPort::set_joined(PathId id, bool joined) {
  path(id).joined = joined && traits_.takes_joined;
}

Address EthdevPort::peer_address(PathId id) const { return path(id).ip.with_port(path(id).port); }

unsigned EthdevPort::poll_events(PathEvent *out, unsigned max, Time now) {
  device_->tick(now);
  if (opening_.empty())
    return 0;
  auto changes = device_->neighbour_changes();
  if (changes == seen_changes_)
    return 0;
  unsigned n = 0;
  std::erase_if(opening_, [&](std::uint32_t index) {
    auto &opening = paths_[index];
    bool up = opening.neighbour->resolved();
    if (n == max || !(up || opening.neighbour->failed()))
      return false;
    opening.state = up ? PathState::up : PathState::failed;
    if (!up)
      log(LogLevel::warn, [&] {
        return "peer " + net::to_string(opening.ip) +
               ": nobody has told its MAC address within FI_DPDKX_RESOLVE_TIMEOUT; is it up, and "
               "on the network of " +
               net::to_string(device_->info().address) + "?";
      });
    out[n++] = {up ? PathEventKind::up : PathEventKind::failed, PathId{index},
                up ? 0 : -EHOSTUNREACH};
    return true;
  });
  if (n < max)
    seen_changes_ = changes;
  return n;
}

// --- out ---

rte_mbuf *EthdevPort::take_packet() {
  if (spare_count_ == 0) {
    constexpr unsigned refill = 16;
    if (rte_pktmbuf_alloc_bulk(device_->nic().pool(), spare_.data(), refill) != 0)
      return nullptr;
    spare_count_ = refill;
  }
  auto *packet = spare_[--spare_count_];
  rte_pktmbuf_reset(packet);
  packet->data_off = PacketPool::payload_offset;
  return packet;
}

TxRoom EthdevPort::reserve(PathId id, std::uint32_t len) {
  if (path(id).state != PathState::up || len > traits_.max_datagram || eal_is_parents())
    return {};
  if (pending_count_ == max_pending)
    flush();
  auto *packet = pending_count_ < max_pending ? take_packet() : nullptr;
  if (packet == nullptr) {
    ++counters_.tx_refused;
    return {};
  }
  return {rte_pktmbuf_mtod(packet, std::byte *), traits_.max_datagram, packet};
}

void EthdevPort::commit(PathId id, const TxRoom &room, std::uint32_t len) {
  auto &to = path(id);
  auto *packet = static_cast<rte_mbuf *>(room.handle);
  if (to.neighbour != nullptr) [[likely]] {
    to.neighbour->note_used();
    const auto port = room.bulk && to.bulk_port != 0 ? to.bulk_port : to.port;
    finish(packet, to.neighbour->mac(), to.ip, port, len);
    if (to.joined)
      packet->ol_flags |= RTE_MBUF_F_TX_UDP_SEG;
  } else {
    finish(packet, net::group_mac(to.ip), to.ip, to.port, len);
    device_->loop_back(*this, packet, peer_address(id), static_cast<std::uint16_t>(len));
  }
  pending_[pending_count_++] = packet;
  ++counters_.tx_datagrams;
  counters_.tx_bytes += len;
  if (to.joined && pending_count_ % worth_joining == 0)
    flush(); // the receiver can begin with them
}

void EthdevPort::finish(rte_mbuf *packet, const net::Mac &to, const net::Ip &ip, std::uint16_t port,
                        std::uint32_t len) {
  auto headers = static_cast<std::uint16_t>(encapsulation_.header_size());
  auto *payload = rte_pktmbuf_mtod(packet, std::byte *);
  encapsulation_.write(payload - headers, to, ip, port, static_cast<std::uint16_t>(len));
  packet->data_off = static_cast<std::uint16_t>(packet->data_off - headers);
  auto total = headers + len;
  if (total < net::min_frame) {
    std::fill(payload + len, payload + net::min_frame - headers, std::byte{});
    total = net::min_frame;
  }
  packet->data_len = static_cast<std::uint16_t>(total);
  packet->pkt_len = total;
  if (device_->nic().udp_checksum_offload())
    offload_checksum(packet);
}

void EthdevPort::offload_checksum(rte_mbuf *packet) const {
  packet->l2_len = device_->local().link_header();
  if (is_v6_) {
    auto *ip = rte_pktmbuf_mtod_offset(packet, rte_ipv6_hdr *, packet->l2_len);
    auto *udp = reinterpret_cast<rte_udp_hdr *>(ip + 1);
    packet->ol_flags |= RTE_MBUF_F_TX_IPV6 | RTE_MBUF_F_TX_UDP_CKSUM;
    packet->l3_len = sizeof(rte_ipv6_hdr);
    udp->dgram_cksum = rte_ipv6_phdr_cksum(ip, packet->ol_flags);
    return;
  }
  auto *ip = rte_pktmbuf_mtod_offset(packet, rte_ipv4_hdr *, packet->l2_len);
  auto *udp = reinterpret_cast<rte_udp_hdr *>(ip + 1);
  packet->ol_flags |= RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_UDP_CKSUM;
  packet->l3_len = sizeof(rte_ipv4_hdr);
  ip->hdr_checksum = 0;
  udp->dgram_cksum = rte_ipv4_phdr_cksum(ip, packet->ol_flags);
}

void EthdevPort::cancel(PathId, const TxRoom &room) {
  auto *packet = static_cast<rte_mbuf *>(room.handle);
  if (spare_count_ < max_spare)
    spare_[spare_count_++] = packet;
  else
    rte_pktmbuf_free(packet);
}

void EthdevPort::flush() {
  if (pending_count_ == 0 || eal_is_parents())
    return;
  auto sent = device_->transmit(pending_.data(), pending_count_);
  pending_count_ -= sent;
  if (sent != 0) // what the device had no room for is tried again by the next call or poll
    std::copy_n(pending_.begin() + sent, pending_count_, pending_.begin());
}

// --- in ---

unsigned EthdevPort::poll(RxDatagram *out, unsigned max) {
  if (eal_is_parents())
    return 0;
  if (pending_count_ != 0)
    flush();
  rte_mbuf *packets[Nic::burst];
  auto n = device_->receive(*this, packets, std::min(max, Nic::burst));
  for (unsigned i = 0; i < n; ++i)
    describe(packets[i], out[i]);
  return n;
}

// Packets here have passed parse_frame(): data_off is at the payload, the headers before it.
void EthdevPort::describe(rte_mbuf *packet, RxDatagram &out) {
  const auto *payload = rte_pktmbuf_mtod(packet, const std::byte *);
  const bool intact =
      (packet->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) == RTE_MBUF_F_RX_L4_CKSUM_NONE;
  out = {payload, packet->data_len, PathId::none, packet, intact};
  counters_.rx_bytes += packet->data_len;
  ++counters_.rx_datagrams;
  const auto *udp = payload - net::udp_size;
  auto port = net::load_be16(udp);
  auto index = is_v6_ ? by_peer_.find(net::Ip::load(udp - 2 * net::Ip::size), port)
                      : by_peer_.find(net::Ipv4{net::load_be32(udp - 8)}, port);
  if (index == PeerIndex::none)
    return;
  out.path = PathId{index};
  // A gateway's neighbours answer through it too.
  paths_[index].neighbour->note_heard(net::source_mac(payload - encapsulation_.header_size()));
}

void EthdevPort::release(RxDatagram *datagrams, unsigned n) {
  for (unsigned i = 0; i < n; ++i) {
    auto *packet = static_cast<rte_mbuf *>(datagrams[i].handle);
    // One that is nobody else's, and whole, can carry the next datagram out.
    if (spare_count_ < max_spare && rte_mbuf_refcnt_read(packet) == 1 && RTE_MBUF_DIRECT(packet) &&
        packet->next == nullptr)
      spare_[spare_count_++] = packet;
    else
      rte_pktmbuf_free(packet);
  }
}

Address EthdevPort::source(const RxDatagram &datagram) const {
  const auto *udp = datagram.data - net::udp_size;
  auto ip =
      is_v6_ ? net::Ip::load(udp - 2 * net::Ip::size) : net::Ip(net::Ipv4{net::load_be32(udp - 8)});
  return ip.with_port(net::load_be16(udp));
}

void EthdevPort::reply(const RxDatagram &to, std::span<const std::byte> bytes) {
  Origin from;
  (void)(origin(to, from) && reply_to(from, bytes));
}

bool EthdevPort::origin(const RxDatagram &datagram, Origin &out) const {
  out = {source(datagram), net::source_mac(datagram.data - encapsulation_.header_size()).bytes};
  return true;
}

bool EthdevPort::reply_to(const Origin &to, std::span<const std::byte> bytes) {
  auto *packet = bytes.size() <= traits_.max_datagram ? take_packet() : nullptr;
  if (packet == nullptr)
    return false;
  std::copy(bytes.begin(), bytes.end(), rte_pktmbuf_mtod(packet, std::byte *));
  finish(packet, net::Mac{to.hop}, net::Ip::of(to.source), to.source.port,
         static_cast<std::uint32_t>(bytes.size()));
  if (device_->transmit(&packet, 1) == 1)
    return true;
  rte_pktmbuf_free(packet);
  return false;
}

PortCounters EthdevPort::counters() const {
  auto counters = counters_;
  counters.rx_dropped = inbox_dropped_;
  return counters;
}

} // namespace dpdkx::link
