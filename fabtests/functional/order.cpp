// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// FI_ORDER_SAS: messages from one sender match, and are seen, in the order in which they were sent.
#include "common/case.h"
#include "common/forms.h"
#include "common/settings.h"

#include <algorithm>

namespace fabtest {

namespace {

// Sizes that make every provider switch between its protocols again and again.
std::size_t mixed_size(random_source &random) {
  switch (random.below(6)) {
  case 0:
    return random.below(3);
  case 1:
    return random.below(256);
  case 2:
    return random.below(5'000);
  case 3:
    return random.below(20'000);
  case 4:
    return random.below(100'000);
  default:
    return random.one_in(4) ? random.below(600'000) : random.below(64);
  }
}

std::vector<std::size_t> mixed_sizes(std::size_t count, std::uint64_t salt) {
  random_source random(config().seed * 31 + salt);
  std::vector<std::size_t> sizes(count);
  for (auto &s : sizes)
    s = mixed_size(random);
  return sizes;
}

void send_all(endpoint &e, kind k, int to, const std::vector<std::size_t> &sizes) {
  std::vector<op> ops(sizes.size());
  std::vector<std::vector<std::byte>> buffers;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    buffers.push_back(payload(sizes[i], i));
    const bool inject = sizes[i] <= e.info().tx_attr->inject_size && i % 3 == 0;
    post_send(e, k, inject ? send_form::inject : send_form::plain, to, buffers[i], {.tag = 1},
              ops[i]);
  }
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] > e.info().tx_attr->inject_size || i % 3 != 0)
      e.tx().wait_ok(ops[i], fmt::format("send {} of {} bytes", i, sizes[i]));
}

// All receives have the same tag and room for any message: only order tells which is which.
void receive_all(endpoint &e, kind k, const std::vector<std::size_t> &sizes, std::size_t window,
                 fi_addr_t from = FI_ADDR_UNSPEC) {
  const std::size_t room = *std::ranges::max_element(sizes);
  std::vector<op> ops(window);
  std::vector<std::vector<std::byte>> buffers(window, std::vector<std::byte>(room));
  const auto post = [&](std::size_t i) {
    post_recv(e, k, recv_form::plain, buffers[i % window], {.tag = 1, .from = from},
              ops[i % window]);
  };
  for (std::size_t i = 0; i < std::min(window, sizes.size()); ++i)
    post(i);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const completion c = e.rx().wait_ok(ops[i % window], fmt::format("receive {}", i));
    CHECK_EQ(c.len, sizes[i]);
    verify(std::span(buffers[i % window]).first(c.len), i);
    if (i + window < sizes.size())
      post(i + window);
  }
}

void in_order(team &t, kind k, std::size_t window) {
  endpoint e;
  e.meet(t);
  const auto sizes = mixed_sizes(400, window);
  if (t.first())
    send_all(e, k, 1, sizes);
  else
    receive_all(e, k, sizes, window);
  t.barrier();
}

} // namespace

CASE(msg_receives_posted_early) { in_order(t, kind::msg, 64); }
CASE(msg_one_receive_at_a_time) { in_order(t, kind::msg, 1); }
CASE(tagged_receives_posted_early) { in_order(t, kind::tagged, 64); }
CASE(tagged_one_receive_at_a_time) { in_order(t, kind::tagged, 1); }

// Nothing is received until all is sent (as far as sends complete without a receive).
CASE(all_unexpected) {
  endpoint e;
  e.meet(t);
  const auto sizes = mixed_sizes(150, 7);
  if (t.first()) {
    std::vector<op> ops(sizes.size());
    std::vector<std::vector<std::byte>> buffers;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      buffers.push_back(payload(sizes[i], i));
      e.tsend(1, buffers[i], 1, ops[i]);
    }
    t.barrier();
    for (auto &o : ops)
      e.tx().wait_ok(o, "send");
  } else {
    t.barrier();
    receive_all(e, kind::tagged, sizes, 16);
  }
  t.barrier();
}

