// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#pragma once

#include "collc/ir/request.h"
#include "collc/lang/ast.h"
#include "collc/lower/options.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

namespace collc {

// What all subcommands that compile have in common.
struct common_options {
  std::string algorithm;
  request asked;
  lowering how;
  std::vector<std::string> parameters; // NAME=VALUE
  std::string output;                  // empty: standard output
  bool json = false;

  void declare(CLI::App &command);
  void finish();                // after parsing; throws error
  void finish(collective what); // of the algorithm

private:
  std::string ready_, scheme_ = "watertank", end_ = "ordered", arrival_ = "write",
                      branch_ = "raise", order_ = "kept", operation_ = "sum", type_ = "double";
  std::uint64_t most_works_ = 0, most_counters_ = 0;
  unsigned tanks_ = 0; // 0: not given
  bool landing_ = false;
};

// Writes text to the output that was asked for; throws error.
void put(const common_options &o, const std::string &text);

} // namespace collc
