// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Everybody with everybody, round after round: messages of all sizes that are seen once and in
// order, and additions to peers' memory that are done once. Whoever starts it may keep it going
// while things happen to what carries it (FABTESTS_CONTROL=IN,OUT: two descriptors): for an 'r'
// read from IN the ranks complete a round that begins after it, and write a line to OUT; 's' ends
// it. Without, it is so many rounds.
#include "common/case.h"
#include "common/exposed.h"
#include "common/settings.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>

#include <poll.h>
#include <rdma/fi_atomic.h>
#include <unistd.h>

namespace fabtest {

namespace {

constexpr std::uint64_t rounds_without_control = 30;
constexpr std::size_t messages = 6, largest = 150'000;
constexpr std::uint64_t going_on_tag = 1u << 20; // else tags are senders' ranks

// What rank 0 is told from outside.
class control {
public:
  control() {
    const char *const text = std::getenv("FABTESTS_CONTROL");
    given_ = text != nullptr;
    if (given_ && std::sscanf(text, "%d,%d", &in_, &out_) != 2)
      fail(fmt::format("FABTESTS_CONTROL: '{}'; allowed: IN,OUT, two descriptors", text));
  }

  // Between rounds: whether there is another.
  bool go_on(std::uint64_t rounds) {
    if (!given_)
      return rounds < rounds_without_control;
    if (asked_ && write(out_, "round\n", 6) != 6)
      fail("FABTESTS_CONTROL: OUT takes nothing");
    asked_ = false;
    pollfd p{in_, POLLIN, 0};
    char command = 0;
    if (poll(&p, 1, 0) <= 0)
      return true;
    if (read(in_, &command, 1) != 1) // whoever started it is gone
      return false;
    asked_ = command == 'r';
    return command != 's';
  }

private:
  bool given_ = false, asked_ = false;
  int in_ = -1, out_ = -1;
};

std::uint64_t message_id(std::uint64_t round, int from, int to, std::size_t i) {
  return round << 24 | static_cast<std::uint64_t>(from) << 16 |
         static_cast<std::uint64_t>(to) << 8 | i;
}

std::size_t size_of(std::uint64_t id) {
  random_source random(config().seed * 31 + id);
  return random.one_in(4) ? random.below(largest) : random.below(3'000);
}

struct message {
  op o;
  std::vector<std::byte> bytes;
  std::uint64_t id = 0;
};
using message_list = std::vector<std::unique_ptr<message>>;

message &add(message_list &list, std::uint64_t id, std::vector<std::byte> bytes) {
  list.push_back(std::make_unique<message>());
  list.back()->bytes = std::move(bytes);
  list.back()->id = id;
  return *list.back();
}

void exchange_messages(team &t, endpoint &e, std::uint64_t round) {
  message_list in, out;
  for (int peer = 0; peer < t.size(); ++peer)
    for (std::size_t i = 0; peer != t.rank() && i < messages; ++i) {
      // Room for any: that the right one arrives, order alone sees to.
      message &m = add(in, message_id(round, peer, t.rank(), i), std::vector<std::byte>(largest));
      e.trecv(m.bytes, static_cast<std::uint64_t>(peer), m.o);
    }
  for (int peer = 0; peer < t.size(); ++peer)
    for (std::size_t i = 0; peer != t.rank() && i < messages; ++i) {
      const std::uint64_t id = message_id(round, t.rank(), peer, i);
      message &m = add(out, id, payload(size_of(id), id));
      e.tsend(peer, m.bytes, static_cast<std::uint64_t>(t.rank()), m.o);
    }
  for (const auto &m : in) {
    const completion c = e.rx().wait_ok(m->o, fmt::format("receive in round {}", round));
    CHECK_EQ(c.len, size_of(m->id));
    verify(std::span(m->bytes).first(c.len), m->id);
  }
  for (const auto &m : out)
    e.tx().wait_ok(m->o, fmt::format("send in round {}", round));
}

// Each has a number of its own in everybody's memory, which it alone counts up.
void count_up(team &t, endpoint &e, exposed &memory, std::uint64_t round) {
  for (int peer = 0; peer < t.size(); ++peer) {
    if (peer == t.rank())
      continue;
    const auto at = memory.at(peer, static_cast<std::size_t>(t.rank()) * 8, 8);
    const std::uint64_t one = 1;
    std::uint64_t before = ~0ull;
    op o;
    POST(e, fi_fetch_atomic(e.ep(), &one, 1, nullptr, &before, nullptr, e.at(peer), at.addr, at.key,
                            FI_UINT64, FI_SUM, &o));
    e.tx().wait_ok(o, fmt::format("addition in round {}", round));
    CHECK_EQ(before, round);
  }
}

// Rank 0 decides.
bool another_round(team &t, endpoint &e, control &from_outside, std::uint64_t round) {
  std::byte go{};
  if (t.first()) {
    go = std::byte{from_outside.go_on(round)};
    for (int peer = 1; peer < t.size(); ++peer) {
      op o;
      e.tsend(peer, {&go, 1}, going_on_tag, o);
      e.tx().wait_ok(o, "word to go on");
    }
  } else {
    op o;
    e.trecv({&go, 1}, going_on_tag, o);
    e.rx().wait_ok(o, "word to go on");
  }
  return go == std::byte{1};
}

void run_traffic(team &t) {
  control from_outside;
  endpoint e({.caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC});
  e.meet(t);
  exposed memory(e, static_cast<std::size_t>(t.size()) * 8);
  memory.meet(t);
  for (std::uint64_t round = 0; another_round(t, e, from_outside, round); ++round) {
    exchange_messages(t, e, round);
    count_up(t, e, memory, round);
  }
  t.barrier();
}

} // namespace

CASE(two, .seconds = 300) { run_traffic(t); }

CASE(four, .ranks = 4, .seconds = 300) { run_traffic(t); }

} // namespace fabtest
