// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "queues/burst.h"

#include "dpdkx/link/sim/rx_queues.h"
#include "queues/hybrid_port.h"
#include "sim/common/check.h"
#include "sim/common/payload.h"

#include <algorithm>
#include <chrono>

namespace queues {

using namespace dpdkx;
using namespace std::chrono_literals;
using link::sim::RxQueues;
using sim::NodeId;

namespace {

constexpr NodeId target = 0, neighbour = 1;
constexpr std::uint32_t own_descriptors = 512; // of a queue for the data of rendezvous
constexpr std::size_t all_queues = SIZE_MAX;
constexpr Duration limit = 60s;

double microseconds(Duration d) { return std::chrono::duration<double, std::micro>(d).count(); }

sim::Setup setup_of(const Burst &burst) {
  sim::Setup setup;
  setup.config.datagrams = burst.datagrams;
  setup.cq_size = 4 * (burst.count + burst.senders) + 1024;
  setup.profile.queue = 1u << 20; // the switch loses nothing: only the NIC does
  return setup;
}

class Lab {
public:
  explicit Lab(const Burst &);
  Outcome run();

private:
  void add_ranks();
  void add_senders();
  void add_rank(NodeId);
  void wrap_rank(NodeId, const sim::Profile &);
  void wrap_sender(NodeId);
  void warm_up();
  void receive(NodeId, std::uint32_t count);
  void send_burst();
  void send_bulk();
  bool over() const;
  std::uint64_t lost() const;
  std::uint64_t seen(std::size_t queues) const;
  std::uint64_t lost_in_rings();

