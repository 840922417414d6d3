// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// fi_rma(3).
#include "dpdkx/deferred_work.h"

namespace dpdkx {

namespace {

// With the one target that most calls have.
struct Request : op::RmaRequest {
  fi_rma_iov target{};
};

Request request(std::uint64_t flags, fi_addr_t peer, void *context) {
  Request request;
  request.dest = peer;
  request.flags = FI_RMA | flags;
  request.context = context;
  return request;
}

Request reading(const EndpointHandle &handle, fi_addr_t src, void *context) {
  return request(FI_READ | handle.read_flags, src, context);
}

Request writing(const EndpointHandle &handle, fi_addr_t dest, void *context) {
  return request(FI_WRITE | handle.write_flags, dest, context);
}

Request injection(fi_addr_t dest) { return request(FI_WRITE | FI_INJECT, dest, nullptr); }

Request with_data(Request request, std::uint64_t data) {
  request.data = data;
  request.flags |= FI_REMOTE_CQ_DATA;
  return request;
}

// All of it goes to, or comes from, one place.
ssize_t post_at(Endpoint &endpoint, Request &&request, const iovec *iov, std::size_t count,
                std::uint64_t addr, std::uint64_t key) {
  if (!total(iov, count, request.len)) [[unlikely]]
    return endpoint.refuse_vector(count);
  request.target = {addr, request.len, key};
  if (!possible(request.target)) [[unlikely]]
    return endpoint.refuse_targets(1);
  request.iov = iov;
  request.iov_count = count;
  request.targets = &request.target;
  request.target_count = 1;
  return post(endpoint, request);
}

// `Owner`: an endpoint, or a WorkMaker.
template <class Owner>
ssize_t post_message(Owner &owner, Request &&request, const fi_msg_rma &msg) {
  std::size_t remote;
  if (!total(msg.msg_iov, msg.iov_count, request.len)) [[unlikely]]
    return owner.refuse_vector(msg.iov_count);
  if (!total(msg.rma_iov, msg.rma_iov_count, remote)) [[unlikely]]
    return owner.refuse_targets(msg.rma_iov_count);
  if (remote != request.len) [[unlikely]]
    return owner.refuse_sums(request.len, remote);
  request.iov = msg.msg_iov;
  request.iov_count = msg.iov_count;
  request.targets = msg.rma_iov;
  request.target_count = msg.rma_iov_count;
  request.data = msg.data;
  return post(owner, static_cast<op::RmaRequest &>(request));
}

template <class Owner>
ssize_t read_message(Owner &owner, const fi_msg_rma &msg, std::uint64_t given) {
  if (const int rc = flags::check(given, flags::readmsg))
    return rc;
  const auto wanted = FI_READ | flags::of_read(given, owner.selective_send());
  return post_message(owner, request(wanted, msg.addr, msg.context), msg);
}

template <class Owner>
ssize_t write_message(Owner &owner, const fi_msg_rma &msg, std::uint64_t given) {
  if (const int rc = flags::check(given, flags::writemsg))
    return rc;
  const auto wanted = FI_WRITE | flags::of_write(given, owner.selective_send());
  return post_message(owner, request(wanted, msg.addr, msg.context), msg);
}

ssize_t read(fid_ep *ep, void *buf, std::size_t len, void *, fi_addr_t src, std::uint64_t addr,
             std::uint64_t key, void *context) {
  EndpointHandle &handle = EndpointHandle::from(ep);
  const iovec buffer = one(buf, len);
  return post_at(handle.endpoint, reading(handle, src, context), &buffer, 1, addr, key);
}

ssize_t readv(fid_ep *ep, const iovec *iov, void **, std::size_t count, fi_addr_t src,
              std::uint64_t addr, std::uint64_t key, void *context) {
  EndpointHandle &handle = EndpointHandle::from(ep);
  return post_at(handle.endpoint, reading(handle, src, context), iov, count, addr, key);
}

ssize_t readmsg(fid_ep *ep, const fi_msg_rma *msg, std::uint64_t given) {
  Endpoint &endpoint = EndpointHandle::from(ep).endpoint;
  return read_message(endpoint, *msg, given);
}

ssize_t write(fid_ep *ep, const void *buf, std::size_t len, void *, fi_addr_t dest,
              std::uint64_t addr, std::uint64_t key, void *context) {
  EndpointHandle &handle = EndpointHandle::from(ep);
  const iovec buffer = one(buf, len);
  return post_at(handle.endpoint, writing(handle, dest, context), &buffer, 1, addr, key);
}

ssize_t writev(fid_ep *ep, const iovec *iov, void **, std::size_t count, fi_addr_t dest,
               std::uint64_t addr, std::uint64_t key, void *context) {
  EndpointHandle &handle = EndpointHandle::from(ep);
  return post_at(handle.endpoint, writing(handle, dest, context), iov, count, addr, key);
}

ssize_t writemsg(fid_ep *ep, const fi_msg_rma *msg, std::uint64_t given) {
  Endpoint &endpoint = EndpointHandle::from(ep).endpoint;
  return write_message(endpoint, *msg, given);
}

ssize_t inject(fid_ep *ep, const void *buf, std::size_t len, fi_addr_t dest, std::uint64_t addr,
               std::uint64_t key) {
  const iovec buffer = one(buf, len);
  return post_at(EndpointHandle::from(ep).endpoint, injection(dest), &buffer, 1, addr, key);
}

ssize_t writedata(fid_ep *ep, const void *buf, std::size_t len, void *, std::uint64_t data,
                  fi_addr_t dest, std::uint64_t addr, std::uint64_t key, void *context) {
  EndpointHandle &handle = EndpointHandle::from(ep);
  const iovec buffer = one(buf, len);
  return post_at(handle.endpoint, with_data(writing(handle, dest, context), data), &buffer, 1, addr,
                 key);
}

ssize_t injectdata(fid_ep *ep, const void *buf, std::size_t len, std::uint64_t data, fi_addr_t dest,
                   std::uint64_t addr, std::uint64_t key) {
  const iovec buffer = one(buf, len);
  return post_at(EndpointHandle::from(ep).endpoint, with_data(injection(dest), data), &buffer, 1,
                 addr, key);
}

} // namespace

ssize_t make_read(WorkMaker &maker, const fi_msg_rma &msg, std::uint64_t given) {
  return read_message(maker, msg, given);
}

ssize_t make_write(WorkMaker &maker, const fi_msg_rma &msg, std::uint64_t given) {
  return write_message(maker, msg, given);
}

fi_ops_rma rma_ops = [] {
  auto t = util_ext::all_missing<fi_ops_rma>();
  t.read = read;
  t.readv = readv;
  t.readmsg = readmsg;
  t.write = write;
  t.writev = writev;
  t.writemsg = writemsg;
  t.inject = inject;
  t.writedata = writedata;
  t.injectdata = injectdata;
  return t;
}();

} // namespace dpdkx
