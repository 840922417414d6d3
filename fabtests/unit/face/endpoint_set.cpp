// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/endpoint_set.h"

#include <array>
#include <thread>

#include "unit/unit.h"

using namespace dpdkx;

namespace {

// Stands in for an endpoint: nothing here looks into one.
engine::Endpoint &as_endpoint(std::atomic<std::int64_t> &a) {
  return reinterpret_cast<engine::Endpoint &>(a);
}
std::atomic<std::int64_t> &as_number(engine::Endpoint &e) {
  return reinterpret_cast<std::atomic<std::int64_t> &>(e);
}

} // namespace

static void endpoint_set__walks_what_was_added(void **) {
  EndpointSet set;
  std::atomic<std::int64_t> a{1}, b{2};
  std::int64_t sum = 0;
  const auto add_up = [&](engine::Endpoint &e) { sum += as_number(e); };
  set.add(as_endpoint(a));
  set.add(as_endpoint(b));
  set.for_each(false, add_up);
  set.for_each(true, add_up);
  assert_int_equal(sum, 6);
  set.remove(as_endpoint(a));
  set.for_each(true, add_up);
  assert_int_equal(sum, 8);
}

// Readers count those they see as alive; what has been removed must not be seen.
static void endpoint_set__no_walk_sees_what_was_removed(void **) {
  EndpointSet set;
  std::array<std::atomic<std::int64_t>, 4> alive{};
  std::atomic<bool> stop{false};
  std::atomic<int> seen_dead{0};
  std::array<std::thread, 3> readers;
  for (std::thread &reader : readers)
    reader = std::thread([&] {
      while (!stop)
        set.for_each(true, [&](engine::Endpoint &e) {
          if (as_number(e) == 0)
            ++seen_dead;
        });
    });
  for (int round = 0; round < 2000; ++round) {
    std::atomic<std::int64_t> &one = alive[static_cast<std::size_t>(round) % alive.size()];
    one = 1;
    set.add(as_endpoint(one));
    set.remove(as_endpoint(one));
    one = 0;
  }
  stop = true;
  for (std::thread &reader : readers)
    reader.join();
  assert_int_equal(seen_dead.load(), 0);
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(endpoint_set__walks_what_was_added),
    cmocka_unit_test(endpoint_set__no_walk_sees_what_was_removed),
};
static const unit::Group group{"endpoint_set", cases};
