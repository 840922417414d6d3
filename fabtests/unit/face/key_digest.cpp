// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/key_digest.h"

#include <cstdio>
#include <string>

#include "unit/unit.h"

using namespace dpdkx;

namespace {

std::string hex(std::string_view message) {
  std::string out;
  for (const std::byte b : sha256(std::as_bytes(std::span(message)))) {
    char two[3];
    std::snprintf(two, sizeof(two), "%02x", std::to_integer<unsigned>(b));
    out += two;
  }
  return out;
}

} // namespace

// The examples of FIPS 180-4's companion document, and lengths around a block's end.
static void key_digest__sha256_of_known_messages(void **) {
  assert_string_equal(hex("").c_str(),
                      "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  assert_string_equal(hex("abc").c_str(),
                      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  assert_string_equal(hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq").c_str(),
                      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  assert_string_equal(hex(std::string(1000000, 'a')).c_str(),
                      "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void key_digest__no_key_is_zeros(void **) {
  assert_true(key_digest({}) == wire::KeyDigest{});
  const std::string_view a = "a", b = "b";
  assert_false(key_digest(std::as_bytes(std::span(a))) == wire::KeyDigest{});
  assert_false(key_digest(std::as_bytes(std::span(a))) == key_digest(std::as_bytes(std::span(b))));
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(key_digest__sha256_of_known_messages),
    cmocka_unit_test(key_digest__no_key_is_zeros),
};
static const unit::Group group{"key_digest", cases};
