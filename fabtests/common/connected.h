// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Connected endpoints (FI_EP_MSG) with everything they need, and the events that
// tell of their connections.
#pragma once

#include "endpoint.h"

#include <chrono>
#include <deque>
#include <memory>
#include <optional>

namespace fabtest {

// An event, or an error that came in the place of one.
struct cm_event {
  std::uint32_t kind = 0; // FI_CONNREQ, ...; with err: nothing
  fid_t fid = nullptr;
  info_ptr info;
  bytes data; // of an error: err_data
  int err = 0;
  void *context = nullptr; // of an error
};

// One fabric, one event queue, and what is opened there.
class cm_base : public progress_source {
public:
  explicit cm_base(const request &r = {}, fi_wait_obj wait = FI_WAIT_UNSPEC);

  [[nodiscard]] fid_fabric *fabric() const { return fabric_.get(); }
  [[nodiscard]] fid_eq *eq() const { return eq_.get(); }
  [[nodiscard]] const fi_info &info() const { return *info_; }
  [[nodiscard]] const request &wanted() const { return wanted_; }

  std::optional<cm_event> poll(where at = where::current());
  // The next event about that object; others are kept.
  cm_event next(fid_t about, std::string_view what, std::chrono::milliseconds = default_wait(),
                where at = where::current());
  cm_event expect(std::uint32_t kind, fid_t about, std::chrono::milliseconds = default_wait(),
                  where at = where::current());
  cm_event expect_error(int err, fid_t about, std::chrono::milliseconds = default_wait(),
                        where at = where::current());
  void expect_no_event(where at = where::current());

  void make_progress() override;

private:
  request wanted_;
  info_ptr info_;
  owned_fid<fid_fabric> fabric_;
  owned_fid<fid_eq> eq_;
  std::deque<cm_event> kept_;
};

class cm_listener {
public:
  explicit cm_listener(cm_base &base, bool listen = true);
  [[nodiscard]] fid_pep *pep() const { return pep_.get(); }
  [[nodiscard]] bytes name() const;
  cm_event request(where at = where::current()); // the next one
  void close() { pep_.close(); }

private:
  cm_base &base_;
  owned_fid<fid_pep> pep_;
};

// An endpoint in a domain of its own. `made_for`: a request's info, or null.
class cm_endpoint {
public:
  explicit cm_endpoint(cm_base &base, const fi_info *made_for = nullptr,
                       fid_ep *shared_rx = nullptr, std::shared_ptr<fabric_and_domain> in = {});
  [[nodiscard]] fid_ep *ep() const { return ep_.get(); }
  [[nodiscard]] fid_t fid() const { return &ep_.get()->fid; }
  [[nodiscard]] fid_domain *domain() const { return domain_->domain.get(); }
  [[nodiscard]] std::shared_ptr<fabric_and_domain> base() const { return domain_; }
  queue &cq() { return *cq_; }

  void connect(const bytes &to, std::span<const std::byte> data = {}, where at = where::current());
  void accept(std::span<const std::byte> data = {}, where at = where::current());
  void send(std::span<const std::byte> data, op &o, where at = where::current());
  void recv(std::span<std::byte> into, op &o, where at = where::current());
  void close() { ep_.close(); }

private:
  std::shared_ptr<fabric_and_domain> domain_;
  std::unique_ptr<queue> cq_;
  owned_fid<fid_ep> ep_;
};

// Both ends in one process.
struct cm_pair {
  explicit cm_pair(cm_base &base);
  cm_listener listener;
  std::unique_ptr<cm_endpoint> caller, answerer;
};

// A message one way, and that it is what was sent.
void cm_exchange(cm_endpoint &from, cm_endpoint &to, std::size_t size, std::uint64_t seed = 1);

info_ptr connected_info(const request &r);

} // namespace fabtest
