// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/command/options.h"

#include "collc/lang/error.h"
#include "collc/lang/setting.h"
#include "collc/lower/landing.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>

namespace collc {

void common_options::declare(CLI::App &command) {
  command.add_option("algorithm", algorithm, "COLLECTIVE:VARIANT, or a file")->required();
  command.add_option("--ranks", asked.ranks, "how many there are")->capture_default_str();
  command.add_option("--root", asked.root, "of collectives that have one")->capture_default_str();
  command.add_option("--bytes", asked.bytes, "of each rank's block, or of what is broadcast")
      ->capture_default_str();
  command.add_option("--set", parameters, "a parameter of the algorithm: NAME=VALUE")
      ->allow_extra_args(false);
  command.add_option("--op", operation_, "of reductions")->capture_default_str();
  command.add_option("--type", type_, "of what is reduced")->capture_default_str();
  command
      .add_option("--ready", ready_,
                  "when a rank is told that it may write: in place of what "
                  "the algorithm says")
      ->check(CLI::IsMember({"each", "early", "once", "never"}));
  command.add_option("--scheme", scheme_, "how works are triggered")
      ->check(CLI::IsMember({"watertank", "prematched"}))
      ->capture_default_str();
  command.add_option("--end", end_, "end of data: ordered after them, or sent once delivered")
      ->check(CLI::IsMember({"ordered", "delivered"}))
      ->capture_default_str();
  command.add_option("--arrival", arrival_, "where all adds 1: writes that count, or additions")
      ->check(CLI::IsMember({"write", "add"}))
      ->capture_default_str();
  command
      .add_option("--branch", branch_, "several works of one level: raise it by as many, or not")
      ->check(CLI::IsMember({"raise", "short"}))
      ->capture_default_str();
  command
      .add_option("--order", order_, "of messages between two ranks: kept by the network, or not")
      ->check(CLI::IsMember({"kept", "none"}))
      ->capture_default_str();
  command.add_flag("--own-start", how.own_start, "Start pours a bucket of its own");
  command
      .add_option("--tanks", tanks_,
                  "so many are used in turn; unless given 2, and where data land 3, or 4 if there "
                  "is a root")
      ->check(CLI::Range(1u, most_turns));
  command.add_flag("--landing", landing_, "data land in memory of the runtime's own, used in turn");
  command.add_option("--width", how.width, "bits of a counter")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command.add_option("--max-works", most_works_, "deferred works that there is room for")
      ->check(CLI::PositiveNumber);
  command.add_option("--max-counters", most_counters_, "counters that there are")
      ->check(CLI::PositiveNumber);
  command.add_option("--max-steps", asked.most_steps, "of a rank, in the algorithm's text")
      ->capture_default_str();
  command.add_option("-o,--output", output, "a file in place of standard output");
}

void common_options::finish() {
  for (const std::string &p : parameters) {
    const auto [name, value] = parse_setting(p);
    asked.parameters[name] = value;
  }
  if (!ready_.empty())
    asked.ready = ready_ == "each"    ? readiness::each
                  : ready_ == "early" ? readiness::early
                  : ready_ == "once"  ? readiness::once
                                      : readiness::never;
  how.combining = find_atomic(operation_, type_);
  how.how = scheme_ == "watertank" ? scheme::water_tank : scheme::prematched;
  how.wait_for_delivery = end_ == "delivered";
  how.counted_writes = arrival_ == "write";
  how.raise_for_branches = branch_ == "raise";
  how.ordered = order_ == "kept";
  if (most_works_ > 0)
    how.most_works = most_works_;
  if (most_counters_ > 0)
    how.most_counters = most_counters_;
}

void common_options::finish(collective what) {
  if (landing_)
    let_land(how, what, tanks_);
  else if (tanks_ > 0)
    how.tanks = tanks_;
}

void put(const common_options &o, const std::string &text) {
  errno = 0;
  if (o.output.empty()) {
    std::cout << text << std::flush;
    if (!std::cout)
      throw error(std::string("standard output: ") + std::strerror(errno));
    return;
  }
  std::ofstream out(o.output, std::ios::binary);
  out << text << std::flush;
  if (!out)
    throw error("--output " + o.output + ": " + std::strerror(errno));
}

} // namespace collc
