// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "settings.h"

#include "common/command_line.h"

#include <random>

namespace fabtest {

settings &config() {
  static settings instance;
  return instance;
}

void add_options(command_line &app) {
  auto &s = config();
  app.add("-p,--provider", s.provider, "provider, as in fi_info -p");
  app.add("-n,--node", s.nodes, "local address to bind to (FI_SOURCE); one for each rank")
      .comma_separated();
  app.add("-d,--domain", s.domain, "domain name");
  app.add("--seed", s.seed, "seed of random choices; 0: from the clock");
  app.add("--patience", s.patience, "multiplies every time limit").environment("FABTESTS_PATIENCE");
  app.add("--death-limit", s.death_limit, "seconds until a killed peer is noticed");
  app.add("--netns", s.netns, "network namespaces for the ranks, in turn").comma_separated();
  app.add("--rank-env", s.rank_env, "R:NAME=VALUE in the environment of rank R alone");
  app.add_flag("--pin,!--no-pin", s.pin, "one processor for each rank");
  app.add_flag("--huge", s.huge, "run what needs gigabytes of memory too");
  app.add_flag("--slow", s.slow, "run what takes minutes too");
  app.add("--oob", s.oob, "host:port through which the launchers of several hosts meet");
  app.add("--rank", s.host_index, "with --oob: which launcher this is (0 coordinates)");
  app.add("--of", s.hosts, "with --oob: how many launchers there are");
}

void settle_seed() {
  auto &s = config();
  if (s.seed == 0)
    s.seed = std::random_device{}() | 1u;
}

} // namespace fabtest
