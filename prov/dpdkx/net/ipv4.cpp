// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/net/ipv4.h"

#include "dpdkx/net/text.h"

#include <algorithm>

namespace dpdkx::net {

std::string to_string(Ipv4 ip) {
  auto part = [&](int shift) { return std::to_string(ip.value >> shift & 0xff); };
  return part(24) + '.' + part(16) + '.' + part(8) + '.' + part(0);
}

bool parse_ipv4(std::string_view text, Ipv4 &out) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    auto dot = i < 3 ? text.find('.') : text.size();
    unsigned part;
    if (dot == std::string_view::npos || dot > 3 || !parse_number(text.substr(0, dot), part) ||
        part > 255)
      return false;
    value = value << 8 | part;
    text.remove_prefix(std::min(dot + 1, text.size()));
  }
  out.value = value;
  return true;
}

} // namespace dpdkx::net
