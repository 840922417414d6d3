// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/lang/builtin.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <unistd.h>

#include "unit/collc/compiled.h"

using namespace collc;

static void builtin__names_say_what_they_are(void **) {
  const auto all = builtins();
  assert_true(std::ranges::is_sorted(all, {}, &builtin::name));
  for (const auto &b : all) {
    const algorithm a = load(std::string(b.name));
    assert_true(b.name.starts_with(std::string(name_of(a.what)) + ':'));
    assert_true(!a.about.empty());
  }
}

static void builtin__or_a_file(void **) {
  char path[] = "/tmp/collc-XXXXXX";
  const int fd = mkstemp(path);
  assert_true(fd >= 0);
  close(fd);
  std::ofstream(path) << "collective barrier\nround 1 { send }";
  const std::string said = unit::complaint([&] { load(path); });
  std::ofstream(path) << "collective barrier";
  const collective what = load(path).what;
  unlink(path);
  unit::expect_same(said, std::string(path) + ":2:16: expected an expression, found '}'");
  assert_true(what == collective::barrier);
}

static void builtin__refuses_what_is_neither(void **) {
  const std::string said = unit::complaint([] { load("barrier:none"); });
  unit::expect_part(said,
                    "algorithm 'barrier:none' is neither a file that can be read (No such file "
                    "or directory) nor one of allgather:bruck, ");
  unit::expect_part(unit::complaint([] { load("/tmp"); }), "(Is a directory)");
}

static const CMUnitTest cases[] = {cmocka_unit_test(builtin__names_say_what_they_are),
                                   cmocka_unit_test(builtin__or_a_file),
                                   cmocka_unit_test(builtin__refuses_what_is_neither)};
static const unit::Group group{"builtin", cases};
