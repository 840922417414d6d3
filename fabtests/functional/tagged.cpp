// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Tagged messages: what messages do, and matching.
#include "transfer.h"

#include "common/settings.h"

#include <algorithm>
#include <memory>

namespace fabtest {

CASE(every_size) { transfer_every_size(t, kind::tagged); }
CASE(every_form) { transfer_every_form(t, kind::tagged); }
CASE(scattered) { transfer_scattered(t, kind::tagged); }
CASE(to_oneself, .ranks = 1) { transfer_to_oneself(t, kind::tagged); }
CASE(empty_with_data) { transfer_empty_with_data(t, kind::tagged); }
CASE(inject_reuses_buffer) { transfer_inject_reuses_buffer(t, kind::tagged); }
CASE(many_in_flight) { transfer_many_in_flight(t, kind::tagged); }
CASE(both_directions) { transfer_both_directions(t, kind::tagged); }
CASE(huge, .seconds = 600, .huge = true) { transfer_huge(t, kind::tagged); }

// Tags that differ in any one of the 64 bits are different tags.
CASE(all_tag_bits) {
  endpoint e;
  e.meet(t);
  constexpr std::size_t count = 65;
  const auto tag = [](std::size_t i) { return i < 64 ? std::uint64_t{1} << i : 0; };
  std::vector<op> ops(count);
  std::vector<std::vector<std::byte>> buffers(count);
  for (std::size_t n = 0; n < count; ++n) {
    // The receiver posts in the opposite order, so that the first match is never the right one.
    const std::size_t i = t.first() ? n : count - 1 - n;
    if (t.first()) {
      buffers[i] = payload(40, i);
      e.tsend(1, buffers[i], tag(i), ops[i]);
    } else {
      buffers[i].resize(40);
      e.trecv(buffers[i], tag(i), ops[i]);
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    const completion c = e.tx().wait_ok(ops[i], fmt::format("tag {:#x}", tag(i)));
    if (t.first())
      continue;
    CHECK_EQ(c.tag, tag(i));
    verify(buffers[i], i);
  }
  t.barrier();
}

// The ignore mask: the first posted receive that matches gets the message; its completion carries
// the sender's whole tag.
CASE(ignored_bits) {
  endpoint e;
  e.meet(t);
  constexpr std::uint64_t tag = 0xabcd'0000'0000'1234;
  if (t.first()) {
    t.barrier();
    op o[3];
    const auto a = payload(10, 1), b = payload(20, 2), c = payload(30, 3);
    e.tsend(1, a, tag, o[0]);
    e.tsend(1, b, tag, o[1]);
    e.tsend(1, c, tag, o[2]);
    for (auto &x : o)
      e.tx().wait_ok(x, "send");
  } else {
    guarded_buffer in[4] = {guarded_buffer(64), guarded_buffer(64), guarded_buffer(64),
                            guarded_buffer(64)};
    op o[4];
    e.trecv(in[0].span(), 0x1235, o[0], 0xffff'0000'0000'0000); // a bit that counts differs
    e.trecv(in[1].span(), 0x1234, o[1], 0xffff'0000'0000'0000);
    e.trecv(in[2].span(), 0, o[2], ~0ull);
    e.trecv(in[3].span(), tag, o[3]);
    t.barrier();
    const std::size_t lengths[] = {0, 10, 20, 30};
    for (std::size_t i = 1; i < 4; ++i) {
      const completion c = e.rx().wait_ok(o[i], fmt::format("receive {}", i));
      CHECK_EQ(c.tag, tag);
      CHECK_EQ(c.len, lengths[i]);
      verify(in[i].first(c.len), i);
    }
    CHECK_OK(fi_cancel(&e.ep()->fid, &o[0]));
    CHECK_EQ(e.rx().wait(o[0], "cancelled receive").err, FI_ECANCELED);
  }
  t.barrier();
}

// The same, with messages that are there before the receives.
CASE(ignored_bits_unexpected) {
  endpoint e;
  e.meet(t);
  constexpr std::uint64_t base = 0x7700;
  constexpr std::size_t count = 16;
  if (t.first()) {
    std::vector<op> ops(count);
    for (std::size_t i = 0; i < count; ++i) {
      const auto bytes = payload(100 + i, i);
      e.tsend(1, bytes, base + i, ops[i]);
      e.tx().wait_ok(ops[i], "send");
    }
    op last;
    e.send(1, {}, last);
    e.tx().wait_ok(last, "last send");
  } else {
    op marker;
    e.recv({}, marker);
    e.rx().wait_ok(marker, "marker behind all messages");
    guarded_buffer into(200);
    const auto take = [&](std::uint64_t tag, std::uint64_t ignore, std::size_t expected) {
      op o;
      into.clear();
      e.trecv(into.span(), tag, o, ignore);
      const completion c = e.rx().wait_ok(o, fmt::format("unexpected message {}", expected));
      CHECK_EQ(c.tag, base + expected);
      CHECK_EQ(c.len, 100 + expected);
      verify(into.first(c.len), expected);
    };
    take(base + 9, 0, 9); // by its own tag, past eight others
    take(base, 0xf, 0);   // the oldest that matches
    take(base, 0xf, 1);
    take(base + 8, 0x7, 8);  // upper half only
    take(base + 8, 0x7, 10); // 9 is gone
    take(0, ~0ull, 2);
    for (const std::size_t rest : {3, 4, 5, 6, 7, 11, 12, 13, 14, 15})
      take(0, ~0ull, rest);
  }
  t.barrier();
}

// Many tags in random order at both ends: each message finds its receive.
CASE(random_matching) {
  endpoint e;
  e.meet(t);
  constexpr std::size_t count = 2000;
  random_source random(config().seed + static_cast<std::uint64_t>(t.rank()));
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i)
    order[i] = i;
  for (std::size_t i = count - 1; i > 0; --i)
    std::swap(order[i], order[random.below(i + 1)]);
  const auto size = [](std::size_t i) { return i * 37 % 700 + (i % 50 == 0 ? 30'000 : 0); };
  std::vector<op> ops(count);
  std::vector<std::vector<std::byte>> buffers(count);
  for (const std::size_t i : order) {
    if (t.first()) {
      buffers[i] = payload(size(i), i);
      e.tsend(1, buffers[i], i << 20, ops[i]);
    } else {
      buffers[i].resize(size(i));
      e.trecv(buffers[i], i << 20, ops[i], 0xfffff);
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    const completion c = e.tx().wait_ok(ops[i], fmt::format("tag {}", i));
    if (t.first())
      continue;
    CHECK_EQ(c.tag, i << 20);
    CHECK_EQ(c.len, size(i));
    verify(buffers[i], i);
  }
  t.barrier();
}

CASE(directed, .ranks = 3) {
  endpoint e({.caps = FI_MSG | FI_TAGGED | FI_DIRECTED_RECV}, "FI_DIRECTED_RECV");
  e.meet(t);
  constexpr std::uint64_t tag = 9;
  if (t.first()) {
    t.barrier(); // both messages are on their way, or here
    guarded_buffer in[3] = {guarded_buffer(500), guarded_buffer(500), guarded_buffer(500)};
    for (const int from : {2, 1}) {
      op o;
      auto &into = in[from];
      e.trecv(into.span(), tag, o, 0, e.at(from));
      e.rx().wait_ok(o, fmt::format("directed receive from {}", from));
      verify(into.span(), static_cast<std::uint64_t>(from));
    }
  } else {
    op o;
    const auto mine = payload(500, static_cast<std::uint64_t>(t.rank()));
    e.tsend(0, mine, tag, o);
    t.barrier();
    e.tx().wait_ok(o, "send");
  }
  t.barrier();
}

} // namespace fabtest
