// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The pool that a device's packets come from.
#pragma once

#include "dpdkx/link/ethdev/module.h"

#include <cstdint>
#include <rte_mempool.h>
#include <string>

namespace dpdkx::link {

class PacketPool {
public:
  // Where payloads start in sent packets: behind any headers, on a cache line.
  static constexpr std::uint16_t payload_offset = 192;

  struct Plan {
    std::uint32_t frame = 0;     // bytes of the longest
    std::uint32_t in_queues = 0; // packets that the driver keeps
    bool packed = false;         // they lie without gaps
    int socket = 0;              // NUMA node
  };

  PacketPool() = default;
  ~PacketPool(); // of no use before the device has given all back
  PacketPool(const PacketPool &) = delete;

  // 0, or a negative errno with a text: of the options, mbufs and memory_mb count.
  int open(const std::string &name, const Plan &, const DeviceRequest &, const DeviceOptions &,
           std::uint32_t mtu, std::string &error);
  void keep() { pool_ = nullptr; } // it ends with the process

  rte_mempool *get() const { return pool_; }

private:
  rte_mempool *pool_ = nullptr;
};

} // namespace dpdkx::link
