// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/mr_table.h"

#include <atomic>
#include <set>
#include <string>
#include <thread>

#include "unit/property.h"
#include "unit/unit.h"

using util_ext::MrTable;
using util_ext::Region;

namespace {

Region region(std::vector<iovec> buffers, std::uint64_t base, std::uint64_t rights) {
  Region r;
  r.buffers = std::move(buffers);
  r.base = base;
  for (const iovec &b : r.buffers)
    r.length += b.iov_len;
  r.access = rights;
  return r;
}

char memory[100];

void access__checks_key_rights_and_bounds(void **) {
  MrTable t;
  Region r = region({{memory, 100}}, 0, FI_REMOTE_READ);
  assert_int_equal(t.insert(r, 7), 0);
  MrTable::Access a;
  assert_int_equal(t.access(8, 0, 1, FI_REMOTE_READ, a), -FI_ENOKEY);
  assert_int_equal(t.access(7, 0, 1, FI_REMOTE_WRITE, a), -FI_EACCES);
  assert_int_equal(t.access(7, 0, 1, FI_REMOTE_READ | FI_REMOTE_WRITE, a), -FI_EACCES);
  assert_int_equal(t.access(7, 0, 100, FI_REMOTE_READ, a), 0);
  assert_int_equal(a.length(), 100);
  assert_int_equal(t.access(7, 100, 0, FI_REMOTE_READ, a), 0);
  assert_int_equal(t.access(7, 1, 100, FI_REMOTE_READ, a), -FI_EACCES);
  assert_int_equal(t.access(7, 101, 0, FI_REMOTE_READ, a), -FI_EACCES);
  assert_int_equal(t.access(7, ~std::uint64_t{0}, 2, FI_REMOTE_READ, a), -FI_EACCES);
  assert_int_equal(t.access(7, 5, ~std::size_t{0}, FI_REMOTE_READ, a), -FI_EACCES);
  a.end();
  t.remove(r);
  assert_int_equal(t.access(7, 0, 1, FI_REMOTE_READ, a), -FI_ENOKEY);
}

void access__by_virtual_address(void **) {
  MrTable t;
  const auto base = reinterpret_cast<std::uintptr_t>(memory);
  Region r = region({{memory, 100}}, base, FI_REMOTE_WRITE);
  t.insert(r, 1);
  MrTable::Access a;
  assert_int_equal(t.access(1, base - 1, 1, FI_REMOTE_WRITE, a), -FI_EACCES);
  assert_int_equal(t.access(1, 0, 1, FI_REMOTE_WRITE, a), -FI_EACCES);
  assert_int_equal(t.access(1, base + 10, 90, FI_REMOTE_WRITE, a), 0);
  iovec piece;
  assert_int_equal(a.pieces(&piece, 1), 1);
  assert_ptr_equal(piece.iov_base, memory + 10);
  assert_int_equal(piece.iov_len, 90);
  a.end();
  t.remove(r);
}

void insert__keeps_keys_apart(void **) {
  MrTable t;
  Region a = region({{memory, 1}}, 0, 0), b = a;
  assert_int_equal(t.insert(a, 5), 0);
  assert_int_equal(t.insert(b, 5), -FI_ENOKEY);
  t.remove(a);
  assert_int_equal(t.insert(b, 5), 0);
  t.remove(b);
}

void insert_random__gives_other_keys_of_that_size(void **) {
  MrTable t;
  std::set<std::uint64_t> keys;
  std::uint64_t all = 0;
  for (int i = 0; i < 64; ++i) {
    Region r = region({{memory, 1}}, 0, 0);
    assert_int_equal(t.insert_random(r, 8), 0);
    keys.insert(r.key);
    all |= r.key;
    t.remove(r);
  }
  assert_int_equal(keys.size(), 64);
  assert_true(all >> 32); // 64 keys without a high bit: not random
  Region r = region({{memory, 1}}, 0, 0);
  assert_int_equal(t.insert_random(r, 4), 0);
  assert_true(r.key <= 0xffffffff);
  t.remove(r);
}

// Pieces of a region of several buffers are those of one, cut up.
void pieces__agree_with_one_buffer(void **) {
  assert_true(rc::check("offset and length", [](std::vector<unsigned char> sizes) {
    std::vector<std::string> parts;
    std::string whole;
    std::vector<iovec> buffers;
    for (const unsigned char s : sizes) {
      parts.emplace_back(s % 9, static_cast<char>('a' + parts.size() % 26));
      whole += parts.back();
    }
    for (std::string &p : parts)
      buffers.push_back({p.data(), p.size()});
    MrTable t;
    Region r = region(buffers, 0, FI_REMOTE_READ);
    RC_ASSERT(t.insert(r, 1) == 0);
    const auto offset = *rc::gen::inRange<std::size_t>(0, whole.size() + 1);
    const auto length = *rc::gen::inRange<std::size_t>(0, whole.size() - offset + 1);
    MrTable::Access a;
    RC_ASSERT(t.access(1, offset, length, FI_REMOTE_READ, a) == 0);
    std::vector<iovec> out(buffers.size());
    const std::size_t n = a.pieces(out.data(), out.size());
    RC_ASSERT(n <= out.size());
    std::string got;
    for (std::size_t i = 0; i < n; ++i)
      got.append(static_cast<char *>(out[i].iov_base), out[i].iov_len);
    RC_ASSERT(got == whole.substr(offset, length));
    RC_ASSERT(a.pieces(nullptr, 0) == n);
    a.end();
    t.remove(r);
  }));
}

void remove__waits_for_the_accesses_that_go_on(void **) {
  MrTable t;
  std::atomic<int> faults{0};
  for (int round = 0; round < 200; ++round) {
    Region r = region({{memory, 100}}, 0, FI_REMOTE_WRITE);
    t.insert(r, 3);
    std::atomic<bool> started{false};
    bool closed = false; // written and read under no lock: remove() is what orders it
    std::thread peer([&] {
      MrTable::Access a;
      while (t.access(3, 0, 100, FI_REMOTE_WRITE, a) == 0) {
        MrTable::Access moved = std::move(a);
        started = true;
        if (closed)
          ++faults;
      }
    });
    while (!started)
      std::this_thread::yield();
    t.remove(r);
    closed = true;
    peer.join();
  }
  assert_int_equal(faults.load(), 0);
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(access__checks_key_rights_and_bounds),
    cmocka_unit_test(access__by_virtual_address),
    cmocka_unit_test(insert__keeps_keys_apart),
    cmocka_unit_test(insert_random__gives_other_keys_of_that_size),
    cmocka_unit_test(pieces__agree_with_one_buffer),
    cmocka_unit_test(remove__waits_for_the_accesses_that_go_on),
};
static const unit::Group group{"mr_table", cases};
