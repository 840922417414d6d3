// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/notify.h"

#include <cerrno>

#include "unit/daemon/notify_socket.h"
#include "unit/daemon/text.h"

using namespace dpdkx::daemon;

static void notify__states_arrive(void **) {
  const NotifySocket systemd;
  assert_true(notify("READY=1"));
  expect_equal(systemd.next(), "READY=1");
  assert_true(notify(reloading()));
  const std::string text = systemd.next();
  assert_true(text.starts_with("RELOADING=1\nMONOTONIC_USEC="));
  assert_true(std::strtoull(text.c_str() + 27, nullptr, 10) > 0);
}

static void notify__nobody_to_tell(void **) {
  unsetenv("NOTIFY_SOCKET");
  assert_true(notify("READY=1"));
  setenv("NOTIFY_SOCKET", "", 1);
  assert_true(notify("READY=1"));
}

static void notify__names_that_are_none(void **) {
  for (const std::string &name :
       {std::string("run/x"), std::string(200, '/'), std::string("@nobody-at-all-x")}) {
    setenv("NOTIFY_SOCKET", name.c_str(), 1);
    errno = 0;
    assert_false(notify("READY=1"));
    assert_true(errno != 0);
  }
  unsetenv("NOTIFY_SOCKET");
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(notify__states_arrive),
    cmocka_unit_test(notify__nobody_to_tell),
    cmocka_unit_test(notify__names_that_are_none),
};
static const unit::Group group{"notify", cases};
