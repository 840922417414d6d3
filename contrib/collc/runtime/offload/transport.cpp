// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/runtime/error.h"
#include "collc/runtime/offload/offload.h"

#include <algorithm>

#include <fmt/format.h>

namespace collc::rt {

offload_transport::offload_transport(fabric &f, std::int64_t ranks, std::int64_t rank,
                                     std::uint64_t most_works)
    : transport(ranks, rank), fabric_(f), most_works_(most_works), alarm_(open_counter()),
      alarm_key_(export_counter(alarm_.get())), probes_(static_cast<std::size_t>(ranks)),
      alarms_(static_cast<std::size_t>(ranks)) {
  for (std::int64_t r = 0; r < ranks; ++r) {
    const auto i = static_cast<std::size_t>(r);
    probes_[i].peer = alarms_[i].peer = r;
    alarms_[i].told = r == rank;
  }
  fi_dpdkx_cntr_limits limits{};
  limits.size = sizeof limits;
  check_call("fi_dpdkx_ops_cntr.query", f.cntr_ops().query(f.domain(), &limits));
  limited_ = limits.max_triggered_ops != FI_DPDKX_UNLIMITED;
  if (limits.max_triggered_ops == 0)
    fail(-FI_ENOSYS, fmt::format("provider {} takes no deferred work", f.provider()));
}

// Probes and alarms may be under way.
offload_transport::~offload_transport() { fabric_.close_endpoint(); }

owned<fid_cntr> offload_transport::open_counter() const {
  fi_cntr_attr attr{};
  attr.events = FI_CNTR_EVENTS_COMP;
  attr.wait_obj = FI_WAIT_NONE;
  fid_cntr *c = nullptr;
  check_call("fi_cntr_open", fi_cntr_open(fabric_.domain(), &attr, &c, nullptr));
  return owned<fid_cntr>(c);
}

std::uint64_t offload_transport::export_counter(fid_cntr *c) const {
  std::uint64_t key = 0;
  check_call("fi_dpdkx_ops_cntr.export_cntr",
             fabric_.cntr_ops().export_cntr(c, FI_REMOTE_WRITE, FI_KEY_NOTAVAIL, 0, &key));
  return key;
}

std::uint64_t offload_transport::room() const {
  if (!limited_)
    return UINT64_MAX;
  fi_dpdkx_cntr_limits limits{};
  limits.size = sizeof limits;
  check_call("fi_dpdkx_ops_cntr.query", fabric_.cntr_ops().query(fabric_.domain(), &limits));
  return limits.max_triggered_ops - std::min(limits.triggered_ops, limits.max_triggered_ops);
}

std::size_t offload_transport::most_elements(const combination &c) const {
  std::size_t count = 0;
  const int rc = fi_atomicvalid(fabric_.ep(), c.type, c.operation, &count);
  if (rc != 0 || count == 0)
    fail(-FI_EOPNOTSUPP,
         fmt::format("provider {} lacks the atomic {} of {}, which offload needs: {}",
                     fabric_.provider(), fi_tostr(&c.operation, FI_TYPE_ATOMIC_OP),
                     fi_tostr(&c.type, FI_TYPE_ATOMIC_TYPE), fi_strerror(-rc)));
  return count;
}

std::unique_ptr<runner> offload_transport::make(const plan &p, std::uint32_t) {
  return std::make_unique<offload_runner>(*this, p);
}

std::uint64_t offload_transport::counters(const runner &r) const {
  return static_cast<const offload_runner &>(r).counters();
}

void offload_transport::progress() {
  constexpr unsigned turns_between_errors = 16;
  if (calls_under_way_ != 0 || ++turns_ % turns_between_errors == 0)
    while (take_completion()) {
    }
  if (fi_cntr_read(alarm_.get()) != 0)
    fail(-FI_ECONNABORTED, "another rank has failed, as it says");
}

// Of probes and alarms, which alone ask for completions; but errors come as well.
bool offload_transport::take_completion() {
  fi_cq_msg_entry e{};
  const ssize_t n = fi_cq_read(fabric_.cq(), &e, 1);
  if (n == 1) {
    over(*static_cast<call *>(e.op_context));
    return true;
  }
  if (n == -FI_EAGAIN)
    return false;
  if (n != -FI_EAVAIL)
    check_call("fi_cq_read", n);
  fi_cq_err_entry error{};
  if (fi_cq_readerr(fabric_.cq(), &error, 0) != 1)
    return false;
  if (error.op_context == nullptr)
    fail(-error.err, fmt::format("a transfer: {}", fi_strerror(error.err)));
  call &c = *static_cast<call *>(error.op_context);
  over(c);
  fail_to_reach(c.peer, error.err);
}

// False: there is no room now.
bool offload_transport::tell(call &c, std::uint64_t value) {
  const ssize_t rc = fabric_.cntr_ops().remote_add(
      fabric_.ep(), fabric_.at(c.peer), alarm_keys_[static_cast<std::size_t>(c.peer)], value,
      FI_COMPLETION | FI_DELIVERY_COMPLETE, &c.context);
  if (rc == -FI_EAGAIN)
    return false;
  if (rc != 0)
    fail_to_reach(c.peer, static_cast<int>(-rc));
  c.under_way = true;
  ++calls_under_way_;
  return true;
}

void offload_transport::over(call &c) {
  c.under_way = false;
  --calls_under_way_;
}

// One that has not answered the last time is still being asked.
bool offload_transport::probe(std::int64_t peer) {
  call &c = probes_[static_cast<std::size_t>(peer)];
  return c.under_way || tell(c, 0);
}

bool offload_transport::alarm() noexcept {
  bool all = true;
  for (call &c : alarms_) {
    try {
      if (!c.told)
        c.told = tell(c, 1);
    } catch (const failure &) {
      c.told = true; // it is gone
    }
    all = all && c.told && !c.under_way;
  }
  return all;
}

} // namespace collc::rt
