// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Many endpoints on one simulated network, and the scheduler that turns each
// when something can happen to it and jumps the clock in between. No real time
// anywhere: one seed, one run.
#pragma once

#include "dpdkx/link/sim/random.h"
#include "sim/common/node.h"

#include <deque>
#include <string>
#include <unordered_set>

namespace sim {

using dpdkx::link::sim::Faults;
using dpdkx::link::sim::Network;
using dpdkx::link::sim::Random;
using dpdkx::link::sim::VirtualClock;
using namespace std::chrono_literals;

using NodeId = std::uint32_t;

// What memory that is to be written holds before.
inline constexpr std::byte filler{0xa5};

// `n` pieces of about one size; the first takes the rest.
std::vector<iovec> cut(std::span<std::byte> memory, std::size_t n);

class World {
public:
  explicit World(std::uint64_t seed, const Setup &setup = {});
  ~World();
  World(const World &) = delete;

  Setup setup; // of nodes added or restarted from now on
  // An application polls so often at most; arrivals in between make a burst.
  Duration poll_interval = 500ns;

  VirtualClock &clock() { return clock_; }
  Network &network() { return network_; }
  // As Network::set_hook(), beside what --trace does.
  using Hook = std::function<dpdkx::link::sim::Verdict(const dpdkx::link::sim::Departure &)>;
  void set_hook(Hook);
  Random &random() { return random_; }
  Book &book() { return book_; }
  std::uint64_t seed() const { return seed_; }
  Time now() const { return clock_.now(); }
  Duration since_start() const { return now() - VirtualClock::start; }

  // Nodes. The id is also the node's fi_addr_t in everybody's book.
  NodeId add();
  NodeId add(Role); // ... instead of the setup's, in all of its lives
  void add(unsigned n);
  NodeId add_stranger();  // not in the book: others don't know its address
  void introduce(NodeId); // now it is, with its id; strangers in order of their ids
  std::size_t size() const { return slots_.size(); }
  bool alive(NodeId id) const { return slots_[id].node != nullptr; }
  Node &node(NodeId id) { return *slots_[id].node; }
  static Address address_of(NodeId);
  void kill(NodeId);    // as by SIGKILL; its calls never end
  void restart(NodeId); // a new process at the address of one that has ended
  bool close(NodeId);   // in order; false: not all that was promised has arrived
  // Computes until then: calls nothing. Its service thread ticks.
  void compute_until(NodeId, Time);

  // Calls. send() and receive() make progress until the call is accepted;
  // try_*() give up on -FI_EAGAIN, and on -FI_ENOTCONN where there may be no connection: null.
  Op &send(NodeId from, fi_addr_t to, std::vector<std::byte> bytes, const SendHow & = {});
  Op &receive(NodeId at, std::size_t size, const ReceiveHow & = {});
  Op *try_send(NodeId from, fi_addr_t to, std::vector<std::byte> bytes, const SendHow & = {},
               std::function<void(Op &, const Done &)> on_done = {});
  Op *try_receive(NodeId at, std::size_t size, const ReceiveHow & = {},
                  std::function<void(Op &, const Done &)> on_done = {});
  // The same on memory that `to` exposes. The operation's memory holds, of an atomic, operand, what
  // is compared with if there is any, and room for the former values if they come back.
  Op &write(NodeId from, fi_addr_t to, std::vector<std::byte> bytes, const RemoteHow &);
  Op &read(NodeId from, fi_addr_t to, std::size_t size, const RemoteHow &);
  Op &atomic(NodeId from, fi_addr_t to, std::vector<std::byte> operand, const AtomicHow &,
             std::vector<std::byte> compare = {});
  Op *try_write(NodeId from, fi_addr_t to, std::vector<std::byte> bytes, const RemoteHow &,
                std::function<void(Op &, const Done &)> on_done = {});
  Op *try_read(NodeId from, fi_addr_t to, std::size_t size, const RemoteHow &,
               std::function<void(Op &, const Done &)> on_done = {});
  Op *try_atomic(NodeId from, fi_addr_t to, std::vector<std::byte> operand, const AtomicHow &,
                 std::vector<std::byte> compare = {},
                 std::function<void(Op &, const Done &)> on_done = {});
  // To counters that `to` exports.
  Op &count(NodeId from, fi_addr_t to, const CounterHow &);
  Op *try_count(NodeId from, fi_addr_t to, const CounterHow &);
  // What peers have done to a node, where they tell it so: FI_REMOTE_CQ_DATA.
  std::function<void(NodeId, const Done &)> on_remote;
  // As the engine answers, with the operation for its completion if it accepts.
  ssize_t post_send(Op &, fi_addr_t to, const SendHow &);
  ssize_t post_receive(Op &, const ReceiveHow &);
  ssize_t post_count(Op &, fi_addr_t to, const CounterHow &);
  int cancel(Op &);
  // Connections, as the engine answers. A listener's request is one of Node::requests().
  int connect(NodeId from, NodeId listener, std::span<const std::byte> data = {});
  int accept(NodeId at, const dpdkx::engine::ListenerSink::Request &,
             std::span<const std::byte> data = {});
  int shutdown(NodeId);
  void reject(NodeId listener, dpdkx::op::Backlog::Number, std::span<const std::byte> data = {});
  Op &new_op(NodeId, std::vector<std::byte> memory = {},
             std::function<void(Op &, const Done &)> on_done = {});
  void forget(Op &); // finished; frees its memory

