// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/own_words.h"

#include <cctype>

namespace dpdkx::daemon {

namespace {

constexpr std::string_view prefix = "FI_DPDKX_";

bool of_name(char c) {
  const auto u = static_cast<unsigned char>(c);
  return std::isupper(u) || std::isdigit(u) || c == '_';
}

std::string option_of(std::string_view setting) {
  if (setting == "ADDR")
    return "address";
  std::string name;
  for (const char c : setting)
    name += c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

} // namespace

std::string in_own_words(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto at = text.find(prefix);
    out += text.substr(0, at);
    if (at == std::string_view::npos)
      break;
    text.remove_prefix(at + prefix.size());
    std::size_t length = 0;
    while (length < text.size() && of_name(text[length]))
      ++length;
    out += option_of(text.substr(0, length));
    text.remove_prefix(length);
  }
  return out;
}

} // namespace dpdkx::daemon
