// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// fi_rma(3): every call, at every size, and what it leaves where.
#include "common/case.h"
#include "common/exposed.h"
#include "common/forms.h"
#include "common/settings.h"

#include <algorithm>
#include <array>
#include <memory>

namespace fabtest {

namespace {

constexpr std::size_t kib = 1024, mib = 1024 * kib;

const request with_rma{.caps = FI_MSG | FI_RMA};
const request with_events{.caps = FI_MSG | FI_RMA | FI_RMA_EVENT,
                          .counted = {FI_READ, FI_WRITE, FI_REMOTE_READ, FI_REMOTE_WRITE}};
enum counted { reads, writes, remote_reads, remote_writes };

enum class form { plain, vector, message, inject, data, inject_data };
constexpr std::array write_forms{form::plain,  form::vector, form::message,
                                 form::inject, form::data,   form::inject_data};
constexpr std::array read_forms{form::plain, form::vector, form::message};

std::string_view name_of_form(form f) {
  constexpr std::array names{"plain", "vector", "message", "inject", "data", "injectdata"};
  return names[static_cast<std::size_t>(f)];
}

bool is_inject(form f) { return f == form::inject || f == form::inject_data; }
bool carries_data(form f) { return f == form::data || f == form::inject_data; }

fi_msg_rma message(std::span<const iovec> iov, std::span<const fi_rma_iov> targets, fi_addr_t to,
                   std::uint64_t data, op &o) {
  fi_msg_rma m{};
  m.msg_iov = iov.data();
  m.iov_count = iov.size();
  m.addr = to;
  m.rma_iov = targets.data();
  m.rma_iov_count = targets.size();
  m.context = &o;
  m.data = data;
  return m;
}

ssize_t try_write(fid_ep *ep, form f, const iovec &v, const fi_rma_iov &target, fi_addr_t to,
                  std::uint64_t data, op &o) {
  const fi_msg_rma m = message({&v, 1}, {&target, 1}, to, data, o);
  const auto [addr, len, key] = target;
  switch (f) {
  case form::plain:
    return fi_write(ep, v.iov_base, len, nullptr, to, addr, key, &o);
  case form::vector:
    return fi_writev(ep, &v, nullptr, 1, to, addr, key, &o);
  case form::message:
    return fi_writemsg(ep, &m, FI_COMPLETION);
  case form::inject:
    return fi_inject_write(ep, v.iov_base, len, to, addr, key);
  case form::data:
    return fi_writedata(ep, v.iov_base, len, nullptr, data, to, addr, key, &o);
  case form::inject_data:
    return fi_inject_writedata(ep, v.iov_base, len, data, to, addr, key);
  }
  return -FI_EINVAL;
}

ssize_t try_read(fid_ep *ep, form f, const iovec &v, const fi_rma_iov &target, fi_addr_t from,
                 op &o) {
  const fi_msg_rma m = message({&v, 1}, {&target, 1}, from, 0, o);
  const auto [addr, len, key] = target;
  switch (f) {
  case form::plain:
    return fi_read(ep, v.iov_base, len, nullptr, from, addr, key, &o);
  case form::vector:
    return fi_readv(ep, &v, nullptr, 1, from, addr, key, &o);
  case form::message:
    return fi_readmsg(ep, &m, FI_COMPLETION);
  default:
    return -FI_EINVAL;
  }
}

void post_write(endpoint &e, form f, std::span<const std::byte> bytes, const fi_rma_iov &target,
                int to, std::uint64_t data, op &o, where at = where::current()) {
  const iovec v{const_cast<std::byte *>(bytes.data()), bytes.size()};
  e.post(
      fmt::format("write, {}", name_of_form(f)),
      [&] { return try_write(e.ep(), f, v, target, e.at(to), data, o); }, at);
}

void post_read(endpoint &e, form f, std::span<std::byte> into, const fi_rma_iov &target, int from,
               op &o, where at = where::current()) {
  const iovec v{into.data(), into.size()};
  e.post(
      fmt::format("read, {}", name_of_form(f)),
      [&] { return try_read(e.ep(), f, v, target, e.at(from), o); }, at);
}

void post_writemsg(endpoint &e, std::span<const iovec> iov, std::span<const fi_rma_iov> targets,
                   int to, std::uint64_t flags, op &o, where at = where::current()) {
  const fi_msg_rma m = message(iov, targets, e.at(to), 0, o);
  e.post(
      "fi_writemsg", [&] { return fi_writemsg(e.ep(), &m, flags); }, at);
}

// Once it has completed the bytes are in the peer's memory.
void write_through(endpoint &e, std::span<const std::byte> bytes, const fi_rma_iov &target, int to,
                   where at = where::current()) {
  op o;
  const iovec v{const_cast<std::byte *>(bytes.data()), bytes.size()};
  post_writemsg(e, {&v, 1}, {&target, 1}, to, FI_COMPLETION | FI_DELIVERY_COMPLETE, o, at);
  const completion c = e.tx().wait_ok(o, "write", default_wait(), at);
  CHECK((c.flags & (FI_RMA | FI_WRITE)) == (FI_RMA | FI_WRITE));
}

void read_all(endpoint &e, std::span<std::byte> into, const fi_rma_iov &target, int from,
              where at = where::current()) {
  op o;
  post_read(e, form::plain, into, target, from, o, at);
  const completion c = e.tx().wait_ok(o, "read", default_wait(), at);
  CHECK((c.flags & (FI_RMA | FI_READ)) == (FI_RMA | FI_READ));
}

// 0, 1, both sides of every power of two, and some odd sizes in between.
std::vector<std::size_t> interesting_sizes() {
  std::vector<std::size_t> sizes{0, 1};
  for (std::size_t p = 2; p <= 4 * mib; p *= 2)
    for (const std::size_t s : {p - 1, p, p + 1})
      sizes.push_back(std::min(s, 4 * mib));
  random_source random(config().seed);
  for (int i = 0; i < 40; ++i)
    sizes.push_back(random.below(std::size_t{1} << (4 + i % 19)) | 1);
  return sizes;
}

// As errors of an access that isn't allowed, whatever the provider tells apart.
void expect_refusal(const completion &c, where at = where::current()) {
  if (c.err != FI_EACCES && c.err != FI_ENOKEY)
    fail(fmt::format("{}: expected FI_EACCES or FI_ENOKEY", describe(c)), at);
}

// What isn't allowed fails at who tries, changes nothing, and harms nobody.
void refused_accesses(team &t, int mr_mode) {
  request r = with_rma;
  r.counted = {FI_READ, FI_WRITE};
  r.mr_mode = mr_mode;
  endpoint e(r, "FI_RMA");
  e.meet(t);
  exposed memory(e, 200 * kib), readable(e, 200 * kib, {.access = FI_REMOTE_READ}),
      writable(e, 200 * kib, {.access = FI_REMOTE_WRITE}), closed(e, 200 * kib);
  for (exposed *x : {&memory, &readable, &writable, &closed}) {
    fill(x->span(), 7);
    x->meet(t);
  }
  closed.close();
  t.barrier();
  if (t.first()) {
    std::uint64_t failed_writes = 0, failed_reads = 0;
    const auto write_fails = [&](std::string_view why, const fi_rma_iov &target) {
      op o;
      const auto bytes = payload(target.len, 1);
      post_write(e, form::plain, bytes, target, 1, 0, o);
      expect_refusal(e.tx().wait(o, fmt::format("write of {} bytes, {}", target.len, why)));
      await_error_count(e.counter(writes), ++failed_writes);
    };
    const auto read_fails = [&](std::string_view why, const fi_rma_iov &target) {
      op o;
      guarded_buffer into(target.len);
      post_read(e, form::plain, into.span(), target, 1, o);
      expect_refusal(e.tx().wait(o, fmt::format("read of {} bytes, {}", target.len, why)));
      into.check_guards(0);
      await_error_count(e.counter(reads), ++failed_reads);
    };
    for (const std::size_t size : {std::size_t{1}, std::size_t{5000}, 150 * kib}) {
      fi_rma_iov unknown = memory.at(1, 0, size);
      unknown.key += 1'000'000;
      write_fails("unknown key", unknown);
      read_fails("unknown key", unknown);
      write_fails("closed", closed.at(1, 0, size));
      read_fails("closed", closed.at(1, 0, size));
      write_fails("read only", readable.at(1, 0, size));
      read_fails("write only", writable.at(1, 0, size));
      write_fails("beyond the end", memory.at(1, 200 * kib - size + 1, size));
      read_fails("beyond the end", memory.at(1, 200 * kib - size + 1, size));
      if (fi_rma_iov before = memory.at(1, 0, size); before.addr > 0) {
        before.addr -= 1;
        write_fails("before the start", before);
        read_fails("before the start", before);
      }
      // And what is allowed goes on.
      std::vector<std::byte> into(size);
      read_all(e, into, readable.at(1, 0, size), 1);
      verify(into, 7);
    }
    CHECK_EQ(fi_cntr_read(e.counter(writes)), 0u);
  }
  t.barrier();
  for (exposed *x : {&memory, &readable, &writable, &closed})
    verify(x->span(), 7);
}

} // namespace

CASE(write_every_size) {
  endpoint e(with_rma, "FI_RMA");
  e.meet(t);
  exposed memory(e, 4 * mib + 64);
  memory.meet(t);
  std::uint64_t n = 0;
  for (const std::size_t size : interesting_sizes()) {
    ++n;
    const std::size_t offset = n % 61;
    if (t.first()) {
      write_through(e, payload(size, n), memory.at(1, offset, size), 1);
    }
    t.barrier();
    if (!t.first()) {
      verify(memory.span().subspan(offset, size), n);
      CHECK(std::ranges::all_of(memory.span().subspan(offset + size, 3),
                                [](std::byte b) { return b == std::byte{0}; }));
      std::ranges::fill(memory.span().subspan(offset, size), std::byte{0});
    }
    t.barrier();
  }
}

CASE(read_every_size) {
  endpoint e(with_rma, "FI_RMA");
  e.meet(t);
  exposed memory(e, 4 * mib + 64);
  fill(memory.span(), 5);
  const auto expected = payload(memory.span().size(), 5);
  memory.meet(t);
  if (t.first()) {
    std::uint64_t n = 0;
    for (const std::size_t size : interesting_sizes()) {
      const std::size_t offset = ++n % 61;
      guarded_buffer into(size);
      read_all(e, into.span(), memory.at(1, offset, size), 1);
      CHECK(std::ranges::equal(into.span(), std::span(expected).subspan(offset, size)));
      into.check_guards(size);
    }
  }
  t.barrier();
}

CASE(every_form) {
  endpoint e(with_rma, "FI_RMA");
  e.meet(t);
  exposed memory(e, mib);
  memory.meet(t);
  const std::size_t inject_size = e.info().tx_attr->inject_size;
  const bool data_fits = e.info().domain_attr->cq_data_size >= 4;
  std::uint64_t n = 0;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, inject_size, 8 * kib, mib}) {
    for (const form f : write_forms) {
      if ((is_inject(f) && size > inject_size) || (carries_data(f) && !data_fits))
        continue;
      const auto what = fmt::format("write, {}, of {} bytes", name_of_form(f), size);
      ++n;
      if (t.first()) {
        op o;
        auto bytes = payload(size, n);
        post_write(e, f, bytes, memory.at(1, 0, size), 1, n, o);
        if (is_inject(f))
          std::ranges::fill(bytes, std::byte{0}); // it may be used again
        else
          CHECK((e.tx().wait_ok(o, what).flags & (FI_RMA | FI_WRITE)) == (FI_RMA | FI_WRITE));
      } else {
        if (carries_data(f)) {
          const completion c = e.rx().next(what);
          CHECK_EQ(c.err, 0);
          CHECK_EQ(c.data, n);
          CHECK((c.flags & FI_REMOTE_CQ_DATA) != 0);
          CHECK((c.flags & FI_REMOTE_WRITE) != 0);
          verify(memory.first(size), n); // the completion says so
        }
        await_payload(memory.first(size), n);
      }
      t.barrier();
    }
    for (const form f : read_forms) {
      fill(memory.first(size), ++n);
      t.barrier();
      if (t.first()) {
        op o;
        guarded_buffer into(size);
        post_read(e, f, into.span(), memory.at(1, 0, size), 1, o);
        const auto what = fmt::format("read, {}, of {} bytes", name_of_form(f), size);
        CHECK((e.tx().wait_ok(o, what).flags & (FI_RMA | FI_READ)) == (FI_RMA | FI_READ));
        verify(into.span(), n);
        into.check_guards(size);
      }
      t.barrier();
    }
  }
  e.tx().expect_empty(); // neither have injects completed, nor has the target of what has no data
}

