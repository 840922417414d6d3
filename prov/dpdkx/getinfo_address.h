// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Which addresses a call of fi_getinfo speaks of: its own and the peer's, from
// node, service, flags and hints.
#pragma once

#include "dpdkx/base/address.h"
#include "dpdkx/net/describe.h"

#include <cstdint>
#include <optional>
#include <rdma/fabric.h>

namespace dpdkx {

struct Wanted {
  std::optional<Address> source; // asked for; the any address stands for all
  std::optional<Address> dest;
  std::uint32_t format = FI_FORMAT_UNSPEC; // asked for

  // 0; -FI_ENODATA: nothing here has such an address, or nobody knows the name;
  // -FI_EINVAL: the arguments contradict each other.
  int read(const char *node, const char *service, std::uint64_t flags, const fi_info *hints);

  // Of which the addresses are to be; none: either.
  std::optional<net::Family> family() const;
  bool suits_device(const Address &device) const; // tells if the format is why not
  bool suits_host() const;
  Address host_address() const; // of an endpoint without a device

  // Writes format, source and destination. Throws std::bad_alloc.
  void fill(const Address &own, fi_info &) const;

private:
  bool names_v6() const { return (source && !source->is_v4()) || (dest && !dest->is_v4()); }
};

} // namespace dpdkx
