// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Several threads on each endpoint, over one simulated network, while another
// one moves the time. For ThreadSanitizer above all: here nothing is
// reproducible but the messages.
#include "sim/common/case.h"
#include "sim/common/node.h"
#include "sim/common/world.h"

#include "sim/common/check.h"
#include "sim/common/payload.h"

#include <array>
#include <atomic>
#include <mutex>
#include <thread>

namespace {

using namespace sim;
namespace op = dpdkx::op;

constexpr NodeId nodes = 3;
constexpr unsigned threads_a_node = 2;
constexpr unsigned messages = 300; // of each thread
constexpr std::size_t largest = 20'000;

struct Shared {
  std::atomic<unsigned> received{0};
  std::array<std::atomic<unsigned>, nodes> turns{};
  std::atomic<unsigned> epoch{0};    // how often the time has moved
  std::atomic<unsigned> finished{0}; // workers that have nothing left to wait for
  std::atomic<bool> failed{false};

  void move_on() {
    ++epoch;
    epoch.notify_all();
  }
};

// One application thread: sends to the others, receives as many, and makes
// progress, on an endpoint that it shares.
class Worker {
public:
  Worker(Node &node, unsigned which, Shared &shared)
      : node_(node), which_(which), shared_(shared) {}

  void run(std::uint64_t seed) {
    Random random(seed);
    for (unsigned i = 0; i < messages; ++i) {
      const auto to = static_cast<NodeId>((node_.index() + 1 + i % (nodes - 1)) % nodes);
      send(to, random.below(largest), random.chance(0.3));
      receive();
      turn();
      if (i % 16 == 0)
        node_.service();
    }
    // Others may need this node's turns until they have finished, too.
    for (bool finished = false; !shared_.failed && shared_.finished != nodes * threads_a_node;) {
      const unsigned epoch = shared_.epoch;
      const unsigned did = turn();
      if (!finished && shared_.received == nodes * threads_a_node * messages && sent_all()) {
        finished = true;
        if (++shared_.finished == nodes * threads_a_node)
          shared_.move_on();
      } else if (did == 0) {
        shared_.epoch.wait(epoch);
      }
    }
  }

private:
  struct Posted {
    std::vector<std::byte> memory;
    bool is_send;
    std::atomic<bool> done{false};
  };

  template <class Request> void post(Request &r) {
    while (node_.post(r) == -FI_EAGAIN)
      turn();
  }

  unsigned turn() {
    const unsigned did = node_.turn();
    ++shared_.turns[node_.index()];
    shared_.turns[node_.index()].notify_one();
    drain();
    return did;
  }

  Posted &posted(std::vector<std::byte> memory, bool is_send) {
    posted_.push_back(std::make_unique<Posted>());
    posted_.back()->memory = std::move(memory);
    posted_.back()->is_send = is_send;
    return *posted_.back();
  }

  void send(NodeId to, std::size_t size, bool delivery) {
    const std::uint64_t number = (std::uint64_t{node_.index()} << 40) | (which_ << 20) | next_++;
    Posted &p = posted(bytes_of(size, number), true);
    const iovec iov{p.memory.data(), p.memory.size()};
    op::SendRequest r;
    r.iov = &iov;
    r.iov_count = 1;
    r.len = size;
    r.dest = to;
    r.data = number;
    r.flags = FI_MSG | FI_COMPLETION | FI_REMOTE_CQ_DATA | (delivery ? FI_DELIVERY_COMPLETE : 0);
    r.context = &p;
    post(r);
  }

  void receive() {
    Posted &p = posted(std::vector<std::byte>(largest), false);
    const iovec iov{p.memory.data(), p.memory.size()};
    op::ReceiveRequest r;
    r.iov = &iov;
    r.iov_count = 1;
    r.len = largest;
    r.flags = FI_MSG | FI_COMPLETION;
    r.context = &p;
    post(r);
  }

  // Whichever thread reads a completion marks it for the one that posted.
  void drain() {
    Done done;
    for (void *context; node_.read(done, context);) {
      Posted &p = *static_cast<Posted *>(context);
      if (done.err != 0 || p.done.exchange(true))
        fail_later(fmt::format("err {}, or completed twice", done.err));
      if (p.is_send)
        continue;
      verify(std::span(p.memory).first(done.len), done.data);
      ++shared_.received;
    }
  }

  bool sent_all() const {
    for (const auto &p : posted_)
      if (p->is_send && !p->done)
        return false;
    return true;
  }

  Node &node_;
  const unsigned which_;
  Shared &shared_;
  std::uint64_t next_ = 0;
  std::vector<std::unique_ptr<Posted>> posted_;
};

// Moves the time to when something happens next, once all have turned since it
// moved last: else whoever gets no processor would be thought silent.
void move_time(Network &network, const VirtualClock &clock,
               const std::vector<std::unique_ptr<Node>> &all, Shared &shared,
               const std::atomic<bool> &over) {
  std::array<unsigned, nodes> seen{};
  while (!over) {
    dpdkx::Time next = std::min(network.next_event(), clock.now() + 1ms);
    for (NodeId id = 0; id < nodes; ++id) {
      shared.turns[id].wait(seen[id]);
      seen[id] = shared.turns[id];
      next = std::min(next, all[id]->deadline());
    }
    network.advance_to(std::max(next, clock.now() + 1us));
    shared.move_on();
  }
}

void run(std::uint64_t seed, const Profile &profile) {
  VirtualClock clock;
  Network network(clock, seed);
  network.set_faults({.loss = 0.01, .duplicate = 0.01, .reorder = 0.01});
  Book book;
  Setup setup;
  setup.profile = profile;
  setup.threading = FI_THREAD_SAFE;
  std::vector<std::unique_ptr<Node>> all;
  for (NodeId id = 0; id < nodes; ++id) {
    book.insert(World::address_of(id));
    all.push_back(std::make_unique<Node>(clock, network, id, World::address_of(id), setup, book));
  }
  std::atomic<bool> over{false};
  Shared shared;
  std::thread time([&] { move_time(network, clock, all, shared, over); });
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<std::thread> threads;
  for (NodeId id = 0; id < nodes; ++id)
    for (unsigned i = 0; i < threads_a_node; ++i) {
      Worker &worker = *workers.emplace_back(std::make_unique<Worker>(*all[id], i, shared));
      threads.emplace_back([&worker, seed, i, &shared] {
        try {
          worker.run(seed + i);
        } catch (const std::exception &e) {
          fail_later(e.what());
          shared.failed = true;
          shared.move_on();
        }
      });
    }
  for (std::thread &t : threads)
    t.join();
  over = true;
  for (auto &turns : shared.turns) {
    ++turns;
    turns.notify_one();
  }
  time.join();
  CHECK_EQ(shared.received.load(), nodes * threads_a_node * messages);
  CHECK_EQ(network.counters().misuse, 0u);
}

const Case lossy{"threads__share_endpoints", 2, [](std::uint64_t seed) { run(seed, {}); }};
const Case lossless{"threads__share_endpoints_on_a_lossless_link", 2,
                    [](std::uint64_t seed) { run(seed, Profile::host()); }};

} // namespace