// Pieces on both sides, of regions that are themselves in pieces.
CASE(scattered) {
  endpoint e(with_rma, "FI_RMA");
  e.meet(t);
  const std::size_t local_limit = e.info().tx_attr->iov_limit;
  const std::size_t remote_limit = std::max<std::size_t>(e.info().tx_attr->rma_iov_limit, 1);
  std::vector<std::unique_ptr<exposed>> regions;
  for (std::size_t i = 0; i < remote_limit; ++i) {
    const std::size_t buffers =
        std::min<std::size_t>(e.info().domain_attr->mr_iov_limit, i % 3 + 1);
    regions.push_back(std::make_unique<exposed>(
        e, 300 * kib, exposed::options{.buffers = std::max<std::size_t>(buffers, 1)}));
    regions.back()->meet(t);
  }
  random_source random(config().seed); // the same on both sides
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{7}, 3 * kib, 17 * kib + 5, 200 * kib + 1})
    for (std::size_t pieces = 1; pieces <= std::max(local_limit, remote_limit); ++pieces) {
      const std::uint64_t n = size * 100 + pieces;
      const auto bytes = payload(size, n);
      const auto iov = cut(bytes, std::min(pieces, local_limit), random);
      const auto parts = cut(bytes, std::min(pieces, remote_limit), random);
      std::vector<fi_rma_iov> targets;
      for (std::size_t i = 0; i < parts.size(); ++i)
        targets.push_back(regions[i]->at(1, i * 11, parts[i].iov_len));
      if (t.first()) {
        op o;
        post_writemsg(e, iov, targets, 1, FI_COMPLETION | FI_DELIVERY_COMPLETE, o);
        e.tx().wait_ok(o, fmt::format("write of {} bytes in {} pieces", size, pieces));
      }
      t.barrier();
      if (!t.first()) {
        std::vector<std::byte> got;
        for (std::size_t i = 0; i < parts.size(); ++i) {
          const auto part = regions[i]->span().subspan(i * 11, parts[i].iov_len);
          got.insert(got.end(), part.begin(), part.end());
        }
        verify(got, n);
      } else {
        op o;
        guarded_buffer into(size);
        const auto back = cut(into.span(), std::min(pieces, local_limit), random);
        const fi_msg_rma m = message(back, targets, e.at(1), 0, o);
        POST(e, fi_readmsg(e.ep(), &m, FI_COMPLETION));
        e.tx().wait_ok(o, fmt::format("read of {} bytes in {} pieces", size, pieces));
        verify(into.span(), n);
        into.check_guards(size);
      }
      t.barrier();
      if (!t.first())
        cut(bytes, std::min(pieces, local_limit), random); // as the other side has
    }
}

