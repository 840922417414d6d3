// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Operations of endpoints that wait for a counter: FI_QUEUE_WORK's, and those
// with FI_TRIGGER (queue_triggered() in ep_data.h). Requests are made as always
// (ep_messages.cpp, ep_rma.cpp, ep_atomic.cpp) and posted to a WorkMaker instead
// of an endpoint: it copies them, with all that they point to but the data.
#pragma once

#include "dpdkx/ep_data.h"
#include "dpdkx/op/deferred.h"

#include <rdma/fi_ext_dpdkx.h>
#include <rdma/fi_trigger.h>

#include <memory>
#include <vector>

namespace dpdkx {

// What becomes of an operation of an endpoint.
class WorkMaker {
public:
  enum class Ends : std::uint8_t {
    as_always,  // as any operation: FI_TRIGGER
    as_work,    // no entry in a queue, no count of the endpoint's, unless FI_COMPLETION is given
    as_counted, // also not when it fails: there is a completion counter
  };
  WorkMaker(Endpoint &endpoint, Ends ends) : endpoint_(endpoint), ends_(ends) {}

  // As the endpoint's.
  bool selective_send() const { return ends_ != Ends::as_always || endpoint_.selective_send(); }
  bool selective_receive() const {
    return ends_ != Ends::as_always || endpoint_.selective_receive();
  }
  bool may(std::uint64_t caps) const { return endpoint_.may(caps); }
  fi_addr_t source(fi_addr_t src) const { return endpoint_.source(src); }
  ssize_t refuse_vector(std::size_t count) const { return endpoint_.refuse_vector(count); }
  ssize_t refuse_targets(std::size_t count) const { return endpoint_.refuse_targets(count); }
  ssize_t refuse_sums(std::size_t local, std::size_t remote) const {
    return endpoint_.refuse_sums(local, remote);
  }

  template <class Request> ssize_t make(const Request &);
  std::unique_ptr<util_ext::Work> take() { return std::move(made_); }

private:
  Endpoint &endpoint_;
  const Ends ends_;
  std::unique_ptr<util_ext::Work> made_;
};

template <class Request> ssize_t post(WorkMaker &maker, const Request &request) {
  return maker.make(request);
}

// In the files of the calls: as the call with a message, `given` its flags. May throw bad_alloc.
ssize_t make_send(WorkMaker &, const fi_msg &, std::uint64_t given);
ssize_t make_datagram(WorkMaker &, const fi_msg &, std::uint64_t given);
ssize_t make_send(WorkMaker &, const fi_msg_tagged &, std::uint64_t given);
ssize_t make_receive(WorkMaker &, const fi_msg &, std::uint64_t given);
ssize_t make_receive(WorkMaker &, const fi_msg_tagged &, std::uint64_t given);
ssize_t make_read(WorkMaker &, const fi_msg_rma &, std::uint64_t given);
ssize_t make_write(WorkMaker &, const fi_msg_rma &, std::uint64_t given);
ssize_t make_atomic(WorkMaker &, const fi_msg_atomic &, std::uint64_t given);
ssize_t make_fetch_atomic(WorkMaker &, const fi_msg_atomic &, const fi_msg_fetch &,
                          std::uint64_t given);
ssize_t make_compare_atomic(WorkMaker &, const fi_msg_atomic &, const fi_msg_fetch &,
                            const fi_msg_compare &, std::uint64_t given);

ssize_t make_remote_add(WorkMaker &, const fi_op_remote_cntr &);

// ---- the work

// Copies of what a request points to.
class Vectors {
public:
  void own(op::SendRequest &r) { own(0, r.iov, r.iov_count); }
  void own(op::ReceiveRequest &r) { own(0, r.iov, r.iov_count); }
  void own(op::RmaRequest &r) {
    own(0, r.iov, r.iov_count);
    own(r.targets, r.target_count);
  }
  void own(op::AtomicRequest &r) {
    own(0, r.operand, r.operand_count);
    own(1, r.compare, r.compare_count);
    own(2, r.result, r.result_count);
    own(r.targets, r.target_count);
  }

private:
  void own(std::size_t which, const iovec *&iov, std::size_t count) {
    iov_[which].assign(iov, iov + count);
    iov = iov_[which].data();
  }
  void own(const fi_rma_iov *&targets, std::size_t count) {
    targets_.assign(targets, targets + count);
    targets = targets_.data();
  }

  std::vector<iovec> iov_[3];
  std::vector<fi_rma_iov> targets_;
};

struct NoVectors {
  void own(const op::CounterRequest &) {}
};

// `Base`: op::Deferred, or util_ext::Work where the operation ends as any does.
template <class Request, class Base> class Transfer final : public Base {
public:
  template <class... Args>
  Transfer(Endpoint &endpoint, const Request &request, Args &&...args)
      : Base(std::forward<Args>(args)...), endpoint_(endpoint), request_(request) {
    vectors_.own(request_);
    if constexpr (deferred) {
      request_.flags |= op::deferred_work;
      request_.context = static_cast<op::Deferred *>(this);
    }
    endpoint_.work_queued();
  }
  ~Transfer() {
    if (!begun_)
      endpoint_.work_gone();
  }

private:
  static constexpr bool deferred = std::is_base_of_v<op::Deferred, Base>;

  int fire() noexcept override {
    const int rc = static_cast<int>(post(endpoint_, request_));
    if (rc == -FI_EAGAIN)
      return rc;
    if (rc != 0)
      fail(-rc);
    begun_ = true;
    endpoint_.work_gone();
    return rc;
  }

  // It could not even begin.
  void fail(int error) noexcept {
    void *context = request_.context;
    if constexpr (deferred) {
      if (this->counted() && !(request_.flags & FI_COMPLETION))
        return;
      context = this->context();
    }
    endpoint_.report_failure(request_, context, error);
  }

  const void *user() const noexcept override { return &endpoint_; }
  const void *context_of_call() const noexcept override {
    return deferred ? nullptr : request_.context;
  }
  void cancelled() noexcept override { fail(FI_ECANCELED); }

  Endpoint &endpoint_;
  Request request_;
  [[no_unique_address]] std::conditional_t<std::is_same_v<Request, op::CounterRequest>, NoVectors,
                                           Vectors>
      vectors_;
  bool begun_ = false;
};

template <class Request> ssize_t WorkMaker::make(const Request &request) {
  if (const ssize_t rc = endpoint_.check(request))
    return rc;
  if (ends_ == Ends::as_always)
    made_ = std::make_unique<Transfer<Request, util_ext::Work>>(endpoint_, request);
  else
    made_ = std::make_unique<Transfer<Request, op::Deferred>>(
        endpoint_, request, endpoint_.domain().triggers, request.context,
        ends_ == Ends::as_counted);
  return 0;
}

} // namespace dpdkx
