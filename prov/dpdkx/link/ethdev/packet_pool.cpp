// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/ethdev/packet_pool.h"

#include <algorithm>
#include <cerrno>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <unistd.h>

namespace dpdkx::link {

namespace {

// In a pool, where none crosses pages without need.
std::uint64_t memory_of_packet(std::uint32_t room) {
  constexpr std::uint64_t overhead = 256; // what describes it, and alignment
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const auto size = room + overhead;
  return size <= page ? page / (page / size) : (size + page - 1) / page * page;
}

// One in whose memory packets lie without gaps: af_xdp gives the kernel as much of it as they fill
// then, and what lies behind that the kernel doesn't take. Null, with rte_errno.
rte_mempool *packed_pool(const char *name, unsigned packets, std::uint16_t room, int socket,
                         const char *ops) {
  rte_mempool *const pool = rte_mempool_create_empty(
      name, packets, static_cast<unsigned>(sizeof(rte_mbuf)) + room, 0,
      sizeof(rte_pktmbuf_pool_private), socket, RTE_MEMPOOL_F_NO_IOVA_CONTIG);
  if (pool == nullptr)
    return nullptr;
  rte_pktmbuf_pool_private about{};
  about.mbuf_data_room_size = room;
  int rc = rte_mempool_set_ops_byname(pool, ops, nullptr);
  if (rc == 0) {
    rte_pktmbuf_pool_init(pool, &about);
    rc = std::min(rte_mempool_populate_default(pool), 0);
  }
  if (rc != 0) {
    rte_mempool_free(pool);
    rte_errno = -rc;
    return nullptr;
  }
  rte_mempool_obj_iter(pool, rte_pktmbuf_init, nullptr);
  return pool;
}

} // namespace

PacketPool::~PacketPool() {
  if (pool_ != nullptr)
    rte_mempool_free(pool_);
}

int PacketPool::open(const std::string &name, const Plan &plan, const DeviceRequest &request,
                     const DeviceOptions &options, std::uint32_t mtu, std::string &error) {
  constexpr std::uint32_t in_hand = 1024; // of ports: being sent, being read, waiting
  const std::uint32_t room = std::max(
      {2048u + RTE_PKTMBUF_HEADROOM, plan.frame + RTE_PKTMBUF_HEADROOM, payload_offset + mtu});
  if (options.mbufs && options.mbufs < plan.in_queues + min_mbufs) {
    error = "FI_DPDKX_MBUFS: '" + std::to_string(options.mbufs) + "'; allowed for '" +
            request.spec.text + "': at least " + std::to_string(plan.in_queues + min_mbufs) +
            ", of which its queues hold " + std::to_string(plan.in_queues) + ", or 0";
    return -EINVAL;
  }
  const std::uint32_t least = plan.in_queues != 0 ? plan.in_queues + in_hand : 2 * in_hand;
  const std::uint32_t size = options.mbufs ? options.mbufs : least;
  // Last in, first out: what was just used is still in the cache.
  const char *const ops = "stack";
  const auto rounded = static_cast<std::uint16_t>((room + 63) / 64 * 64);
  pool_ = plan.packed
              ? packed_pool(name.c_str(), size, rounded, plan.socket, ops)
              : rte_pktmbuf_pool_create_by_ops(name.c_str(), size, 0, 0, rounded, plan.socket, ops);
  if (pool_ != nullptr)
    return 0;
  const auto what = options.mbufs ? "FI_DPDKX_MBUFS: '" + std::to_string(options.mbufs)
                                  : "FI_DPDKX_MEMORY: '" + std::to_string(options.memory_mb) +
                                        (options.memory_mb ? "MiB" : "");
  const auto megabytes = (size * memory_of_packet(room) >> 20) + 8;
  error = what + "': no memory for " + std::to_string(size) + " packets of " +
          std::to_string(room) + " bytes (" + rte_strerror(rte_errno) +
          "); allowed: fewer packets, or FI_DPDKX_MEMORY of some " + std::to_string(megabytes) +
          "MiB";
  return -ENOMEM;
}

} // namespace dpdkx::link