CASE(to_oneself, .ranks = 1) {
  endpoint e(with_rma, "FI_RMA");
  e.meet(t);
  exposed memory(e, mib);
  memory.meet(t);
  for (const std::size_t size : {std::size_t{0}, std::size_t{8}, 10 * kib, mib}) {
    write_through(e, payload(size, size), memory.at(0, 0, size), 0);
    verify(memory.first(size), size);
    std::vector<std::byte> into(size);
    read_all(e, into, memory.at(0, 0, size), 0);
    verify(into, size);
  }
}

CASE(many_in_flight_both_ways) {
  constexpr std::size_t count = 200, room = 40 * kib;
  endpoint e(with_rma, "FI_RMA");
  e.meet(t);
  exposed written(e, count * room), source(e, count * room);
  written.meet(t);
  const int other = t.other();
  const auto id = [](int rank, std::size_t i) {
    return static_cast<std::uint64_t>(rank) * 1'000'000 + i;
  };
  const auto size = [](std::size_t i) { return i * i % room; };
  for (std::size_t i = 0; i < count; ++i)
    fill(source.span().subspan(i * room, size(i)), id(t.rank(), i));
  source.meet(t);
  std::vector<std::vector<std::byte>> out, in;
  std::vector<std::unique_ptr<op>> ops;
  for (std::size_t i = 0; i < count; ++i) {
    out.push_back(payload(size(i), id(t.rank(), i)));
    in.emplace_back(size(i));
  }
  for (std::size_t i = 0; i < count; ++i) {
    ops.push_back(std::make_unique<op>());
    post_write(e, form::plain, out[i], written.at(other, i * room, size(i)), other, 0, *ops.back());
    ops.push_back(std::make_unique<op>());
    post_read(e, form::plain, in[i], source.at(other, i * room, size(i)), other, *ops.back());
  }
  for (const auto &o : ops)
    e.tx().wait_ok(*o, "one of many");
  for (std::size_t i = 0; i < count; ++i) {
    verify(in[i], id(other, i));
    await_payload(written.span().subspan(i * room, size(i)), id(other, i));
  }
  t.barrier();
}

