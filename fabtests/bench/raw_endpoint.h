// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#pragma once

#include "common/endpoint.h"

namespace fabtest {

// An endpoint without the harness's queues: what an application's inner loop would do, no more.
class raw_endpoint {
public:
  // `caps` besides FI_TAGGED.
  explicit raw_endpoint(team &t, std::uint64_t caps = 0)
      : e_({.caps = FI_TAGGED | caps,
            .threading = FI_THREAD_DOMAIN,
            .cq_size = 1024,
            .mr_mode = caps ? FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY : 0}) {
    e_.meet(t);
    peer_ = e_.at(t.other());
    inject_size_ = e_.info().tx_attr->inject_size;
  }

  // Spins until one completion is there.
  fi_cq_tagged_entry next() {
    fi_cq_tagged_entry entry{};
    ssize_t rc = 0;
    while ((rc = fi_cq_read(e_.tx().get(), &entry, 1)) == -FI_EAGAIN) {
      if (const auto c = e_.tx().kept()) // from the pauses between batches
        return {c->context, c->flags, c->len, c->buf, c->data, c->tag};
    }
    if (rc != 1)
      fail_read(rc);
    return entry;
  }

  void trecv(void *buf, std::size_t len, std::uint64_t tag, void *context) {
    retry("fi_trecv",
          [&] { return fi_trecv(e_.ep(), buf, len, nullptr, FI_ADDR_UNSPEC, tag, 0, context); });
  }

  // True where a completion follows.
  bool tsend_or_inject(const void *buf, std::size_t len, std::uint64_t tag, void *context) {
    if (len <= inject_size_) {
      retry("fi_tinject", [&] { return fi_tinject(e_.ep(), buf, len, peer_, tag); });
      return false;
    }
    tsend(buf, len, tag, context);
    return true;
  }

  void tsend(const void *buf, std::size_t len, std::uint64_t tag, void *context) {
    retry("fi_tsend", [&] { return fi_tsend(e_.ep(), buf, len, nullptr, peer_, tag, context); });
  }

  // Calls of other kinds, as the provider takes them.
  template <class F> void retry(const char *call, const F &attempt) {
    ssize_t rc = 0;
    while ((rc = attempt()) == -FI_EAGAIN)
      fi_cq_read(e_.tx().get(), nullptr, 0);
    if (rc != 0)
      fail_call(call, rc);
  }
  [[nodiscard]] fid_ep *ep() const { return e_.ep(); }
  [[nodiscard]] fi_addr_t peer() const { return peer_; }
  endpoint &opened() { return e_; }

private:
  void fail_read(ssize_t rc) {
    if (rc == -FI_EAVAIL)
      fail(describe(*e_.tx().poll()));
    fail_call("fi_cq_read", rc);
  }

  endpoint e_;
  fi_addr_t peer_ = FI_ADDR_UNSPEC;
  std::size_t inject_size_ = 0;
};

} // namespace fabtest
