// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/fabric.h"

#include "fake.h"
#include "util_ext/cntr.h"
#include "util_ext/cq.h"
#include "util_ext/eq.h"

#include "unit/unit.h"

namespace {

void trywait__asks_each_kind_of_object(void **) {
  fake::Fabric fabric;
  fake::Domain domain;
  fi_cq_attr cq_attr{};
  fi_cntr_attr cntr_attr{};
  fi_eq_attr eq_attr{};
  cq_attr.wait_obj = cntr_attr.wait_obj = eq_attr.wait_obj = FI_WAIT_FD;
  fid_cq *cq;
  fid_cntr *cntr;
  fid_eq *eq;
  assert_int_equal(util_ext::Cq::open(domain, &cq_attr, &cq, nullptr), 0);
  assert_int_equal(util_ext::Cntr::open(domain, &cntr_attr, &cntr, nullptr), 0);
  assert_int_equal(util_ext::Eq::open(fabric, &eq_attr, &eq, nullptr), 0);

  struct fid *all[] = {&cq->fid, &cntr->fid, &eq->fid};
  assert_int_equal(util_ext::Fabric::trywait(nullptr, all, 3), 0);
  util_ext::Eq::from(&eq->fid)->write(FI_NOTIFY, "x", 1);
  assert_int_equal(util_ext::Fabric::trywait(nullptr, all, 3), -FI_EAGAIN);
  assert_int_equal(util_ext::Fabric::trywait(nullptr, all, 2), 0);
  util_ext::Cntr::from(&cntr->fid)->add(1);
  assert_int_equal(util_ext::Fabric::trywait(nullptr, all, 2), -FI_EAGAIN);
  util_ext::Cq::from(&cq->fid)->write({});
  assert_int_equal(util_ext::Fabric::trywait(nullptr, all, 1), -FI_EAGAIN);

  struct fid other {
    FI_CLASS_AV, nullptr, nullptr
  };
  struct fid *none[] = {&other};
  assert_int_equal(util_ext::Fabric::trywait(nullptr, none, 1), -FI_EINVAL);
  none[0] = nullptr;
  assert_int_equal(util_ext::Fabric::trywait(nullptr, none, 1), -FI_EINVAL);
  assert_int_equal(util_ext::Fabric::trywait(nullptr, nullptr, 1), -FI_EINVAL);
  assert_int_equal(util_ext::Fabric::trywait(nullptr, nullptr, 0), 0);
  for (struct fid *f : all)
    assert_int_equal(fi_close(f), 0);
  assert_false(domain.in_use());
  assert_false(fabric.in_use());
}

} // namespace

static const CMUnitTest cases[] = {cmocka_unit_test(trywait__asks_each_kind_of_object)};
static const unit::Group group{"fabric", cases};