// Whoever has the message has what was written before it.
CASE(fence) {
  endpoint e({.caps = FI_MSG | FI_RMA | FI_FENCE}, "FI_FENCE with FI_RMA");
  e.meet(t);
  exposed memory(e, mib);
  memory.meet(t);
  for (std::uint64_t n = 1; n <= 20; ++n) {
    op written, sent, received;
    const std::size_t size = n % 2 ? mib : 100 * n;
    if (t.first()) {
      const auto bytes = payload(size, n);
      post_write(e, form::plain, bytes, memory.at(1, 0, size), 1, 0, written);
      post_sendmsg(e, kind::msg, {}, e.at(1), {}, sent, FI_COMPLETION | FI_FENCE);
      e.tx().wait_ok(written, "write");
      e.tx().wait_ok(sent, "fenced send");
    } else {
      e.recv({}, received);
      e.rx().wait_ok(received, "message behind the fence");
      verify(memory.first(size), n);
    }
    t.barrier();
  }
}

CASE(completion_levels) {
  for (const std::uint64_t level :
       {FI_INJECT_COMPLETE, FI_TRANSMIT_COMPLETE, FI_DELIVERY_COMPLETE}) {
    request r = with_rma;
    r.tx_op_flags = level;
    endpoint e(r, "this level of completion");
    e.meet(t);
    exposed memory(e, 100 * kib);
    memory.meet(t);
    for (const std::size_t size : {std::size_t{8}, 100 * kib}) {
      const auto bytes = payload(size, level + size);
      if (t.first()) {
        op o;
        post_write(e, form::plain, bytes, memory.at(1, 0, size), 1, 0, o);
        e.tx().wait_ok(o, "write");
      }
      if (level == FI_DELIVERY_COMPLETE) {
        t.barrier();
        if (!t.first())
          verify(memory.first(size), level + size);
      } else if (!t.first()) {
        await_payload(memory.first(size), level + size);
      }
      t.barrier();
    }
  }
}

