// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Completion queues: fi_cq(3). Entries are kept in order; what comes beyond the
// queue's size is kept too (nothing is ever lost), but then room() is false and
// posting calls answer -FI_EAGAIN until it is read. Errors keep their place
// among the other entries.
#pragma once

#include "util_ext/chunk_queue.h"
#include "util_ext/completion.h"
#include "util_ext/domain.h"
#include "util_ext/err_data.h"
#include "util_ext/lock.h"
#include "util_ext/wait_set.h"

#include <memory>

namespace util_ext {

class Cq final : public Object<Cq, fid_cq> {
public:
  // fi_cq_open for any domain of this kind. Refuses what it can't do
  // (-FI_ENOSYS, -FI_EINVAL) with a log line.
  static int open(Domain &, const fi_cq_attr *, fid_cq **, void *context) noexcept;

  // Any thread; locks as the domain's threading level asks. noexcept: an entry
  // that can't be kept for want of memory puts the queue into overrun. (An error's
  // olen and err_data may be left out before that.)
  void write(const Completion &c) noexcept {
    std::lock_guard lock(mutex_);
    append(c, {});
  }
  void write_error(const CompletionError &) noexcept;
  bool room() const noexcept { // posts may go on
    return count() < size_ && !overrun_.load(std::memory_order_relaxed);
  }

  const Domain &domain() const { return *domain_; }

  // fi_trywait.
  int try_wait() noexcept;
  bool quiet() noexcept { return !satisfied(1); } // nothing to read

private:
  friend Object;
  friend WaitMember;
  struct Error { // what an entry of a failed operation has besides
    std::size_t olen;
    int err;
    int prov_errno;
    ErrData data;
  };
  // An Error where there is more to say than err and prov_errno; else these two.
  class Failure {
  public:
    Failure() = default; // success
    Failure(int err, int prov_errno) noexcept
        : word_(std::uintptr_t{static_cast<std::uint32_t>(prov_errno)} << 32 |
                static_cast<std::uint32_t>(err) << 1 | 1) {}
    // Owned by whoever ends the entry, by take().
    explicit Failure(std::unique_ptr<Error> e) noexcept
        : word_(reinterpret_cast<std::uintptr_t>(e.release())) {}
    explicit operator bool() const { return word_ != 0; }
    void take(Error &out) noexcept;

  private:
    std::uintptr_t word_ = 0;
  };
  struct Entry {
    Completion completion;
    Failure failure;
  };
  static constexpr std::size_t chunk_entries = 64;
  static constexpr std::size_t max_size = std::size_t{1} << 32;
  static_assert(sizeof(Entry) <= 64);

  // The C interface of queues that report entries as type `E`, and what it uses.
  template <class E> struct Format;

  Cq(Domain &, const fi_cq_attr &, const WaitChoice &, fi_ops_cq &, void *context);
  ~Cq();
  int start();
  void drive();
  static int control(struct fid *, int command, void *arg) noexcept;
  static ssize_t readerr(fid_cq *, fi_cq_err_entry *, std::uint64_t flags) noexcept;
  static int signal(fid_cq *) noexcept;
  static const char *strerror(fid_cq *, int prov_errno, const void *err_data, char *buf,
                              std::size_t len) noexcept;

  std::size_t count() const noexcept { return count_.load(std::memory_order_acquire); }
  bool append(const Completion &c, Failure failure) noexcept { // false: overrun
    Entry *e = count() < bound_ ? entries_.push() : nullptr;
    if (!e) [[unlikely]] {
      overrun();
      return false;
    }
    *e = {c, failure};
    // Only under the lock, so no read-modify-write.
    count_.store(count() + 1, std::memory_order_release);
    wait_.notify();
    return true;
  }
  void overrun() noexcept;
  template <class E> ssize_t take(E *out, std::size_t max, fi_addr_t *src) noexcept;
  template <class E> ssize_t read(E *out, std::size_t max, fi_addr_t *src) noexcept;
  template <class E>
  ssize_t read_blocking(E *out, std::size_t max, fi_addr_t *src, std::size_t threshold,
                        int timeout);
  bool satisfied(std::size_t threshold) noexcept;
  ssize_t report(fi_cq_err_entry &) noexcept;

  const Hold<Domain> domain_;
  const bool drives_progress_;
  WaitSource *const source_; // of what progress would find
  std::uint8_t reads_ = 0;   // that found entries; under the lock
  const std::size_t size_;
  std::size_t bound_; // entries that are kept at most
  // Changed under the lock.
  std::atomic<std::size_t> count_{0}; // of entries
  std::size_t errors_ = 0;            // of them failed
  std::atomic<bool> overrun_{false};
  OptionalMutex mutex_;
  ChunkQueue<Entry, chunk_entries> entries_;
  Wait wait_;
  const fi_cq_wait_cond wait_cond_;
  Error reported_{}; // holds the err_data that readerr gave out
  Membership membership_;
};

} // namespace util_ext