  // Runs until `until` holds. Fails, with a dump, if it doesn't within `limit`
  // of virtual time, or nothing can happen any more.
  void run_until(const std::function<bool()> &until, Duration limit, std::string_view what);
  void run_for(Duration);
  bool run_until_done(std::span<Op *const>, Duration limit); // false: not within the limit
  void wait(Op &op, Duration limit = 20s);
  bool is_memory(const std::byte *, std::size_t) const; // within that of some operation
  void wake(NodeId);                                    // it has been called from outside
  std::string dump();
  std::function<std::string()> explain; // adds to dump()

  // Called after every turn of a node, for checks that must hold all the time.
  std::function<void(NodeId)> after_turn;
  std::uint64_t turns() const { return turns_; }

private:
  static constexpr Time asleep = dpdkx::never;
  struct Slot {
    Address address;
    Role role = Role::messages;
    std::unique_ptr<Node> node;
    unsigned life = 0;
    Time wake_at = asleep, last_turn{}, computes_until{};
    Duration pause{}; // between turns that do nothing though there is something to do
    unsigned empty_turns = 0, busy_turns = 0;
    std::uint64_t packets = 0; // that had come and gone by its last turn
  };
  struct Wake {
    Time at;
    NodeId id;
  };

  bool step(Time limit); // false: nothing happens until then; the clock is there
  Time next_time();
  void wake_at(NodeId, Time);
  void turn(NodeId);
  void tick(NodeId);
  void drain(NodeId);
  void complete(NodeId, void *context, const Done &);
  template <class Request> ssize_t post(Op &, const Request &);
  ssize_t post_rma(Op &, fi_addr_t to, std::uint64_t direction, const RemoteHow &);
  ssize_t post_atomic(Op &, fi_addr_t to, std::size_t len, const AtomicHow &, bool compares);
  // Makes progress until the call is accepted.
  Op &insist(Op &, const char *what, const std::function<ssize_t()> &call);
  Op *attempt(Op &, const std::function<ssize_t()> &call); // null: see try_*()
  void note_spinning(NodeId, unsigned did);
  void start(NodeId);
  void end(NodeId);

  const std::uint64_t seed_;
  VirtualClock clock_;
  Network network_;
  Random random_;
  Book book_;
  std::deque<Slot> slots_;
  std::vector<Wake> wakes_; // heap; entries that no longer hold are passed over
  std::vector<std::uint32_t> ready_;
  std::deque<std::unique_ptr<Op>> ops_;
  std::unordered_set<const void *> open_; // contexts that may complete
  std::uint64_t turns_ = 0;
};

} // namespace sim
