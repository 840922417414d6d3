// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What completion objects, address vectors and memory regions need of the
// domain they belong to. A provider derives its domain from this.
#pragma once

#include "util_ext/cntr_table.h"
#include "util_ext/mr_table.h"
#include "util_ext/object.h"
#include "util_ext/trigger.h"

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>

#include <cstddef>
#include <cstdint>

namespace util_ext {

// Blocks until something may have arrived, or a timer is due. arm() answers
// false when there already is something to do; then don't wait. One arm(), one
// disarm(), also when it answered false. Any thread; several may have armed it.
class WaitSource {
public:
  // Readable, while armed, when there is something to do. Stays the same. -1:
  // can't block; then waiting calls poll.
  virtual int fd() = 0;
  virtual bool arm() = 0;
  virtual void disarm() = 0;

protected:
  ~WaitSource() = default;
};

// What a provider may set before it opens objects of a domain.
struct Limits {
  std::size_t cq_size = 1024;              // entries of a CQ that leaves its size open
  std::size_t cq_overrun = 1 << 22;        // entries kept beyond a CQ's size; one more: overrun
  const char *cq_overrun_advice = nullptr; // added to the log line: which setting helps
  std::size_t cntrs = ~std::size_t{0};     // open at a time
  const char *works_advice = nullptr;      // the same, of Triggers::limit
  fi_av_type av_type = FI_AV_UNSPEC;       // of AVs that leave it open; UNSPEC: FI_AV_TABLE
  int mr_mode = 0;                         // as in fi_domain_attr
  std::size_t mr_iov_limit = 8;
  std::size_t mr_key_size = 8;
};

// The objects opened in it hold it open.
class Domain : public Holdable {
public:
  // addr_format: of the addresses in AVs: FI_SOCKADDR, _IN, _IN6, or FI_ADDR_STR.
  Domain(const fi_provider &provider, fi_threading threading, fi_progress progress,
         std::uint32_t api_version, std::uint32_t addr_format = FI_SOCKADDR)
      : provider_(provider), threading_(threading), progress_(progress), api_version_(api_version),
        addr_format_(addr_format), exported(locking()), triggers(locking()) {}
  Domain(const Domain &) = delete;
  Domain &operator=(const Domain &) = delete;

  // Drives every endpoint of the domain once. Any thread, no lock held.
  virtual void progress() = 0;
  // Under automatic progress, of a call that finds nothing: whoever polls so has a processor at
  // hand, and may hold the one that progress waits for.
  virtual void polled_in_vain() = 0;
  // ... or is about to sleep until something comes, and polls no more.
  virtual void poller_sleeps() noexcept {}
  virtual WaitSource &wait_source() = 0;

  // Whether objects of this domain must lock for themselves: false only for
  // FI_THREAD_DOMAIN under manual progress.
  bool locking() const { return threading_ != FI_THREAD_DOMAIN || progress_ == FI_PROGRESS_AUTO; }
  bool auto_progress() const { return progress_ == FI_PROGRESS_AUTO; }
  std::uint32_t api_version() const { return api_version_; } // the application's
  std::uint32_t addr_format() const { return addr_format_; }
  const fi_provider &provider() const { return provider_; }

  // The work that an fi_deferred_work describes, but for operations on counters: those are alike in
  // all providers. It ends later. 0, or why there can be none, told by a log line: -FI_ENOSYS,
  // -FI_EINVAL, ...
  virtual int make_work(const fi_deferred_work &, std::unique_ptr<Work> &) { return -FI_ENOSYS; }

protected:
  ~Domain() = default;

private:
  const fi_provider &provider_;
  const fi_threading threading_;
  const fi_progress progress_;
  const std::uint32_t api_version_;
  const std::uint32_t addr_format_;

public:
  Limits limits;
  MrTable regions;    // memory that peers may access
  CntrTable exported; // counters that peers may add to
  Triggers triggers;
  std::atomic<std::size_t> open_cntrs{0}; // all that there are
};

} // namespace util_ext
