// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// fi_msg(3).
#include "dpdkx/ep_data.h"

namespace dpdkx {

namespace {

op::SendRequest send_request(const EndpointHandle &handle, fi_addr_t dest, void *context) {
  op::SendRequest request;
  request.dest = dest;
  request.flags = FI_MSG | handle.send_flags;
  request.context = context;
  return request;
}

op::SendRequest inject_request(fi_addr_t dest) {
  op::SendRequest request;
  request.dest = dest;
  request.flags = FI_MSG | FI_INJECT;
  return request;
}

op::ReceiveRequest receive_request(const EndpointHandle &handle, fi_addr_t src, void *context) {
  op::ReceiveRequest request;
  request.src = handle.source(src);
  request.flags = FI_MSG | handle.recv_flags;
  request.context = context;
  return request;
}

ssize_t recv(fid_ep *ep, void *buf, std::size_t len, void *, fi_addr_t src, void *context) {
  EndpointHandle &handle = EndpointHandle::from(ep);
  const auto request = receive_request(handle, src, context);
  return post_buffer(handle.endpoint, request, buf, len);
}

ssize_t recvv(fid_ep *ep, const iovec *iov, void **, std::size_t count, fi_addr_t src,
              void *context) {
  EndpointHandle &handle = EndpointHandle::from(ep);
  const auto request = receive_request(handle, src, context);
  return post_vector(handle.endpoint, request, iov, count);
}

ssize_t recvmsg(fid_ep *ep, const fi_msg *msg, std::uint64_t given) {
  EndpointHandle &handle = EndpointHandle::from(ep);
  if (const int rc = flags::check(given, flags::recvmsg))
    return rc;
  op::ReceiveRequest request;
  request.src = handle.source(msg->addr);
  request.flags = FI_MSG | flags::of_receive(given, handle.endpoint.selective_receive());
  request.context = msg->context;
  return post_vector(handle.endpoint, request, msg->msg_iov, msg->iov_count);
}

ssize_t send(fid_ep *ep, const void *buf, std::size_t len, void *, fi_addr_t dest, void *context) {
  EndpointHandle &handle = EndpointHandle::from(ep);
  const auto request = send_request(handle, dest, context);
  return post_buffer(handle.endpoint, request, buf, len);
}

ssize_t sendv(fid_ep *ep, const iovec *iov, void **, std::size_t count, fi_addr_t dest,
              void *context) {
  EndpointHandle &handle = EndpointHandle::from(ep);
  const auto request = send_request(handle, dest, context);
  return post_vector(handle.endpoint, request, iov, count);
}

ssize_t sendmsg(fid_ep *ep, const fi_msg *msg, std::uint64_t given) {
  EndpointHandle &handle = EndpointHandle::from(ep);
  if (const int rc = flags::check(given, flags::sendmsg))
    return rc;
  op::SendRequest request;
  request.dest = msg->addr;
  request.data = msg->data;
  request.flags = FI_MSG | flags::of_send(given, handle.endpoint.selective_send());
  request.context = msg->context;
  return post_vector(handle.endpoint, request, msg->msg_iov, msg->iov_count);
}

ssize_t inject(fid_ep *ep, const void *buf, std::size_t len, fi_addr_t dest) {
  const auto request = inject_request(dest);
  return post_buffer(EndpointHandle::from(ep).endpoint, request, buf, len);
}

ssize_t senddata(fid_ep *ep, const void *buf, std::size_t len, void *, std::uint64_t data,
                 fi_addr_t dest, void *context) {
  EndpointHandle &handle = EndpointHandle::from(ep);
  auto request = send_request(handle, dest, context);
  request.data = data;
  request.flags |= FI_REMOTE_CQ_DATA;
  return post_buffer(handle.endpoint, request, buf, len);
}

ssize_t injectdata(fid_ep *ep, const void *buf, std::size_t len, std::uint64_t data,
                   fi_addr_t dest) {
  auto request = inject_request(dest);
  request.data = data;
  request.flags |= FI_REMOTE_CQ_DATA;
  return post_buffer(EndpointHandle::from(ep).endpoint, request, buf, len);
}

} // namespace

fi_ops_msg msg_ops = [] {
  auto t = util_ext::all_missing<fi_ops_msg>();
  t.recv = recv;
  t.recvv = recvv;
  t.recvmsg = recvmsg;
  t.send = send;
  t.sendv = sendv;
  t.sendmsg = sendmsg;
  t.inject = inject;
  t.senddata = senddata;
  t.injectdata = injectdata;
  return t;
}();

} // namespace dpdkx
