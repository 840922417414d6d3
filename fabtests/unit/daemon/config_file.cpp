// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/config_file.h"
#include "unit/property.h"

#include <filesystem>
#include <fstream>
#include <unistd.h>

#include "unit/daemon/text.h"

using namespace dpdkx::daemon;

namespace {

std::vector<Given> parse(const char *text) {
  std::vector<Given> out;
  std::string error;
  if (!parse_config(text, "f", out, error))
    fail_msg("%s", error.c_str());
  return out;
}

void expect_fault(const char *text, const char *error_expected) {
  std::vector<Given> out;
  std::string error;
  assert_false(parse_config(text, "f", out, error));
  expect_equal(error, error_expected);
}

void expect_given(const Given &given, const char *option, const char *value, const char *where) {
  expect_equal(given.option, option);
  expect_equal(given.value, value);
  expect_equal(given.where, where);
}

} // namespace

static void config_file__values_have_their_lines(void **) {
  const auto given =
      parse("# about it\n\nmtu = 9000\r\n  socket=\"@s\" # why\nlog-level = 'debug'");
  assert_int_equal(given.size(), 3);
  expect_given(given[0], "mtu", "9000", "f:3: mtu");
  expect_given(given[1], "socket", "@s", "f:4: socket");
  expect_given(given[2], "log-level", "debug", "f:5: log-level");
  assert_true(parse("").empty());
  assert_true(parse("\n# nothing\n\n").empty());
}

static void config_file__lists_on_a_line_or_several(void **) {
  auto given = parse("device = [\"net_memif0,role=server\", \"eth0\"]\ndevice = eth1");
  assert_int_equal(given.size(), 3);
  expect_given(given[0], "device", "net_memif0,role=server", "f:1: device");
  expect_given(given[1], "device", "eth0", "f:1: device");
  expect_given(given[2], "device", "eth1", "f:2: device");
  given = parse("mtu = 1\ndevice = [ # two\n  \"a,b=1\", # one\n  \"c\"\n]\nqueues = 2\n");
  assert_int_equal(given.size(), 4);
  expect_given(given[1], "device", "a,b=1", "f:2: device");
  expect_given(given[2], "device", "c", "f:2: device");
  expect_given(given[3], "queues", "2", "f:6: queues");
}

static void config_file__a_string_may_have_anything(void **) {
  const auto given = parse("eal-args = \"-l 0,1 --log-level=x:debug\"\nsocket = \"@a#b\"");
  assert_int_equal(given.size(), 2);
  expect_given(given[0], "eal-args", "-l 0,1 --log-level=x:debug", "f:1: eal-args");
  expect_given(given[1], "socket", "@a#b", "f:2: socket");
}

static void config_file__faults_name_line_text_and_what_is_allowed(void **) {
  expect_fault("mtu = 9000\n[devices]\n",
               "f:2: '[devices]'; allowed: name = value, without sections: each name is that of "
               "an option");
  expect_fault("\nmtu\n", "f:2: 'mtu'; allowed: name = value");
  expect_fault("mtu =\n", "f:1: 'mtu ='; allowed: name = value");
  expect_fault("device = net_memif0,id=0",
               "f:1: 'device = net_memif0,id=0'; allowed: name = \"value\": with quotes, as it "
               "has blanks or commas");
  expect_fault("a = 1\ndevice = [\"x\",\n\"y\"\n",
               "f:2: 'device = [\"x\", \"y\"'; allowed: name = [value, ...] with an end, ']'");
  expect_fault("a = 1\nsocket = \"@x\n",
               "f:2: 'socket = \"@x'; allowed: a string that ends on its line, with \"");
  expect_fault("device = \"a\", \"b\"",
               "f:1: 'device = \"a\", \"b\"'; allowed: name = \"value\", or name = [\"value\", "
               "...]");
  expect_fault("x.y = 1", "f:1: 'x.y = 1'; allowed: name = value, without sections: each name is "
                          "that of an option");
}

static void config_file__any_text_is_read_or_told(void **) {
  const bool ok = unit::holds("any text is read or told", [] {
    const auto text = *rc::gen::container<std::string>(
        rc::gen::element('a', '=', '"', '\'', '[', ']', ',', ' ', '\n', '#', '.', '\\', '\r'));
    std::vector<Given> out;
    std::string error;
    const bool read = parse_config(text, "f", out, error);
    RC_ASSERT(read == error.empty());
    RC_ASSERT(read || error.find('\n') == std::string::npos);
  });
  assert_true(ok);
}

static void config_file__files_that_cannot_be_read_are_told(void **) {
  const auto folder = std::filesystem::temp_directory_path() / ("conf" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  std::vector<Given> out;
  std::string error;
  assert_false(read_config_file(folder / "none", out, error));
  expect_parts(error, {"config: '", "none': No such file", "; allowed: "});
  assert_false(read_config_file(folder, out, error));
  expect_parts(error, {"config: '", "; allowed: "});
  std::ofstream(folder / "big") << std::string((1 << 20) + 1, '\n');
  assert_false(read_config_file(folder / "big", out, error));
  expect_parts(error, {"1MiB at most"});
  std::ofstream(folder / "good") << "mtu = 9000\n";
  assert_true(read_config_file(folder / "good", out, error));
  assert_int_equal(out.size(), 1);
  expect_parts(out[0].where, {"good:1: mtu"});
  std::filesystem::remove_all(folder);
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(config_file__values_have_their_lines),
    cmocka_unit_test(config_file__lists_on_a_line_or_several),
    cmocka_unit_test(config_file__a_string_may_have_anything),
    cmocka_unit_test(config_file__faults_name_line_text_and_what_is_allowed),
    cmocka_unit_test(config_file__any_text_is_read_or_told),
    cmocka_unit_test(config_file__files_that_cannot_be_read_are_told),
};
static const unit::Group group{"config_file", cases};
