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
constexpr const char *progress_variable = "DPDKX_COLL_PROGRESS";
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

std::optional<bool> read_progress() {
  const std::string_view text = text_of(progress_variable);
  if (text.empty() || text == "manual")
    return false;
  if (text == "auto")
    return true;
  return std::nullopt;
}

bool verbose_is_wrong() {
  const std::string_view text = text_of(verbose_variable);
  return !text.empty() && text != "0" && text != "1";
}

std::atomic<mode> settled{read_mode().value_or(mode::off)};
std::atomic<bool> settled_progress{read_progress().value_or(false)};

// What the ranks must have alike: the value of this one, none if it is wrong; what is allowed, and
// what is taken instead.
struct common_setting {
  const char *variable;
  std::optional<int> own;
  const char *allowed, *instead;
};

// Collective: whether all ranks have the same, which is right. If not, one of them says so.
bool agreed(const common_setting &s, int rank) {
  const int value = s.own.value_or(-1);
  // The least value, the greatest, and the first rank whose value is wrong.
  std::array<int, 3> all{value, -value, s.own ? INT_MAX : rank};
  if (PMPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(all.size()), MPI_INT, MPI_MIN,
                     MPI_COMM_WORLD) != MPI_SUCCESS)
    return false;
  if (rank == all[2])
    fmt::print(stderr, "dpdkx-coll: {} is '{}'; allowed: {}, or unset. Taken as {}\n", s.variable,
               text_of(s.variable), s.allowed, s.instead);
  else if (all[2] == INT_MAX && all[0] != -all[1] && rank == 0)
    fmt::print(stderr,
               "dpdkx-coll: {} is not the same on all ranks, '{}' on rank 0. Taken as {} on all\n",
               s.variable, text_of(s.variable), s.instead);
  return all[2] == INT_MAX && all[0] == -all[1];
}

} // namespace

mode settled_mode() { return settled.load(std::memory_order_relaxed); }

bool automatic_progress() { return settled_progress.load(std::memory_order_relaxed); }

bool verbose() { return text_of(verbose_variable) == "1"; }

void agree_on_settings() {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const auto own = read_mode();
  const auto number = own ? std::optional(static_cast<int>(*own)) : std::nullopt;
  const bool same = agreed({mode_variable, number, "off, offload, function", "off"}, rank);
  settled = same && own ? *own : mode::off;
  const auto progress = read_progress();
  settled_progress =
      agreed({progress_variable, progress, "auto, manual", "manual"}, rank) && progress == true;
  int wrong = verbose_is_wrong() ? rank : INT_MAX;
  if (PMPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD) == MPI_SUCCESS &&
      rank == wrong)
    fmt::print(stderr, "dpdkx-coll: {} is '{}'; allowed: 0, 1, or unset. Taken as 0\n",
               verbose_variable, text_of(verbose_variable));
}

} // namespace coll
