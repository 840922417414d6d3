// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What programs share that queue deferred work.
#pragma once

#include "common/counter.h"
#include "common/exposed.h"

#include <array>
#include <vector>

#include <rdma/fi_atomic.h>
#include <rdma/fi_trigger.h>

namespace fabtest {

inline const request with_triggers{.caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_TRIGGER};

struct counter {
  owned_fid<fid_cntr> cntr;
  explicit counter(endpoint &e) : cntr(open_counter(e)) {}
  [[nodiscard]] fid_cntr *get() const { return cntr.get(); }
  void add(std::uint64_t n) const { CHECK_OK(fi_cntr_add(cntr.get(), n)); }
};

inline constexpr std::size_t size = 100,
                             value_at = 104; // of the payload, and of a number behind it

// All that an operation is described with; overwritten once it has been queued.
struct description {
  std::array<iovec, 2> iov{};
  std::array<fi_ioc, 1> operand{}, compare{}, result{};
  std::array<fi_rma_iov, 1> target{};
  std::array<fi_rma_ioc, 1> value{};
  union {
    fi_op_compare_atomic compare_atomic; // the longest: {} clears no more than the first
    fi_op_fetch_atomic fetch_atomic;
    fi_op_atomic atomic;
    fi_op_msg msg;
    fi_op_tagged tagged;
    fi_op_rma rma;
  } op{};
};

// One rank, which sends to itself, reads and writes its own memory.
struct scene {
  endpoint e;
  exposed memory;
  std::vector<std::byte> local = std::vector<std::byte>(size);
  std::uint64_t operand = 5, compared = 7, former = 0;

  explicit scene(team &t, const request &r = with_triggers) : e(r), memory(e, 2 * size) {
    e.meet(t);
    memory.meet(t);
  }
  std::uint64_t &value() {
    return *reinterpret_cast<std::uint64_t *>(memory.span().data() + value_at);
  }

  void use_local(description &d) {
    d.iov = {iovec{local.data(), size / 2}, iovec{local.data() + size / 2, size - size / 2}};
  }
  void describe_value(description &d, fi_msg_atomic &m, fi_op operation, void *context) {
    d.operand[0] = {&operand, 1};
    const fi_rma_iov v = memory.at(0, value_at, 8);
    d.value[0] = {v.addr, 1, v.key};
    m = {};
    m.msg_iov = d.operand.data();
    m.iov_count = 1;
    m.addr = e.at(0);
    m.rma_iov = d.value.data();
    m.rma_iov_count = 1;
    m.datatype = FI_UINT64;
    m.op = operation;
    m.context = context;
  }
};

inline fi_deferred_work armed(std::uint64_t threshold, const counter &trigger,
                              const counter *done) {
  fi_deferred_work work{};
  work.threshold = threshold;
  work.triggering_cntr = trigger.get();
  work.completion_cntr = done ? done->get() : nullptr;
  return work;
}

} // namespace fabtest
