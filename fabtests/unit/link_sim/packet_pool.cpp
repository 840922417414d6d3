// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/sim/packet_pool.h"
#include "unit/unit.h"

using namespace dpdkx::link::sim;

static void get__reuses_what_was_put_of_the_same_size(void **) {
  PacketPool pool;
  Packet *small = pool.get(100), *large = pool.get(2000);
  assert_int_equal(small->capacity, 100);
  pool.put(small);
  pool.put(large);
  assert_ptr_equal(pool.get(2000), large);
  assert_ptr_equal(pool.get(100), small);
  assert_ptr_not_equal(pool.get(100), small);
}

static void put__overwrites_the_bytes(void **) {
  PacketPool pool;
  Packet *p = pool.get(10);
  p->len = 10;
  p->data[9] = std::byte{1};
  pool.put(p);
  assert_int_equal(static_cast<int>(p->data[9]), 0xdb);
}

static void get__does_not_align(void **) {
  PacketPool pool;
  assert_int_equal(reinterpret_cast<std::uintptr_t>(pool.get(1472)->data) % 4, 2);
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(get__reuses_what_was_put_of_the_same_size),
    cmocka_unit_test(put__overwrites_the_bytes),
    cmocka_unit_test(get__does_not_align),
};
static const unit::Group group{"packet_pool", cases};
