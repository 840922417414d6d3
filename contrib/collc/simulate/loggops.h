// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// LogGOPS, the cost of messages: T. Hoefler, T. Schneider, A. Lumsdaine: "LogGOPSim - Simulating
// Large-Scale Applications in the LogGOPS Model", LSAP 2010; and how collectives progress in it.
//
// A message of s bytes; one of none, and each signal, counts as one of 1 byte:
//
//     leave = max(ready, sending port free)         and it is free at leave + g + (s-1)G
//     come  = max(leave + L, receiving port free)   and it is free at come + g + (s-1)G
//     there = come + (s-1)G
//
// Ports are two for each rank, one that sends and one that receives; the network itself is never
// full. A port takes messages in the order in which they reach it; of those that reach a receiver
// at the same time, first the one whose sender and path the receiver's text names first.
//
// Triggered: no CPU in the path. The CPU needs o once, to queue a rank's works at Start. A work is
// ready F after its counter has reached its threshold, or after the works have been queued. What is
// `there` raises the counter at once. Works that become ready together leave in the order of
// `collc table`. Messages are those of the works: data, what says that they may come (RTR), and
// what says that they are there (RTE); raising the level for a branch, and FIN, take no time. A
// combination of the rank's own buffers takes the sending port like a message, and is done after
// (s-1)G; what tells so takes F.
//
// CPU-driven: the CPU calls sends and receives, one after the other: each takes o + (s-1)O. It
// handles messages in the order in which they are there, and begins at once what each of them makes
// possible, by rounds and as the text has it, before it handles the next one; a message is ready
// when the CPU has sent it. Nobody is told that data may come, since the peer's library keeps them
// until they are received. But a message of S bytes or more goes by rendezvous: the sender sends a
// request (1 byte), and the receiver, once it has that and waits for the message, an answer
// (1 byte); when the sender has handled that it sends the data. A combination is o + (s-1)O.
//
// Copies that the processor makes at start or finish take (s-1)O in either case. All ranks start at
// 0. A rank is done when all that it waits for has come and been handled, and the last byte of what
// it sends has left.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace collc {

// As the user gives them: ns, ns per byte, bytes.
struct loggops {
  double latency = 1000;           // L
  double overhead = 300;           // o
  double gap = 100;                // g
  double gap_per_byte = 0.08;      // G
  double overhead_per_byte = 0.04; // O
  std::int64_t rendezvous = 65536; // S
  double fire = 100;               // F
};

using picoseconds = std::uint64_t; // since all ranks started, or a duration

// Sizes of messages, by number.
class message_sizes {
public:
  // Of none: that of 1 byte. Throws limit_error.
  std::uint32_t number(std::uint64_t bytes);
  [[nodiscard]] std::uint64_t bytes(std::uint32_t number) const { return bytes_[number]; }
  [[nodiscard]] const std::vector<std::uint64_t> &all() const { return bytes_; }
  static constexpr std::uint32_t signal = 0; // the number of 1 byte
  static constexpr std::uint32_t most = 1U << 24;

private:
  std::vector<std::uint64_t> bytes_ = {1};
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_ = {{1, signal}};
};

// What a message of each size costs, rounded to picoseconds.
struct costs {
  // Of settings that have been checked; throws error where a message takes too long to be counted.
  costs(const loggops &how, const message_sizes &sizes);
  picoseconds latency, overhead, gap, fire;
  std::vector<picoseconds> port, cpu; // (s-1)G, (s-1)O
  // Longer than any collective may take.
  static constexpr picoseconds endless = picoseconds{1} << 61;
};

// Throws error that names the setting, its value and what is allowed.
void check(const loggops &how);

} // namespace collc
