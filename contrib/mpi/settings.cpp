// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "mpi/settings.h"

#include "mpi/abi.h"

#include <array>
#include <atomic>
#include <climits>
#include <cstdlib>
#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace coll {

namespace {

constexpr const char *mode_variable = "DPDKX_COLL";
constexpr const char *verbose_variable = "DPDKX_COLL_VERBOSE";

std::string_view text_of(const char *variable) {
  const char *const text = std::getenv(variable);
  return text != nullptr ? text : "";
}

std::optional<mode> read_mode() {
  const std::string_view text = text_of(mode_variable);
  if (text.empty())
    return mode::automatic;
  if (text == "off")
    return mode::off;
  if (text == "offload")
    return mode::offload;
  if (text == "function")
    return mode::function;
  return std::nullopt;
}

bool verbose_is_wrong() {
  const std::string_view text = text_of(verbose_variable);
  return !text.empty() && text != "0" && text != "1";
}

std::atomic<mode> settled{read_mode().value_or(mode::off)};

} // namespace

mode settled_mode() { return settled.load(std::memory_order_relaxed); }

bool verbose() { return text_of(verbose_variable) == "1"; }

void agree_on_settings() {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::optional<mode> own = read_mode();
  const int value = own ? static_cast<int>(*own) : -1;
  // The least mode, the greatest, and the first rank whose value is wrong.
  std::array<int, 4> all{value, -value, own ? INT_MAX : rank, verbose_is_wrong() ? rank : INT_MAX};
  if (PMPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(all.size()), MPI_INT, MPI_MIN,
                     MPI_COMM_WORLD) != MPI_SUCCESS) {
    settled = mode::off;
    return;
  }
  if (rank == all[2])
    fmt::print(stderr,
               "dpdkx-coll: {} is '{}'; allowed: off, offload, function, or unset. Taken as off\n",
               mode_variable, text_of(mode_variable));
  else if (all[2] == INT_MAX && all[0] != -all[1] && rank == 0)
    fmt::print(stderr,
               "dpdkx-coll: {} is not the same on all ranks, '{}' on rank 0. Taken as off on all\n",
               mode_variable, text_of(mode_variable));
  if (rank == all[3])
    fmt::print(stderr, "dpdkx-coll: {} is '{}'; allowed: 0, 1, or unset. Taken as 0\n",
               verbose_variable, text_of(verbose_variable));
  settled = all[0] == -all[1] && own ? *own : mode::off;
}

} // namespace coll
