// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Completions of any format as one type, and a queue that is waited on with a time limit.
#pragma once

#include "fids.h"
#include "progress.h"

#include <chrono>
#include <deque>
#include <optional>

namespace fabtest {

// What an operation is posted with. Large enough for providers that ask for FI_CONTEXT2.
struct op {
  fi_context2 space{};
  op() = default;
  op(const op &) = delete;
  op &operator=(const op &) = delete;
};

struct completion {
  void *context = nullptr;
  std::uint64_t flags = 0;
  std::size_t len = 0;
  void *buf = nullptr;
  std::uint64_t data = 0;
  std::uint64_t tag = 0;
  fi_addr_t source = FI_ADDR_NOTAVAIL;
  int err = 0; // 0: success; the fields below mean something otherwise
  int prov_errno = 0;
  std::size_t olen = 0;

  [[nodiscard]] bool is(const op &o) const { return context == &o; }
};

std::string describe(const completion &c);

// The time that a single wait may take, unless a case says otherwise.
std::chrono::milliseconds default_wait();

class queue : public progress_source {
public:
  queue(fid_domain *domain, const fi_cq_attr &attr);

  [[nodiscard]] fid_cq *get() const { return cq_.get(); }
  [[nodiscard]] fi_cq_format format() const { return format_; }

  // One entry or error entry, if there is one now.
  std::optional<completion> poll(where at = where::current());

  // One that was read while the process waited for something else.
  std::optional<completion> kept();

  // The next one, in the order of the queue. Fails when time is up.
  completion next(std::string_view what, std::chrono::milliseconds limit = default_wait(),
                  where at = where::current());

  // That of one operation; others are kept for later waits.
  completion wait(const op &o, std::string_view what,
                  std::chrono::milliseconds limit = default_wait(), where at = where::current());
  completion wait_ok(const op &o, std::string_view what,
                     std::chrono::milliseconds limit = default_wait(), where at = where::current());

  // Takes so many successes from this queue; no other queue is read meanwhile.
  void drop(std::size_t count, std::string_view what, where at = where::current());

  // Nothing arrives, though progress is made for a while.
  void expect_silence(std::chrono::milliseconds span, where at = where::current());
  void expect_empty(where at = where::current());

  void make_progress() override;

private:
  std::optional<completion> take_kept(const op &o);
  std::optional<completion> read_one(where at);
  completion read_error(where at);

  owned_fid<fid_cq> cq_;
  fi_cq_format format_;
  std::deque<completion> kept_;
};

} // namespace fabtest
