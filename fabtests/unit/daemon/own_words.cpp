// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/daemon/own_words.h"

#include "unit/daemon/text.h"

using namespace dpdkx::daemon;

static void own_words__settings_become_options(void **) {
  expect_equal(in_own_words("FI_DPDKX_DEVICE: 'x': no; allowed: FI_DPDKX_RX_DESCRIPTORS, 3"),
               "device: 'x': no; allowed: rx-descriptors, 3");
  expect_equal(in_own_words("FI_DPDKX_ADDR"), "address");
  expect_equal(in_own_words("what FI_DPDKX_ADDRESS_X is"), "what address-x is");
  expect_equal(in_own_words("nothing of FI_PROVIDER"), "nothing of FI_PROVIDER");
  expect_equal(in_own_words(""), "");
}

static const CMUnitTest cases[] = {cmocka_unit_test(own_words__settings_become_options)};
static const unit::Group group{"own_words", cases};
