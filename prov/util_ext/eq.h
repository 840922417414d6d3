// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Event queues: fi_eq(3). Not for the data path: one mutex, and memory for
// each event.
#pragma once

#include "util_ext/err_data.h"
#include "util_ext/fabric.h"
#include "util_ext/wait_set.h"

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <span>
#include <vector>

namespace util_ext {

struct EventError {
  struct fid *fid = nullptr; // what it is about
  void *context = nullptr;   // of the operation
  std::uint64_t data = 0;
  int err = 0;                    // positive FI_E*
  int prov_errno = 0;             // positive; fi_eq_strerror explains it
  const void *err_data = nullptr; // copied
  std::size_t err_data_size = 0;
};

struct FreeInfo {
  void operator()(fi_info *info) const { fi_freeinfo(info); }
};
using InfoPtr = std::unique_ptr<fi_info, FreeInfo>;

class Eq final : public Object<Eq, fid_eq> {
public:
  static int open(Fabric &, const fi_eq_attr *, fid_eq **, void *context) noexcept;

  // Any thread. `data`: an fi_eq_entry, or fi_eq_cm_entry with what follows it,
  // copied. 0 or -FI_ENOMEM.
  int write(std::uint32_t event, const void *data, std::size_t len) noexcept;
  int write_error(const EventError &) noexcept;
  // An fi_eq_cm_entry with what follows it. Whoever reads the event has the info, and before that
  // the queue.
  int write_connection(std::uint32_t event, struct fid *about, InfoPtr,
                       std::span<const std::byte> data) noexcept;
  // Forgets the events about an object that is being closed: not for an AV, whose
  // events stay (fi_av(3)).
  void forget(const struct fid *) noexcept;

  const Fabric &fabric() const { return *fabric_; }

  // fi_trywait.
  int try_wait() noexcept;

private:
  friend Object;
  friend WaitMember;
  struct Error {
    EventError error;
    ErrData data;
  };
  struct Entry {
    std::uint32_t event = 0;
    std::vector<std::byte> data;
    std::optional<Error> error;
    InfoPtr info; // which the data name
  };

  Eq(Fabric &, const fi_eq_attr &, const WaitChoice &, void *context);
  ~Eq() = default;
  int start();
  static int control(struct fid *, int command, void *arg) noexcept;
  static ssize_t read(fid_eq *, std::uint32_t *event, void *buf, std::size_t len,
                      std::uint64_t flags) noexcept;
  static ssize_t readerr(fid_eq *, fi_eq_err_entry *, std::uint64_t flags) noexcept;
  static ssize_t write_user(fid_eq *, std::uint32_t event, const void *buf, std::size_t len,
                            std::uint64_t flags) noexcept;
  static ssize_t sread(fid_eq *, std::uint32_t *event, void *buf, std::size_t len, int timeout,
                       std::uint64_t flags) noexcept;
  static const char *strerror(fid_eq *, int prov_errno, const void *err_data, char *buf,
                              std::size_t len) noexcept;

  void drive() { fabric_->progress(); }
  bool quiet() noexcept;
  void append(Entry &&);
  int check_flags(std::uint64_t flags) const;
  ssize_t take(std::uint32_t *event, void *buf, std::size_t len, std::uint64_t flags);
  ssize_t take_error(fi_eq_err_entry &, std::uint64_t flags);
  ssize_t read_once(std::uint32_t *event, void *buf, std::size_t len, std::uint64_t flags);
  ssize_t read_blocking(std::uint32_t *event, void *buf, std::size_t len, int timeout,
                        std::uint64_t flags);

  const Hold<Fabric> fabric_;
  const std::size_t size_; // user events beyond it are refused
  const bool writable_;
  std::mutex mutex_;
  std::deque<Entry> entries_;
  std::optional<Error> reported_; // owns the err_data that readerr gave out
  Wait wait_;
  Membership membership_;
};

} // namespace util_ext
