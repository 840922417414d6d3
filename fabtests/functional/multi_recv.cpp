// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// FI_MULTI_RECV: messages packed into one buffer, which is released exactly once.
#include "common/case.h"
#include "common/forms.h"
#include "common/settings.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

namespace fabtest {

namespace {

const request multi{.caps = FI_MSG | FI_TAGGED | FI_MULTI_RECV};
constexpr std::string_view what_is_optional = "FI_MULTI_RECV";

void set_minimum(endpoint &e, std::size_t minimum) {
  CHECK_OK(
      fi_setopt(&e.ep()->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &minimum, sizeof minimum));
}

struct multi_buffer {
  explicit multi_buffer(std::size_t size) : space(size) {}
  guarded_buffer space;
  op context;
  std::map<std::byte *, std::size_t> messages; // what lies in it, by place
  int releases = 0;
};

struct message {
  std::span<std::byte> content;
  std::uint64_t number = 0; // as sent in its CQ data
};

// A set of buffers that are posted again as soon as they are released and looked at.
class receiver {
public:
  receiver(endpoint &e, std::size_t buffers, std::size_t size, bool repost = true)
      : e_(e), repost_(repost) {
    for (std::size_t i = 0; i < buffers; ++i) {
      buffers_.push_back(std::make_unique<multi_buffer>(size));
      post(*buffers_.back());
    }
  }

  message next() {
    repost_released();
    for (;;)
      if (auto m = step())
        return *m;
  }

  // One completion; nothing where it only released a buffer.
  std::optional<message> step() {
    const completion c = e_.rx().next("message into a multi-receive buffer");
    if (c.err != 0)
      fail(describe(c));
    const auto b = std::ranges::find_if(buffers_, [&](auto &x) { return c.is(x->context); });
    if (b == buffers_.end())
      fail("a context that was never posted");
    return take(**b, c);
  }

  [[nodiscard]] int releases() const { return releases_; }

private:
  // Not before the message that was returned last was looked at.
  void repost_released() {
    for (auto &b : buffers_)
      if (b->releases > 0 && repost_)
        post(*b);
  }

  void post(multi_buffer &b) {
    b.releases = 0;
    b.messages.clear();
    const iovec v{b.space.data(), b.space.size()};
    post_recvmsg(e_, kind::msg, {&v, 1}, {}, b.context, FI_MULTI_RECV | FI_COMPLETION);
  }

  std::optional<message> take(multi_buffer &b, const completion &c) {
    if (b.releases > 0)
      fail("a completion for a buffer that was released");
    if (c.flags & FI_MULTI_RECV) {
      ++b.releases;
      ++releases_;
    }
    if (!(c.flags & FI_RECV)) {
      if (!(c.flags & FI_MULTI_RECV))
        fail(fmt::format("a completion with flags {:#x}", c.flags));
      return std::nullopt;
    }
    CHECK((c.flags & FI_MSG) != 0);
    auto *begin = static_cast<std::byte *>(c.buf);
    if (c.len > 0)
      note_place(b, begin, c.len);
    b.space.check_guards(b.space.size());
    return message{{begin, c.len}, c.data};
  }

  static void note_place(multi_buffer &b, std::byte *begin, std::size_t len) {
    if (begin < b.space.data() || begin + len > b.space.data() + b.space.size())
      fail("a message outside its buffer");
    const auto after = b.messages.upper_bound(begin);
    if (after != b.messages.end() && begin + len > after->first)
      fail("a message overlaps the one behind it");
    if (after != b.messages.begin() && std::prev(after)->first + std::prev(after)->second > begin)
      fail("a message overlaps the one in front of it");
    b.messages.emplace(begin, len);
  }

  endpoint &e_;
  bool repost_;
  std::vector<std::unique_ptr<multi_buffer>> buffers_;
  int releases_ = 0;
};

struct numbered_sends {
  std::vector<op> ops;
  std::vector<std::vector<std::byte>> buffers;

  numbered_sends(endpoint &e, const std::vector<std::size_t> &sizes) : ops(sizes.size()) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      buffers.push_back(payload(sizes[i], i));
      post_send(e, kind::msg, send_form::data, 1, buffers[i], {.data = i}, ops[i]);
    }
  }
  void wait(endpoint &e) {
    for (auto &o : ops)
      e.tx().wait_ok(o, "send");
  }
};

