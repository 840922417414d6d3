// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Connections on networks that lose, double, delay and corrupt, and with parties that die: each
// that is asked for comes up or is refused, once, at either end; what comes up ends once; messages
// arrive in order, whole and once; after the end nothing arrives.
#include "sim/common/case.h"
#include "sim/common/exchange.h"
#include "sim/common/world.h"

#include "sim/common/check.h"
#include "sim/common/payload.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace {

using namespace sim;

constexpr Faults all_kinds{.loss = 0.05, .duplicate = 0.05, .reorder = 0.05, .corrupt = 0.02};

// The longest that an end takes: a silent peer's, or that of who waits for one.
constexpr Duration end_limit = error_limit + 10s;

// Untagged messages from one end to the other, whose data tell their number. The i-th receive takes
// the i-th message.
class Stream {
public:
  Stream(World &world, NodeId from, NodeId to) : world_(world), from_(from), to_(to) {}

  // False: there is no connection to send by, or no room.
  bool send(std::size_t size, std::uint64_t flags = 0) {
    Op &op = world_.new_op(from_, bytes_of(size, number(sent_.size())));
    const ssize_t rc = world_.post_send(op, 0, {.data = sent_.size(), .flags = flags});
    if (rc == -FI_ENOTCONN || rc == -FI_EAGAIN)
      return false;
    CHECK_EQ(rc, 0);
    sent_.push_back({&op, flags});
    return true;
  }

  bool receive() {
    Op &op = world_.new_op(to_, std::vector(largest, filler));
    const ssize_t rc = world_.post_receive(op, {});
    if (rc == -FI_ENOTCONN || rc == -FI_EAGAIN)
      return false;
    CHECK_EQ(rc, 0);
    received_.push_back(&op);
    return true;
  }

  // A few receives wait as long as there are messages to come.
  void receive_ahead() {
    while (received_.size() < sent_.size() + 2 && receive()) {
    }
  }
  // What has come before the end can be received after it.
  void receive_rest() {
    while (receive()) {
    }
  }

  std::size_t arrived() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(received_, [](const Op *op) { return op->ok(); }));
  }
  std::size_t sent() const { return sent_.size(); }

  // Once the connection has ended at that end. Who has ended it itself forgets what comes
  // afterwards, so that some may be missing; else only a receive that fails takes a message away.
  void check_receiver(bool has_left) const {
    std::uint64_t next = 0;
    for (std::size_t i = 0; i < received_.size(); ++i) {
      const Op &op = *received_[i];
      CHECK_EQ(op.done.size(), 1u);
      if (!op.ok())
        continue;
      const Done &d = op.done[0];
      CHECK(d.data >= next && d.data < sent_.size());
      if (!has_left)
        CHECK_EQ(d.data, i);
      next = d.data + 1;
      CHECK_EQ(d.len, sent_[d.data].op->memory.size());
      verify(std::span(op.memory).first(d.len), number(d.data));
    }
  }
  void check_sender() const {
    for (const Sent &s : sent_)
      CHECK_EQ(s.op->done.size(), 1u);
  }
  // Nobody has been told that something has arrived that has not.
  void check_promises() const {
    for (std::size_t i = 0; i < sent_.size(); ++i)
      if (sent_[i].op->ok() && sent_[i].flags & (FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE))
        CHECK(i < received_.size() && received_[i]->ok());
  }
  void check_complete() const {
    CHECK_EQ(arrived(), sent_.size());
    for (const Sent &s : sent_)
      CHECK_EQ(s.op->error(), 0);
  }

  static constexpr std::size_t largest = 60'000;

private:
  struct Sent {
    Op *op;
    std::uint64_t flags;
  };
  std::uint64_t number(std::size_t i) const { return std::uint64_t{from_} << 32 | i; }

  World &world_;
  const NodeId from_, to_;
  std::vector<Sent> sent_;
  std::vector<Op *> received_;
};

