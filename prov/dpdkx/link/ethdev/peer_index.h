// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Which path leads to which peer. The peers of a port are all of one family; IPv4's have
// keys of their own, half as long.
#pragma once

#include "dpdkx/net/flat_map.h"
#include "dpdkx/net/ip.h"

namespace dpdkx::link {

class PeerIndex {
public:
  static constexpr std::uint32_t none = net::FlatMap::none;

  std::uint32_t find(net::Ipv4 ip, std::uint16_t port) const { return v4_.find(key(ip, port)); }
  std::uint32_t find(const net::Ip &ip, std::uint16_t port) const {
    return ip.is_v4() ? find(ip.v4(), port) : v6_.find({ip, port});
  }
  // False if it is there already. May throw std::bad_alloc, then nothing has changed.
  bool insert(const net::Ip &ip, std::uint16_t port, std::uint32_t path) {
    return ip.is_v4() ? v4_.insert(key(ip.v4(), port), path) : v6_.insert({ip, port}, path);
  }
  void erase(const net::Ip &ip, std::uint16_t port) {
    ip.is_v4() ? v4_.erase(key(ip.v4(), port)) : v6_.erase({ip, port});
  }

private:
  struct LongKey {
    net::Ip ip;
    std::uint16_t port = 0;

    friend bool operator==(const LongKey &, const LongKey &) = default;
    friend std::uint64_t hash_key(const LongKey &key) {
      return net::hash_key(key.ip) ^ std::uint64_t{key.port} << 48;
    }
  };

  static std::uint64_t key(net::Ipv4 ip, std::uint16_t port) {
    return std::uint64_t{ip.value} << 16 | port;
  }

  net::FlatMap v4_;
  net::FlatMapOf<LongKey> v6_;
};

} // namespace dpdkx::link
