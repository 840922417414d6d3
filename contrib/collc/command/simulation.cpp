// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/command/simulation.h"

#include "collc/lang/error.h"

namespace collc {

namespace {

// Of works, their counters and what there is room for: none of these has a time in the model.
constexpr const char *meaningless[] = {"--scheme",  "--end",       "--branch",
                                       "--order",   "--own-start", "--tanks",
                                       "--landing", "--max-works", "--max-counters"};

} // namespace

void simulation_options::declare(CLI::App &command) {
  command_ = &command;
  for (const char *const name : meaningless)
    command.get_option(name)->group(""); // not in --help
  command.add_option("-L,--latency", model.latency, "L: of the network, ns")->capture_default_str();
  command.add_option("--overhead", model.overhead, "o: of the CPU for each message, ns")
      ->capture_default_str();
  command.add_option("-g,--gap", model.gap, "g: of a port between messages, ns")
      ->capture_default_str();
  command.add_option("-G,--gap-per-byte", model.gap_per_byte, "G: of a port for each byte, ns")
      ->capture_default_str();
  command
      .add_option("-O,--overhead-per-byte", model.overhead_per_byte,
                  "O: of the CPU for each byte, ns")
      ->capture_default_str();
  command
      .add_option("-S,--rendezvous", model.rendezvous,
                  "S: bytes from which a CPU-driven message goes by rendezvous")
      ->capture_default_str();
  command
      .add_option("-F,--fire", model.fire,
                  "F: from when a counter reaches its threshold until the work is ready, ns")
      ->capture_default_str();
  command.add_option("--progress", progress, "what drives the collective")
      ->check(CLI::IsMember({"both", "triggered", "driven"}))
      ->capture_default_str();
}

void simulation_options::finish() const {
  for (const char *const name : meaningless)
    if (command_->count(name) > 0)
      throw error(std::string(name) + " has no meaning in a simulation");
  check(model);
}

} // namespace collc
