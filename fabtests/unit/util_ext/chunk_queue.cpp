// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/chunk_queue.h"

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "unit/property.h"
#include "unit/unit.h"

namespace {

using Queue = util_ext::ChunkQueue<int, 4>;

void push__fills_chunk_after_chunk(void **) {
  Queue q(1);
  assert_null(q.front());
  for (int i = 0; i < 10; ++i)
    *q.push() = i;
  for (int i = 0; i < 10; ++i) {
    assert_int_equal(*q.front(), i);
    q.pop(1);
  }
  assert_null(q.front());
}

void pop__of_the_last_starts_over_at_the_same_slot(void **) {
  Queue q(1);
  int *first = q.push();
  q.push();
  q.pop(2);
  assert_ptr_equal(q.push(), first);
}

void front__says_how_many_lie_in_one_piece(void **) {
  Queue q(1);
  std::size_t left = 9;
  assert_null(q.front(left));
  assert_int_equal(left, 0);
  for (int i = 0; i < 6; ++i)
    *q.push() = i;
  assert_non_null(q.front(left));
  assert_int_equal(left, 4);
  q.pop(4);
  assert_int_equal(*q.front(left), 4);
  assert_int_equal(left, 2);
}

void queue__agrees_with_a_deque(void **) {
  // Positive: push so many; negative: pop so many.
  assert_true(rc::check("push and pop", [](const std::vector<signed char> &steps) {
    Queue q(2);
    std::deque<int> expected;
    int next = 0;
    for (const auto s : steps) {
      for (int i = 0; i < s; ++i) {
        *q.push() = next;
        expected.push_back(next++);
      }
      for (int n = std::min<int>(-s, static_cast<int>(expected.size())); n > 0;) {
        std::size_t left;
        const int *front = q.front(left);
        const auto piece = std::min<std::size_t>(left, static_cast<std::size_t>(n));
        RC_ASSERT(piece > 0);
        for (std::size_t i = 0; i < piece; ++i) {
          RC_ASSERT(front[i] == expected.front());
          expected.pop_front();
        }
        q.pop(piece);
        n -= static_cast<int>(piece);
      }
      RC_ASSERT((q.front() == nullptr) == expected.empty());
    }
  }));
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(push__fills_chunk_after_chunk),
    cmocka_unit_test(pop__of_the_last_starts_over_at_the_same_slot),
    cmocka_unit_test(front__says_how_many_lie_in_one_piece),
    cmocka_unit_test(queue__agrees_with_a_deque),
};
static const unit::Group group{"chunk_queue", cases};
