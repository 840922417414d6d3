// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What endpoints may do to peers' memory, and have done to their own, by the capabilities that they
// were opened with: fi_getinfo(3).
#include "common/case.h"
#include "common/exposed.h"

#include <cstring>
#include <rdma/fi_atomic.h>

namespace fabtest {

namespace {

constexpr std::uint64_t all = FI_MSG | FI_RMA | FI_ATOMIC;

void expect(endpoint &e, op &o, bool allowed, std::string_view what) {
  const completion c = e.tx().wait(o, what);
  if (c.err != (allowed ? 0 : FI_EACCES))
    fail(fmt::format("{}: {}; expected {}", what, describe(c), allowed ? "success" : "FI_EACCES"));
}

// What the second rank's endpoint lets the first do, whose own is open to everything.
void by_target(team &t, std::uint64_t allowed) {
  const std::uint64_t own = t.first() ? FI_REMOTE_READ | FI_REMOTE_WRITE : allowed;
  endpoint e({.caps = all | FI_SEND | FI_RECV | FI_READ | FI_WRITE | own}, "FI_RMA, FI_ATOMIC");
  e.meet(t);
  exposed memory(e, 64 * 1024);
  memory.meet(t);
  const bool reads = allowed & FI_REMOTE_READ, writes = allowed & FI_REMOTE_WRITE;
  if (t.first()) {
    for (const std::size_t size : {std::size_t{8}, std::size_t{60'000}}) {
      std::vector<std::byte> bytes = payload(size, 1);
      op w, r;
      POST(e, fi_write(e.ep(), bytes.data(), size, nullptr, e.at(1), memory.addr(1), memory.key(1),
                       &w));
      expect(e, w, writes, "write");
      POST(e, fi_read(e.ep(), bytes.data(), size, nullptr, e.at(1), memory.addr(1), memory.key(1),
                      &r));
      expect(e, r, reads, "read");
    }
    std::uint64_t operand = 1, former = 0;
    op plain, fetch, get;
    POST(e, fi_atomic(e.ep(), &operand, 1, nullptr, e.at(1), memory.addr(1), memory.key(1),
                      FI_UINT64, FI_SUM, &plain));
    expect(e, plain, writes, "atomic");
    POST(e, fi_fetch_atomic(e.ep(), &operand, 1, nullptr, &former, nullptr, e.at(1), memory.addr(1),
                            memory.key(1), FI_UINT64, FI_SUM, &fetch));
    expect(e, fetch, reads && writes, "fetching atomic");
    POST(e, fi_fetch_atomic(e.ep(), nullptr, 1, nullptr, &former, nullptr, e.at(1), memory.addr(1),
                            memory.key(1), FI_UINT64, FI_ATOMIC_READ, &get));
    expect(e, get, reads, "atomic read");
  }
  t.barrier();
  if (!t.first() && !writes) {
    for (const std::byte b : memory.span())
      CHECK(b == std::byte{0});
  }
}

CASE(target_without_write) { by_target(t, FI_REMOTE_READ); }
CASE(target_without_read) { by_target(t, FI_REMOTE_WRITE); }

// Who may only read, and who may only write.
CASE(initiator_without_a_right, .ranks = 1) {
  for (const std::uint64_t right : {FI_READ, FI_WRITE}) {
    endpoint e({.caps = all | FI_SEND | FI_RECV | right | FI_REMOTE_READ | FI_REMOTE_WRITE},
               "FI_RMA, FI_ATOMIC");
    e.meet(t);
    exposed memory(e, 64);
    memory.meet(t);
    std::uint64_t word = 5, former = 0;
    op w, r, a, f;
    const auto post = [&](std::uint64_t needed, op &o, const std::function<ssize_t()> &call) {
      if (needed == right) {
        e.post("call", call);
        CHECK_EQ(e.tx().wait(o, "call").err, 0);
      } else {
        CHECK_CODE(-FI_EOPNOTSUPP, call());
      }
    };
    post(FI_WRITE, w, [&] {
      return fi_write(e.ep(), &word, 8, nullptr, e.at(0), memory.addr(0), memory.key(0), &w);
    });
    post(FI_READ, r, [&] {
      return fi_read(e.ep(), &word, 8, nullptr, e.at(0), memory.addr(0), memory.key(0), &r);
    });
    post(FI_WRITE, a, [&] {
      return fi_atomic(e.ep(), &word, 1, nullptr, e.at(0), memory.addr(0), memory.key(0), FI_UINT64,
                       FI_SUM, &a);
    });
    post(FI_READ, f, [&] {
      return fi_fetch_atomic(e.ep(), &word, 1, nullptr, &former, nullptr, e.at(0), memory.addr(0),
                             memory.key(0), FI_UINT64, FI_SUM, &f);
    });
  }
}

// Keys that the provider chooses have nothing to do with each other, and come from the kernel.
CASE(keys_of_the_provider, .ranks = 1) {
  constexpr int mr_basic = 1 << 0; // by value, as newer headers call the name deprecated
  endpoint e({.caps = all, .mr_mode = mr_basic}, "FI_MR_BASIC");
  std::uint64_t ones = 0, zeros = 0;
  for (int i = 0; i < 64; ++i) {
    exposed memory(e, 64);
    memory.meet(t);
    ones |= memory.key(0);
    zeros |= ~memory.key(0);
  }
  CHECK_EQ(ones, ~std::uint64_t{0}); // of each bit both, but for one run in 10^17
  CHECK_EQ(zeros, ~std::uint64_t{0});
}

} // namespace

} // namespace fabtest
