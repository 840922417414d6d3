// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Schedules as deferred work: queued at each start, and then the provider's.
#pragma once

#include "collc/runtime/fabric.h"
#include "collc/runtime/transport.h"

#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_trigger.h>

namespace collc::rt {

class offload_transport final : public transport {
public:
  offload_transport(fabric &, std::int64_t ranks, std::int64_t rank, std::uint64_t most_works);
  ~offload_transport() override;

  std::uint64_t key() const override { return alarm_key_; }
  void meet(const std::vector<std::uint64_t> &keys) override { alarm_keys_ = keys; }
  std::unique_ptr<runner> make(const plan &, std::uint32_t id) override;
  std::uint64_t counters(const runner &) const override;
  void progress() override;
  bool alarm() noexcept override;
  bool idle() const noexcept override { return true; }

  // For runners.
  [[nodiscard]] fabric &on() const { return fabric_; }
  owned<fid_cntr> open_counter() const;
  [[nodiscard]] std::uint64_t export_counter(fid_cntr *) const;
  // Of works that may be queued now, by the provider's limit.
  [[nodiscard]] std::uint64_t room() const;
  [[nodiscard]] std::uint64_t most_works() const { return most_works_; }
  // Elements of an atomic at most.
  [[nodiscard]] std::size_t most_elements(const combination &) const;

private:
  // An addition to a peer's alarm counter: of 0, a probe, or of 1.
  struct call {
    fi_context2 context; // first: it leads back here
    std::int64_t peer = 0;
    bool under_way = false, told = false;
  };
  bool probe(std::int64_t peer) override;
  bool tell(call &, std::uint64_t value);
  void over(call &);
  bool take_completion();

  fabric &fabric_;
  const std::uint64_t most_works_;
  bool limited_ = false;
  owned<fid_cntr> alarm_; // peers add to it when they have failed
  std::uint64_t alarm_key_ = 0;
  std::vector<std::uint64_t> alarm_keys_;
  std::vector<call> probes_, alarms_; // by rank
  std::size_t calls_under_way_ = 0;   // of these
  unsigned turns_ = 0;
};

class offload_runner final : public runner {
public:
  offload_runner(offload_transport &, const plan &);
  ~offload_runner() override;

  const runner_names &names() const override { return names_; }
  void connect(const std::vector<runner_names> &all) override;
  void start() override;
  bool complete() override;
  void advance() override;
  void close_buffers() noexcept override;
  bool quiet() noexcept override;
  void abandon() noexcept override;
  [[nodiscard]] std::uint64_t counters() const {
    return plan_.turns() * (tanks_.size() + (plan_.lands() ? 1 : 0)) + 1;
  }

private:
  struct tank {
    std::int64_t path = 0;
    owned<fid_cntr> cntr[plan::most_turns];
    std::uint64_t start = 0, full = 0;
    std::uint64_t told = 0; // of full, so many epochs ahead
    std::uint32_t ahead = 0;
    bool over = true;
  };
  // Completions, and how many there will be when all that is queued is over.
  struct completions {
    owned<fid_cntr> cntr;
    std::uint64_t awaited = 0;

    [[nodiscard]] bool all() const { return fi_cntr_read(cntr.get()) == awaited; }
    [[nodiscard]] std::uint64_t under_way() const noexcept {
      return awaited - fi_cntr_read(cntr.get()) - fi_cntr_readerr(cntr.get());
    }
  };
  // What a work needs as long as it is queued.
  struct entry {
    fi_deferred_work work;
    completions *counted; // null: not
    union {
      fi_op_remote_cntr add;
      fi_op_cntr raise;
      fi_op_rma write;
      fi_op_atomic atomic;
    };
    union {
      iovec from;
      fi_ioc from_elements;
    };
    union {
      fi_rma_iov to;
      fi_rma_ioc to_elements;
    };
    void *desc;
  };
  using entries = std::vector<entry>;

  void open_tanks();
  void open_buffers();
  void make(entries &, const std::vector<runner_names> &all, unsigned turn);
  void add(entries &, const collc_work &, const std::vector<runner_names> &all, unsigned turn);
  void move(entries &, const collc_work &, const std::vector<runner_names> &all, unsigned turn);
  entry &put(entries &, const collc_work &, unsigned turn, completions &);
  [[nodiscard]] completions &of_moves(unsigned turn) {
    return plan_.lands() ? moves_[turn] : transfers_;
  }
  tank &tank_of(std::int64_t path);
  [[nodiscard]] bool empties(const collc_work &);
  void queue();
  [[nodiscard]] std::uint64_t under_way() const noexcept;
  void check_errors() const;
  bool over();
  [[nodiscard]] entries &current() { return entries_[plan_.turn(epoch_)]; }

  offload_transport &transport_;
  const plan &plan_;
  runner_names names_;
  std::vector<tank> tanks_;
  std::vector<owned<fid_mr>> regions_; // by buffer
  // Of all works, but for those of the next. The request waits for them: what has not left for want
  // of this process's calls would be missed by a peer.
  completions transfers_;
  // Where data land: of what moves them, by turn. An addition goes after each, and tells that they
  // have left.
  completions moves_[plan::most_turns];
  entries entries_[plan::most_turns];
  std::uint64_t epoch_ = 0;
  std::size_t queued_ = 0; // works of this epoch
  unsigned looks_ = 0;     // in vain
};

} // namespace collc::rt
