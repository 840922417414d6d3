// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A group: its fabric, its transport, and the requests that are alive. When something can't go on
// the group has failed, for good: its requests end with that error, and it tells its peers.
#pragma once

#include "collc/runtime/error.h"
#include "collc/runtime/exchange.h"
#include "collc/runtime/fabric.h"
#include "collc/runtime/transport.h"

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace collc::rt {

class request;

class group {
public:
  group(const exchange &, options);
  ~group();
  group(const group &) = delete;

  std::mutex mutex; // of all below, and of the group's requests
  std::mutex initialising;

  [[nodiscard]] const exchange &peers() const { return exchange_; }
  [[nodiscard]] std::int64_t ranks() const { return exchange_.ranks(); }
  [[nodiscard]] std::int64_t rank() const { return exchange_.rank(); }
  [[nodiscard]] rt::transport &transport() const { return *transport_; }
  [[nodiscard]] std::uint32_t next_id() { return ++last_id_; }
  void query(collc_rt_group_info &) const;

  // Throws the error of a group that has failed.
  void check() const;
  [[nodiscard]] bool failed() const { return failure_.has_value(); }
  // It fails by what `call` throws, which is thrown on.
  template <typename Call> void run(Call call) {
    try {
      call();
    } catch (const failure &f) {
      fail(f);
      throw;
    }
  }

  void add(request &); // makes room, so that activate() needs none
  void remove(request &) noexcept;
  void activate(request &);
  void deactivate(request &) noexcept;
  // A runner whose request has gone.
  void retire(std::unique_ptr<runner>, std::unique_ptr<plan>);

  // Drives the transport; never throws: the group has failed then.
  void progress() noexcept;

  // Waits for all ranks to leave, at most so long; see collc_rt_group_destroy().
  int leave(bool alone);
  [[nodiscard]] bool has_requests() const { return requests_ > (leaving_ ? 1u : 0u); }
  // What all ranks start when they leave, and once before: the last thing that create does. Each
  // rank has then been reached by another, which notices if it is out of reach later.
  void make_leaving();

private:
  struct retired {
    std::unique_ptr<plan> what;
    std::unique_ptr<runner> how; // goes first
  };

  std::optional<failure> open(collc_rt_mode);
  void fail(const failure &) noexcept;
  void run_barrier(const char *what);
  void probe_when_due();
  void reap() noexcept;
  void drain(std::chrono::milliseconds limit) noexcept;

  exchange exchange_;
  const options options_;
  collc_rt_mode mode_ = COLLC_RT_AUTO;
  std::unique_ptr<rt::fabric> fabric_;
  std::unique_ptr<rt::transport> transport_;
  std::optional<failure> failure_;
  std::uint32_t last_id_ = 0;
  std::size_t requests_ = 0;
  std::vector<request *> active_;
  std::vector<retired> retired_;
  std::chrono::steady_clock::time_point next_probe_{};
  std::unique_ptr<request> leaving_;
  bool gone_ = false; // all ranks have left: errors are of those who are quicker
};

} // namespace collc::rt