// Each way by itself is ordered while both are busy.
CASE(both_directions) {
  endpoint e({.caps = FI_MSG | FI_TAGGED, .separate_queues = true});
  e.meet(t);
  const auto sizes = mixed_sizes(200, 3);
  std::vector<op> sends(sizes.size());
  std::vector<std::vector<std::byte>> out;
  std::size_t next = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    out.push_back(payload(sizes[i], i));
    e.tsend(t.other(), out[i], 1, sends[i]);
    if (i % 8 != 7)
      continue;
    for (; next + 4 < i; ++next) {
      op o;
      std::vector<std::byte> into(600'000);
      e.trecv(into, 1, o);
      const completion c = e.rx().wait_ok(o, fmt::format("receive {}", next));
      CHECK_EQ(c.len, sizes[next]);
      verify(std::span(into).first(c.len), next);
    }
  }
  std::vector<std::size_t> rest(sizes.begin() + static_cast<std::ptrdiff_t>(next), sizes.end());
  for (std::size_t i = 0; i < rest.size(); ++i) {
    op o;
    std::vector<std::byte> into(600'000);
    e.trecv(into, 1, o);
    const completion c = e.rx().wait_ok(o, fmt::format("receive {}", next + i));
    CHECK_EQ(c.len, rest[i]);
    verify(std::span(into).first(c.len), next + i);
  }
  for (auto &o : sends)
    e.tx().wait_ok(o, "send");
  t.barrier();
}

// Messages and tagged messages each keep their order though they travel among one another.
CASE(msg_among_tagged) {
  endpoint e;
  e.meet(t);
  const auto sizes = mixed_sizes(120, 11);
  const auto of = [](std::size_t i) { return i % 2 ? kind::tagged : kind::msg; };
  std::vector<op> ops(sizes.size());
  std::vector<std::vector<std::byte>> buffers(sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (t.first()) {
      buffers[i] = payload(sizes[i], i);
      post_send(e, of(i), send_form::plain, 1, buffers[i], {.tag = 1}, ops[i]);
    } else {
      buffers[i].resize(600'000);
      post_recv(e, of(i), recv_form::plain, buffers[i], {.tag = 1}, ops[i]);
    }
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const completion c = e.tx().wait_ok(ops[i], fmt::format("message {}", i));
    if (t.first())
      continue;
    CHECK_EQ(c.len, sizes[i]);
    verify(std::span(buffers[i]).first(c.len), i);
  }
  t.barrier();
}

// FI_MORE only says that more follows; the last without it lets all of them go.
CASE(more_then_the_last) {
  endpoint e;
  e.meet(t);
  constexpr std::size_t rounds = 30, burst = 16;
  for (std::size_t r = 0; r < rounds; ++r) {
    std::vector<op> ops(burst);
    std::vector<std::vector<std::byte>> buffers;
    for (std::size_t i = 0; i < burst; ++i) {
      buffers.push_back(payload(i * 13, r * burst + i));
      const iovec v{buffers[i].data(), buffers[i].size()};
      const std::uint64_t flags = FI_COMPLETION | (i + 1 < burst ? FI_MORE : 0);
      if (t.first())
        post_sendmsg(e, kind::tagged, {&v, 1}, e.at(1), {.tag = 2}, ops[i], flags);
      else
        post_recvmsg(e, kind::tagged, {&v, 1}, {.tag = 2}, ops[i], flags);
    }
    for (std::size_t i = 0; i < burst; ++i) {
      const completion c = e.tx().wait_ok(ops[i], fmt::format("message {} of a burst", i));
      if (!t.first()) {
        CHECK_EQ(c.len, i * 13);
        verify(buffers[i], r * burst + i);
      }
    }
  }
  t.barrier();
}

// FI_FENCE: when the fenced send has completed, those before it have.
CASE(fence) {
  endpoint e({.caps = FI_MSG | FI_TAGGED | FI_FENCE}, "FI_FENCE");
  e.meet(t);
  const auto large = payload(1 << 20, 1), small = payload(8, 2);
  for (int round = 0; round < 20; ++round) {
    op before, fenced;
    if (t.first()) {
      e.tsend(1, large, 1, before);
      const iovec v{const_cast<std::byte *>(small.data()), small.size()};
      post_sendmsg(e, kind::tagged, {&v, 1}, e.at(1), {.tag = 2}, fenced, FI_COMPLETION | FI_FENCE);
      completion first = e.tx().next("one of the two sends");
      CHECK(first.is(before));
      completion second = e.tx().next("the fenced send");
      CHECK(second.is(fenced));
      CHECK_EQ(first.err, 0);
      CHECK_EQ(second.err, 0);
    } else {
      std::vector<std::byte> a(1 << 20), b(8);
      e.trecv(b, 2, fenced);
      e.trecv(a, 1, before);
      e.rx().wait_ok(before, "message before the fence");
      e.rx().wait_ok(fenced, "fenced message");
      verify(a, 1);
      verify(b, 2);
    }
  }
  t.barrier();
}

} // namespace fabtest
