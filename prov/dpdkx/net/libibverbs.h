// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// rdma-core's libibverbs, on which NVIDIA's drivers stand, where it is installed: loaded when an
// RDMA device has been named, and nothing is linked to it.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace dpdkx::net {

// verbs.h's, whose layout is part of libibverbs' interface since its version 1.1.
struct IbvDevice {
  void *ops[2];
  int node_type, transport_type;
  char name[64];        // "mlx5_0"
  char dev_name[64];    // "uverbs0"
  char dev_path[256];   // its folder in sysfs' class infiniband_verbs
  char ibdev_path[256]; // in class infiniband
};

struct Libibverbs {
  std::function<IbvDevice **(int *count)> get_device_list;
  std::function<void(IbvDevice **)> free_device_list;
};

// Null functions: not installed. Loaded once, and never unloaded.
const Libibverbs &libibverbs();

// The folder in sysfs of the device of that name; empty: it knows none.
std::filesystem::path ibverbs_device(const std::string &name,
                                     const Libibverbs &library = libibverbs());

} // namespace dpdkx::net
