// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Frames as a device hands them on, and the texts that describe devices. The
// harness repairs addresses, types and checksums of most inputs, else hardly any
// would get beyond them.
#include "dpdkx/net/bytes.h"
#include "dpdkx/net/checksum.h"
#include "dpdkx/net/device_spec.h"
#include "dpdkx/net/frame.h"
#include "dpdkx/net/neighbour.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>

using namespace dpdkx;
using namespace dpdkx::net;

namespace {

constexpr Mac mac{{2, 0, 0, 0, 0, 1}};
constexpr Ipv4 ip{0x0a000001};

void must(bool condition) {
  if (!condition)
    std::abort();
}

// Makes an input into something that gets as far as the parts that `kind` is about.
void repair(std::byte *frame, std::size_t size, const LocalSide &local, unsigned kind) {
  constexpr std::uint16_t types[] = {0x0800, 0x0800, 0x0806, 0x88b5};
  auto at = local.link_header();
  if (size < at + ipv4_size + 8)
    return;
  kind == 3 ? Mac::broadcast().store(frame) : mac.store(frame);
  if (local.vlan)
    store_be16(frame + 12, 0x8100), store_be16(frame + 14, local.vlan);
  store_be16(frame + at - 2, types[kind]);
  auto *header = frame + at;
  if (kind == 2) {
    store_be32(header, 0x00010800);
    store_be16(header + 4, 0x0604);
  }
  if (kind > 1)
    return;
  header[0] = std::byte{0x45};
  header[9] = kind == 0 ? std::byte{17} : std::byte{1};
  store_be32(header + 16, ip.value);
  auto total = std::min<std::size_t>(load_be16(header + 2), size - at);
  if (kind == 1 && total >= ipv4_size + 8) {
    header[ipv4_size] = std::byte{3};
    store_be16(header + ipv4_size + 2, 0);
    store_be16(header + ipv4_size + 2,
               checksum_finish(checksum_add(0, {header + ipv4_size, total - ipv4_size})));
  }
  store_be16(header + 10, 0);
  store_be16(header + 10, checksum_finish(checksum_add(0, {header, ipv4_size})));
}

void parse(const std::uint8_t *data, std::size_t size, bool repaired, bool tagged, unsigned kind) {
  LocalSide local{mac, ip, static_cast<std::uint16_t>(tagged ? 5 : 0)};
  auto frame = std::make_unique<std::byte[]>(size); // ends where the frame ends
  std::copy_n(reinterpret_cast<const std::byte *>(data), size, frame.get());
  if (repaired)
    repair(frame.get(), size, local, kind);
  ReceivedFrame out;
  auto drop = parse_frame({frame.get(), size}, local, out);
  must(drop < Drop::count_ && !to_string(drop).empty());
  if (drop != Drop::none)
    return;
  if (out.kind == FrameKind::udp) {
    must(local.headers() + out.payload_len <= size);
    must(out.source.is_host() && out.source != ip && out.source_port != 0);
    must(checksum_holds({frame.get() + local.link_header(), ipv4_size}));
  }
  if (out.kind == FrameKind::arp) {
    must(!out.arp.sender_mac.is_multicast());
    NeighbourTable table({.max_unasked = 4});
    auto &neighbour = table.acquire(out.arp.sender_ip);
    table.learn(out.arp.sender_ip, out.arp.sender_mac, Time{}, true);
    must(neighbour.resolved() && neighbour.mac() == out.arp.sender_mac);
  }
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
  read_kernel_routes(text, "eth0", routes);
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
    parse(data + 1, size - 1, data[0] & 1, data[0] & 2, data[0] >> 3 & 3);
  return 0;
}