// Who asks for a connection, and who is to answer.
struct Pair {
  Pair(World &world, NodeId c, NodeId a)
      : caller(c), answerer(a), there(world, c, a), back(world, a, c) {}

  NodeId caller, answerer;
  Stream there, back;
  bool answered = false; // the answerer has accepted
  bool left[2] = {};     // the caller, the answerer: it has ended the connection, or itself
  bool died = false;     // one of them, or the listener before the answer

  NodeId end(unsigned i) const { return i == 0 ? caller : answerer; }
};

std::vector<std::byte> data_of(NodeId id) { return bytes_of(id % 257, id); }

// A listener, and pairs that want to be connected by it.
class Exchange {
public:
  Exchange(World &world, unsigned pairs) : world_(world), listener_(world.add(Role::listener)) {
    for (unsigned i = 0; i < pairs; ++i) {
      const NodeId caller = world.add(Role::connection), answerer = world.add(Role::connection);
      pairs_.emplace_back(world, caller, answerer);
    }
    world.after_turn = [this](NodeId id) {
      note_end(id);
      if (after_turn)
        after_turn();
    };
  }
  ~Exchange() { world_.after_turn = nullptr; }

  NodeId listener() const { return listener_; }
  std::deque<Pair> &pairs() { return pairs_; }
  std::function<void()> after_turn;

  const ConnectionLog &log(NodeId id) { return world_.node(id).connection(); }
  bool open(NodeId id) { return world_.alive(id) && log(id).open(); }
  bool over(NodeId id) { return world_.alive(id) && log(id).over(); }
  bool open(const Pair &p) { return open(p.caller) && open(p.answerer); }

  void call(Pair &p) {
    CHECK_EQ(world_.connect(p.caller, listener_, data_of(p.caller)), 0);
    asked_.push_back(p.caller);
  }
  void call_all() {
    for (Pair &p : pairs_)
      call(p);
  }

  // Every request that waits, or a share of them.
  void answer(double accept = 1, double reject = 0) {
    if (!world_.alive(listener_))
      return;
    std::erase_if(world_.node(listener_).requests().waiting, [&](const RequestLog::Asked &asked) {
      Pair &p = pair_of(asked);
      const double what = static_cast<double>(world_.random().below(1000)) / 1000;
      if (what < reject) {
        world_.reject(listener_, asked.request.number, data_of(p.answerer));
        return true;
      }
      if (what >= reject + accept || !world_.alive(p.answerer))
        return false;
      CHECK(!p.answered);
      CHECK_EQ(world_.accept(p.answerer, asked.request, data_of(p.answerer)), 0);
      p.answered = true;
      asked_.push_back(p.answerer);
      world_.node(listener_).forget(asked.request.number);
      return true;
    });
  }

  void leave(Pair &p, unsigned end) {
    if (open(p.end(end)) && !std::exchange(p.left[end], true))
      CHECK_EQ(world_.shutdown(p.end(end)), 0);
  }
  void close(Pair &p, unsigned end) {
    p.left[end] = p.died = true;
    world_.close(p.end(end));
  }
  void kill(NodeId id) {
    world_.kill(id);
    for (Pair &p : pairs_)
      p.died |= p.caller == id || p.answerer == id || (id == listener_ && !p.answered);
  }

  // Time passes, and receives are posted.
  void run(Duration d, Duration step = 100us) {
    for (const Time end = world_.now() + d; world_.now() < end;) {
      for (Pair &p : pairs_)
        for (Stream *s : {&p.there, &p.back})
          if (open(s == &p.there ? p.answerer : p.caller))
            s->receive_ahead();
      world_.run_for(std::min(step, end - world_.now()));
    }
  }
  void run_until(const std::function<bool()> &until, Duration limit, std::string_view what) {
    for (const Time end = world_.now() + limit; !until();) {
      if (world_.now() >= end)
        FAIL("not within {} ms: {}\n{}", limit / 1ms, what, world_.dump());
      run(500us);
      if (end - world_.now() < limit - 100ms)
        run(50ms, 10ms); // it takes its time
    }
  }

