// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/session/receive_window.h"

#include <bitset>
#include <vector>

#include "unit/property.h"
#include "unit/unit.h"

using namespace dpdkx;
using namespace dpdkx::session;

namespace {

constexpr std::uint32_t size = ReceiveWindow::size;

// The window as a bitset: bit i stands for packet next + i.
struct Model {
  PacketNumber next;
  std::bitset<size> held;

  bool insert(PacketNumber pn) {
    const auto i = static_cast<std::size_t>(pn - next);
    const bool fresh = !held[i];
    held[i] = true;
    return fresh;
  }
  void advance() {
    held[0] = true;
    while (held[0]) {
      held >>= 1;
      ++next;
    }
  }
  wire::AckBlock block() const {
    wire::AckBlock a{};
    for (std::uint32_t i = 1; i < size; ++i)
      if (held[i]) {
        a.sack_words = static_cast<std::uint8_t>((i - 1) / 64 + 1);
        a.sack[(i - 1) / 64] |= std::uint64_t{1} << (i - 1) % 64;
      }
    return a;
  }
};

void same(const ReceiveWindow &w, const Model &m) {
  wire::AckBlock got{};
  w.fill(m.next, got);
  const wire::AckBlock want = m.block();
  RC_ASSERT(got.sack_words == want.sack_words);
  RC_ASSERT(std::equal(got.sack, got.sack + got.sack_words, want.sack));
  RC_ASSERT(w.empty() == m.held.none());
}

void window__is_a_bitset(void **) {
  assert_true(unit::holds("window is a bitset", [] {
    // Starts around the wrap, and around every edge of a word and of the ring.
    const auto start = static_cast<std::uint32_t>(*rc::gen::inRange(-2200, 2200));
    ReceiveWindow w;
    Model m{{start}, {}};
    const auto reach = *rc::gen::element<std::uint32_t>(2, 63, 64, 65, 128, 500, size - 1, size);
    for (int i = 0; i < 300; ++i) {
      const auto ahead = *rc::gen::inRange<std::uint32_t>(0, reach);
      if (ahead == 0) {
        const PacketNumber before = m.next;
        m.advance();
        RC_ASSERT(w.advance(before) == m.next);
        continue;
      }
      RC_ASSERT(w.insert(m.next, m.next + ahead) == m.insert(m.next + ahead));
      if (i % 8 == 0)
        same(w, m);
    }
    same(w, m);
  }));
}

// Every single packet of a full window, and the full window itself, at each alignment.
void window__holds_each_bit(void **) {
  for (std::uint32_t start = 0; start < 70; ++start)
    for (std::uint32_t ahead = 1; ahead < size; ++ahead) {
      ReceiveWindow w;
      const PacketNumber next{start - 35};
      assert_true(w.insert(next, next + ahead));
      assert_false(w.insert(next, next + ahead));
      wire::AckBlock a{};
      w.fill(next, a);
      assert_int_equal(a.sack_words, (ahead + 63) / 64);
      for (unsigned i = 0; i < a.sack_words; ++i)
        assert_true(a.sack[i] ==
                    (i == (ahead - 1) / 64 ? std::uint64_t{1} << (ahead - 1) % 64 : 0));
      assert_true(w.advance(next) == next + (ahead == 1 ? 2 : 1));
    }
}

void window__empties_at_one_stroke(void **) {
  for (std::uint32_t start = 0; start < 130; ++start) {
    ReceiveWindow w;
    const PacketNumber next{start - 65};
    for (std::uint32_t ahead = 1; ahead < size; ++ahead)
      w.insert(next, next + ahead);
    wire::AckBlock a{};
    w.fill(next, a);
    assert_int_equal(a.sack_words, wire::AckBlock::max_sack_words);
    for (unsigned i = 0; i < 15; ++i)
      assert_true(a.sack[i] == ~std::uint64_t{0});
    assert_true(a.sack[15] == ~std::uint64_t{0} >> 1); // the last bit would be packet `next` again
    assert_true(w.advance(next) == next + size);
    assert_true(w.empty());
    w.fill(next + size, a);
    assert_int_equal(a.sack_words, 0);
  }
}

const CMUnitTest cases[] = {
    cmocka_unit_test(window__is_a_bitset),
    cmocka_unit_test(window__holds_each_bit),
    cmocka_unit_test(window__empties_at_one_stroke),
};
const unit::Group group{"receive_window", cases};

} // namespace
