// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// From the arguments of a data call to a request. Everything here is on the
// fast path: it becomes a few stores to the stack.
#pragma once

#include "dpdkx/ep.h"
#include "util_ext/ops.h"

#include <algorithm>

namespace dpdkx {

// One buffer as an iovec.
inline iovec one(const void *buf, std::size_t len) { return {const_cast<void *>(buf), len}; }

// False: more entries than there may be, or more bytes than a size_t counts.
inline bool total(const iovec *iov, std::size_t count, std::size_t &len) {
  len = 0;
  if (count > op::max_iov || (count && !iov))
    return false;
  for (std::size_t i = 0; i < count; ++i)
    if (__builtin_add_overflow(len, iov[i].iov_len, &len))
      return false;
  return true;
}

// A region that would hold it can exist: it does not reach beyond the last address.
inline bool possible(const fi_rma_iov &target) {
  std::uint64_t end;
  return !__builtin_add_overflow(target.addr, target.len, &end);
}

// The same of a peer's memory.
inline bool total(const fi_rma_iov *targets, std::size_t count, std::size_t &len) {
  len = 0;
  if (count > op::max_targets || (count && !targets))
    return false;
  for (std::size_t i = 0; i < count; ++i)
    if (!possible(targets[i]) || __builtin_add_overflow(len, targets[i].len, &len))
      return false;
  return true;
}

inline ssize_t Endpoint::check_transmit(std::size_t len, std::uint64_t flags,
                                        std::size_t limit) const {
  if (!engine_ || !completers_.tx_cq) [[unlikely]]
    return refuse(FI_SEND);
  if (len > (flags & FI_INJECT ? std::min(inject_size_, limit) : limit)) [[unlikely]]
    return refuse_length(len, limit);
  return 0;
}

inline ssize_t Endpoint::check(const op::SendRequest &request) const {
  return check_transmit(request.len, request.flags, max_message);
}

inline ssize_t Endpoint::check(const DatagramRequest &request) const {
  if (request.flags & FI_MULTICAST && !(caps_ & FI_MULTICAST)) [[unlikely]]
    return flags::refuse(FI_MULTICAST, flags::dgram_sendmsg & ~FI_MULTICAST);
  return check_transmit(request.len, request.flags, datagram_limit_);
}

inline ssize_t Endpoint::check(const op::RmaRequest &request) const {
  if (!(request.flags & caps_ & (FI_READ | FI_WRITE))) [[unlikely]]
    return refuse_right(request.flags);
  return check_transmit(request.len, request.flags, max_message);
}

inline ssize_t Endpoint::check(const op::AtomicRequest &request) const {
  if (!(request.flags & caps_ & (FI_READ | FI_WRITE))) [[unlikely]]
    return refuse_right(request.flags);
  return check_transmit(request.len, request.flags, op::max_atomic);
}

inline ssize_t Endpoint::check(const op::CounterRequest &request) const {
  if (!(caps_ & FI_WRITE)) [[unlikely]]
    return refuse_right(FI_WRITE);
  return check_transmit(0, request.flags, 0);
}

inline ssize_t Endpoint::check(const op::ReceiveRequest &) const {
  return !engine_ || !receives_to_ ? refuse(FI_RECV) : 0;
}

template <auto Call, class Request> inline ssize_t Endpoint::transmit(const Request &request) {
  if (const ssize_t rc = check(request)) [[unlikely]]
    return rc;
  if (!completers_.tx_cq->room()) [[unlikely]]
    return -FI_EAGAIN;
  ssize_t rc;
  {
    const std::lock_guard lock(engine_->mutex());
    rc = ((*engine_).*Call)(request);
  }
  domain_.posted(*engine_);
  return rc;
}

inline ssize_t Endpoint::send(const op::SendRequest &request) {
  return transmit<&engine::Endpoint::send>(request);
}

inline ssize_t Endpoint::send_datagram(const DatagramRequest &request) {
  return transmit<&engine::Endpoint::send_datagram>(request);
}

inline ssize_t Endpoint::rma(const op::RmaRequest &request) {
  return transmit<&engine::Endpoint::rma>(request);
}

inline ssize_t Endpoint::atomic(const op::AtomicRequest &request) {
  return transmit<&engine::Endpoint::atomic>(request);
}

inline ssize_t Endpoint::receive(const op::ReceiveRequest &request) {
  if (const ssize_t rc = check(request)) [[unlikely]]
    return rc;
  if (!receives_to_->room()) [[unlikely]]
    return -FI_EAGAIN;
  ssize_t rc;
  {
    const std::lock_guard lock(engine_->mutex());
    rc = engine_->receive(request);
  }
  domain_.posted(*engine_);
  return rc;
}

inline ssize_t Endpoint::count(const op::CounterRequest &request) {
  return transmit<&engine::Endpoint::count>(request);
}

// One that is to wait for a counter (FI_TRIGGER): its context says for which.
template <class Request> ssize_t queue_triggered(Endpoint &, const Request &);

template <class Request>
inline ssize_t post_now_or_then(Endpoint &endpoint, const Request &request, auto &&now) {
  return util_ext::guard([&]() -> ssize_t {
    if (request.flags & FI_TRIGGER) [[unlikely]]
      return queue_triggered(endpoint, request);
    return now();
  });
}

inline ssize_t post(Endpoint &endpoint, const op::SendRequest &request) {
  return post_now_or_then(endpoint, request, [&] { return endpoint.send(request); });
}

inline ssize_t post(Endpoint &endpoint, const DatagramRequest &request) {
  return post_now_or_then(endpoint, request, [&] { return endpoint.send_datagram(request); });
}

inline ssize_t post(Endpoint &endpoint, const op::RmaRequest &request) {
  return post_now_or_then(endpoint, request, [&] { return endpoint.rma(request); });
}

inline ssize_t post(Endpoint &endpoint, const op::AtomicRequest &request) {
  return post_now_or_then(endpoint, request, [&] { return endpoint.atomic(request); });
}

inline ssize_t post(Endpoint &endpoint, const op::CounterRequest &request) {
  return util_ext::guard([&] { return endpoint.count(request); });
}

inline ssize_t post(SharedRx &srx, const op::ReceiveRequest &request) {
  return util_ext::guard([&] { return srx.receive(request); });
}

inline ssize_t post(Endpoint &endpoint, const op::ReceiveRequest &request) {
  return post_now_or_then(endpoint, request, [&] { return endpoint.receive(request); });
}

// Fills in what iov and count say, then posts. The request is the caller's, not
// a copy: copied whole, right after its parts were stored, it would stall.
template <class Owner, class Request>
inline ssize_t post_vector(Owner &endpoint, Request &&request, const iovec *iov,
                           std::size_t count) {
  if (!total(iov, count, request.len)) [[unlikely]]
    return endpoint.refuse_vector(count);
  request.iov = iov;
  request.iov_count = count;
  return post(endpoint, request);
}

// The buffer's entry is the caller's too: it lives as long as the request that names it.
template <class Owner, class Request>
inline ssize_t post_buffer(Owner &endpoint, Request &&request, const iovec &buffer) {
  request.iov = &buffer;
  request.iov_count = 1;
  request.len = buffer.iov_len;
  return post(endpoint, request);
}

} // namespace dpdkx