CASE(selective_completion) {
  request r = with_rma;
  r.bind_flags = FI_SELECTIVE_COMPLETION;
  r.counted = {FI_READ, FI_WRITE};
  endpoint e(r, "FI_RMA");
  e.meet(t);
  exposed memory(e, 64);
  memory.meet(t);
  if (t.first()) {
    op silent, told;
    const auto bytes = payload(8, 1);
    std::vector<std::byte> into(8);
    post_write(e, form::plain, bytes, memory.at(1, 0, 8), 1, 0, silent);
    post_read(e, form::plain, into, memory.at(1, 0, 8), 1, silent);
    await_count(e.counter(reads), 1);
    await_count(e.counter(writes), 1);
    e.tx().expect_empty();
    post_write(e, form::message, bytes, memory.at(1, 0, 8), 1, 0, told);
    e.tx().wait_ok(told, "write with FI_COMPLETION");
  }
  t.barrier();
}

CASE(counters_of_both_sides) {
  endpoint e(with_events, "FI_RMA_EVENT");
  e.meet(t);
  exposed memory(e, 100 * kib);
  memory.meet(t);
  if (t.first()) {
    std::vector<std::byte> into(100 * kib);
    const auto bytes = payload(100 * kib, 1);
    for (const std::size_t size : {std::size_t{0}, std::size_t{8}, 100 * kib}) {
      op o;
      write_through(e, std::span(bytes).first(size), memory.at(1, 0, size), 1);
      if (size == 8)
        post_write(e, form::inject, std::span(bytes).first(8), memory.at(1, 0, 8), 1, 0, o);
      read_all(e, std::span(into).first(size), memory.at(1, 0, size), 1);
    }
    await_count(e.counter(writes), 4);
    await_count(e.counter(reads), 3);
    await_count(e.counter(remote_writes), 0);
  } else {
    await_count(e.counter(remote_writes), 4);
    await_count(e.counter(remote_reads), 3);
    await_count(e.counter(writes), 0);
  }
  t.barrier();
}

