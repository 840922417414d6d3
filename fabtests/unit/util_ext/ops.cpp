// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/ops.h"

#include <cstring>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <stdexcept>
#include <system_error>

#include "unit/unit.h"

using util_ext::all_missing;
using util_ext::guard;

namespace {

// Every pointer-sized word after `size` is a function.
template <class Ops> void expect_full() {
  const Ops ops = all_missing<Ops>();
  static_assert(sizeof(Ops) % sizeof(void *) == 0);
  void *words[sizeof(Ops) / sizeof(void *)];
  std::memcpy(words, &ops, sizeof ops);
  assert_int_equal(ops.size, sizeof ops);
  for (std::size_t i = 1; i < sizeof(Ops) / sizeof(void *); ++i)
    assert_non_null(words[i]);
}

void all_missing__leaves_no_slot_null(void **) {
  expect_full<fi_ops>();
  expect_full<fi_ops_fabric>();
  expect_full<fi_ops_domain>();
  expect_full<fi_ops_av>();
  expect_full<fi_ops_mr>();
  expect_full<fi_ops_cq>();
  expect_full<fi_ops_eq>();
  expect_full<fi_ops_cntr>();
  expect_full<fi_ops_ep>();
  expect_full<fi_ops_msg>();
  expect_full<fi_ops_tagged>();
  expect_full<fi_ops_rma>();
  expect_full<fi_ops_atomic>();
  expect_full<fi_ops_cm>();
  expect_full<fi_ops_collective>();
}

void all_missing__answers_enosys(void **) {
  auto cq = all_missing<fi_ops_cq>();
  assert_int_equal(cq.read(nullptr, nullptr, 1), -FI_ENOSYS);
  assert_int_equal(cq.signal(nullptr), -FI_ENOSYS);
  assert_null(cq.strerror(nullptr, 0, nullptr, nullptr, 0));
  assert_int_equal(all_missing<fi_ops_cntr>().read(nullptr), 0);
}

void guard__turns_exceptions_into_errors(void **) {
  assert_int_equal(guard([]() -> int { throw std::bad_alloc(); }), -FI_ENOMEM);
  assert_int_equal(guard([]() -> int { throw std::system_error(EMFILE, std::generic_category()); }),
                   -EMFILE);
  assert_int_equal(guard([]() -> ssize_t { throw std::runtime_error("x"); }), -FI_EOTHER);
  assert_int_equal(guard([]() -> ssize_t { throw 1; }), -FI_EOTHER);
  assert_int_equal(guard([] { return 7; }), 7);
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(all_missing__leaves_no_slot_null),
    cmocka_unit_test(all_missing__answers_enosys),
    cmocka_unit_test(guard__turns_exceptions_into_errors),
};
static const unit::Group group{"ops", cases};
