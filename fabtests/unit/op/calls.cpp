// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "calls.h"

#include <algorithm>
#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>

#include "unit/unit.h" // last: cmocka defines fail

namespace lab {

// --- Calls

Call::Call(Bytes bytes, std::size_t pieces) : memory(std::move(bytes)) {
  // Odd pieces: empty ones at both ends if there are enough, the rest uneven.
  const std::size_t n = memory.size();
  std::size_t at = 0;
  for (std::size_t i = 0; i < pieces; ++i) {
    std::size_t len = i + 1 == pieces ? n - at : std::min(n - at, (n / pieces) + (i * 37 % 11));
    if (pieces > 4 && i == 0)
      len = 0;
    iov.push_back({memory.data() + at, len});
    at += len;
  }
}

bool Call::starts_with(const Bytes &b) const {
  return memory.size() >= b.size() && std::equal(b.begin(), b.end(), memory.begin());
}

// --- Queues

Queues::Queues(const QueueOptions &o) {
  fi_cq_attr cq{};
  cq.size = o.cq_size;
  cq.format = FI_CQ_FORMAT_TAGGED;
  cq.wait_obj = FI_WAIT_NONE;
  fi_cntr_attr cntr{};
  cntr.events = FI_CNTR_EVENTS_COMP;
  cntr.wait_obj = FI_WAIT_NONE;
  for (fid_cq **q : {&tx_cq_, &rx_cq_})
    assert_int_equal(util_ext::Cq::open(domain_, &cq, q, nullptr), 0);
  for (fid_cntr **c : {&tx_cntr_, &rx_cntr_})
    assert_int_equal(util_ext::Cntr::open(domain_, &cntr, c, nullptr), 0);
  completers = {.tx_cq = o.cqs ? util_ext::Cq::from(&tx_cq_->fid) : nullptr,
                .rx_cq = o.cqs ? util_ext::Cq::from(&rx_cq_->fid) : nullptr,
                .tx_cntr = util_ext::Cntr::from(&tx_cntr_->fid),
                .rx_cntr = util_ext::Cntr::from(&rx_cntr_->fid),
                .source = true,
                .source_err = o.source_err};
}

Queues::~Queues() {
  for (fid *f : {&tx_cq_->fid, &rx_cq_->fid, &tx_cntr_->fid, &rx_cntr_->fid})
    fi_close(f);
}

void Queues::reap() {
  for (util_ext::Cq *cq : {completers.tx_cq, completers.rx_cq})
    if (cq)
      reap(*cq);
}

std::vector<Done> &Queues::of(void *context) {
  return context ? static_cast<Call *>(context)->done : told;
}

void Queues::reap(util_ext::Cq &cq) {
  for (;;) {
    fi_cq_tagged_entry e{};
    fi_addr_t src = FI_ADDR_NOTAVAIL;
    const ssize_t n = fi_cq_readfrom(&cq, &e, 1, &src);
    if (n == -FI_EAGAIN)
      return;
    if (n == 1) {
      of(e.op_context)
          .push_back(
              {e.flags, e.len, static_cast<std::byte *>(e.buf), e.data, e.tag, src, 0, 0, {}});
      continue;
    }
    assert_int_equal(n, -FI_EAVAIL);
    std::byte data[64];
    fi_cq_err_entry f{};
    f.err_data = data;
    f.err_data_size = sizeof data;
    assert_int_equal(fi_cq_readerr(&cq, &f, 0), 1);
    assert_true(f.err > 0);
    const auto *raw = static_cast<const std::byte *>(f.err_data);
    of(f.op_context)
        .push_back({f.flags, f.len, static_cast<std::byte *>(f.buf), f.data, f.tag,
                    FI_ADDR_NOTAVAIL, f.err, f.olen,
                    f.err_data_size ? Bytes(raw, raw + f.err_data_size) : Bytes{}});
  }
}

// --- Requests

dpdkx::op::SendRequest request(Call &c, fi_addr_t to, const SendHow &how) {
  return harness::request(c.iov, to, how, &c);
}

dpdkx::op::ReceiveRequest request(Call &c, const ReceiveHow &how) {
  return harness::request(c.iov, how, &c);
}

} // namespace lab
