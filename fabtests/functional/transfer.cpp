// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "transfer.h"

#include "common/settings.h"

#include <algorithm>
#include <memory>

namespace fabtest {

namespace {

constexpr std::size_t kib = 1024, mib = 1024 * kib;

std::size_t usable(const endpoint &e, std::size_t size) {
  return std::min(size, e.info().ep_attr->max_msg_size);
}

// 0, 1, both sides of every power of two, and some odd sizes in between.
std::vector<std::size_t> interesting_sizes(const endpoint &e) {
  std::vector<std::size_t> sizes{0, 1};
  for (std::size_t p = 2; p <= 4 * mib; p *= 2)
    for (const std::size_t s : {p - 1, p, p + 1})
      sizes.push_back(s);
  random_source random(config().seed);
  for (int i = 0; i < 40; ++i)
    sizes.push_back(random.below(std::size_t{1} << (4 + i % 19)) | 1);
  for (auto &s : sizes)
    s = usable(e, s);
  return sizes;
}

envelope numbered(std::uint64_t n) { return {.tag = 0x1000 + n, .data = n}; }

} // namespace

void transfer_every_size(team &t, kind k) {
  endpoint e;
  e.meet(t);
  std::uint64_t n = 0;
  for (const std::size_t size : interesting_sizes(e)) {
    const std::uint64_t ping = 2 * n, pong = 2 * n + 1;
    const auto mine = payload(size, t.first() ? ping : pong);
    guarded_buffer into(size + 16);
    op sent, received;
    const envelope env = numbered(n++);
    post_recv(e, k, recv_form::plain, into.span(), env, received);
    if (t.first())
      post_send(e, k, send_form::plain, 1, mine, env, sent);
    const completion c = e.rx().wait_ok(received, fmt::format("receive of {} bytes", size));
    check_recv(c, k, size, env, false);
    verify(into.first(size), t.first() ? pong : ping);
    into.check_guards(size);
    if (!t.first())
      post_send(e, k, send_form::plain, 0, mine, env, sent);
    e.tx().wait_ok(sent, fmt::format("send of {} bytes", size));
  }
  t.barrier();
}

void transfer_every_form(team &t, kind k) {
  endpoint e;
  e.meet(t);
  const std::size_t inject_size = e.info().tx_attr->inject_size;
  const bool data_fits = e.info().domain_attr->cq_data_size >= 4;
  std::uint64_t n = 0;
  for (const std::size_t wanted : {std::size_t{1}, inject_size, 8 * kib, mib}) {
    const std::size_t size = usable(e, wanted);
    for (const auto sf : all_send_forms) {
      if ((is_inject(sf) && size > inject_size) || (carries_data(sf) && !data_fits))
        continue;
      for (const auto rf : all_recv_forms) {
        const envelope env = numbered(++n);
        const auto what =
            fmt::format("{} to {} of {} bytes", name_of_form(sf), name_of_form(rf), size);
        op o;
        if (t.first()) {
          const auto bytes = payload(size, n);
          post_send(e, k, sf, 1, bytes, env, o);
          if (!is_inject(sf))
            check_send_flags(e.tx().wait_ok(o, what), k);
        } else {
          guarded_buffer into(size);
          post_recv(e, k, rf, into.span(), env, o);
          check_recv(e.rx().wait_ok(o, what), k, size, env, carries_data(sf));
          verify(into.span(), n);
          into.check_guards(size);
        }
      }
    }
  }
  t.barrier();
  e.tx().expect_empty(); // injects must not have completed
}

void transfer_scattered(team &t, kind k) {
  endpoint e;
  e.meet(t);
  const std::size_t tx_limit = e.info().tx_attr->iov_limit;
  const std::size_t rx_limit = e.info().rx_attr->iov_limit;
  random_source random(config().seed);
  for (const std::size_t wanted : {std::size_t{0}, std::size_t{7}, std::size_t{250}, 3 * kib,
                                   17 * kib + 5, 200 * kib + 1, 2 * mib + 3}) {
    const std::size_t size = usable(e, wanted);
    for (std::size_t pieces = 1; pieces <= std::max(tx_limit, rx_limit); ++pieces) {
      const std::uint64_t n = size * 100 + pieces;
      const envelope env = numbered(n);
      const auto what = fmt::format("{} bytes in {} pieces", size, pieces);
      op o;
      if (t.first()) {
        const auto bytes = payload(size, n);
        const auto iov = cut(bytes, std::min(pieces, tx_limit), random);
        post_sendmsg(e, k, iov, e.at(1), env, o, FI_COMPLETION);
        e.tx().wait_ok(o, what);
      } else {
        guarded_buffer into(size);
        const auto iov = cut(into.span(), std::min(pieces, rx_limit), random);
        post_recvmsg(e, k, iov, env, o, FI_COMPLETION);
        check_recv(e.rx().wait_ok(o, what), k, size, env, false);
        verify(into.span(), n);
        into.check_guards(size);
      }
    }
  }
  t.barrier();
}

void transfer_to_oneself(team &t, kind k) {
  endpoint e;
  e.meet(t);
  std::uint64_t n = 0;
  for (const std::size_t size : {std::size_t{0}, std::size_t{64}, 20 * kib, mib}) {
    for (const bool receive_first : {true, false}) {
      const envelope env = numbered(++n);
      const auto bytes = payload(size, n);
      guarded_buffer into(size);
      op sent, received;
      if (receive_first)
        post_recv(e, k, recv_form::plain, into.span(), env, received);
      post_send(e, k, send_form::plain, 0, bytes, env, sent);
      if (!receive_first)
        post_recv(e, k, recv_form::plain, into.span(), env, received);
      check_recv(e.rx().wait_ok(received, "receive from oneself"), k, size, env, false);
      e.tx().wait_ok(sent, "send to oneself");
      verify(into.span(), n);
      into.check_guards(size);
    }
  }
}

void transfer_empty_with_data(team &t, kind k) {
  endpoint e;
  e.meet(t);
  const std::size_t width = e.info().domain_attr->cq_data_size;
  if (width == 0)
    skip("the provider carries no CQ data");
  const std::uint64_t all_bits =
      width >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * width)) - 1;
  std::uint64_t n = 0;
  for (const std::uint64_t data :
       {std::uint64_t{0}, std::uint64_t{1}, 0x123456789abcdef0ul, all_bits}) {
    for (const auto form : {send_form::data, send_form::inject_data}) {
      envelope env = numbered(++n);
      env.data = data & all_bits;
      op o;
      if (t.first()) {
        post_send(e, k, form, 1, {}, env, o);
        if (form == send_form::data)
          e.tx().wait_ok(o, "empty senddata");
      } else {
        guarded_buffer into(16);
        post_recv(e, k, recv_form::plain, into.span(), env, o);
        check_recv(e.rx().wait_ok(o, "empty message with data"), k, 0, env, true);
        into.check_guards(0);
      }
    }
    // No buffer at all at either end.
    const envelope env = numbered(++n);
    op o;
    if (t.first()) {
      post_sendmsg(e, k, {}, e.at(1), env, o, FI_COMPLETION | FI_REMOTE_CQ_DATA);
      e.tx().wait_ok(o, "sendmsg without a buffer");
    } else {
      post_recvmsg(e, k, {}, env, o, FI_COMPLETION);
      check_recv(e.rx().wait_ok(o, "recvmsg without a buffer"), k, 0, env, true);
    }
  }
  t.barrier();
}