  // All that is there comes to its end, and was as it should be.
  void finish() {
    for (Pair &p : pairs_) {
      leave(p, 0);
      if (world_.random().chance(0.3))
        leave(p, 1);
    }
    if (world_.alive(listener_))
      world_.close(listener_); // who still waits for an answer is refused
    run_until(
        [&] {
          // What comes up meanwhile is ended as well.
          for (Pair &p : pairs_)
            for (const unsigned end : {0, 1})
              leave(p, end);
          return std::ranges::all_of(asked_,
                                     [&](NodeId id) { return !world_.alive(id) || over(id); });
        },
        end_limit, "every connection ends");
    for (Pair &p : pairs_)
      for (Stream *s : {&p.there, &p.back})
        if (over(s == &p.there ? p.answerer : p.caller))
          s->receive_rest();
    world_.run_for(1s); // nothing more is told
    for (Pair &p : pairs_)
      check(p);
    CHECK_EQ(world_.network().counters().misuse, 0u);
  }

private:
  Pair &pair_of(const RequestLog::Asked &asked) {
    const auto p = std::ranges::find_if(pairs_, [&](const Pair &pair) {
      return World::address_of(pair.caller) == asked.request.caller;
    });
    CHECK(p != pairs_.end());
    CHECK(asked.data == data_of(p->caller));
    return *p;
  }

  // Nothing arrives at an end that has been told that it is over.
  void note_end(NodeId id) {
    if (!log(id).over())
      return;
    const auto received = world_.node(id).endpoint().statistics().messages_received;
    const auto [at, first] = received_at_end_.try_emplace(id, received);
    if (!first)
      CHECK_EQ(received, at->second);
  }

  void check(const Pair &p) {
    const bool caller = over(p.caller), answerer = over(p.answerer);
    if (caller) {
      p.there.check_sender();
      p.back.check_receiver(p.left[0]);
      if (log(p.caller).up())
        CHECK(p.answered && log(p.caller).data() == data_of(p.answerer));
    }
    if (answerer) {
      p.back.check_sender();
      p.there.check_receiver(p.left[1]);
    }
    if (!caller || !answerer)
      return;
    if (p.answered && !p.died)
      CHECK_EQ(log(p.caller).up(), log(p.answerer).up());
    if (!p.left[1])
      p.there.check_promises();
    if (!p.left[0])
      p.back.check_promises();
    if (!p.died && p.left[0] && !p.left[1])
      p.there.check_complete();
    if (!p.died && p.left[1] && !p.left[0])
      p.back.check_complete();
  }

  World &world_;
  const NodeId listener_;
  std::deque<Pair> pairs_;
  std::vector<NodeId> asked_; // endpoints that are to be told what becomes of their connection
  std::map<NodeId, std::uint64_t> received_at_end_;
};

Setup setup_of(std::uint64_t seed) {
  Setup setup = setup_for(seed % 3 == 0);
  setup.cq_size = 4096;
  setup.backlog = 64;
  return setup;
}

void set_faults(World &world, std::uint64_t seed) {
  if (seed % 3 != 0)
    world.network().set_faults(all_kinds);
}

std::uint64_t random_flags(Random &random) {
  static constexpr std::uint64_t flags[] = {0, 0, FI_DELIVERY_COMPLETE, FI_MATCH_COMPLETE,
                                            FI_TRANSMIT_COMPLETE};
  return flags[random.below(std::size(flags))];
}