void send_sizes(endpoint &e, const std::vector<std::size_t> &sizes) {
  numbered_sends(e, sizes).wait(e);
}

std::vector<std::size_t> random_sizes(std::size_t count, std::size_t below) {
  random_source random(config().seed);
  std::vector<std::size_t> sizes(count);
  for (auto &s : sizes)
    s = random.below(below);
  return sizes;
}

// Completions may come in another order than the messages (a large one takes longer); each message
// comes once, whole.
void receive_sizes(receiver &r, const std::vector<std::size_t> &sizes) {
  std::vector<bool> seen(sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const message m = r.next();
    if (m.number >= sizes.size() || seen[m.number])
      fail(fmt::format("message {} a second time", m.number));
    seen[m.number] = true;
    CHECK_EQ(m.content.size(), sizes[m.number]);
    verify(m.content, m.number);
  }
}

} // namespace

CASE(packed) {
  endpoint e(multi, what_is_optional);
  e.meet(t);
  set_minimum(e, 2048);
  const auto sizes = random_sizes(3000, 2048);
  if (t.first()) {
    t.barrier();
    send_sizes(e, sizes);
  } else {
    receiver r(e, 4, 32 * 1024);
    t.barrier();
    receive_sizes(r, sizes);
    CHECK(r.releases() > 50); // about 3 MB through buffers of 32 KiB
  }
  t.barrier();
}

// As MPICH does it: eight buffers of 1 MiB, 16 KiB at least.
CASE(eight_large_buffers) {
  endpoint e(multi, what_is_optional);
  e.meet(t);
  set_minimum(e, 16 * 1024);
  const auto sizes = random_sizes(2000, 16 * 1024);
  if (t.first()) {
    send_sizes(e, sizes);
  } else {
    receiver r(e, 8, 1 << 20);
    receive_sizes(r, sizes);
  }
  t.barrier();
}

// Messages are there before the first buffer.
CASE(unexpected) {
  endpoint e(multi, what_is_optional);
  e.meet(t);
  set_minimum(e, 1024);
  const auto sizes = random_sizes(200, 1024);
  if (t.first()) {
    numbered_sends sends(e, sizes);
    t.barrier();
    sends.wait(e);
  } else {
    t.barrier();
    receiver r(e, 2, 8 * 1024);
    receive_sizes(r, sizes);
  }
  t.barrier();
}

