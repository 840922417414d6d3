// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/address_table.h"

#include <arpa/inet.h>
#include <atomic>
#include <csignal>
#include <malloc.h>
#include <map>
#include <set>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

#include "unit/property.h"
#include "unit/unit.h"

using util_ext::AddressTable;
using util_ext::SockAddr;

namespace {

SockAddr address(std::uint32_t n) {
  SockAddr a{};
  a.in.sin_family = AF_INET;
  a.in.sin_addr.s_addr = htonl(0x0a000000 + n / 16);
  a.in.sin_port = htons(static_cast<std::uint16_t>(1000 + n % 16));
  return a;
}

void insert__gives_the_lowest_free_index(void **) {
  AddressTable t;
  bool is_new;
  for (std::uint32_t i = 0; i < 5; ++i)
    assert_int_equal(t.insert(address(i), is_new), i);
  assert_true(t.remove(3));
  assert_true(t.remove(1));
  assert_int_equal(t.insert(address(10), is_new), 1);
  assert_int_equal(t.insert(address(11), is_new), 3);
  assert_int_equal(t.insert(address(12), is_new), 5);
  assert_int_equal(t.high_water(), 6);
}

void insert__of_the_same_counts(void **) {
  AddressTable t;
  bool is_new;
  assert_int_equal(t.insert(address(7), is_new), 0);
  assert_true(is_new);
  assert_int_equal(t.insert(address(7), is_new), 0);
  assert_false(is_new);
  assert_false(t.remove(0));
  assert_non_null(t.lookup(0));
  assert_int_equal(t.reverse(address(7)), 0);
  assert_true(t.remove(0));
  assert_null(t.lookup(0));
  assert_int_equal(t.reverse(address(7)), AddressTable::none);
}

void lookup__of_what_never_was(void **) {
  AddressTable t;
  assert_null(t.lookup(0));
  assert_null(t.lookup(~std::uint64_t{0}));
  bool is_new;
  t.insert(address(1), is_new);
  assert_null(t.lookup(1));
  assert_null(t.lookup(std::uint64_t{1} << 32));
}

// Positive: insert that address; negative: remove it once.
void table__agrees_with_a_map(void **) {
  assert_true(rc::check("insert, remove", [](const std::vector<std::int16_t> &steps) {
    AddressTable t;
    std::map<std::uint32_t, std::pair<std::uint32_t, int>> index_of; // index, references
    std::set<std::uint32_t> used;
    for (int repeat = 0; repeat < 4; ++repeat)
      for (const std::int16_t s : steps) {
        const std::uint32_t n = static_cast<std::uint32_t>(std::abs(int{s}) + repeat * 100) % 400;
        const auto found = index_of.find(n);
        if (s >= 0) {
          bool is_new;
          const auto index = t.insert(address(n), is_new);
          RC_ASSERT(is_new == (found == index_of.end()));
          if (is_new) {
            std::uint32_t lowest = 0;
            while (used.count(lowest))
              ++lowest;
            RC_ASSERT(index == lowest);
            used.insert(index);
            index_of[n] = {index, 1};
          } else {
            RC_ASSERT(index == found->second.first);
            ++found->second.second;
          }
        } else if (found != index_of.end()) {
          const auto index = found->second.first;
          RC_ASSERT(t.remove(index) == (--found->second.second == 0));
          if (found->second.second == 0) {
            index_of.erase(found);
            used.erase(index);
          }
        }
      }
    for (std::uint32_t n = 0; n < 400; ++n) {
      const auto found = index_of.find(n);
      RC_ASSERT(t.reverse(address(n)) ==
                (found == index_of.end() ? AddressTable::none : found->second.first));
      if (found != index_of.end())
        RC_ASSERT(same_address(*t.lookup(found->second.first), address(n)));
    }
  }));
}

std::size_t allocated() {
  const struct mallinfo2 m = mallinfo2();
  return m.uordblks + m.hblkhd;
}

void table__takes_at_most_64_bytes_an_address(void **) {
  constexpr std::uint32_t count = 1'000'000;
  const std::size_t before = allocated();
  if (before == 0)
    skip(); // another allocator, which doesn't tell
  AddressTable t;
  bool is_new;
  for (std::uint32_t i = 0; i < count; ++i)
    t.insert(address(i), is_new);
  const std::size_t full = allocated() - before;
  for (std::uint32_t i = 0; i < count; i += 997)
    assert_int_equal(t.reverse(address(i)), i);
  // Inserting and removing for ever takes no more, the list of free indices apart.
  for (std::uint32_t i = 0; i < 3 * count; ++i) {
    t.remove(i % count);
    t.insert(address(count + i), is_new);
  }
  const std::size_t churned = allocated() - before;
  print_message("%.1f bytes an address, %.1f after churn\n", double(full) / count,
                double(churned) / count);
  assert_true(full <= 64 * std::size_t{count});
  assert_true(churned <= 64 * std::size_t{count});
}

// Readers run against inserts, removals and reuse of indices: what stays in is
// always found, and an index that is found had that address.
void reverse__runs_beside_changes(void **) {
  AddressTable t;
  constexpr std::uint32_t kept = 64, others = 3000;
  bool is_new;
  for (std::uint32_t i = 0; i < kept; ++i)
    t.insert(address(i), is_new);
  std::atomic<bool> done{false};
  std::atomic<int> faults{0};
  std::vector<std::thread> readers;
  for (int r = 0; r < 2; ++r)
    readers.emplace_back([&] {
      for (std::uint32_t n = 0; !done.load(); ++n) {
        if (t.reverse(address(n % kept)) != n % kept)
          ++faults;
        const auto i = t.reverse(address(kept + n % others));
        if (i != AddressTable::none && i < kept)
          ++faults;
        if (t.reverse(address(1'000'000 + n)) != AddressTable::none)
          ++faults;
        if (!t.lookup(n % kept))
          ++faults;
      }
    });
  for (int repeat = 0; repeat < 10; ++repeat) {
    std::vector<std::uint32_t> indices;
    for (std::uint32_t n = 0; n < others; ++n)
      indices.push_back(t.insert(address(kept + n), is_new));
    for (const std::uint32_t i : indices)
      t.remove(i);
  }
  done = true;
  for (auto &r : readers)
    r.join();
  assert_int_equal(faults.load(), 0);
}

// A page that stops whoever reads it first, until it is opened again.
class Barrier {
public:
  explicit Barrier(const void *inside) {
    const auto size = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    page_ = reinterpret_cast<std::uintptr_t>(inside) & ~(size - 1);
    size_ = size;
    reached_ = opened_ = 0;
    struct sigaction stop {};
    stop.sa_flags = SA_SIGINFO;
    stop.sa_sigaction = [](int, siginfo_t *info, void *) {
      const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
      if (at - page_ >= size_) {
        std::signal(SIGSEGV, SIG_DFL); // a fault in earnest
        return;
      }
      reached_ = 1;
      reached_.notify_one();
      opened_.wait(0);
    };
    sigaction(SIGSEGV, &stop, &before_);
    protect(PROT_NONE);
  }
  ~Barrier() { sigaction(SIGSEGV, &before_, nullptr); }