CASE(counters_of_regions) {
  endpoint e({.caps = FI_MSG | FI_RMA | FI_RMA_EVENT}, "FI_RMA_EVENT");
  e.meet(t);
  fi_cntr_attr attr{};
  attr.wait_obj = FI_WAIT_UNSPEC;
  owned_fid<fid_cntr> first, second;
  CHECK_OK(fi_cntr_open(e.domain(), &attr, first.out(), nullptr));
  CHECK_OK(fi_cntr_open(e.domain(), &attr, second.out(), nullptr));
  exposed counted(e, 8 * kib, {.writes = first.get()}), other(e, 8 * kib, {.writes = second.get()});
  counted.meet(t);
  other.meet(t);
  if (t.first()) {
    const auto bytes = payload(8 * kib, 1);
    for (int i = 0; i < 3; ++i)
      write_through(e, bytes, counted.at(1, 0, 8 * kib), 1);
    write_through(e, std::span(bytes).first(5), other.at(1, 0, 5), 1);
    std::vector<std::byte> into(8);
    read_all(e, into, counted.at(1, 0, 8), 1); // is none
  } else {
    CHECK_OK(fi_cntr_wait(first.get(), 3, static_cast<int>(default_wait().count())));
    verify(counted.span(), 1); // a counted write is there
    await_count(second.get(), 1);
  }
  t.barrier();
  if (!t.first())
    await_count(first.get(), 3);
}

// Who sees a read counted may change the memory. (Done too early, check-tsan tells surely, a
// plain run rarely.)
CASE(counted_when_read) {
  constexpr std::size_t size = 4 * kib;
  constexpr int rounds = 100;
  endpoint e({.caps = FI_MSG | FI_RMA | FI_RMA_EVENT,
              .threading = FI_THREAD_SAFE,
              .progress = FI_PROGRESS_AUTO},
             "FI_RMA_EVENT");
  e.meet(t);
  fi_cntr_attr attr{};
  owned_fid<fid_cntr> counted;
  CHECK_OK(fi_cntr_open(e.domain(), &attr, counted.out(), nullptr));
  exposed memory(e, size, {.reads = counted.get()});
  memory.meet(t);
  std::vector<std::byte> into(size);
  for (int i = 0; i < rounds; ++i) {
    if (!t.first())
      std::ranges::fill(memory.span(), std::byte{1});
    t.barrier();
    if (t.first()) {
      read_all(e, into, memory.at(1, 0, size), 1);
      CHECK(std::ranges::all_of(into, [](std::byte b) { return b == std::byte{1}; }));
    } else {
      while (fi_cntr_read(counted.get()) == static_cast<std::uint64_t>(i)) {
      }
      for (std::size_t n = size; n != 0;) // its end, which is read last, first
        memory.span()[--n] = std::byte{2};
    }
    t.barrier();
  }
}