// Large enough for any provider's rendezvous protocol.
CASE(large_messages) {
  endpoint e(multi, what_is_optional);
  e.meet(t);
  set_minimum(e, 300'000);
  const auto sizes = random_sizes(60, 300'000);
  if (t.first()) {
    send_sizes(e, sizes);
  } else {
    receiver r(e, 3, 1'000'000);
    receive_sizes(r, sizes);
  }
  t.barrier();
}

// The buffer is released as soon as less than the minimum is left, once, and not before.
CASE(released_exactly_once) {
  endpoint e(multi, what_is_optional);
  e.meet(t);
  constexpr std::size_t minimum = 512, size = 128, capacity = 4096;
  set_minimum(e, minimum);
  if (t.first()) {
    t.barrier();
    send_sizes(e, std::vector<std::size_t>(64, size));
  } else {
    receiver r(e, 1, capacity, false);
    t.barrier();
    std::size_t used = 0, count = 0;
    while (r.releases() == 0) {
      const auto m = r.step();
      if (!m)
        continue;
      CHECK_EQ(m->content.size(), size);
      verify(m->content, count++);
      used += size;
    }
    CHECK(used <= capacity);
    CHECK(capacity - used < minimum + size);
    // The rest is unexpected until something is posted again.
    e.rx().expect_silence(config().limit(0.05));
    receiver rest(e, 1, 64 * 1024);
    for (; count < 64; ++count)
      verify(rest.next().content, count);
  }
  t.barrier();
}

CASE(empty_messages) {
  endpoint e(multi, what_is_optional);
  e.meet(t);
  set_minimum(e, 64);
  if (t.first()) {
    send_sizes(e, std::vector<std::size_t>(100, 0));
  } else {
    receiver r(e, 1, 256);
    for (int i = 0; i < 100; ++i)
      CHECK_EQ(r.next().content.size(), 0u);
    CHECK_EQ(r.releases(), 0);
  }
  t.barrier();
}

// The release is reported even where completions are suppressed.
CASE(release_despite_selective_completion) {
  request asked = multi;
  asked.bind_flags = FI_SELECTIVE_COMPLETION;
  asked.separate_queues = true;
  asked.counters = true;
  endpoint e(asked, what_is_optional);
  e.meet(t);
  set_minimum(e, 512);
  constexpr std::uint64_t count = 8;
  op o;
  const auto bytes = payload(512, 1);
  if (t.first()) {
    t.barrier();
    for (std::uint64_t i = 0; i < count; ++i)
      e.send(1, bytes, o);
    CHECK_OK(fi_cntr_wait(e.sent(), count, static_cast<int>(default_wait().count())));
  } else {
    std::vector<std::byte> space(count * 512);
    const iovec v{space.data(), space.size()};
    post_recvmsg(e, kind::msg, {&v, 1}, {}, o, FI_MULTI_RECV);
    t.barrier();
    int releases = 0;
    CHECK_OK(fi_cntr_wait(e.received(), count, static_cast<int>(default_wait().count())));
    while (releases == 0)
      releases += (e.rx().next("release").flags & FI_MULTI_RECV) != 0;
    for (std::uint64_t i = 0; i < count; ++i)
      verify(std::span(space).subspan(i * 512, 512), 1);
    e.rx().expect_silence(config().limit(0.05));
  }
  t.barrier();
}

// Tagged receives and a multi-receive buffer don't take each other's messages.
CASE(beside_tagged) {
  endpoint e(multi, what_is_optional);
  e.meet(t);
  set_minimum(e, 1024);
  constexpr std::size_t count = 100;
  std::vector<op> ops(count);
  std::vector<std::vector<std::byte>> buffers;
  if (t.first()) {
    op plain[count];
    for (std::size_t i = 0; i < count; ++i) {
      buffers.push_back(payload(1000, i));
      e.send(1, buffers[i], plain[i]);
      e.tsend(1, buffers[i], i, ops[i]);
    }
    for (std::size_t i = 0; i < count; ++i) {
      e.tx().wait_ok(plain[i], "send");
      e.tx().wait_ok(ops[i], "tagged send");
    }
  } else {
    buffers.assign(count, std::vector<std::byte>(1000));
    op space_op;
    std::vector<std::byte> space(count * 1100);
    const iovec v{space.data(), space.size()};
    post_recvmsg(e, kind::msg, {&v, 1}, {}, space_op, FI_MULTI_RECV | FI_COMPLETION);
    for (std::size_t i = 0; i < count; ++i)
      e.trecv(buffers[i], i, ops[i]);
    for (std::size_t i = 0; i < count; ++i) {
      e.rx().wait_ok(ops[i], "tagged receive");
      verify(buffers[i], i);
      const completion c = e.rx().wait_ok(space_op, "message");
      verify({static_cast<std::byte *>(c.buf), c.len}, i);
    }
  }
  t.barrier();
}

CASE(cancelled, .ranks = 1) {
  endpoint e(multi, what_is_optional);
  e.meet(t);
  set_minimum(e, 64);
  op buffer, sent;
  std::vector<std::byte> space(4096);
  const auto bytes = payload(100, 1);
  const iovec v{space.data(), space.size()};
  post_recvmsg(e, kind::msg, {&v, 1}, {}, buffer, FI_MULTI_RECV | FI_COMPLETION);
  e.send(0, bytes, sent);
  const completion c = e.rx().wait_ok(buffer, "message");
  verify({static_cast<std::byte *>(c.buf), c.len}, 1);
  e.tx().wait_ok(sent, "send");
  CHECK_OK(fi_cancel(&e.ep()->fid, &buffer));
  CHECK_EQ(e.rx().wait(buffer, "cancelled buffer").err, FI_ECANCELED);
  e.rx().expect_silence(config().limit(0.05));
}

CASE(minimum_can_be_read, .ranks = 1) {
  endpoint e(multi, what_is_optional);
  e.meet(t);
  std::size_t value = 0, size = sizeof value;
  CHECK_OK(fi_getopt(&e.ep()->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &value, &size));
  set_minimum(e, 777);
  size = sizeof value;
  CHECK_OK(fi_getopt(&e.ep()->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &value, &size));
  CHECK_EQ(value, 777u);
  CHECK_EQ(size, sizeof value);
}

} // namespace fabtest
