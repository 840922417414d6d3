// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#pragma once

#include "collc/simulate/loggops.h"

#include <CLI/CLI.hpp>
#include <string>

namespace collc {

// What `simulate` has besides the options that all have in common.
struct simulation_options {
  loggops model;
  std::string progress = "both";

  void declare(CLI::App &command);
  // After parsing: throws error if an option was given that has no place in the model.
  void finish() const;
  [[nodiscard]] bool triggered() const { return progress != "driven"; }
  [[nodiscard]] bool driven() const { return progress != "triggered"; }

private:
  CLI::App *command_ = nullptr;
};

} // namespace collc