// The buffer belongs to the caller again when inject returns, and no completion is written.
void transfer_inject_reuses_buffer(team &t, kind k) {
  endpoint e;
  e.meet(t);
  const std::size_t size = std::min<std::size_t>(e.info().tx_attr->inject_size, 4 * kib);
  if (size == 0)
    skip("the provider injects nothing");
  constexpr std::uint64_t count = 500;
  if (t.first()) {
    std::vector<std::byte> buffer(size);
    op unused;
    for (std::uint64_t n = 0; n < count; ++n) {
      const std::size_t len = n % (size + 1);
      fill(std::span(buffer).first(len), n);
      if (n % 3 == 0) {
        const iovec v{buffer.data(), len};
        post_sendmsg(e, k, {&v, 1}, e.at(1), numbered(n), unused, FI_INJECT | FI_COMPLETION);
      } else {
        post_send(e, k, send_form::inject, 1, std::span(buffer).first(len), numbered(n), unused);
      }
      std::ranges::fill(buffer, std::byte{0xee});
      if (n % 3 == 0)
        e.tx().wait_ok(unused, "sendmsg with FI_INJECT and FI_COMPLETION");
    }
    t.barrier();
    e.tx().expect_empty();
  } else {
    guarded_buffer into(size);
    for (std::uint64_t n = 0; n < count; ++n) {
      op o;
      into.clear();
      post_recv(e, k, recv_form::plain, into.span(), numbered(n), o);
      check_recv(e.rx().wait_ok(o, fmt::format("inject {}", n)), k, n % (size + 1), numbered(n),
                 false);
      verify(into.first(n % (size + 1)), n);
    }
    t.barrier();
  }
}

