// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A digest of 64 bits (FNV-1a), by which ranks see that they mean the same.
#pragma once

#include <cstdint>
#include <string_view>

namespace collc::rt {

class digest {
public:
  digest &add(std::string_view text) {
    add(text.size());
    for (const char c : text)
      byte(static_cast<unsigned char>(c));
    return *this;
  }
  digest &add(std::uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8)
      byte(static_cast<unsigned char>(number >> shift));
    return *this;
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

private:
  void byte(unsigned char b) { value_ = (value_ ^ b) * 0x100000001b3; }

  std::uint64_t value_ = 0xcbf29ce484222325;
};

} // namespace collc::rt
