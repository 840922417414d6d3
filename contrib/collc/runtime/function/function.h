// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Schedules that are advanced by calls: tanks are numbers of this process, works are done as their
// levels are reached, and what they tell other ranks goes in frames.
#pragma once

#include "collc/runtime/function/channel.h"
#include "collc/runtime/transport.h"

#include <unordered_map>

namespace collc::rt {

class function_runner;

class function_transport final : public transport, private channel::receiver {
public:
  function_transport(fabric &, std::int64_t ranks, std::int64_t rank,
                     std::chrono::milliseconds silence);
  ~function_transport() override;

  std::uint64_t key() const override { return 0; }
  void meet(const std::vector<std::uint64_t> &) override {}
  std::unique_ptr<runner> make(const plan &, std::uint32_t id) override;
  std::uint64_t counters(const runner &) const override;
  void progress() override { channel_.progress(); }
  bool alarm() noexcept override;
  bool idle() const noexcept override { return under_way_ == 0; }

private:
  friend function_runner;
  void take(const frame_header &, const std::byte *payload) override;
  bool probe(std::int64_t peer) override;

  channel channel_;
  std::unordered_map<std::uint32_t, function_runner *> runners_; // by id
  std::vector<bool> alarmed_;
  std::uint64_t under_way_ = 0; // of alarms and probes
};

class function_runner final : public runner {
public:
  function_runner(function_transport &, const plan &, std::uint32_t id);
  ~function_runner() override;

  const runner_names &names() const override { return names_; }
  void connect(const std::vector<runner_names> &all) override;
  void start() override;
  bool complete() override;
  void advance() override;
  void close_buffers() noexcept override { abandon(); }
  bool quiet() noexcept override { return under_way_ == 0; }
  void abandon() noexcept override;

  void take(const frame_header &, const std::byte *payload);
  [[nodiscard]] std::uint64_t counters() const { return plan_.turns() * tanks_.size(); }

private:
  // A path's tank, which is several, used in turn.
  struct tank {
    std::int64_t path = 0;
    std::uint64_t level[plan::most_turns] = {};
    std::uint64_t start = 0, full = 0;
    std::uint64_t told = 0; // of full, so many epochs ahead
    std::uint32_t ahead = 0;
    bool emptied = false;             // by the last of its works
    std::vector<std::uint32_t> works; // by threshold
    // Of the epoch that goes on:
    std::size_t next = 0;   // the first work that has not been done
    std::uint64_t sent = 0; // bytes of it that have been
    bool over = true;
  };

  bool advance(tank &);
  bool perform(tank &);
  bool move(tank &, const collc_work &);
  [[nodiscard]] const collc_work *added_with(const tank &) const;
  [[nodiscard]] frame_header header_for(const collc_work &, frame_kind) const;
  [[nodiscard]] std::size_t index_of(std::int64_t path) const;
  void combine(const collc_work &) const;
  [[nodiscard]] unsigned turn() const { return plan_.turn(epoch_); }

  function_transport &transport_;
  const plan &plan_;
  const std::uint32_t id_;
  runner_names names_;
  std::vector<tank> tanks_;
  // Of each work: the tank that it adds to, as its rank names it; and of those that move data, how
  // far from each other that rank has the memory of the turns.
  std::vector<std::uint64_t> targets_, strides_;
  std::uint64_t epoch_ = 0;
  std::uint64_t under_way_ = 0; // frames
  bool open_ = true;            // to what comes
};

} // namespace collc::rt
