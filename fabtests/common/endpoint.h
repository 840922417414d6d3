// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// An RDM endpoint with everything it needs, opened from one description.
#pragma once

#include "completion.h"
#include "payload.h"
#include "team.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace fabtest {

// What a case needs. Zero leaves a choice to the provider.
struct request {
  fi_ep_type type = FI_EP_RDM;
  std::uint64_t caps = FI_MSG | FI_TAGGED;
  std::uint64_t order = FI_ORDER_SAS;
  std::uint64_t tx_op_flags = 0;
  std::uint64_t rx_op_flags = 0;
  fi_av_type av_type = FI_AV_TABLE;
  fi_threading threading = FI_THREAD_UNSPEC;
  fi_progress progress = FI_PROGRESS_UNSPEC;
  fi_cq_format format = FI_CQ_FORMAT_TAGGED;
  fi_wait_obj wait = FI_WAIT_NONE;
  fid_wait *wait_set = nullptr; // with FI_WAIT_SET: of queues and counters
  std::size_t cq_size = 0;
  int mr_mode = 0;
  std::uint64_t bind_flags = 0; // FI_SELECTIVE_COMPLETION
  bool separate_queues = false; // one CQ for sends, one for receives
  bool counters = false;        // FI_SEND and FI_RECV counters
  // And others: what each counts, all there before the endpoint is enabled.
  std::vector<std::uint64_t> counted = {};
  bool enable = true;
  std::string service = {}; // local port
};

info_ptr make_hints(const request &r);
// The first that fits; skips the case where nothing does and `optional` names what is asked for.
info_ptr find_info(const request &r, std::string_view optional = {});

// fi_getinfo as the command line asks for it: node and FI_SOURCE, where given.
int get_info(const fi_info *hints, const std::string &service, info_ptr &result);

struct fabric_and_domain {
  info_ptr info;
  owned_fid<fid_fabric> fabric;
  owned_fid<fid_domain> domain;

  explicit fabric_and_domain(info_ptr chosen);
  fabric_and_domain(fid_fabric *others, info_ptr chosen); // in a fabric that somebody else owns
  fid_domain *operator*() const { return domain.get(); }
};

bytes name_of(fid_ep *ep);
// One address into an AV, whatever the format; FI_ADDR_NOTAVAIL where it fails.
fi_addr_t insert(fid_av *av, const bytes &name, std::uint32_t format);

class endpoint {
public:
  explicit endpoint(const request &r = {}, std::string_view optional = {});
  // Another endpoint in a domain that exists already.
  endpoint(std::shared_ptr<fabric_and_domain> base, const request &r);

  // Exchanges names with all ranks and inserts them; collective.
  void meet(team &t);
  // Address of a rank, once met.
  [[nodiscard]] fi_addr_t at(int rank) const { return peers_.at(static_cast<std::size_t>(rank)); }
  [[nodiscard]] const bytes &name_at(int rank) const {
    return names_.at(static_cast<std::size_t>(rank));
  }
  [[nodiscard]] bytes name() const { return name_of(ep()); }
  fi_addr_t add(const bytes &name);

  [[nodiscard]] fid_ep *ep() const { return ep_.get(); }
  [[nodiscard]] fid_av *av() const { return av_.get(); }
  [[nodiscard]] const fi_info &info() const { return *base_->info; }
  [[nodiscard]] fid_domain *domain() const { return base_->domain.get(); }
  [[nodiscard]] fid_fabric *fabric() const { return base_->fabric.get(); }
  [[nodiscard]] std::shared_ptr<fabric_and_domain> base() const { return base_; }
  queue &tx() { return *tx_; }
  queue &rx() { return rx_ ? *rx_ : *tx_; }
  [[nodiscard]] fid_cntr *sent() const { return sent_.get(); }
  [[nodiscard]] fid_cntr *received() const { return received_.get(); }
  // The i-th of request::counted.
  [[nodiscard]] fid_cntr *counter(std::size_t i) const { return counted_.at(i).get(); }

  // Posts until the provider takes it: -FI_EAGAIN is retried, with progress in between. Where it
  // takes it at once, that costs nothing beside the call: benchmarks post so, too.
  using posting = std::function<ssize_t()>;
  template <class Attempt>
  void post(std::string_view call, const Attempt &attempt, where at = where::current()) {
    if (const ssize_t rc = attempt(); rc != 0)
      post_again(rc, call, std::cref(attempt), at);
  }

  // The common forms, posted as above.
  void send(int to, std::span<const std::byte> data, op &o, where at = where::current());
  void recv(std::span<std::byte> into, op &o, fi_addr_t from = FI_ADDR_UNSPEC,
            where at = where::current());
  void tsend(int to, std::span<const std::byte> data, std::uint64_t tag, op &o,
             where at = where::current());
  void trecv(std::span<std::byte> into, std::uint64_t tag, op &o, std::uint64_t ignore = 0,
             fi_addr_t from = FI_ADDR_UNSPEC, where at = where::current());

  void close_ep() { ep_.close(); }

private:
  void open(const request &r);
  void post_again(ssize_t rc, std::string_view call, const posting &attempt, where at);

  std::shared_ptr<fabric_and_domain> base_;
  owned_fid<fid_av> av_;
  std::unique_ptr<queue> tx_, rx_;
  owned_fid<fid_cntr> sent_, received_;
  std::vector<owned_fid<fid_cntr>> counted_;
  owned_fid<fid_ep> ep_; // last: closed before what it uses
  std::vector<bytes> names_;
  std::vector<fi_addr_t> peers_;
};

} // namespace fabtest

#define POST(endpoint, call) (endpoint).post(#call, [&]() -> ssize_t { return call; })
