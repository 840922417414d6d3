// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/base/setting_value.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <span>

namespace dpdkx {

namespace {

struct Unit {
  std::string_view suffix;
  std::uint64_t factor;
};

// The first of each factor is how values are told.
constexpr Unit size_units[] = {{"GiB", 1u << 30}, {"MiB", 1u << 20}, {"KiB", 1u << 10}, {"B", 1},
                               {"G", 1u << 30},   {"M", 1u << 20},   {"K", 1u << 10},   {"", 1}};
constexpr Unit duration_units[] = {
    {"min", 60'000'000'000}, {"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1000}, {"ns", 1}};

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; };
  if (a.size() != b.size())
    return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (lower(a[i]) != lower(b[i]))
      return false;
  return true;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// Digits at the start of `text`, which is left with what follows.
bool take_number(std::string_view &text, std::uint64_t &number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{})
    return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool parse_with_unit(std::span<const Unit> units, std::string_view text, std::uint64_t &number) {
  if (!take_number(text, number))
    return false;
  text = trimmed(text);
  if (number == 0 && text.empty())
    return true; // nothing is nothing in every unit
  for (const Unit &unit : units)
    if (equal_ignoring_case(text, unit.suffix))
      return !__builtin_mul_overflow(number, unit.factor, &number);
  return false;
}

bool parse_yes_no(std::string_view text, std::uint64_t &number) {
  for (const std::string_view yes : {"yes", "on", "true", "1"})
    if (equal_ignoring_case(text, yes)) {
      number = 1;
      return true;
    }
  for (const std::string_view no : {"no", "off", "false", "0"})
    if (equal_ignoring_case(text, no)) {
      number = 0;
      return true;
    }
  return false;
}

bool parse_port_range(std::string_view text, SettingValue &value) {
  if (!take_number(text, value.number))
    return false;
  value.last = value.number;
  if (text.empty())
    return true;
  if (text.front() != '-')
    return false;
  text.remove_prefix(1);
  return take_number(text, value.last) && text.empty() && value.number <= value.last;
}

bool parse_choice(std::string_view choices, std::string_view text, std::uint64_t &number) {
  for (number = 0; !choices.empty(); ++number) {
    const std::size_t end = std::min(choices.find(' '), choices.size());
    if (equal_ignoring_case(text, choices.substr(0, end)))
      return true;
    choices.remove_prefix(std::min(end + 1, choices.size()));
  }
  return false;
}

bool within(const SettingBounds &bounds, std::uint64_t number) {
  if (number == 0 && bounds.or_zero)
    return true;
  return number >= bounds.min && number <= bounds.max && number % bounds.multiple == 0 &&
         (!bounds.power_of_two || (number & (number - 1)) == 0);
}

std::string told(std::span<const Unit> units, std::uint64_t number) {
  for (const Unit &unit : units)
    if (number != 0 && number % unit.factor == 0)
      return std::to_string(number / unit.factor) + std::string(unit.suffix);
  return std::to_string(number);
}

std::string told(SettingKind kind, std::uint64_t number) {
  switch (kind) {
  case SettingKind::size:
    return told(size_units, number);
  case SettingKind::duration:
    return told(duration_units, number);
  default:
    return std::to_string(number);
  }
}

} // namespace

bool parse_setting(SettingKind kind, const SettingBounds &bounds, std::string_view text,
                   SettingValue &value) {
  value = {};
  value.text = trimmed(text);
  switch (kind) {
  case SettingKind::size:
    return parse_with_unit(size_units, value.text, value.number) && within(bounds, value.number);
  case SettingKind::duration:
    return parse_with_unit(duration_units, value.text, value.number) &&
           within(bounds, value.number);
  case SettingKind::yes_no:
    return parse_yes_no(value.text, value.number);
  case SettingKind::number: {
    std::string_view rest = value.text;
    return take_number(rest, value.number) && rest.empty() && within(bounds, value.number);
  }
  case SettingKind::port_range:
    return parse_port_range(value.text, value) && within(bounds, value.number) &&
           within(bounds, value.last);
  case SettingKind::choice:
    return parse_choice(bounds.choices, value.text, value.number);
  case SettingKind::text:
    return true;
  }
  return false;
}

std::string allowed_values(SettingKind kind, const SettingBounds &bounds) {
  std::string range = told(kind, bounds.min) + " to " + told(kind, bounds.max);
  if (bounds.power_of_two)
    range += ", a power of two";
  if (bounds.multiple != 1)
    range += ", a multiple of " + told(kind, bounds.multiple);
  if (bounds.or_zero)
    range += ", or 0";
  switch (kind) {
  case SettingKind::size:
    return "size, " + range;
  case SettingKind::duration:
    return "time, " + range;
  case SettingKind::yes_no:
    return "yes or no";
  case SettingKind::number:
    return "number, " + range;
  case SettingKind::port_range:
    return "FIRST-LAST, within " + range;
  case SettingKind::choice: {
    std::string choices = bounds.choices;
    for (std::size_t at = 0; (at = choices.find(' ', at)) != std::string::npos; at += 2)
      choices.replace(at, 1, ", ");
    return "one of " + choices;
  }
  case SettingKind::text:
    return "text";
  }
  return {};
}

} // namespace dpdkx
