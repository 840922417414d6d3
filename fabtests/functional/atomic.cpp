// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// fi_atomic(3): every operation on every datatype by every call, and that each is atomic.
#include "atomic_reference.h"
#include "common/case.h"
#include "common/exposed.h"
#include "common/forms.h"
#include "common/settings.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>

#include <rdma/fi_atomic.h>

namespace fabtest {

namespace {

const request with_atomics{.caps = FI_MSG | FI_ATOMIC};

// inject_message: with FI_INJECT, which is about what is only read, of every kind.
enum class form { plain, vector, message, inject, inject_message };

bool is_inject(form f) { return f == form::inject || f == form::inject_message; }

// What a call is about: values of one type, in vectors of bytes.
struct atomic_call {
  atomic_kind kind;
  fi_datatype datatype;
  fi_op op;
  std::size_t size; // of a value
};

std::vector<fi_ioc> values(std::span<const iovec> iov, std::size_t size) {
  std::vector<fi_ioc> all;
  for (const iovec &v : iov)
    all.push_back({v.iov_base, v.iov_len / size});
  return all;
}

iovec whole(std::span<const std::byte> s) { return {const_cast<std::byte *>(s.data()), s.size()}; }

struct buffers {
  std::span<const std::byte> operand, compare;
  std::span<std::byte> result;
};

fi_msg_atomic message(const atomic_call &c, std::span<const fi_ioc> operand,
                      std::span<const fi_rma_ioc> targets, fi_addr_t to, op &o) {
  fi_msg_atomic m{};
  m.msg_iov = operand.data();
  m.iov_count = operand.size();
  m.addr = to;
  m.rma_iov = targets.data();
  m.rma_iov_count = targets.size();
  m.datatype = c.datatype;
  m.op = c.op;
  m.context = &o;
  return m;
}

ssize_t try_message(fid_ep *ep, const atomic_call &c, std::span<const fi_ioc> operand,
                    std::span<const fi_ioc> compare, std::span<fi_ioc> result,
                    std::span<const fi_rma_ioc> targets, fi_addr_t to, std::uint64_t flags, op &o) {
  const fi_msg_atomic m = message(c, operand, targets, to, o);
  switch (c.kind) {
  case atomic_kind::plain:
    return fi_atomicmsg(ep, &m, flags);
  case atomic_kind::fetch:
    return fi_fetch_atomicmsg(ep, &m, result.data(), nullptr, result.size(), flags);
  case atomic_kind::compare:
    return fi_compare_atomicmsg(ep, &m, compare.data(), nullptr, compare.size(), result.data(),
                                nullptr, result.size(), flags);
  }
  return -FI_EINVAL;
}

ssize_t try_atomic(fid_ep *ep, form f, const atomic_call &c, const buffers &b,
                   const fi_rma_iov &target, fi_addr_t to, op &o) {
  const std::size_t n = target.len / c.size;
  const auto [addr, len, key] = target;
  const fi_ioc operand{whole(b.operand).iov_base, n}, compare{whole(b.compare).iov_base, n};
  fi_ioc result{b.result.data(), n};
  const fi_rma_ioc far{addr, n, key};
  if (f == form::message || f == form::inject_message)
    return try_message(ep, c, {&operand, 1}, {&compare, 1}, {&result, 1}, {&far, 1}, to,
                       FI_COMPLETION | (f == form::message ? FI_DELIVERY_COMPLETE : FI_INJECT), o);
  if (f == form::inject)
    return fi_inject_atomic(ep, operand.addr, n, to, addr, key, c.datatype, c.op);
  const bool vector = f == form::vector;
  switch (c.kind) {
  case atomic_kind::plain:
    return vector ? fi_atomicv(ep, &operand, nullptr, 1, to, addr, key, c.datatype, c.op, &o)
                  : fi_atomic(ep, operand.addr, n, nullptr, to, addr, key, c.datatype, c.op, &o);
  case atomic_kind::fetch:
    return vector ? fi_fetch_atomicv(ep, &operand, nullptr, 1, &result, nullptr, 1, to, addr, key,
                                     c.datatype, c.op, &o)
                  : fi_fetch_atomic(ep, operand.addr, n, nullptr, result.addr, nullptr, to, addr,
                                    key, c.datatype, c.op, &o);
  case atomic_kind::compare:
    return vector ? fi_compare_atomicv(ep, &operand, nullptr, 1, &compare, nullptr, 1, &result,
                                       nullptr, 1, to, addr, key, c.datatype, c.op, &o)
                  : fi_compare_atomic(ep, operand.addr, n, nullptr, compare.addr, nullptr,
                                      result.addr, nullptr, to, addr, key, c.datatype, c.op, &o);
  }
  return -FI_EINVAL;
}

void post_atomic(endpoint &e, form f, const atomic_call &c, const buffers &b,
                 const fi_rma_iov &target, int to, op &o, where at = where::current()) {
  e.post(
      "atomic", [&] { return try_atomic(e.ep(), f, c, b, target, e.at(to), o); }, at);
}

completion run_atomic(endpoint &e, form f, const atomic_call &c, const buffers &b,
                      const fi_rma_iov &target, int to, where at = where::current()) {
  op o;
  post_atomic(e, f, c, b, target, to, o, at);
  return e.tx().wait_ok(o, name_of(c.kind, c.op, c.datatype), default_wait(), at);
}

int query(endpoint &e, atomic_kind kind, fi_datatype type, fi_op op, std::size_t &count) {
  switch (kind) {
  case atomic_kind::plain:
    return fi_atomicvalid(e.ep(), type, op, &count);
  case atomic_kind::fetch:
    return fi_fetch_atomicvalid(e.ep(), type, op, &count);
  case atomic_kind::compare:
    return fi_compare_atomicvalid(e.ep(), type, op, &count);
  }
  return -FI_EINVAL;
}

std::uint64_t query_flag(atomic_kind kind) {
  return kind == atomic_kind::plain   ? 0
         : kind == atomic_kind::fetch ? FI_FETCH_ATOMIC
                                      : FI_COMPARE_ATOMIC;
}

// Each that the provider has, and the most values that a call may take.
template <class Body> unsigned for_each_operation(endpoint &e, Body &&body) {
  unsigned seen = 0;
  for (const atomic_kind kind : {atomic_kind::plain, atomic_kind::fetch, atomic_kind::compare})
    for (int o = 0; o < FI_ATOMIC_OP_LAST; ++o)
      for (int d = 0; d <= FI_UINT128; ++d) {
        const auto op = static_cast<fi_op>(o);
        const auto type = static_cast<fi_datatype>(d);
        std::size_t count = 0;
        if (query(e, kind, type, op, count) != 0)
          continue;
        ++seen;
        body(atomic_call{kind, type, op, size_of(type)}, count);
      }
  return seen;
}

void add_one(endpoint &e, form f, const fi_rma_iov &target, int to, op &o) {
  const std::uint64_t one = 1;
  post_atomic(e, f, {atomic_kind::plain, FI_UINT64, FI_SUM, 8},
              {.operand = std::as_bytes(std::span(&one, 1)), .compare = {}, .result = {}}, target,
              to, o);
  if (f != form::inject)
    e.tx().wait_ok(o, "sum");
}

std::uint64_t word_in(std::span<const std::byte> memory) {
  std::uint64_t value = 0;
  std::memcpy(&value, memory.data(), sizeof value);
  return value;
}

} // namespace

CASE(queries, .ranks = 1) {
  endpoint e(with_atomics, "FI_ATOMIC");
  const unsigned seen = for_each_operation(e, [&](const atomic_call &c, std::size_t count) {
    fi_atomic_attr attr{};
    CHECK_OK(fi_query_atomic(e.domain(), c.datatype, c.op, &attr, query_flag(c.kind)));
    CHECK_EQ(attr.count, count);
    CHECK_EQ(attr.size, c.size);
    CHECK(count > 0);
    CHECK(reference_has(c.kind, c.op, c.datatype));
  });
  CHECK(seen > 0);
  // None is of every kind.
  std::size_t n = 0;
  CHECK(query(e, atomic_kind::plain, FI_UINT64, FI_ATOMIC_READ, n) != 0);
  CHECK(query(e, atomic_kind::plain, FI_UINT64, FI_CSWAP, n) != 0);
  CHECK(query(e, atomic_kind::fetch, FI_UINT64, FI_MSWAP, n) != 0);
  CHECK(query(e, atomic_kind::compare, FI_UINT64, FI_SUM, n) != 0);
  fi_atomic_attr attr{};
  CHECK(fi_query_atomic(e.domain(), FI_UINT64, FI_SUM, &attr,
                        FI_FETCH_ATOMIC | FI_COMPARE_ATOMIC) != 0);
}

// With as many values as a call takes, at the peer, against arithmetic done here.
CASE(every_operation, .seconds = 90) {
  endpoint e(with_atomics, "FI_ATOMIC");
  e.meet(t);
  exposed memory(e, 64 * 1024);
  memory.meet(t);
  random_source random(config().seed); // the same on both sides
  for_each_operation(e, [&](const atomic_call &c, std::size_t count) {
    const std::size_t n = std::min<std::size_t>(count, 64 * 1024 / c.size);
    const auto before = some_values(c.datatype, n, random);
    const auto operand = some_values(c.datatype, n, random);
    const auto compare = some_values(c.datatype, n, random);
    const auto name = name_of(c.kind, c.op, c.datatype);
    if (!t.first())
      std::ranges::copy(before, memory.span().begin());
    t.barrier();
    if (t.first()) {
      std::vector<std::byte> result(before.size());
      const completion done = run_atomic(e, form::message, c, {operand, compare, result},
                                         memory.at(1, 0, n * c.size), 1);
      CHECK((done.flags & FI_ATOMIC) != 0);
      CHECK((done.flags & (c.kind == atomic_kind::plain ? FI_WRITE : FI_READ)) != 0);
      if (c.kind != atomic_kind::plain && !same_values(c.datatype, result, before))
        fail(fmt::format("{}: the result is not what was there", name));
    }
    t.barrier();
    if (!t.first()) {
      auto after = before;
      apply_reference(c.op, c.datatype, after, operand, compare);
      if (!same_values(c.datatype, memory.first(after.size()), after))
        fail(fmt::format("{} of {} values differs", name, n));
    }
    t.barrier();
  });
}

CASE(every_form) {
  endpoint e(with_atomics, "FI_ATOMIC");
  e.meet(t);
  exposed memory(e, 4096);
  memory.meet(t);
  random_source random(config().seed);
  const atomic_call calls[] = {{atomic_kind::plain, FI_UINT32, FI_SUM, 4},
                               {atomic_kind::fetch, FI_UINT64, FI_BXOR, 8},
                               {atomic_kind::fetch, FI_DOUBLE, FI_ATOMIC_READ, 8},
                               {atomic_kind::compare, FI_INT64, FI_CSWAP_LE, 8}};
  for (const atomic_call &c : calls) {
    std::size_t most = 0;
    if (query(e, c.kind, c.datatype, c.op, most) != 0)
      continue;
    for (const form f :
         {form::plain, form::vector, form::message, form::inject, form::inject_message})
      for (const std::size_t n : {std::size_t{1}, std::size_t{3}, most}) {
        const std::size_t len = std::min<std::size_t>(n * c.size, 4096);
        if ((f == form::inject && c.kind != atomic_kind::plain) ||
            (is_inject(f) && len > e.info().tx_attr->inject_size))
          continue;
        const auto before = some_values(c.datatype, len / c.size, random);
        auto operand = some_values(c.datatype, len / c.size, random);
        auto compare = some_values(c.datatype, len / c.size, random);
        auto after = before;
        apply_reference(c.op, c.datatype, after, operand, compare);
        if (!t.first())
          std::ranges::copy(before, memory.span().begin());
        t.barrier();
        if (t.first()) {
          std::vector<std::byte> result(len);
          op o;
          post_atomic(e, f, c, {operand, compare, result}, memory.at(1, 0, len), 1, o);
          if (is_inject(f)) { // they may be used again
            std::ranges::fill(operand, std::byte{0x55});
            std::ranges::fill(compare, std::byte{0x55});
          }
          if (f != form::inject)
            e.tx().wait_ok(o, name_of(c.kind, c.op, c.datatype));
          if (c.kind != atomic_kind::plain)
            CHECK(same_values(c.datatype, result, before));
        } else {
          await_values(memory.first(len), c.datatype, after);
        }
        t.barrier();
      }
  }
  e.tx().expect_empty();
}

// Operands, what is compared with, results and targets, each in pieces of its own.
CASE(scattered) {
  endpoint e(with_atomics, "FI_ATOMIC");
  e.meet(t);
  constexpr std::size_t size = sizeof(std::uint64_t);
  std::size_t most = 0;
  if (query(e, atomic_kind::compare, FI_UINT64, FI_CSWAP_NE, most) != 0 || most < 2)
    skip("the provider lacks FI_CSWAP_NE on several values");
  const std::size_t n = std::min<std::size_t>(most, 64);
  const std::size_t local_limit = std::min(n, e.info().tx_attr->iov_limit);
  const std::size_t remote_limit = std::clamp<std::size_t>(e.info().tx_attr->rma_iov_limit, 1, n);
  std::vector<std::unique_ptr<exposed>> regions;
  for (std::size_t i = 0; i < remote_limit; ++i) {
    regions.push_back(std::make_unique<exposed>(e, n * size));
    regions.back()->meet(t);
  }
  const atomic_call c{atomic_kind::compare, FI_UINT64, FI_CSWAP_NE, size};
  const auto in_pieces = [&](std::span<const std::byte> bytes, std::size_t pieces) {
    std::vector<iovec> iov;
    for (std::size_t i = 0; i < pieces; ++i) {
      const std::size_t from = n * i / pieces * size, to = n * (i + 1) / pieces * size;
      iov.push_back(whole(bytes.subspan(from, to - from)));
    }
    return iov;
  };
  random_source random(config().seed);
  for (std::size_t pieces = 1; pieces <= std::max(local_limit, remote_limit); ++pieces) {
    const std::size_t local = std::min(pieces, local_limit),
                      remote = std::min(pieces, remote_limit);
    const auto before = some_values(FI_UINT64, n, random);
    const auto operand = some_values(FI_UINT64, n, random);
    const auto compare = some_values(FI_UINT64, n, random);
    const auto parts = in_pieces(before, remote);
    if (!t.first())
      for (std::size_t i = 0; i < remote; ++i)
        if (parts[i].iov_len)
          std::memcpy(regions[i]->span().data(), parts[i].iov_base, parts[i].iov_len);
    t.barrier();
    if (t.first()) {
      std::vector<std::byte> result(n * size);
      const auto operands = values(in_pieces(operand, local), size);
      const auto compares = values(in_pieces(compare, local_limit + 1 - local), size);
      auto results = values(in_pieces(result, local), size);
      std::vector<fi_rma_ioc> targets;
      for (std::size_t i = 0; i < remote; ++i) {
        const fi_rma_iov at = regions[i]->at(1, 0, 0);
        targets.push_back({at.addr, parts[i].iov_len / size, at.key});
      }
      op o;
      POST(e, try_message(e.ep(), c, operands, compares, results, targets, e.at(1),
                          FI_COMPLETION | FI_DELIVERY_COMPLETE, o));
      e.tx().wait_ok(o, fmt::format("atomic in {} pieces", pieces));
      CHECK(std::ranges::equal(result, before));
    }
    t.barrier();
    if (!t.first()) {
      auto after = before;
      apply_reference(c.op, c.datatype, after, operand, compare);
      std::vector<std::byte> got;
      for (std::size_t i = 0; i < remote; ++i) {
        const auto part = regions[i]->first(parts[i].iov_len);
        got.insert(got.end(), part.begin(), part.end());
      }
      CHECK(std::ranges::equal(got, after));
    }
    t.barrier();
  }
}

// All ranks add to one value of the first, itself among them: none is lost.
CASE(sums_of_all, .ranks = 4) {
  constexpr std::uint64_t rounds = 500;
  endpoint e(with_atomics, "FI_ATOMIC");
  e.meet(t);
  exposed memory(e, 64);
  memory.meet(t);
  const fi_rma_iov target = memory.at(0, 0, 8);
  for (std::uint64_t i = 0; i < rounds; ++i) {
    op o;
    add_one(e, i % 2 ? form::inject : form::plain, target, 0, o);
  }
  if (t.first()) {
    const std::uint64_t all = rounds * static_cast<std::uint64_t>(t.size());
    await_values(memory.first(8), FI_UINT64, std::as_bytes(std::span(&all, 1)));
  }
  t.barrier();
}

// Each number is given out once.
CASE(tickets, .ranks = 4) {
  constexpr std::uint64_t rounds = 200;
  endpoint e(with_atomics, "FI_ATOMIC");
  std::size_t n = 0;
  if (query(e, atomic_kind::fetch, FI_UINT64, FI_SUM, n) != 0)
    skip("the provider lacks fetching sums");
  e.meet(t);
  exposed memory(e, 8);
  memory.meet(t);
  std::array<std::uint64_t, rounds> mine{};
  for (std::uint64_t &ticket : mine) {
    const std::uint64_t one = 1;
    run_atomic(e, form::plain, {atomic_kind::fetch, FI_UINT64, FI_SUM, 8},
               {.operand = std::as_bytes(std::span(&one, 1)),
                .compare = {},
                .result = std::as_writable_bytes(std::span(&ticket, 1))},
               memory.at(0, 0, 8), 0);
  }
  CHECK(std::ranges::is_sorted(mine));
  std::vector<std::uint64_t> all;
  for (const auto &part : t.exchange(mine))
    all.insert(all.end(), part.begin(), part.end());
  std::ranges::sort(all);
  for (std::size_t i = 0; i < all.size(); ++i)
    CHECK_EQ(all[i], i);
}

// A lock, by compare and swap, around a value that is read and written by RMA.
CASE(lock, .ranks = 3) {
  constexpr std::uint64_t rounds = 50;
  endpoint e({.caps = FI_MSG | FI_ATOMIC | FI_RMA}, "FI_ATOMIC with FI_RMA");
  std::size_t n = 0;
  if (query(e, atomic_kind::compare, FI_UINT64, FI_CSWAP, n) != 0)
    skip("the provider lacks FI_CSWAP");
  e.meet(t);
  exposed memory(e, 16);
  memory.meet(t);
  const atomic_call cswap{atomic_kind::compare, FI_UINT64, FI_CSWAP, 8};
  const auto swap = [&](std::uint64_t from, std::uint64_t to) {
    std::uint64_t former = 0;
    run_atomic(e, form::plain, cswap,
               {.operand = std::as_bytes(std::span(&to, 1)),
                .compare = std::as_bytes(std::span(&from, 1)),
                .result = std::as_writable_bytes(std::span(&former, 1))},
               memory.at(0, 0, 8), 0);
    return former;
  };
  const std::uint64_t me = static_cast<std::uint64_t>(t.rank()) + 1;
  const fi_rma_iov value = memory.at(0, 8, 8);
  for (std::uint64_t i = 0; i < rounds; ++i) {
    while (swap(0, me) != 0)
      drive_progress();
    std::uint64_t v = 0;
    op read, written;
    POST(e, fi_read(e.ep(), &v, 8, nullptr, e.at(0), value.addr, value.key, &read));
    e.tx().wait_ok(read, "read under the lock");
    ++v;
    const iovec iov{&v, 8};
    fi_msg_rma m{};
    m.msg_iov = &iov;
    m.iov_count = 1;
    m.addr = e.at(0);
    m.rma_iov = &value;
    m.rma_iov_count = 1;
    m.context = &written;
    POST(e, fi_writemsg(e.ep(), &m, FI_COMPLETION | FI_DELIVERY_COMPLETE));
    e.tx().wait_ok(written, "write under the lock");
    CHECK_EQ(swap(me, 0), me);
  }
  t.barrier();
  if (t.first())
    CHECK_EQ(word_in(memory.span().subspan(8)), rounds * static_cast<std::uint64_t>(t.size()));
}

CASE(counters_of_both_sides) {
  endpoint e({.caps = FI_MSG | FI_ATOMIC | FI_RMA_EVENT,
              .counted = {FI_READ, FI_WRITE, FI_REMOTE_READ, FI_REMOTE_WRITE}},
             "FI_RMA_EVENT with FI_ATOMIC");
  e.meet(t);
  exposed memory(e, 8);
  memory.meet(t);
  if (t.first()) {
    std::uint64_t word = 1;
    const auto bytes = std::as_writable_bytes(std::span(&word, 1));
    const buffers b{bytes, bytes, bytes};
    for (int i = 0; i < 3; ++i) {
      op o;
      add_one(e, i == 1 ? form::inject : form::plain, memory.at(1, 0, 8), 1, o);
    }
    run_atomic(e, form::plain, {atomic_kind::fetch, FI_UINT64, FI_MAX, 8}, b, memory.at(1, 0, 8),
               1);
    run_atomic(e, form::plain, {atomic_kind::compare, FI_UINT64, FI_CSWAP, 8}, b,
               memory.at(1, 0, 8), 1);
    await_count(e.counter(0), 2);
    await_count(e.counter(1), 3);
  } else {
    await_count(e.counter(2), 2);
    await_count(e.counter(3), 3);
  }
  t.barrier();
}

// fi_mr(3): FI_REMOTE_WRITE counts what modifies the region. OpenSHMEM waits for that.
CASE(counters_of_regions) {
  endpoint e({.caps = FI_MSG | FI_ATOMIC | FI_RMA_EVENT}, "FI_RMA_EVENT with FI_ATOMIC");
  e.meet(t);
  owned_fid<fid_cntr> reads, writes;
  fi_cntr_attr attr{};
  attr.wait_obj = FI_WAIT_UNSPEC;
  CHECK_OK(fi_cntr_open(e.domain(), &attr, reads.out(), nullptr));
  CHECK_OK(fi_cntr_open(e.domain(), &attr, writes.out(), nullptr));
  exposed memory(e, 8, {.reads = reads.get(), .writes = writes.get()});
  memory.meet(t);
  if (t.first()) {
    std::uint64_t word = 1;
    const auto bytes = std::as_writable_bytes(std::span(&word, 1));
    const buffers b{bytes, bytes, bytes};
    const auto run = [&](atomic_kind kind, fi_op op) {
      run_atomic(e, form::plain, {kind, FI_UINT64, op, 8}, b, memory.at(1, 0, 8), 1);
    };
    run(atomic_kind::plain, FI_SUM);
    run(atomic_kind::fetch, FI_ATOMIC_READ);
    run(atomic_kind::fetch, FI_ATOMIC_WRITE);
    run(atomic_kind::compare, FI_MSWAP);
  }
  t.barrier();
  if (!t.first()) {
    await_count(writes.get(), 3);
    await_count(reads.get(), 3);
  }
  t.barrier();
}

CASE(refused_accesses) {
  endpoint e(with_atomics, "FI_ATOMIC");
  e.meet(t);
  exposed memory(e, 64), readable(e, 64, {.access = FI_REMOTE_READ}),
      writable(e, 64, {.access = FI_REMOTE_WRITE});
  for (exposed *x : {&memory, &readable, &writable}) {
    fill(x->span(), 7);
    x->meet(t);
  }
  t.barrier();
  if (t.first()) {
    std::uint64_t word = 1;
    const auto bytes = std::as_writable_bytes(std::span(&word, 1));
    const auto fails = [&](atomic_kind kind, fi_op operation, const fi_rma_iov &target) {
      op o;
      const atomic_call c{kind, FI_UINT64, operation, 8};
      post_atomic(e, form::message, c, {bytes, bytes, bytes}, target, 1, o);
      const completion done = e.tx().wait(o, name_of(kind, operation, FI_UINT64));
      if (done.err != FI_EACCES && done.err != FI_ENOKEY)
        fail(fmt::format("{}: expected FI_EACCES or FI_ENOKEY", describe(done)));
    };
    const auto all_fail = [&](const fi_rma_iov &target) {
      fails(atomic_kind::plain, FI_SUM, target);
      fails(atomic_kind::fetch, FI_SUM, target);
      fails(atomic_kind::compare, FI_CSWAP, target);
    };
    fi_rma_iov unknown = memory.at(1, 0, 8);
    unknown.key += 1'000'000;
    all_fail(unknown);
    all_fail(memory.at(1, 57, 8));
    all_fail(readable.at(1, 0, 8));
    fails(atomic_kind::fetch, FI_SUM, writable.at(1, 0, 8));
    fails(atomic_kind::fetch, FI_ATOMIC_READ, writable.at(1, 0, 8));
    // And what is allowed goes on.
    run_atomic(e, form::message, {atomic_kind::fetch, FI_UINT64, FI_ATOMIC_READ, 8},
               {bytes, bytes, bytes}, readable.at(1, 0, 8), 1);
    CHECK_EQ(word, word_in(payload(8, 7)));
  }
  t.barrier();
  for (exposed *x : {&memory, &readable, &writable})
    verify(x->span(), 7);
}

CASE(limits_of_calls, .ranks = 1) {
  endpoint e(with_atomics, "FI_ATOMIC");
  e.meet(t);
  exposed memory(e, 1 << 20);
  memory.meet(t);
  std::size_t most = 0;
  CHECK_OK(fi_atomicvalid(e.ep(), FI_UINT64, FI_SUM, &most));
  std::vector<std::uint64_t> values(most + 1);
  CHECK_CODE(-FI_EMSGSIZE, fi_atomic(e.ep(), values.data(), most + 1, nullptr, e.at(0),
                                     memory.addr(0), memory.key(0), FI_UINT64, FI_SUM, nullptr));
  CHECK_CODE(-FI_EOPNOTSUPP, fi_atomic(e.ep(), values.data(), 1, nullptr, e.at(0), memory.addr(0),
                                       memory.key(0), FI_UINT64, FI_CSWAP, nullptr));
  CHECK_CODE(-FI_EOPNOTSUPP,
             fi_fetch_atomic(e.ep(), values.data(), 1, nullptr, values.data(), nullptr, e.at(0),
                             memory.addr(0), memory.key(0), FI_FLOAT, FI_BOR, nullptr));
}

} // namespace fabtest
