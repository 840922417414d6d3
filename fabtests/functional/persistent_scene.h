// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Persistent collectives for tests: a group over a case's team, and requests that fill their input
// anew in each epoch and compare what comes of it.
#pragma once

#include "common/payload.h"
#include "common/team.h"

#include "collc/collc_runtime.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace fabtest {

struct group_closer {
  void operator()(collc_rt_group *g) const noexcept { collc_rt_group_destroy(g, COLLC_RT_ALONE); }
};

// The team's allgather.
collc_rt_exchange exchange_of(team &t);

// Settings for the provider under test.
collc_rt_settings settings_for(collc_rt_mode mode);

// A group of the whole team, or of those of its ranks that the exchange is for.
class persistent_group {
public:
  // Skips the case where the provider has no such mode.
  persistent_group(team &t, const collc_rt_settings &settings);
  persistent_group(team &t, collc_rt_mode mode) : persistent_group(t, settings_for(mode)) {}

  collc_rt_group *get() const { return group_.get(); }
  team &of() const { return team_; }
  [[nodiscard]] collc_rt_group_info query() const;
  // Collective, as the destructor isn't.
  void leave() { check_leave(try_to_leave()); }
  int try_to_leave() { return collc_rt_group_destroy(group_.release(), 0); }

private:
  static void check_leave(int rc);

  team &team_;
  std::unique_ptr<collc_rt_group, group_closer> group_;
};

struct form {
  collc_rt_kind kind = COLLC_RT_BARRIER;
  std::uint64_t bytes = 0;
  std::int64_t root = 0;
  std::string algorithm = {};    // empty: the runtime's choice
  std::string operation = "sum"; // of int64
  bool in_place = false;
  bool direct = false; // small data don't land
};

// A request with buffers of its own.
class persistent_request {
public:
  persistent_request(const persistent_group &g, const form &f);
  ~persistent_request();
  persistent_request(const persistent_request &) = delete;

  collc_rt_request *get() const { return request_; }
  // Fills what the rank gives in the next epoch, and starts it.
  void start();
  void wait();
  // What has come is what belongs to the epoch.
  void verify() const;
  void run() {
    start();
    wait();
    verify();
  }
  void free();

private:
  [[nodiscard]] bool root() const { return team_.rank() == form_.root; }
  [[nodiscard]] bytes given(int rank) const; // what the rank gives in the epoch
  [[nodiscard]] bytes expected() const;
  [[nodiscard]] bytes combined() const;
  [[nodiscard]] std::size_t given_size(bool by_root) const;
  [[nodiscard]] std::size_t expected_size() const;
  [[nodiscard]] std::byte *in();

  const form form_;
  team &team_;
  bytes in_, out_;
  collc_rt_request *request_ = nullptr;
  std::uint64_t epoch_ = 0;
};

// A call of the runtime that must succeed.
#define COLLC_OK(call) ::fabtest::check_collc(#call, call)
void check_collc(std::string_view call, int rc, where at = where::current());

} // namespace fabtest

// A case for each mode: NAME(t, mode).
#define CASE_IN_BOTH_MODES(name, ...)                                                              \
  CASE(name##_offload, __VA_ARGS__) { name(t, COLLC_RT_OFFLOAD); }                                 \
  CASE(name##_function, __VA_ARGS__) { name(t, COLLC_RT_FUNCTION); }