void transfer_many_in_flight(team &t, kind k) {
  endpoint e;
  e.meet(t);
  constexpr std::size_t count = 600;
  random_source random(config().seed); // the same choices on both sides
  std::vector<std::size_t> sizes(count);
  for (auto &s : sizes)
    s = random.below(std::size_t{1} << (1 + random.below(17)));
  std::vector<op> ops(count);
  std::vector<std::vector<std::byte>> buffers(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (t.first()) {
      buffers[i] = payload(sizes[i], i);
      post_send(e, k, send_form::plain, 1, buffers[i], numbered(i), ops[i]);
    } else {
      buffers[i].resize(sizes[i]);
      post_recv(e, k, recv_form::plain, buffers[i], numbered(i), ops[i]);
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto what = fmt::format("message {} of {} bytes", i, sizes[i]);
    if (t.first()) {
      e.tx().wait_ok(ops[i], what);
    } else {
      check_recv(e.rx().wait_ok(ops[i], what), k, sizes[i], numbered(i), false);
      verify(buffers[i], i);
    }
  }
  t.barrier();
}

// Large transfers cross: neither side may wait for the other to receive first.
void transfer_both_directions(team &t, kind k) {
  endpoint e;
  e.meet(t);
  const std::size_t size = usable(e, 4 * mib + 11);
  constexpr std::size_t count = 8;
  for (const bool receive_first : {true, false}) {
    std::vector<op> sends(count), receives(count);
    std::vector<std::vector<std::byte>> out, in(count, std::vector<std::byte>(size));
    const auto id = [](int rank, std::size_t i) {
      return static_cast<std::uint64_t>(rank) << 32 | i;
    };
    const auto post_receives = [&] {
      for (std::size_t i = 0; i < count; ++i)
        post_recv(e, k, recv_form::plain, in[i], numbered(i), receives[i]);
    };
    if (receive_first)
      post_receives();
    for (std::size_t i = 0; i < count; ++i) {
      out.push_back(payload(size, id(t.rank(), i)));
      post_send(e, k, send_form::plain, t.other(), out[i], numbered(i), sends[i]);
    }
    if (!receive_first)
      post_receives();
    for (std::size_t i = 0; i < count; ++i) {
      e.rx().wait_ok(receives[i], "large receive");
      verify(in[i], id(t.other(), i));
      e.tx().wait_ok(sends[i], "large send");
    }
    t.barrier();
  }
}

void transfer_huge(team &t, kind k) {
  endpoint e;
  e.meet(t);
  constexpr std::size_t size = (std::size_t{4} << 30) + 4097;
  if (e.info().ep_attr->max_msg_size < size)
    skip("the provider's max_msg_size is below 4 GiB");
  op o;
  const auto limit = config().limit(300);
  std::vector<std::byte> buffer(size);
  if (t.first()) {
    fill(buffer, 7);
    post_send(e, k, send_form::plain, 1, buffer, numbered(1), o);
    e.tx().wait_ok(o, "huge send", limit);
  } else {
    post_recv(e, k, recv_form::plain, buffer, numbered(1), o);
    check_recv(e.rx().wait_ok(o, "huge receive", limit), k, size, numbered(1), false);
    verify(buffer, 7);
  }
  t.barrier();
}

} // namespace fabtest