// Connections come, carry messages both ways, are rejected, ended, closed and killed at random.
const Case lives{
    "connections__live_and_end_at_random", 15, [](std::uint64_t seed) {
      World world(seed, setup_of(seed));
      set_faults(world, seed);
      Exchange all(world, 8);
      auto &random = world.random();
      for (Pair &p : all.pairs())
        if (random.chance(0.8))
          all.call(p);
      for (unsigned round = 0; round < 200; ++round) {
        all.answer(0.3, 0.03);
        for (Pair &p : all.pairs())
          for (Stream *s : {&p.there, &p.back})
            if (all.open(s == &p.there ? p.caller : p.answerer) && random.chance(0.5))
              s->send(random.below(random.chance(0.1) ? Stream::largest : 3000),
                      random_flags(random));
        all.run(random.up_to(300us));
        Pair &p = all.pairs()[random.below(all.pairs().size())];
        const auto end = static_cast<unsigned>(random.below(2));
        if (random.chance(0.02))
          all.leave(p, end);
        else if (random.chance(0.005) && world.alive(p.end(end)))
          all.close(p, end);
        else if (random.chance(0.005) && world.alive(p.end(end)))
          all.kill(p.end(end));
      }
      std::size_t sent = 0;
      all.finish();
      for (const Pair &p : all.pairs())
        sent += p.there.sent() + p.back.sent();
      CHECK(sent > 100);
      note(fmt::format("{} messages, at the end after {} ms", sent, world.since_start() / 1ms));
    }};

