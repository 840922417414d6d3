// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// SipHash-2-4 (Aumasson, Bernstein: "SipHash: a fast short-input PRF", 2012): a
// keyed hash whose outputs can't be guessed without the key.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace dpdkx::session {

struct SipKey {
  std::uint64_t k0 = 0, k1 = 0;
};

namespace detail {

struct SipState {
  std::uint64_t v0, v1, v2, v3;

  explicit SipState(const SipKey &k)
      : v0(k.k0 ^ 0x736f6d6570736575), v1(k.k1 ^ 0x646f72616e646f6d), v2(k.k0 ^ 0x6c7967656e657261),
        v3(k.k1 ^ 0x7465646279746573) {}

  void rounds(int n) {
    for (; n > 0; --n) {
      v0 += v1, v1 = std::rotl(v1, 13) ^ v0, v0 = std::rotl(v0, 32);
      v2 += v3, v3 = std::rotl(v3, 16) ^ v2;
      v0 += v3, v3 = std::rotl(v3, 21) ^ v0;
      v2 += v1, v1 = std::rotl(v1, 17) ^ v2, v2 = std::rotl(v2, 32);
    }
  }
  void absorb(std::uint64_t m) {
    v3 ^= m;
    rounds(2);
    v0 ^= m;
  }
};

} // namespace detail

inline std::uint64_t siphash(const SipKey &key, std::span<const std::byte> in) {
  detail::SipState s(key);
  std::uint64_t last = std::uint64_t{in.size()} << 56;
  for (; in.size() >= 8; in = in.subspan(8)) {
    std::uint64_t m;
    std::memcpy(&m, in.data(), 8);
    s.absorb(m);
  }
  for (std::size_t i = 0; i < in.size(); ++i)
    last |= std::to_integer<std::uint64_t>(in[i]) << (8 * i);
  s.absorb(last);
  s.v2 ^= 0xff;
  s.rounds(4);
  return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

} // namespace dpdkx::session
