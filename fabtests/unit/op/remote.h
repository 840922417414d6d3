// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Registered memory in the lab, and calls that read and write it from the other side.
#pragma once

#include "lab.h"

#include <optional>
#include <utility>

namespace lab {

inline constexpr std::uint64_t key = 77, all_rights = FI_REMOTE_READ | FI_REMOTE_WRITE;
inline constexpr std::size_t margin = 64;

// Memory of the second side that the first may access, by offset from 0, in two buffers.
class Registered {
public:
  explicit Registered(Lab &l, std::size_t len, std::uint64_t rights = all_rights)
      : memory(len + 2 * margin, std::byte{0xcc}) {
    l.b.queues.completers.regions = &table;
    const std::size_t first = len / 3 / 16 * 16;
    region.buffers = {{memory.data() + margin, first},
                      {memory.data() + margin + first, len - first}};
    region.length = len;
    region.access = rights;
    assert_int_equal(table.insert(region, key), 0);
    registered_ = true;
  }
  ~Registered() { close(); }
  void close() {
    if (std::exchange(registered_, false))
      table.remove(region);
  }
  std::byte *at(std::size_t offset) { return memory.data() + margin + offset; }
  bool untouched_outside(std::size_t from, std::size_t n) const {
    for (std::size_t i = 0; i < memory.size(); ++i)
      if ((i < margin + from || i >= margin + from + n) && memory[i] != std::byte{0xcc})
        return false;
    return true;
  }

  Bytes memory;
  util_ext::Region region;
  util_ext::MrTable table;

private:
  bool registered_ = false;
};

struct How {
  std::uint64_t flags = 0;
  std::size_t targets = 1; // how many pieces the target is named by
  std::optional<std::uint64_t> data{};
  std::uint64_t key = lab::key;
};

inline std::vector<fi_rma_iov> split(std::uint64_t addr, std::size_t len, std::size_t n,
                                     std::uint64_t with_key) {
  std::vector<fi_rma_iov> out;
  for (std::size_t i = 0, done = 0; i < n; ++i) {
    const std::size_t part = i + 1 == n ? len - done : (len - done) / 2;
    out.push_back({addr + done, part, with_key});
    done += part;
  }
  return out;
}

inline ssize_t try_rma(Side &s, Call &c, std::uint64_t direction, std::uint64_t addr,
                       const How &how) {
  const auto targets = split(addr, c.memory.size(), how.targets, how.key);
  return s.m->rma(s.to(1), {.iov = c.iov.data(),
                            .iov_count = c.iov.size(),
                            .len = c.memory.size(),
                            .targets = targets.data(),
                            .target_count = targets.size(),
                            .dest = 1,
                            .data = how.data.value_or(0),
                            .flags = how.flags | FI_RMA | direction | FI_COMPLETION |
                                     (how.data ? FI_REMOTE_CQ_DATA : 0),
                            .context = &c});
}

inline Call &write(Lab &l, Bytes bytes, std::uint64_t addr, const How &how = {},
                   std::size_t pieces = 1) {
  Call &c = l.a.calls.emplace_back(std::move(bytes), pieces);
  assert_int_equal(try_rma(l.a, c, FI_WRITE, addr, how), 0);
  l.a.reap();
  return c;
}

inline Call &read(Lab &l, std::size_t len, std::uint64_t addr, const How &how = {},
                  std::size_t pieces = 1) {
  Call &c = l.a.calls.emplace_back(Bytes(len), pieces);
  assert_int_equal(try_rma(l.a, c, FI_READ, addr, how), 0);
  l.a.reap();
  return c;
}

} // namespace lab
