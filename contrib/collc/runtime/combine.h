// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The operations of reductions: by their names in collc(1), as libfabric's atomics, and by the
// processor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <rdma/fi_domain.h>

namespace collc::rt {

struct combination {
  fi_op operation;
  fi_datatype type;
  std::size_t size; // bytes of the type
  // into = into OP from, `count` times; neither need be aligned.
  void (*run)(std::byte *into, const std::byte *from, std::size_t count);
};

// Throws failure for what there is not.
combination find_combination(const std::string &operation, const std::string &type);

} // namespace collc::rt
