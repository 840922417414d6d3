// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/op/ops.h"
#include "unit/property.h"

#include <algorithm>

#include "lab.h"

using namespace lab;

namespace {

Memory memory_of(const Call &c) {
  Memory m;
  m.set(c.iov.data(), c.iov.size(), c.memory.size());
  return m;
}

void memory__of_nothing(void **) {
  Memory m;
  m.set(nullptr, 0, 0);
  std::byte b{1};
  iovec pieces[1];
  assert_int_equal(m.copy_out(0, &b, 1), 0);
  assert_int_equal(m.copy_in(0, &b, 1), 0);
  assert_int_equal(m.slice(0, 1, pieces), 0);
}

// Pieces of any length, empty ones among them; ranges that begin and end
// anywhere, beyond the end too.
void memory__is_one_array(void **) {
  assert_true(unit::holds("pieces are one array", [] {
    const auto lengths = *rc::gen::container<std::vector<std::size_t>>(
        *rc::gen::inRange<std::size_t>(0, max_iov + 1), rc::gen::inRange<std::size_t>(0, 20));
    std::size_t total = 0;
    for (const std::size_t n : lengths)
      total += n;
    const Bytes flat = pattern(total);
    Bytes scattered(total + lengths.size()); // with a gap of one behind each piece
    std::vector<iovec> iov;
    std::size_t at = 0, from = 0;
    for (const std::size_t n : lengths) {
      std::copy_n(flat.begin() + static_cast<std::ptrdiff_t>(from), n,
                  scattered.begin() + static_cast<std::ptrdiff_t>(at));
      iov.push_back({scattered.data() + at, n});
      at += n + 1;
      from += n;
    }
    Memory m;
    m.set(iov.data(), iov.size(), total);
    const auto offset = *rc::gen::inRange<std::size_t>(0, total + 3);
    const auto n = *rc::gen::inRange<std::size_t>(0, total + 3);
    const std::size_t there = offset < total ? std::min(n, total - offset) : 0;

    Bytes out(n);
    RC_ASSERT(m.copy_out(offset, out.data(), n) == there);
    RC_ASSERT(std::equal(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(there),
                         flat.begin() + static_cast<std::ptrdiff_t>(std::min(offset, total))));

    iovec pieces[max_iov];
    const std::size_t count = m.slice(offset, n, pieces);
    Bytes sliced;
    for (std::size_t i = 0; i < count; ++i) {
      RC_ASSERT(pieces[i].iov_len > 0u);
      const auto *b = static_cast<const std::byte *>(pieces[i].iov_base);
      sliced.insert(sliced.end(), b, b + pieces[i].iov_len);
    }
    out.resize(there);
    RC_ASSERT(sliced == out);

    const Bytes fresh = pattern(n, 9);
    Bytes want = flat;
    std::copy_n(fresh.begin(), there,
                want.begin() + static_cast<std::ptrdiff_t>(std::min(offset, total)));
    RC_ASSERT(m.copy_in(offset, fresh.data(), n) == there);
    Bytes got(total);
    RC_ASSERT(m.copy_out(0, got.data(), total) == total);
    RC_ASSERT(got == want);
    at = 0;
    for (const std::size_t piece : lengths) { // the gaps are as they were
      at += piece;
      RC_ASSERT(scattered[at++] == std::byte{0});
    }
  }));
}

void memory__keeps_its_own_copy_of_the_iov(void **) {
  Call c(pattern(10), 3);
  const Memory m = memory_of(c);
  c.iov.assign(3, {nullptr, 0});
  Bytes out(10);
  assert_int_equal(m.copy_out(0, out.data(), 10), 10);
  assert_true(out == c.memory);
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(memory__of_nothing),
    cmocka_unit_test(memory__is_one_array),
    cmocka_unit_test(memory__keeps_its_own_copy_of_the_iov),
};
static const unit::Group group{"memory", cases};
