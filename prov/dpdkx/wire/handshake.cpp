// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/wire/handshake.h"

#include <cstring>

namespace dpdkx::wire {

std::byte *encode(std::byte *out, const Hello &h) {
  std::memset(out, 0, hello_size);
  bytes::put(out + 0, h.version_min);
  bytes::put(out + 1, h.version_max);
  bytes::put(out + 2, h.address.port);
  bytes::put(out + 4, h.max_datagram);
  bytes::put(out + 8, h.features);
  bytes::put(out + 16, h.incarnation);
  bytes::put(out + 24, h.peer_incarnation);
  bytes::put(out + 32, h.token);
  std::memcpy(out + 40, h.address.ip.data(), h.address.ip.size());
  bytes::put(out + 56, h.credit_limit);
  bytes::put(out + 60, h.first_pn);
  bytes::put(out + 64, h.first_mn);
  bytes::put(out + 68, h.attempt);
  std::memcpy(out + 72, h.key.data(), h.key.size());
  std::memcpy(out + 88, h.cookie.data(), h.cookie.size());
  bytes::put(out + 104, h.bulk_port);
  return put_padding(out + hello_size, h.padding);
}

bool decode(std::span<const std::byte> in, Hello &h) {
  if (in.size() < hello_size)
    return false;
  const std::byte *p = in.data();
  bytes::get_into(p + 0, h.version_min);
  bytes::get_into(p + 1, h.version_max);
  bytes::get_into(p + 2, h.address.port);
  bytes::get_into(p + 4, h.max_datagram);
  bytes::get_into(p + 8, h.features);
  bytes::get_into(p + 16, h.incarnation);
  bytes::get_into(p + 24, h.peer_incarnation);
  bytes::get_into(p + 32, h.token);
  std::memcpy(h.address.ip.data(), p + 40, h.address.ip.size());
  bytes::get_into(p + 56, h.credit_limit);
  bytes::get_into(p + 60, h.first_pn);
  bytes::get_into(p + 64, h.first_mn);
  bytes::get_into(p + 68, h.attempt);
  std::memcpy(h.key.data(), p + 72, h.key.size());
  std::memcpy(h.cookie.data(), p + 88, h.cookie.size());
  bytes::get_into(p + 104, h.bulk_port);
  if (h.version_min > h.version_max || h.incarnation == Incarnation::none ||
      h.token == Token::none || h.max_datagram < min_datagram)
    return false;
  return skip_extensions(in.subspan(hello_size), h.padding);
}

std::byte *encode(std::byte *out, const Challenge &c) {
  std::memset(out, 0, challenge_size);
  bytes::put(out + 0, c.version_min);
  bytes::put(out + 1, c.version_max);
  bytes::put(out + 4, c.attempt);
  bytes::put(out + 8, c.incarnation);
  bytes::put(out + 16, c.peer_incarnation);
  bytes::put(out + 24, c.peer_token);
  std::memcpy(out + 32, c.cookie.data(), c.cookie.size());
  bytes::put(out + 48, c.max_datagram);
  std::memcpy(out + 56, c.key.data(), c.key.size());
  return out + challenge_size;
}

bool decode(std::span<const std::byte> in, Challenge &c) {
  if (in.size() < challenge_size)
    return false;
  const std::byte *p = in.data();
  bytes::get_into(p + 0, c.version_min);
  bytes::get_into(p + 1, c.version_max);
  bytes::get_into(p + 4, c.attempt);
  bytes::get_into(p + 8, c.incarnation);
  bytes::get_into(p + 16, c.peer_incarnation);
  bytes::get_into(p + 24, c.peer_token);
  std::memcpy(c.cookie.data(), p + 32, c.cookie.size());
  bytes::get_into(p + 48, c.max_datagram);
  std::memcpy(c.key.data(), p + 56, c.key.size());
  std::uint32_t padding;
  return c.version_min <= c.version_max && c.incarnation != Incarnation::none &&
         c.max_datagram >= min_datagram && skip_extensions(in.subspan(challenge_size), padding);
}

std::byte *encode(std::byte *out, const Reset &r) {
  bytes::put(out + 0, r.token);
  bytes::put(out + 8, r.incarnation);
  return out + reset_size;
}

bool decode(std::span<const std::byte> in, Reset &r) {
  if (in.size() < reset_size)
    return false;
  bytes::get_into(in.data() + 0, r.token);
  bytes::get_into(in.data() + 8, r.incarnation);
  std::uint32_t padding;
  return r.token != Token::none && skip_extensions(in.subspan(reset_size), padding);
}

} // namespace dpdkx::wire
