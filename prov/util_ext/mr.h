// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Memory regions: fi_mr(3). What peers may access goes into the domain's
// MrTable; regions for local access only are remembered for their descriptor.
#pragma once

#include "util_ext/cntr.h"
#include "util_ext/domain.h"
#include "util_ext/ops.h"

namespace util_ext {

class Mr final : public Object<Mr, fid_mr> {
public:
  static int open(Domain &, const fi_mr_attr *, std::uint64_t flags, fid_mr **) noexcept;

  // The op table of a provider's domain D, which has: static D &from(struct fid *).
  template <class D> static fi_ops_mr *ops();

  std::uint64_t access() const { return access_; } // all that it was registered for

private:
  friend Object;
  Mr(Domain &, const fi_mr_attr &);
  ~Mr();
  int start(); // enters it into the table, if peers may access it
  static int bind(struct fid *, struct fid *, std::uint64_t flags) noexcept;
  static int control(struct fid *, int command, void *arg) noexcept;
  int bind_cntr(Cntr &, std::uint64_t flags);
  static int check(Domain &, const fi_mr_attr &, std::uint64_t flags);

  const Hold<Domain> domain_;
  Hold<Cntr> read_cntr_, write_cntr_; // let go once the region is out of the table
  const std::uint64_t access_, requested_key_;
  Region region_;
  bool entered_ = false; // in the table
};

// For a domain's control(): FI_MAP_RAW_MR, FI_UNMAP_KEY. Raw keys are the keys.
int map_raw_key(const struct fi_mr_map_raw &) noexcept;

template <class D> fi_ops_mr *Mr::ops() {
  static fi_ops_mr table = [] {
    auto t = all_missing<fi_ops_mr>();
    t.regattr = [](struct fid *f, const fi_mr_attr *attr, std::uint64_t flags,
                   fid_mr **mr) noexcept { return open(D::from(f), attr, flags, mr); };
    t.regv = [](struct fid *f, const iovec *iov, std::size_t count, std::uint64_t access,
                std::uint64_t offset, std::uint64_t requested_key, std::uint64_t flags, fid_mr **mr,
                void *context) noexcept {
      fi_mr_attr attr{};
      attr.mr_iov = iov;
      attr.iov_count = count;
      attr.access = access;
      attr.offset = offset;
      attr.requested_key = requested_key;
      attr.context = context;
      return open(D::from(f), &attr, flags, mr);
    };
    t.reg = [](struct fid *f, const void *buf, std::size_t len, std::uint64_t access,
               std::uint64_t offset, std::uint64_t requested_key, std::uint64_t flags, fid_mr **mr,
               void *context) noexcept {
      const iovec iov{const_cast<void *>(buf), len};
      return table.regv(f, &iov, 1, access, offset, requested_key, flags, mr, context);
    };
    return t;
  }();
  return &table;
}

} // namespace util_ext
