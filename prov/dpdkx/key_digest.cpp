// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/key_digest.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

namespace dpdkx {

namespace {

// FIPS 180-4, 4.2.2 and 5.3.3.
constexpr std::uint32_t rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
constexpr std::uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

std::uint32_t load_be(const std::byte *from) {
  std::uint32_t word;
  std::memcpy(&word, from, sizeof(word));
  return __builtin_bswap32(word);
}

void digest_block(std::uint32_t (&hash)[8], const std::byte *block) {
  std::uint32_t w[64];
  for (std::size_t t = 0; t < 16; ++t)
    w[t] = load_be(block + 4 * t);
  for (int t = 16; t < 64; ++t) {
    const std::uint32_t a = w[t - 15], b = w[t - 2];
    w[t] = w[t - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + w[t - 7] +
           (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
  }
  std::uint32_t v[8]; // the standard's a to h
  std::memcpy(v, hash, sizeof(v));
  for (int t = 0; t < 64; ++t) {
    const std::uint32_t t1 = v[7] +
                             (std::rotr(v[4], 6) ^ std::rotr(v[4], 11) ^ std::rotr(v[4], 25)) +
                             ((v[4] & v[5]) ^ (~v[4] & v[6])) + rounds[t] + w[t];
    const std::uint32_t t2 = (std::rotr(v[0], 2) ^ std::rotr(v[0], 13) ^ std::rotr(v[0], 22)) +
                             ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
    std::memmove(v + 1, v, 7 * sizeof(v[0]));
    v[4] += t1;
    v[0] = t1 + t2;
  }
  for (int i = 0; i < 8; ++i)
    hash[i] += v[i];
}

} // namespace

std::array<std::byte, 32> sha256(std::span<const std::byte> message) {
  std::uint32_t hash[8];
  std::memcpy(hash, start, sizeof(hash));
  std::size_t done = 0;
  for (; message.size() - done >= 64; done += 64)
    digest_block(hash, message.data() + done);

  // What is left, a one bit, zeros, and the length in bits.
  std::byte last[128] = {};
  const std::size_t left = message.size() - done;
  if (left)
    std::memcpy(last, message.data() + done, left);
  last[left] = std::byte{0x80};
  const std::size_t size = left < 56 ? 64 : 128;
  const std::uint64_t bits = __builtin_bswap64(std::uint64_t{message.size()} * 8);
  std::memcpy(last + size - 8, &bits, sizeof(bits));
  for (std::size_t at = 0; at < size; at += 64)
    digest_block(hash, last + at);

  std::array<std::byte, 32> out;
  for (std::size_t i = 0; i < 8; ++i) {
    const std::uint32_t be = __builtin_bswap32(hash[i]);
    std::memcpy(out.data() + 4 * i, &be, sizeof(be));
  }
  return out;
}

wire::KeyDigest key_digest(std::span<const std::byte> key) {
  wire::KeyDigest out{};
  if (!key.empty()) {
    const auto hash = sha256(key);
    std::memcpy(out.data(), hash.data(), out.size());
  }
  return out;
}

wire::KeyDigest key_of(const fi_info &info, const wire::KeyDigest &setting) {
  const auto digest = [](const std::uint8_t *key, std::size_t len) {
    return key_digest(std::as_bytes(std::span(key, len)));
  };
  if (info.ep_attr->auth_key && info.ep_attr->auth_key_size)
    return digest(info.ep_attr->auth_key, info.ep_attr->auth_key_size);
  if (info.domain_attr && info.domain_attr->auth_key && info.domain_attr->auth_key_size)
    return digest(info.domain_attr->auth_key, info.domain_attr->auth_key_size);
  return setting;
}

} // namespace dpdkx
