// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A buffer's bytes as what they are made of: bytes that ranks had when they started.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace collc {

// The byte at x is byte x + shift of what the rank had.
struct origin {
  std::int64_t rank = 0;
  std::int64_t shift = 0;
  auto operator<=>(const origin &) const = default;
};

// Combined from these, each once; none: never written.
using contents = std::vector<origin>; // in order

struct stretch {
  std::uint64_t begin = 0, end = 0;
  contents of;
  std::int64_t by = -1; // the work that wrote it last; -1: none
};

class memory {
public:
  explicit memory(std::uint64_t size);
  void fill(const contents &c) { set({0, size_, c, -1}); }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::vector<stretch> read(std::uint64_t offset, std::uint64_t length) const;
  // As read elsewhere, to be moved by so much; false if some byte was never written.
  bool write(const std::vector<stretch> &what, std::int64_t moved, std::int64_t by);
  bool combine(const std::vector<stretch> &what, std::int64_t moved, std::int64_t by);

private:
  struct value {
    std::uint64_t end;
    contents of;
    std::int64_t by;
  };
  void split(std::uint64_t at);
  void set(const stretch &s);

  std::uint64_t size_;
  std::map<std::uint64_t, value> parts_; // by their begin, all bytes
};

std::string text_of(const contents &c, std::uint64_t at);

} // namespace collc
