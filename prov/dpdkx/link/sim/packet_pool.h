// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Datagrams of the simulated network. Bytes of one that was given back are
// overwritten, so that whoever still reads them notices.
#pragma once

#include "dpdkx/link/link.h"

#include <memory>
#include <vector>

namespace dpdkx::link::sim {

struct Nic;

// One end of a connected path, as datagrams refer to it: void when the slot has
// been closed or its port is another one.
struct PathEnd {
  Nic *nic = nullptr;
  std::uint64_t serial = 0;
  PathId id = PathId::none;
};

struct Packet {
  Address from, to;
  std::uint32_t len = 0, capacity = 0;
  bool faults_done = false;
  // Of the receiver's NIC, where it has queues.
  std::uint32_t rx_queue = 0;
  std::uint16_t bulk_port = 0; // where it goes at `to`; 0: to the port itself
  bool joined = false;         // the path is one for joined datagrams
  PathEnd sender, receiver;    // lossless only
  std::byte *data = nullptr;
  std::unique_ptr<std::byte[]> storage;
};

class PacketPool {
public:
  Packet *get(std::uint32_t capacity);
  void put(Packet *);

private:
  struct SizeClass {
    std::uint32_t capacity;
    std::vector<Packet *> free;
  };
  std::vector<SizeClass> classes_; // few
  std::vector<std::unique_ptr<Packet>> all_;
};

} // namespace dpdkx::link::sim
