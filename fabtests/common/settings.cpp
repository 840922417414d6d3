// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "settings.h"

#include <random>

#include <CLI/CLI.hpp>

namespace fabtest {

settings &config() {
  static settings instance;
  return instance;
}

void add_options(CLI::App &app) {
  auto &s = config();
  app.add_option("-p,--provider", s.provider, "provider, as in fi_info -p");
  app.add_option("-n,--node", s.nodes, "local address to bind to (FI_SOURCE); one for each rank")
      ->delimiter(',');
  app.add_option("-d,--domain", s.domain, "domain name");
  app.add_option("--seed", s.seed, "seed of random choices; 0: from the clock");
  app.add_option("--patience", s.patience, "multiplies every time limit")
      ->envname("FABTESTS_PATIENCE");
  app.add_option("--death-limit", s.death_limit, "seconds until a killed peer is noticed");
  app.add_option("--netns", s.netns, "network namespaces for the ranks, in turn")->delimiter(',');
  app.add_option("--rank-env", s.rank_env, "R:NAME=VALUE in the environment of rank R alone");
  app.add_flag("--pin,!--no-pin", s.pin, "one processor for each rank");
  app.add_flag("--huge", s.huge, "run what needs gigabytes of memory too");
  app.add_flag("--slow", s.slow, "run what takes minutes too");
  app.add_option("--oob", s.oob, "host:port through which the launchers of several hosts meet");
  app.add_option("--rank", s.host_index, "with --oob: which launcher this is (0 coordinates)");
  app.add_option("--of", s.hosts, "with --oob: how many launchers there are");
}

void settle_seed() {
  auto &s = config();
  if (s.seed == 0)
    s.seed = std::random_device{}() | 1u;
}

} // namespace fabtest
