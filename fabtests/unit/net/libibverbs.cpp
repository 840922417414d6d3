// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/net/libibverbs.h"

#include <cstddef>
#include <cstring>

#if __has_include(<infiniband/verbs.h>)
#include <infiniband/verbs.h>
#endif

#include "unit/unit.h"

using namespace dpdkx::net;

static void libibverbs__devices_are_as_it_has_them(void **) {
#if __has_include(<infiniband/verbs.h>)
  static_assert(sizeof(IbvDevice) == sizeof(ibv_device));
  static_assert(offsetof(IbvDevice, name) == offsetof(ibv_device, name));
  static_assert(offsetof(IbvDevice, dev_name) == offsetof(ibv_device, dev_name));
  static_assert(offsetof(IbvDevice, dev_path) == offsetof(ibv_device, dev_path));
  static_assert(offsetof(IbvDevice, ibdev_path) == offsetof(ibv_device, ibdev_path));
#else
  skip();
#endif
}

static void libibverbs__is_asked_by_name(void **) {
  static IbvDevice devices[2];
  static IbvDevice *list[] = {&devices[0], &devices[1], nullptr};
  std::strcpy(devices[0].name, "mlx5_0");
  std::strcpy(devices[0].ibdev_path, "/sys/class/infiniband/mlx5_0");
  std::strcpy(devices[1].name, "mlx5_01");
  std::strcpy(devices[1].ibdev_path, "/sys/class/infiniband/mlx5_01");
  int held = 0;
  const Libibverbs library{[&](int *count) {
                             ++held;
                             *count = 2;
                             return list;
                           },
                           [&](IbvDevice **) { --held; }};
  assert_string_equal(ibverbs_device("mlx5_01", library).c_str(), "/sys/class/infiniband/mlx5_01");
  assert_string_equal(ibverbs_device("mlx5_0", library).c_str(), "/sys/class/infiniband/mlx5_0");
  assert_true(ibverbs_device("mlx5", library).empty());
  assert_int_equal(held, 0);
}

static void libibverbs__that_is_not_there_or_fails_knows_none(void **) {
  assert_true(ibverbs_device("mlx5_0", {}).empty());
  const Libibverbs fails{[](int *) -> IbvDevice ** { return nullptr; }, [](IbvDevice **) {}};
  assert_true(ibverbs_device("mlx5_0", fails).empty());
}

// Installed or not, this returns.
static void libibverbs__the_installed_one_has_no_such_device(void **) {
  assert_true(ibverbs_device("no such device").empty());
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(libibverbs__devices_are_as_it_has_them),
    cmocka_unit_test(libibverbs__is_asked_by_name),
    cmocka_unit_test(libibverbs__that_is_not_there_or_fails_knows_none),
    cmocka_unit_test(libibverbs__the_installed_one_has_no_such_device),
};
static const unit::Group group{"libibverbs", cases};
