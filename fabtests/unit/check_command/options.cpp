// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/check/command/options.h"

#include "unit/daemon/text.h"

using namespace dpdkx;
using namespace dpdkx::check;

namespace {

struct Read {
  Parsed parsed;
  Options options;
  std::string text;
};

Read read(std::vector<const char *> arguments) {
  Read out;
  arguments.insert(arguments.begin(), "dpdkx-check");
  out.parsed = parse(static_cast<int>(arguments.size()), arguments.data(), out.options, out.text);
  return out;
}

} // namespace

static void options__of_hosts_alone_are_the_presets(void **) {
  const Read got = read({"a", "b:4000"});
  assert_true(got.parsed == Parsed::run);
  assert_int_equal(got.options.hosts.size(), 2);
  expect_equal(got.options.hosts[1], "b:4000");
  assert_int_equal(got.options.port, default_port);
  assert_false(got.options.listen || got.options.json || got.options.verbose);
  assert_true(got.options.timeout == std::chrono::seconds(3));
}

static void options__arrive(void **) {
  const Read got =
      read({"--port", "5000", "--json", "-v", "-t", "0.5", "--listen", "--for", "1.5"});
  assert_true(got.parsed == Parsed::run);
  assert_int_equal(got.options.port, 5000);
  assert_true(got.options.listen && got.options.json && got.options.verbose);
  assert_true(got.options.timeout == std::chrono::milliseconds(500));
  assert_true(got.options.listen_for == std::chrono::milliseconds(1500));
  assert_true(got.options.hosts.empty());
}

static void options__without_an_end_listen_for_ever(void **) {
  const Read got = read({"--listen"});
  const Time now = SystemClock::instance().now();
  assert_true(now - now < got.options.listen_for);
  assert_true(got.options.listen_for > std::chrono::hours(24 * 365));
}

static void options__that_are_wrong_are_told(void **) {
  Read got = read({});
  assert_true(got.parsed == Parsed::wrong);
  expect_equal(got.text, "no HOST; allowed: one or more, or --listen");
  for (const std::vector<const char *> &wrong : {std::vector<const char *>{"a", "--port", "0"},
                                                 {"a", "--port", "65536"},
                                                 {"a", "--timeout", "0"},
                                                 {"--listen", "--for", "0"},
                                                 {"a", "--colour"}}) {
    got = read(wrong);
    assert_true(got.parsed == Parsed::wrong);
    expect_parts(got.text, {"; allowed: ", wrong[1]});
  }
}

static void options__help_and_version_are_told(void **) {
  Read got = read({"--version"});
  assert_true(got.parsed == Parsed::told);
  assert_true(got.text.starts_with("dpdkx-check ") && got.text.ends_with("\n"));
  got = read({"--help"});
  assert_true(got.parsed == Parsed::told);
  expect_parts(got.text, {"HOST", "--listen", "FI_DPDKX_DEVICE", "Exit code: "});
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(options__of_hosts_alone_are_the_presets),
    cmocka_unit_test(options__arrive),
    cmocka_unit_test(options__without_an_end_listen_for_ever),
    cmocka_unit_test(options__that_are_wrong_are_told),
    cmocka_unit_test(options__help_and_version_are_told),
};
static const unit::Group group{"options", cases};