  const Burst burst_;
  sim::World world_;
  std::optional<SimDaemon> daemon_; // before the world goes
  std::vector<std::shared_ptr<RxQueues>> nics_;
  std::vector<NodeId> senders_;
  Time begin_{};
  std::uint32_t warm_ = 0;
  sim::Op *bulk_ = nullptr;
  Outcome outcome_;
};

Lab::Lab(const Burst &burst) : burst_(burst), world_(burst.seed, setup_of(burst)) {
  CHECK(burst.queues > 0 && burst.descriptors > 0 && burst.senders > 0 && burst.size >= 8);
  CHECK_EQ(burst.count % burst.senders, 0u);
  CHECK(burst.bulk == 0 || !burst.datagrams);
  if (burst.mode != Mode::rank_polled) {
    const Address ranks[] = {sim::World::address_of(target), sim::World::address_of(neighbour)};
    daemon_.emplace(world_, burst.costs, ranks);
    world_.after_turn = [this](NodeId) { daemon_->kick(); };
  }
  add_ranks();
  add_senders();
}

void Lab::add_ranks() {
  for (const NodeId id : {target, neighbour}) {
    if (nics_.empty() || burst_.mode == Mode::rank_polled)
      nics_.push_back(std::make_shared<RxQueues>(burst_.queues, burst_.descriptors));
    add_rank(id);
  }
}

void Lab::add_rank(NodeId id) {
  sim::Profile profile = world_.setup.profile;
  profile.rx_queues = nics_.back();
  const sim::Setup usual = world_.setup;
  world_.setup.profile = profile;
  if (burst_.mode != Mode::rank_polled)
    wrap_rank(id, profile);
  CHECK_EQ(world_.add(), id);
  world_.setup = usual;
}

void Lab::wrap_rank(NodeId id, const sim::Profile &profile) {
  world_.setup.wrap = [this, id, profile](std::unique_ptr<link::Port> port) {
    const Address own = HybridPort::own_address(port->address());
    std::unique_ptr<link::Port> attached = daemon_->attach(std::move(port), id);
    if (burst_.mode != Mode::hybrid)
      return attached;
    nics_.back()->add_rule(own, own_descriptors);
    return std::unique_ptr<link::Port>(std::make_unique<HybridPort>(
        std::move(attached), world_.network().attach(own, profile, id)));
  };
}

void Lab::wrap_sender(NodeId id) {
  world_.setup.wrap = [this, id](std::unique_ptr<link::Port> port) {
    const Address own = HybridPort::own_address(port->address());
    return std::make_unique<HybridPort>(std::move(port),
                                        world_.network().attach(own, world_.setup.profile, id));
  };
}

void Lab::add_senders() {
  const std::uint32_t all = burst_.senders + (burst_.bulk != 0); // that of the bulk is the last
  for (std::uint32_t i = 0; i < all; ++i) {
    if (burst_.mode == Mode::hybrid)
      wrap_sender(static_cast<NodeId>(world_.size()));
    senders_.push_back(world_.add());
    world_.setup.wrap = nullptr;
  }
}

// So that the burst finds paths, and sessions where there are any.
void Lab::warm_up() {
  receive(target, burst_.senders);
  for (const NodeId sender : senders_) {
    const bool sends_bulk = burst_.bulk != 0 && sender == senders_.back();
    if (sends_bulk)
      world_.receive(neighbour, burst_.size).on_done = [this](sim::Op &, const sim::Done &) {
        ++warm_;
      };
    world_.send(sender, sends_bulk ? neighbour : target, std::vector<std::byte>(burst_.size));
  }
  world_.run_until([&] { return warm_ == senders_.size(); }, limit, "the first messages");
  world_.run_for(10ms); // their acknowledgements
}

void Lab::receive(NodeId at, std::uint32_t count) {
  while (count-- != 0)
    world_.receive(at, burst_.size).on_done = [this](sim::Op &op, const sim::Done &done) {
      CHECK_EQ(done.err, 0);
      op.memory = {};
      if (begin_ == Time{}) {
        ++warm_;
        return;
      }
      ++outcome_.received;
      outcome_.latencies.push_back(microseconds(world_.now() - begin_));
    };
}

// Each sender posts all that it has, as fast as its endpoint takes it.
void Lab::send_burst() {
  std::vector<std::uint32_t> left(burst_.senders, burst_.count / burst_.senders);
  for (std::uint32_t unsent = burst_.count; unsent != 0;) {
    bool posted = false;
    for (std::uint32_t i = 0; i < burst_.senders; ++i)
      if (left[i] != 0 &&
          world_.try_send(senders_[i], target, std::vector<std::byte>(burst_.size))) {
        --left[i];
        --unsent;
        posted = true;
      }
    if (!posted)
      world_.run_for(world_.poll_interval);
  }
}

void Lab::send_bulk() {
  bulk_ = &world_.receive(neighbour, burst_.bulk);
  bulk_->on_done = [this](sim::Op &, const sim::Done &) {
    outcome_.bulk_took = microseconds(world_.now() - begin_);
  };
  world_.send(senders_.back(), neighbour, sim::bytes_of(burst_.bulk, 1));
}

std::uint64_t Lab::lost() const {
  std::uint64_t all = 0;
  for (const auto &nic : nics_)
    all += nic->lost();
  return all;
}

// Packets that have come to the first so many queues of each NIC.
std::uint64_t Lab::seen(std::size_t queues) const {
  std::uint64_t all = 0;
  for (const auto &nic : nics_)
    for (std::size_t i = 0; i < std::min(queues, nic->queues().size()); ++i)
      all += nic->queues()[i].taken + nic->queues()[i].lost;
  return all;
}

std::uint64_t Lab::lost_in_rings() {
  std::uint64_t all = 0;
  if (daemon_)
    for (const auto &device : daemon_->status().devices)
      for (const auto &rank : device.ranks)
        all += rank.dropped_no_room;
  return all;
}

bool Lab::over() const {
  const std::uint64_t missing = burst_.datagrams ? outcome_.lost + outcome_.lost_in_ring : 0;
  return outcome_.received + missing >= burst_.count && (!bulk_ || bulk_->finished());
}

Outcome Lab::run() {
  warm_up();
  CHECK_EQ(lost(), 0u);
  const std::uint64_t before = seen(all_queues), before_in_pool = seen(burst_.queues);
  receive(target, burst_.count);
  begin_ = world_.now();
  if (burst_.compute > Duration{})
    world_.compute_until(target, begin_ + burst_.compute);
  if (burst_.bulk != 0)
    send_bulk();
  send_burst();
  world_.run_until(
      [&] {
        outcome_.lost = lost();
        outcome_.lost_in_ring = lost_in_rings();
        return over();
      },
      limit, "the burst");
  world_.run_for(burst_.datagrams ? Duration{} : 10ms);
  outcome_.lost = lost();
  outcome_.packets = seen(all_queues) - before;
  outcome_.in_pool = seen(burst_.queues) - before_in_pool;
  for (const auto &nic : nics_)
    for (const RxQueues::Queue &queue : nic->queues())
      outcome_.most_waiting = std::max(outcome_.most_waiting, queue.most_waiting);
  for (const NodeId sender : senders_)
    outcome_.resent += world_.node(sender).endpoint().statistics().resent;
  CHECK_EQ(world_.network().counters().misuse, 0u);
  return outcome_;
}

} // namespace

Outcome run(const Burst &burst) { return Lab(burst).run(); }

std::string_view name_of(Mode mode) {
  switch (mode) {
  case Mode::rank_polled:
    return "rank-polled";
  case Mode::dedicated:
    return "dedicated";
  case Mode::hybrid:
    return "hybrid";
  }
  return "";
}

} // namespace queues
