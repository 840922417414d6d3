// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/sim/packet_pool.h"

#include <algorithm>

namespace dpdkx::link::sim {

namespace {
// Where a UDP payload stands behind Ethernet, IPv4 and UDP headers in a frame
// that starts aligned: nothing above may count on more than two bytes.
constexpr std::size_t misalignment = 42 % 8;
} // namespace

Packet *PacketPool::get(std::uint32_t capacity) {
  auto size = std::find_if(classes_.begin(), classes_.end(),
                           [&](const SizeClass &c) { return c.capacity == capacity; });
  if (size == classes_.end())
    size = classes_.insert(size, {capacity, {}});
  Packet *p;
  if (size->free.empty()) {
    p = all_.emplace_back(std::make_unique<Packet>()).get();
    p->capacity = capacity;
    p->storage = std::make_unique<std::byte[]>(capacity + misalignment);
    p->data = p->storage.get() + misalignment;
  } else {
    p = size->free.back();
    size->free.pop_back();
  }
  p->len = 0;
  p->faults_done = false;
  p->bulk_port = 0;
  p->joined = false;
  p->sender = p->receiver = {};
  return p;
}

void PacketPool::put(Packet *p) {
  std::fill_n(p->data, p->len, std::byte{0xdb});
  for (SizeClass &c : classes_)
    if (c.capacity == p->capacity)
      return c.free.push_back(p);
}

} // namespace dpdkx::link::sim
