// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/cntr_table.h"

#include "fake.h"
#include "util_ext/cntr.h"

#include <atomic>
#include <set>
#include <thread>

#include "unit/unit.h"

using util_ext::Cntr;
using util_ext::CntrTable;

namespace {

constexpr std::uint64_t all_rights = FI_REMOTE_READ | FI_REMOTE_WRITE;

class Counter {
public:
  explicit Counter(fake::Domain &domain) {
    fi_cntr_attr attr{};
    assert_int_equal(Cntr::open(domain, &attr, &cntr, this), 0);
  }
  ~Counter() { close(); }
  Counter(const Counter &) = delete;
  void close() {
    if (cntr)
      assert_int_equal(fi_close(&cntr->fid), 0);
    cntr = nullptr;
  }
  Cntr &impl() { return *Cntr::from(&cntr->fid); }

  fid_cntr *cntr = nullptr;
};

void add__needs_the_key_and_the_right(void **) {
  for (const fi_threading threading : {FI_THREAD_SAFE, FI_THREAD_DOMAIN}) {
    fake::Domain domain(threading);
    CntrTable &t = domain.exported;
    Counter c(domain), closed(domain);
    assert_int_equal(t.add(1, 5), -FI_ENOKEY);
    assert_int_equal(t.insert(c.impl(), 1, FI_REMOTE_WRITE), 0);
    assert_int_equal(t.insert(closed.impl(), 2, FI_REMOTE_READ), 0);
    assert_int_equal(t.add(1, 5), 0);
    assert_int_equal(t.add(1, ~std::uint64_t{0} - 6), 0); // takes 7 away
    assert_true(c.impl().value() == ~std::uint64_t{0} - 1);
    assert_int_equal(c.impl().errors(), 0);
    assert_int_equal(t.add(2, 5), -FI_EACCES);
    assert_int_equal(closed.impl().value(), 0);
    assert_int_equal(t.add(3, 5), -FI_ENOKEY);
    assert_int_equal(t.remove(c.impl(), 1), 0);
    assert_int_equal(t.add(1, 5), -FI_ENOKEY);
  }
}

void insert__keeps_keys_apart_and_gives_a_counter_several(void **) {
  fake::Domain domain;
  CntrTable &t = domain.exported;
  Counter a(domain), b(domain);
  assert_int_equal(t.insert(a.impl(), 1, all_rights), 0);
  assert_int_equal(t.insert(b.impl(), 1, all_rights), -FI_ENOKEY);
  assert_int_equal(t.insert(a.impl(), 1, all_rights), -FI_ENOKEY);
  assert_int_equal(t.insert(a.impl(), 2, all_rights), 0);
  assert_int_equal(t.size(), 2);
  t.add(1, 1), t.add(2, 1);
  assert_int_equal(a.impl().value(), 2);
  assert_int_equal(b.impl().value(), 0);
}

void insert_random__gives_other_keys(void **) {
  fake::Domain domain;
  CntrTable &t = domain.exported;
  Counter c(domain);
  std::set<std::uint64_t> keys;
  std::uint64_t all = 0;
  for (int i = 0; i < 64; ++i) {
    std::uint64_t key = 0;
    assert_int_equal(t.insert_random(c.impl(), all_rights, key), 0);
    assert_int_equal(t.add(key, 1), 0);
    keys.insert(key);
    all |= key;
  }
  assert_int_equal(keys.size(), 64);
  assert_int_equal(c.impl().value(), 64);
  assert_true(all >> 32); // 64 keys without a high bit: not random
}

void remove__is_of_one_key_of_that_counter(void **) {
  fake::Domain domain;
  CntrTable &t = domain.exported;
  Counter a(domain), b(domain);
  t.insert(a.impl(), 1, all_rights), t.insert(a.impl(), 2, all_rights);
  t.insert(b.impl(), 3, all_rights);
  assert_int_equal(t.remove(a.impl(), 3), -FI_ENOKEY);
  assert_int_equal(t.remove(a.impl(), 4), -FI_ENOKEY);
  assert_int_equal(t.remove(a.impl(), 1), 0);
  assert_int_equal(t.remove(a.impl(), 1), -FI_ENOKEY);
  assert_int_equal(t.add(1, 1), -FI_ENOKEY);
  assert_int_equal(t.add(2, 1), 0);
  assert_int_equal(t.insert(b.impl(), 1, all_rights), 0); // the key is free again
  assert_int_equal(t.add(1, 1), 0);
  assert_int_equal(b.impl().value(), 1);
}

void close__of_a_counter_revokes_its_keys(void **) {
  fake::Domain domain;
  CntrTable &t = domain.exported;
  Counter a(domain), b(domain);
  for (const std::uint64_t key : {1, 2, 3})
    t.insert(a.impl(), key, all_rights);
  t.insert(b.impl(), 4, all_rights);
  assert_int_equal(domain.open_cntrs.load(), 2);
  a.close(); // not busy
  assert_int_equal(domain.open_cntrs.load(), 1);
  assert_int_equal(t.size(), 1);
  for (const std::uint64_t key : {1, 2, 3})
    assert_int_equal(t.add(key, 1), -FI_ENOKEY);
  assert_int_equal(t.add(4, 1), 0);
}

// Adds by key 3 for as long as it is allowed to.
class Peer {
public:
  explicit Peer(CntrTable &t)
      : thread_([&t, this] {
          while (t.add(3, 1) == 0)
            started_ = true;
        }) {
    while (!started_)
      std::this_thread::yield();
  }
  void join() { thread_.join(); }

private:
  std::atomic<bool> started_{false};
  std::thread thread_;
};

void remove__waits_for_the_additions_that_go_on(void **) {
  for (int round = 0; round < 200; ++round) {
    fake::Domain domain;
    Counter c(domain);
    domain.exported.insert(c.impl(), 3, all_rights);
    Peer peer(domain.exported);
    domain.exported.remove(c.impl(), 3);
    const std::uint64_t then = c.impl().value();
    peer.join();
    assert_int_equal(c.impl().value(), then);
  }
}

// What takes the memory over stays as it is.
void close__waits_for_the_additions_that_go_on(void **) {
  for (int round = 0; round < 200; ++round) {
    fake::Domain domain;
    Counter c(domain);
    domain.exported.insert(c.impl(), 3, all_rights);
    Peer peer(domain.exported);
    c.close();
    Counter next(domain);
    peer.join();
    assert_int_equal(next.impl().value(), 0);
  }
}

// Two threads that end the same: one of them has.
void remove__by_two_threads_is_of_one(void **) {
  for (int round = 0; round < 200; ++round) {
    fake::Domain domain;
    Counter c(domain);
    domain.exported.insert(c.impl(), 3, all_rights);
    std::atomic<int> done{0};
    const auto end = [&] { done += domain.exported.remove(c.impl(), 3) == 0; };
    std::thread first(end), second(end);
    first.join();
    second.join();
    assert_int_equal(done.load(), 1);
  }
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(add__needs_the_key_and_the_right),
    cmocka_unit_test(insert__keeps_keys_apart_and_gives_a_counter_several),
    cmocka_unit_test(insert_random__gives_other_keys),
    cmocka_unit_test(remove__is_of_one_key_of_that_counter),
    cmocka_unit_test(close__of_a_counter_revokes_its_keys),
    cmocka_unit_test(remove__waits_for_the_additions_that_go_on),
    cmocka_unit_test(close__waits_for_the_additions_that_go_on),
    cmocka_unit_test(remove__by_two_threads_is_of_one),
};
static const unit::Group group{"cntr_table", cases};
