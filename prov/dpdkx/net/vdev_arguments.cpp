// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/net/vdev_arguments.h"

#include "dpdkx/net/mac.h"
#include "dpdkx/net/text.h"

#include <cstdint>

namespace dpdkx::net {

namespace {

struct Driver {
  std::string_view name, arguments;
};

constexpr Driver drivers[] = {
    {"net_af_packet", "iface qpairs=# blocksz=# framesz=# framecnt=# qdisc_bypass=0|1"},
    {"net_af_xdp", "iface start_queue=# queue_count=# shared_umem=0|1 xdp_prog busy_budget=# "
                   "force_copy=0|1"},
    {"net_memif", "role=server|client id=# bsize=# rsize=# socket socket-abstract=yes|no "
                  "mac=MAC zero-copy=yes|no secret"},
    {"net_null", "size=# copy=# no-rx=0|1"},
    {"net_pcap", "rx_pcap tx_pcap rx_iface rx_iface_in tx_iface iface phy_mac=# infinite_rx=0|1"},
    {"net_ring", "nodeaction"},
    {"net_tap", "iface mac=fixed|MAC remote"},
    {"net_tun", "iface"},
    {"net_vhost", "iface queues=# client=0|1 iommu-support=0|1 postcopy-support=0|1 tso=0|1 "
                  "linear-buffer=0|1 ext-buffer=0|1 legacy-ol-flags=0|1"},
    {"net_virtio_user", "path mac=MAC cq=# queue_size=# queues=# iface server=0|1 mrg_rxbuf=0|1 "
                        "in_order=0|1 packed_vq=0|1 speed=# vectorized=0|1"},
};

// "a|b" of "key=a|b"; empty: any value. False: no such key.
bool find_key(std::string_view arguments, std::string_view key, std::string_view &values) {
  while (!arguments.empty()) {
    values = cut(arguments, " ");
    if (cut(values, "=") == key)
      return true;
  }
  return false;
}

bool is_among(std::string_view values, std::string_view value) {
  if (values.empty())
    return true;
  while (!values.empty()) {
    const auto allowed = cut(values, "|");
    std::uint64_t number;
    Mac mac;
    if (allowed == "#"     ? parse_number(value, number)
        : allowed == "MAC" ? parse_mac(value, mac)
                           : allowed == value)
      return true;
  }
  return false;
}

std::string comma_separated(std::string_view list) {
  std::string text;
  while (!list.empty())
    (text += text.empty() ? "" : ", ") += cut(list, " ");
  return text;
}

} // namespace

std::string vdev_drivers() {
  std::string text;
  for (const Driver &driver : drivers)
    (text += text.empty() ? "" : ", ") += driver.name;
  return text;
}

std::string_view vdev_arguments(std::string_view device) {
  std::string name(device);
  if (name.starts_with("eth_")) // DPDK's older name of the same
    name.replace(0, 3, "net");
  for (const Driver &driver : drivers)
    if (name.starts_with(driver.name))
      return driver.arguments;
  return {};
}

std::string vdev_arguments_fault(std::string_view device, std::string_view arguments) {
  const auto known = vdev_arguments(device);
  while (!known.empty() && !arguments.empty()) {
    auto value = cut(arguments, ",");
    const auto key = cut(value, "=");
    std::string_view values;
    if (!find_key(known, key, values))
      return "no argument '" + std::string(key) + "'; allowed: " + comma_separated(known) +
             " (#: a number)";
    if (!is_among(values, value))
      return std::string(key) + " is '" + std::string(value) +
             "'; allowed: " + (values == "#" ? "a whole number" : std::string(values));
  }
  return {};
}

} // namespace dpdkx::net
