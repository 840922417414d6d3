// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Frames as a device hands them on, and the texts that describe devices. The
// harness repairs addresses, types and checksums of most inputs, else hardly any
// would get beyond them.
#include "dpdkx/net/bytes.h"
#include "dpdkx/net/checksum.h"
#include "dpdkx/net/device_spec.h"
#include "dpdkx/net/frame.h"
#include "dpdkx/net/joined.h"
#include "dpdkx/net/kernel_interface.h"
#include "dpdkx/net/neighbour.h"
#include "dpdkx/net/routes.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

using namespace dpdkx;
using namespace dpdkx::net;

namespace {

constexpr Mac mac{{2, 0, 0, 0, 0, 1}};
constexpr Ipv4 v4{0x0a000001};
constexpr Ipv4 v4_group{0xef000005};
constexpr Ip v6_group{
    std::array<std::uint8_t, 16>{0xff, 0x15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5}};
constexpr Ip v6{std::array<std::uint8_t, 16>{0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};

void must(bool condition) {
  if (!condition)
    std::abort();
}

// What an input is made into; the rest is random.
enum Kind : unsigned { udp, icmp, arp, farewell };

void repair_ipv4(std::byte *header, std::size_t size, bool group, Kind kind) {
  header[0] = std::byte{0x45};
  header[9] = kind == udp ? std::byte{17} : std::byte{1};
  store_be32(header + 16, group ? v4_group.value : v4.value);
  auto total = std::min<std::size_t>(load_be16(header + 2), size);
  if (kind == icmp && total >= ipv4_size + 8) {
    header[ipv4_size] = std::byte{3};
    store_be16(header + ipv4_size + 2, 0);
    store_be16(header + ipv4_size + 2,
               checksum_finish(checksum_add(0, {header + ipv4_size, total - ipv4_size})));
  }
  store_be16(header + 10, 0);
  store_be16(header + 10, checksum_finish(checksum_add(0, {header, ipv4_size})));
}

// ICMPv6 errors and neighbour discovery, to us or to the groups that we are in. Where the
// checksum will be, the input says what is left as it is.
void repair_ipv6(std::byte *header, std::size_t size, Kind kind) {
  if (size < ipv6_size + icmp6_size)
    return;
  auto *payload = header + ipv6_size;
  auto choice = std::to_integer<unsigned>(payload[3]);
  header[0] = std::byte{0x60};
  header[6] = kind == udp ? std::byte{17} : std::byte{58};
  if (choice & 1)
    store_be16(header + 4, static_cast<std::uint16_t>(size - ipv6_size));
  if (choice & 2)
    header[7] = std::byte{255};
  if (choice & 4)
    header[8] = std::byte{0xfd}; // somebody's address
  auto len = std::min<std::size_t>(load_be16(header + 4), size - ipv6_size);
  if (kind == udp) {
    v6.store(header + 24);
    if (choice & 8)
      store_be16(payload + 4, static_cast<std::uint16_t>(len));
    return;
  }
  auto to = choice >> 6;
  (to < 2 ? v6 : to == 2 ? all_nodes : solicited_node(v6)).store(header + 24);
  constexpr std::uint8_t types[] = {1, 2, 135, 136};
  auto type = types[std::to_integer<unsigned>(payload[0]) % 4];
  payload[0] = std::byte{type};
  if (choice & 8)
    payload[1] = std::byte{0};
  if (choice & 16 && type > 2)
    payload[8] = std::byte{0xfd}; // the target
  if (choice & 16 && type <= 2 && size >= 2 * ipv6_size + 16) {
    payload[8] = std::byte{0x60}; // a datagram of ours
    payload[14] = std::byte{17};
    v6.store(payload + 16);
  }
  if (len < 4)
    return;
  store_be16(payload + 2, 0);
  auto sum = checksum_add(len + 58, {header + 8, 2 * Ip::size});
  store_be16(payload + 2, checksum_finish(checksum_add(sum, {payload, len})));
}

// Makes an input into something that gets as far as the parts that `kind` is about.
void repair(std::byte *frame, std::size_t size, const LocalSide &local, Kind kind) {
  auto at = local.link_header();
  if (size < at + ipv4_size + 8)
    return;
  // Every other one of those that may be to a group.
  const bool group = local.groups && kind == udp && std::to_integer<unsigned>(frame[0]) & 1;
  const Ip group_ip = local.is_v6 ? v6_group : Ip(v4_group);
  (kind == farewell ? Mac::broadcast() : group ? group_mac(group_ip) : mac).store(frame);
  if (local.vlan)
    store_be16(frame + 12, 0x8100), store_be16(frame + 14, local.vlan);
  std::uint16_t type = kind == farewell ? 0x88b5 : local.is_v6 ? 0x86dd : 0x0800;
  store_be16(frame + at - 2, kind == arp && !local.is_v6 ? 0x0806 : type);
  auto *header = frame + at;
  if (kind == farewell)
    return;
  if (local.is_v6) {
    repair_ipv6(header, size - at, kind);
    if (group && size >= at + ipv6_size)
      group_ip.store(header + 24);
    return;
  }
  if (kind != arp)
    return repair_ipv4(header, size - at, group, kind);
  store_be32(header, 0x00010800);
  store_be32(header + 4, 0x06040000 | (std::to_integer<unsigned>(header[7]) & 3));
}

void check_neighbour(const NeighbourMessage &message, const LocalSide &local) {
  must(!message.sender_mac.is_multicast());
  must(message.sender.is_any() || message.sender.is_host());
  must(message.sender.is_any() || message.sender.is_v4() != local.is_v6);
  std::byte answer[max_control_frame];
  must(write_answer(answer, local, message.from, message.sender) <= max_control_frame);
  if (message.sender.is_any())
    return;
  NeighbourTable table({.max_unasked = 4});
  auto &neighbour = table.acquire(message.sender);
  if (message.weak)
    table.learn_weakly(message.sender, message.sender_mac, Time{});
  else if (!message.sender_mac.is_zero())
    table.learn(message.sender, message.sender_mac, Time{}, true);
  must(neighbour.resolved() == !message.sender_mac.is_zero());
  must(!neighbour.resolved() || neighbour.mac() == message.sender_mac);
}

// As the first of joined datagrams.
void join(std::byte *frame, std::size_t size) {
  const std::uint32_t headers = udp_headers({frame, size});
  must(headers <= size);
  if (headers == 0)
    return;
  const auto payload = static_cast<std::uint32_t>(size) - headers;
  const std::vector<std::byte> before(frame, frame + size);
  for (const bool joined : {false, true}) {
    set_udp_payload(frame, headers, payload, joined);
    must(udp_payload(frame, headers) == payload);
    must(same_headers(frame, before.data(), headers) && udp_headers({frame, size}) == headers);
  }
  must(std::equal(before.begin() + headers, before.end(), frame + headers));
}

void parse(const std::uint8_t *data, std::size_t size, bool repaired, bool tagged, bool is_v6,
           bool groups, Kind kind) {
  LocalSide local(mac, is_v6 ? v6 : Ip(v4), tagged ? 5 : 0);
  local.groups = groups;
  // Short inputs are many, short frames that get far are none.
  const auto given = size;
  if (repaired && size > 0)
    size = std::max<std::size_t>(size, 40 + data[0] % 96);
  auto frame = std::make_unique<std::byte[]>(size); // ends where the frame ends
  std::copy_n(reinterpret_cast<const std::byte *>(data), given, frame.get());
  if (repaired)
    repair(frame.get(), size, local, kind);
  ReceivedFrame out;
  auto drop = parse_frame({frame.get(), size}, local, out);
  must(drop < Drop::count_ && !to_string(drop).empty());
  if (drop != Drop::none)
    return join(frame.get(), size);
  if (out.kind == FrameKind::udp) {
    must(local.headers() + out.payload_len <= size);
    must(out.source.is_host() && out.source != local.ip && out.source_port != 0);
    must(out.source.is_v4() != is_v6);
    must(!out.to_group || (groups && out.group.is_multicast() && out.group.is_v4() != is_v6));
    must(is_v6 || checksum_holds({frame.get() + local.link_header(), ipv4_size}));
  }
  if (out.kind == FrameKind::neighbour)
    check_neighbour(out.neighbour, local);
  join(frame.get(), size);
}

void parse_text(std::string_view text) {
  std::string error;
  std::vector<DeviceSpec> specs;
  std::vector<std::optional<AddressSpec>> addresses;
  std::vector<FixedNeighbour> neighbours;
  RouteTable routes;
  must(parse_devices(text, specs, error) || !error.empty());
  must(parse_addresses(text, addresses, error) || !error.empty());
  must(parse_neighbours(text, neighbours, error) || !error.empty());
  read_ipv4_routes(text, "eth0", routes);
  read_ipv6_routes(text, "eth0", routes);
  (void)unfit_addresses(text);
  for (const auto &route : routes.all())
    must(routes.next_hop(route.network.address).has_value());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  if (size == 0)
    return 0;
  if (data[0] & 4)
    parse_text({reinterpret_cast<const char *>(data + 1), size - 1});
  else
    parse(data + 1, size - 1, data[0] & 1, data[0] & 2, data[0] & 32, data[0] & 64,
          static_cast<Kind>(data[0] >> 3 & 3));
  return 0;
}