// The conversation up to the datagram after which somebody dies. False: it has fewer.
bool dies_after(std::uint64_t seed, bool lossless, NodeId victim, unsigned datagrams) {
  Setup setup = setup_for(lossless);
  setup.config.session.peer_timeout = setup.config.connect_timeout = 1s;
  World world(seed, setup);
  Exchange all(world, 1);
  Pair &p = all.pairs()[0];
  unsigned seen = 0;
  world.set_hook([&](const dpdkx::link::sim::Departure &) {
    ++seen;
    return dpdkx::link::sim::Verdict{};
  });
  bool dead = false;
  const auto die = [&] {
    if (seen >= datagrams && !std::exchange(dead, true))
      all.kill(victim);
  };
  all.after_turn = die;
  all.call(p);
  all.run_until(
      [&] {
        all.answer();
        if (all.open(p.caller) && p.there.sent() == 0)
          for (const std::size_t size : {100, 5'000, 40'000})
            p.there.send(size, FI_DELIVERY_COMPLETE);
        if (all.open(p.answerer) && p.back.sent() == 0)
          p.back.send(3'000);
        if (p.there.sent() && p.there.arrived() == 3 && p.back.arrived() == 1)
          all.leave(p, 0);
        return p.left[0] || dead;
      },
      end_limit, "the conversation goes on, or somebody dies");
  all.run(10ms);
  if (dead && victim == all.listener()) // its part may have been over
    p.died = !p.answered;
  all.finish();
  world.set_hook(nullptr);
  return dead;
}

void dies_at_each_step(std::uint64_t seed, bool lossless) {
  unsigned steps = 0;
  for (const NodeId victim : {0, 1, 2}) {
    unsigned datagrams = 1;
    while (dies_after(seed, lossless, victim, datagrams))
      ++datagrams;
    CHECK(datagrams > 8);
    steps += datagrams - 1;
  }
  note(fmt::format("{} steps", steps));
}

const Case each_step{"connections__a_party_dies_at_each_step", 1,
                     [](std::uint64_t seed) { dies_at_each_step(seed, false); }};
const Case each_step_lossless{"connections__a_party_dies_at_each_step_on_a_lossless_link", 1,
                              [](std::uint64_t seed) { dies_at_each_step(seed, true); }};

// Each end has much for the other when both end the connection.
const Case both_at_once{
    "connections__both_ends_leave_at_once", 30, [](std::uint64_t seed) {
      World world(seed, setup_of(seed));
      set_faults(world, seed);
      Exchange all(world, 1);
      Pair &p = all.pairs()[0];
      all.call(p);
      all.run_until([&] { return all.answer(), all.open(p); }, 5s, "a connection");
      for (unsigned i = 0; i < 10; ++i)
        for (Stream *s : {&p.there, &p.back})
          s->send(world.random().below(Stream::largest), random_flags(world.random()));
      world.run_for(world.random().up_to(100us));
      const Time before = world.now();
      all.leave(p, 0);
      world.run_for(world.random().up_to(20us));
      all.leave(p, 1);
      all.run_until([&] { return all.log(p.caller).ended() && all.log(p.answerer).ended(); },
                    world.setup.config.linger, "an end that waits for nobody");
      note(fmt::format("{} us", (world.now() - before) / 1us));
      all.finish();
    }};

// More ask than may wait: they are refused, the others are served, and whoever asks later too.
const Case overflow{
    "connections__more_ask_than_may_wait", 6, [](std::uint64_t seed) {
      Setup setup = setup_of(seed);
      setup.backlog = 5;
      World world(seed, setup);
      set_faults(world, seed);
      constexpr unsigned pairs = 20;
      Exchange all(world, pairs);
      all.call_all();
      const auto refused = [&] {
        return std::ranges::count_if(all.pairs(),
                                     [&](const Pair &p) { return all.log(p.caller).refused(); });
      };
      all.run_until([&] { return refused() == pairs - 5; }, 5s, "the others are refused");
      all.run(1s, 100ms);
      CHECK_EQ(refused(), pairs - 5);
      for (const Pair &p : all.pairs())
        if (all.log(p.caller).refused())
          CHECK_EQ(all.log(p.caller).error(), ECONNREFUSED);
      all.answer();
      const auto up = [&] {
        return std::ranges::count_if(all.pairs(), [&](const Pair &p) { return all.open(p); });
      };
      all.run_until([&] { return up() == 5; }, 5s, "those that waited come up");
      CHECK_EQ(world.node(all.listener()).requests().count, 5u);
      for (Pair &p : all.pairs())
        if (all.open(p))
          p.there.send(1000), p.back.send(1000);
      all.run(1s, 10ms);
      all.finish();
    }};

// Callers and answerers side by side, all of them busy.
const Case many{"connections__many_side_by_side", 3, [](std::uint64_t seed) {
                  Setup setup = setup_of(seed);
                  setup.backlog = 100;
                  World world(seed, setup);
                  set_faults(world, seed);
                  Exchange all(world, 100);
                  all.call_all();
                  all.run_until(
                      [&] {
                        all.answer();
                        return std::ranges::all_of(all.pairs(),
                                                   [&](const Pair &p) { return all.open(p); });
                      },
                      10s, "all are connected");
                  for (Pair &p : all.pairs())
                    for (unsigned i = 0; i < 5; ++i)
                      for (Stream *s : {&p.there, &p.back})
                        s->send(world.random().below(5000));
                  all.finish();
                }};

// Of a cable that is out for less than the limit, nobody hears; of a longer one both do.
const Case unplugged{"connections__cable_out", 4, [](std::uint64_t seed) {
                       const bool longer = seed % 2;
                       World world(seed, setup_for(false));
                       Exchange all(world, 1);
                       Pair &p = all.pairs()[0];
                       all.call(p);
                       all.run_until([&] { return all.answer(), all.open(p); }, 5s, "a connection");
                       const auto load = [&] {
                         for (unsigned i = 0; i < 5; ++i)
                           for (Stream *s : {&p.there, &p.back})
                             CHECK(s->send(world.random().below(Stream::largest)));
                       };
                       load();
                       world.run_for(world.random().up_to(100us));
                       world.network().set_down(World::address_of(p.answerer), true);
                       p.died = longer;
                       all.run(longer ? error_limit : 3s, 10ms);
                       CHECK_EQ(all.log(p.caller).ended(), longer);
                       CHECK_EQ(all.log(p.answerer).ended(), longer);
                       world.network().set_down(World::address_of(p.answerer), false);
                       if (!longer)
                         load();
                       all.run(1s, 10ms);
                       all.finish();
                       if (!longer)
                         p.there.check_complete();
                     }};

} // namespace