CASE(refused_accesses) { refused_accesses(t, 0); }
CASE(refused_accesses_by_address) { refused_accesses(t, 1 << 0); } // FI_MR_BASIC

// Part of the targets is allowed, which is not enough.
CASE(refused_in_part) {
  endpoint e(with_rma, "FI_RMA");
  if (e.info().tx_attr->rma_iov_limit < 2)
    skip("the provider takes one target at a time");
  e.meet(t);
  exposed memory(e, 100), readable(e, 100, {.access = FI_REMOTE_READ});
  memory.meet(t);
  readable.meet(t);
  if (t.first()) {
    op o;
    const auto bytes = payload(200, 1);
    const iovec v{const_cast<std::byte *>(bytes.data()), bytes.size()};
    const std::array targets{memory.at(1, 0, 100), readable.at(1, 0, 100)};
    post_writemsg(e, {&v, 1}, targets, 1, FI_COMPLETION | FI_DELIVERY_COMPLETE, o);
    expect_refusal(e.tx().wait(o, "write to a region that may be read only"));
  }
  t.barrier();
  CHECK(std::ranges::all_of(readable.span(), [](std::byte b) { return b == std::byte{0}; }));
}

// By offset or address, with keys of the application or of the provider: as the info says.
CASE(modes_of_registration) {
  constexpr int bits[] = {FI_MR_VIRT_ADDR, FI_MR_ALLOCATED, FI_MR_PROV_KEY, FI_MR_LOCAL,
                          FI_MR_ENDPOINT};
  std::vector<int> modes{1 << 0, 1 << 1}; // FI_MR_BASIC, FI_MR_SCALABLE
  for (unsigned mix = 0; mix < 1u << std::size(bits); ++mix) {
    int mode = 0;
    for (unsigned i = 0; i < std::size(bits); ++i)
      mode |= mix >> i & 1 ? bits[i] : 0;
    modes.push_back(mode);
  }
  for (const int mode : modes) {
    request r = with_rma;
    r.mr_mode = mode;
    endpoint e(r, "these modes of registration");
    const int needed = e.info().domain_attr->mr_mode;
    if (needed & ~mode)
      fail(fmt::format("mr_mode {:#x} for {:#x}", needed, mode));
    if (needed & FI_MR_LOCAL)
      continue;
    e.meet(t);
    exposed memory(e, 4 * kib);
    memory.meet(t);
    const auto n = static_cast<std::uint64_t>(mode);
    if (t.first())
      write_through(e, payload(1000, n), memory.at(1, 96, 1000), 1);
    t.barrier();
    if (!t.first())
      verify(memory.span().subspan(96, 1000), n);
    t.barrier();
  }
}

CASE(limits_of_calls, .ranks = 1) {
  endpoint e(with_rma, "FI_RMA");
  e.meet(t);
  exposed memory(e, 64 * kib);
  memory.meet(t);
  const std::size_t inject_size = e.info().tx_attr->inject_size;
  std::vector<std::byte> bytes(inject_size + 1);
  const auto target = memory.at(0, 0, 1);
  CHECK(fi_inject_write(e.ep(), bytes.data(), bytes.size(), e.at(0), target.addr, target.key) < 0);
  std::vector<iovec> many(e.info().tx_attr->iov_limit + 1, iovec{bytes.data(), 1});
  CHECK(fi_writev(e.ep(), many.data(), nullptr, many.size(), e.at(0), target.addr, target.key,
                  nullptr) < 0);
  std::vector<fi_rma_iov> targets(e.info().tx_attr->rma_iov_limit + 1, target);
  op o;
  const iovec v{bytes.data(), targets.size()};
  const fi_msg_rma m = message({&v, 1}, targets, e.at(0), 0, o);
  CHECK(fi_writemsg(e.ep(), &m, FI_COMPLETION) < 0);
}

} // namespace fabtest
