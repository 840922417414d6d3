// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// More than two processes: many to one, all to all, random traffic.
#include "common/case.h"
#include "common/forms.h"
#include "common/settings.h"

#include <array>
#include <memory>

namespace fabtest {

namespace {

std::uint64_t id(int from, int to, std::size_t i) {
  return static_cast<std::uint64_t>(from) << 48 | static_cast<std::uint64_t>(to) << 40 | i;
}

struct transfer {
  op o;
  std::vector<std::byte> buffer;
  std::uint64_t id = 0;
};

void all_to_all(team &t, std::size_t each, std::size_t size, bool receive_first) {
  endpoint e;
  e.meet(t);
  std::vector<std::unique_ptr<transfer>> sends, receives;
  const auto post_receives = [&] {
    for (int r = 0; r < t.size(); ++r)
      for (std::size_t i = 0; i < each; ++i) {
        auto x = std::make_unique<transfer>();
        x->buffer.resize(size);
        x->id = id(r, t.rank(), i);
        e.trecv(x->buffer, x->id, x->o);
        receives.push_back(std::move(x));
      }
  };
  if (receive_first) {
    post_receives();
    t.barrier();
  }
  for (std::size_t i = 0; i < each; ++i)
    for (int r = 0; r < t.size(); ++r) {
      auto x = std::make_unique<transfer>();
      x->buffer = payload(size, id(t.rank(), r, i));
      e.tsend(r, x->buffer, id(t.rank(), r, i), x->o);
      sends.push_back(std::move(x));
    }
  if (!receive_first)
    post_receives();
  for (auto &x : receives) {
    e.rx().wait_ok(x->o, fmt::format("receive {:#x}", x->id), config().limit(30));
    verify(x->buffer, x->id);
  }
  for (auto &x : sends)
    e.tx().wait_ok(x->o, "send", config().limit(30));
  t.barrier();
}

} // namespace

CASE(all_to_all_small, .ranks = 8, .seconds = 90) { all_to_all(t, 50, 100, true); }
CASE(all_to_all_small_unexpected, .ranks = 8, .seconds = 90) { all_to_all(t, 50, 100, false); }
CASE(all_to_all_medium, .ranks = 6, .seconds = 90) { all_to_all(t, 10, 10'000, false); }
CASE(all_to_all_large, .ranks = 6, .seconds = 90) { all_to_all(t, 3, 600'000, true); }
CASE(all_to_all_large_unexpected, .ranks = 6, .seconds = 90) { all_to_all(t, 3, 600'000, false); }

// All send to the first as fast as they can; it starts late and takes its time.
CASE(many_to_one, .ranks = 8, .seconds = 90) {
  endpoint e;
  e.meet(t);
  constexpr std::size_t each = 400;
  const auto size = [](std::size_t i) { return i % 40 == 39 ? std::size_t{50'000} : i % 300; };
  if (!t.first()) {
    std::vector<op> ops(16);
    std::vector<std::vector<std::byte>> buffers(16);
    for (std::size_t i = 0; i < each + 16; ++i) {
      if (i >= 16)
        e.tx().wait_ok(ops[i % 16], "send", config().limit(60));
      if (i >= each)
        continue;
      buffers[i % 16] = payload(size(i), id(t.rank(), 0, i));
      e.tsend(0, buffers[i % 16], static_cast<std::uint64_t>(t.rank()), ops[i % 16]);
    }
  } else {
    e.rx().expect_silence(config().limit(0.2));
    std::vector<std::size_t> next(static_cast<std::size_t>(t.size()));
    std::vector<std::byte> into(50'000);
    for (std::size_t n = 0; n < each * static_cast<std::size_t>(t.size() - 1); ++n) {
      op o;
      e.trecv(into, 0, o, ~0ull);
      const completion c = e.rx().wait_ok(o, fmt::format("message {}", n), config().limit(30));
      auto &i = next.at(c.tag); // each sender's own order holds
      CHECK_EQ(c.len, size(i));
      verify(std::span(into).first(c.len), id(static_cast<int>(c.tag), 0, i));
      ++i;
    }
  }
  t.barrier();
}

// Around the ring, everybody at once, sizes that grow.
CASE(ring, .ranks = 5, .seconds = 60) {
  endpoint e;
  e.meet(t);
  const int right = (t.rank() + 1) % t.size(), left = (t.rank() + t.size() - 1) % t.size();
  for (std::size_t size = 1; size <= (1u << 20); size *= 4) {
    op sent, received;
    std::vector<std::byte> into(size);
    const auto content = payload(size, id(t.rank(), right, size));
    e.tsend(right, content, size, sent);
    e.trecv(into, size, received);
    e.rx().wait_ok(received, "receive from the left");
    e.tx().wait_ok(sent, "send to the right");
    verify(into, id(left, t.rank(), size));
  }
  t.barrier();
}

// Random peers and sizes; all ranks draw the same plan from the seed.
CASE(random_traffic, .ranks = 6, .seconds = 90) {
  endpoint e;
  e.meet(t);
  random_source random(config().seed);
  std::vector<std::unique_ptr<transfer>> mine;
  std::vector<bool> incoming;
  const auto n = static_cast<std::uint64_t>(t.size());
  for (std::size_t i = 0; i < 3000; ++i) {
    const int from = static_cast<int>(random.below(n)), to = static_cast<int>(random.below(n));
    const std::size_t size = random.below(std::size_t{1} << (1 + random.below(18)));
    for (const bool receive : {true, false}) {
      if ((receive ? to : from) != t.rank())
        continue;
      auto x = std::make_unique<transfer>();
      x->id = id(from, to, i);
      x->buffer = receive ? std::vector<std::byte>(size) : payload(size, x->id);
      if (receive)
        e.trecv(x->buffer, x->id, x->o);
      else
        e.tsend(to, x->buffer, x->id, x->o);
      mine.push_back(std::move(x));
      incoming.push_back(receive);
    }
  }
  for (std::size_t i = 0; i < mine.size(); ++i) {
    e.tx().wait_ok(mine[i]->o, fmt::format("transfer {:#x}", mine[i]->id), config().limit(30));
    if (incoming[i])
      verify(mine[i]->buffer, mine[i]->id);
  }
  t.barrier();
}

} // namespace fabtest
