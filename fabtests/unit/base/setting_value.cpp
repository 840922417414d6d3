// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/base/setting_value.h"

#include <string>

#include "unit/unit.h"

using namespace dpdkx;

namespace {

constexpr std::uint64_t wrong = ~std::uint64_t{0};

std::uint64_t number_of(SettingKind kind, const char *text,
                        SettingBounds bounds = {0, std::uint64_t{1} << 62}) {
  SettingValue value;
  return parse_setting(kind, bounds, text, value) ? value.number : wrong;
}

} // namespace

static void setting_value__sizes_take_binary_suffixes(void **) {
  assert_int_equal(number_of(SettingKind::size, "4096"), 4096);
  assert_int_equal(number_of(SettingKind::size, "4096B"), 4096);
  assert_int_equal(number_of(SettingKind::size, "64KiB"), 65536);
  assert_int_equal(number_of(SettingKind::size, "64k"), 65536);
  assert_int_equal(number_of(SettingKind::size, " 3 mib "), 3 << 20);
  assert_int_equal(number_of(SettingKind::size, "2G"), std::uint64_t{2} << 30);
  for (const char *text : {"", "KiB", "-1", "1.5KiB", "64KB", "64 K iB", "0x10", "1e3"})
    assert_int_equal(number_of(SettingKind::size, text), wrong);
}

static void setting_value__an_overflow_is_no_number(void **) {
  assert_int_equal(number_of(SettingKind::size, "18446744073709551616"), wrong);
  assert_int_equal(number_of(SettingKind::size, "17179869184GiB"), wrong); // 2^64
  assert_int_equal(number_of(SettingKind::duration, "400000000000min"), wrong);
}

static void setting_value__durations_need_a_unit(void **) {
  assert_int_equal(number_of(SettingKind::duration, "10s"), 10'000'000'000);
  assert_int_equal(number_of(SettingKind::duration, "100ms"), 100'000'000);
  assert_int_equal(number_of(SettingKind::duration, "5US"), 5000);
  assert_int_equal(number_of(SettingKind::duration, "7ns"), 7);
  assert_int_equal(number_of(SettingKind::duration, "2min"), 120'000'000'000);
  assert_int_equal(number_of(SettingKind::duration, "0"), 0); // the same in every unit
  for (const char *text : {"10", "10 seconds", "s", "-1s", "1h"})
    assert_int_equal(number_of(SettingKind::duration, text), wrong);
}

static void setting_value__yes_and_no_in_their_spellings(void **) {
  for (const char *text : {"yes", "on", "true", "1", "YES", " On "})
    assert_int_equal(number_of(SettingKind::yes_no, text), 1);
  for (const char *text : {"no", "off", "false", "0", "No"})
    assert_int_equal(number_of(SettingKind::yes_no, text), 0);
  for (const char *text : {"", "y", "2", "yes please"})
    assert_int_equal(number_of(SettingKind::yes_no, text), wrong);
}

static void setting_value__bounds_are_included(void **) {
  const SettingBounds bounds{16, 64};
  assert_int_equal(number_of(SettingKind::number, "16", bounds), 16);
  assert_int_equal(number_of(SettingKind::number, "64", bounds), 64);
  assert_int_equal(number_of(SettingKind::number, "15", bounds), wrong);
  assert_int_equal(number_of(SettingKind::number, "65", bounds), wrong);
  assert_int_equal(number_of(SettingKind::number, "20x", bounds), wrong);
  assert_int_equal(number_of(SettingKind::number, "20", {0, 64, 16}), wrong);
  assert_int_equal(number_of(SettingKind::number, "32", {0, 64, 16}), 32);
  assert_int_equal(number_of(SettingKind::number, "0", {.min = 16, .max = 64}), wrong);
  assert_int_equal(number_of(SettingKind::number, "0", {.min = 16, .max = 64, .or_zero = true}), 0);
  assert_int_equal(number_of(SettingKind::number, "3", {.min = 16, .max = 64, .or_zero = true}),
                   wrong);
  assert_int_equal(number_of(SettingKind::size, "48KiB", {0, 1 << 20, 1, true}), wrong);
  assert_int_equal(number_of(SettingKind::size, "64KiB", {0, 1 << 20, 1, true}), 65536);
}

static void setting_value__port_ranges(void **) {
  const SettingBounds bounds{1, 65535};
  SettingValue value;
  assert_true(parse_setting(SettingKind::port_range, bounds, "4000-4010", value));
  assert_int_equal(value.number, 4000);
  assert_int_equal(value.last, 4010);
  assert_true(parse_setting(SettingKind::port_range, bounds, "4000", value));
  assert_int_equal(value.last, 4000);
  for (const char *text : {"", "0-10", "10-5", "1-65536", "1-", "-5", "1-2-3", "1:2"})
    assert_false(parse_setting(SettingKind::port_range, bounds, text, value));
}

static void setting_value__choices(void **) {
  const SettingBounds bounds{.choices = "auto always never"};
  assert_int_equal(number_of(SettingKind::choice, "auto", bounds), 0);
  assert_int_equal(number_of(SettingKind::choice, "NEVER", bounds), 2);
  for (const char *text : {"", "alway", "alwaysx", "auto always"})
    assert_int_equal(number_of(SettingKind::choice, text, bounds), wrong);
}

static void setting_value__allowed_values_in_words(void **) {
  assert_string_equal(allowed_values(SettingKind::size, {0, 1u << 30}).c_str(), "size, 0 to 1GiB");
  assert_string_equal(allowed_values(SettingKind::duration, {100'000'000, 60'000'000'000}).c_str(),
                      "time, 100ms to 1min");
  assert_string_equal(allowed_values(SettingKind::number, {64, 16384, 64}).c_str(),
                      "number, 64 to 16384, a multiple of 64");
  assert_string_equal(
      allowed_values(SettingKind::number, {.min = 576, .max = 9978, .or_zero = true}).c_str(),
      "number, 576 to 9978, or 0");
  assert_string_equal(allowed_values(SettingKind::choice, {.choices = "a b c"}).c_str(),
                      "one of a, b, c");
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(setting_value__sizes_take_binary_suffixes),
    cmocka_unit_test(setting_value__an_overflow_is_no_number),
    cmocka_unit_test(setting_value__durations_need_a_unit),
    cmocka_unit_test(setting_value__yes_and_no_in_their_spellings),
    cmocka_unit_test(setting_value__bounds_are_included),
    cmocka_unit_test(setting_value__port_ranges),
    cmocka_unit_test(setting_value__choices),
    cmocka_unit_test(setting_value__allowed_values_in_words),
};
static const unit::Group group{"setting_value", cases};