  static void wait() { reached_.wait(0); }
  // Its memory may be used, but whoever has stopped there stays.
  static void unlock() { protect(PROT_READ | PROT_WRITE); }
  static void open() {
    opened_ = 1;
    opened_.notify_one();
  }

private:
  static void protect(int how) {
    assert_int_equal(mprotect(reinterpret_cast<void *>(page_), size_, how), 0);
  }
  static inline std::uintptr_t page_, size_;
  static inline std::atomic<int> reached_, opened_;
  struct sigaction before_ {};
};

// A reader stops in front of an address that it has to pass, and meanwhile the
// table that it is in is given up, rewritten, and current again, with what it
// looks for in a place that it has passed.
void reverse__looks_again_after_a_rewrite(void **) {
  AddressTable t;
  constexpr std::size_t capacity = 4096;
  t.reserve(capacity / 2);
  std::vector<std::vector<std::uint32_t>> of_place(capacity);
  for (std::uint32_t n = 1; n < 100'000; ++n)
    of_place[util_ext::hash_address(address(n)) % capacity].push_back(n);
  const SockAddr wanted = address(0);
  const std::size_t home = util_ext::hash_address(wanted) % capacity;
  const auto insert = [&](std::size_t place) { // an address of that place, counted from `home`
    auto &left = of_place[(home + place) % capacity];
    assert_false(left.empty());
    const SockAddr a = address(left.back());
    left.pop_back();
    bool is_new;
    return t.insert(a, is_new);
  };
  for (std::uint32_t i = 0; i < 704; ++i) // the next entry lies in a page with its like only
    insert(8 + 4 * i + 3);
  const auto first = insert(0);
  bool is_new;
  const auto index = t.insert(wanted, is_new);
  for (std::uint32_t i = 0; i < 128; ++i)
    insert(8 + 4 * (704 + i) + 3);
  // Two slots of four become neither free nor used, as a used one follows them:
  // the table is rewritten for their sake.
  const auto churn = [&] {
    std::vector<AddressTable::Index> last;
    for (std::uint32_t i = 0; i < 832; ++i) {
      const auto one = insert(8 + 4 * i), two = insert(8 + 4 * i);
      last.push_back(insert(8 + 4 * i));
      t.remove(one);
      t.remove(two);
    }
    for (const auto i : last)
      t.remove(i);
  };

  AddressTable::Index found = AddressTable::none;
  {
    const Barrier barrier(t.lookup(first));
    std::thread reader([&] { found = t.reverse(wanted); });
    Barrier::wait();
    Barrier::unlock();
    t.remove(first);
    for (int i = 0; i < 2; ++i) // the other table, then this one again
      churn();
    Barrier::open();
    reader.join();
  }
  assert_int_equal(found, index);
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(insert__gives_the_lowest_free_index),
    cmocka_unit_test(insert__of_the_same_counts),
    cmocka_unit_test(lookup__of_what_never_was),
    cmocka_unit_test(table__agrees_with_a_map),
    cmocka_unit_test(table__takes_at_most_64_bytes_an_address),
    cmocka_unit_test(reverse__runs_beside_changes),
    cmocka_unit_test(reverse__looks_again_after_a_rewrite),
};
static const unit::Group group{"address_table", cases};
