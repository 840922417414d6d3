// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Owners of libfabric's objects. A close that fails fails the case.
#pragma once

#include "check.h"

#include <exception>
#include <memory>
#include <utility>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>

namespace fabtest {

struct info_deleter {
  void operator()(fi_info *info) const { fi_freeinfo(info); }
};
using info_ptr = std::unique_ptr<fi_info, info_deleter>;

template <class F> class owned_fid {
public:
  owned_fid() = default;
  explicit owned_fid(F *object) : object_(object) {}
  owned_fid(owned_fid &&other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  owned_fid &operator=(owned_fid &&other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~owned_fid() { close(); }

  [[nodiscard]] F *get() const { return object_; }
  F *operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  [[nodiscard]] fid_t as_fid() const { return &object_->fid; }

  // For the open calls: fi_xxx_open(…, o.out(), …).
  F **out() {
    close();
    return &object_;
  }
  F *release() { return std::exchange(object_, nullptr); }

  void close() noexcept {
    if (!object_)
      return;
    const int rc = fi_close(&object_->fid);
    object_ = nullptr;
    if (rc != 0 && std::uncaught_exceptions() == 0) // one failure is enough
      fail_later(std::string("fi_close returned ") + describe(rc));
  }

private:
  F *object_ = nullptr;
};

} // namespace fabtest
