// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Small parsing steps over string_view.
#pragma once

#include <algorithm>
#include <charconv>
#include <string_view>

namespace dpdkx::net {

// The whole of `text` as one number; no sign, no spaces, no overflow.
template <class Number> bool parse_number(std::string_view text, Number &out, int base = 10) {
  if (text.empty() || text.front() == '-')
    return false;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  return error == std::errc{} && end == text.data() + text.size();
}

// Cuts what stands before the first of `separators` off `rest`.
inline std::string_view cut(std::string_view &rest, std::string_view separators) {
  auto end = rest.find_first_of(separators);
  auto part = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return part;
}

inline std::string_view next_line(std::string_view &rest) { return cut(rest, "\n"); }

inline std::string_view next_word(std::string_view &rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t\n"), rest.size()));
  return cut(rest, " \t\n");
}

inline std::string_view trim(std::string_view text) {
  auto begin = text.find_first_not_of(" \t\n");
  if (begin == std::string_view::npos)
    return {};
  return text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1);
}

} // namespace dpdkx::net
