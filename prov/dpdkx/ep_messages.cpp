// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// fi_msg(3) and fi_tagged(3): the same calls, of which the tagged ones have
// more arguments. `Tag...` stands where these are: none or a tag for a send,
// none or a tag and a mask for a receive.
#include "dpdkx/deferred_work.h"
#include "dpdkx/provider.h"

#include <rdma/fi_tagged.h>

namespace dpdkx {

namespace {

struct Untagged {
  using Send = op::SendRequest;
  using Message = fi_msg;
  static constexpr std::uint64_t flag = FI_MSG;
  template <class Owner> static int check_sendmsg(const Owner &, std::uint64_t given) {
    return flags::check(given, flags::sendmsg);
  }
  template <class Handle> static std::uint64_t recv_flags(const Handle &handle) {
    return handle.recv_flags;
  }
  static int check_recvmsg(std::uint64_t given) { return flags::check(given, flags::recvmsg); }
};

struct Datagram : Untagged {
  using Send = DatagramRequest;
  template <class Owner> static int check_sendmsg(const Owner &owner, std::uint64_t given) {
    return flags::check(given, owner.may(FI_MULTICAST) ? flags::dgram_sendmsg
                                                       : flags::dgram_sendmsg & ~FI_MULTICAST);
  }
};

struct Tagged {
  using Send = op::SendRequest;
  using Message = fi_msg_tagged;
  static constexpr std::uint64_t flag = FI_TAGGED;
  template <class Owner> static int check_sendmsg(const Owner &, std::uint64_t given) {
    return flags::check(given, flags::sendmsg);
  }
  template <class Handle> static std::uint64_t recv_flags(const Handle &handle) {
    return handle.trecv_flags;
  }
  static int check_recvmsg(std::uint64_t given) { return flags::check_trecvmsg(given); }
};

void set_tag(op::SendRequest &) {}
void set_tag(op::SendRequest &request, std::uint64_t tag) { request.tag = tag; }
void set_tag(op::SendRequest &, const fi_msg &) {}
void set_tag(op::SendRequest &request, const fi_msg_tagged &msg) { set_tag(request, msg.tag); }

void set_tag(op::ReceiveRequest &) {}
void set_tag(op::ReceiveRequest &request, std::uint64_t tag, std::uint64_t ignore) {
  request.tag = tag;
  request.ignore = ignore;
}
void set_tag(op::ReceiveRequest &, const fi_msg &) {}
void set_tag(op::ReceiveRequest &request, const fi_msg_tagged &msg) {
  set_tag(request, msg.tag, msg.ignore);
}

template <class Kind, class... Tag> struct Sends {
  using Send = typename Kind::Send;

  static Send request(const EndpointHandle &handle, fi_addr_t dest, Tag... tag, void *context) {
    Send request;
    request.dest = dest;
    set_tag(request, tag...);
    request.flags = Kind::flag | handle.send_flags;
    request.context = context;
    return request;
  }

  // Of the defaults the one that says what `dest` is.
  static Send injection(const EndpointHandle &handle, fi_addr_t dest, Tag... tag) {
    Send request;
    request.dest = dest;
    set_tag(request, tag...);
    request.flags = Kind::flag | FI_INJECT | (handle.send_flags & FI_MULTICAST);
    return request;
  }

  static Send with_data(Send request, std::uint64_t data) {
    request.data = data;
    request.flags |= FI_REMOTE_CQ_DATA;
    return request;
  }

  static ssize_t send(fid_ep *ep, const void *buf, std::size_t len, void *, fi_addr_t dest,
                      Tag... tag, void *context) {
    EndpointHandle &handle = EndpointHandle::from(ep);
    return post_buffer(handle.endpoint, request(handle, dest, tag..., context), one(buf, len));
  }

  static ssize_t sendv(fid_ep *ep, const iovec *iov, void **, std::size_t count, fi_addr_t dest,
                       Tag... tag, void *context) {
    EndpointHandle &handle = EndpointHandle::from(ep);
    return post_vector(handle.endpoint, request(handle, dest, tag..., context), iov, count);
  }

  // `Owner`: an endpoint, or a WorkMaker.
  template <class Owner>
  static ssize_t message(Owner &owner, const typename Kind::Message &msg, std::uint64_t given) {
    if (const int rc = Kind::check_sendmsg(owner, given))
      return rc;
    Send request;
    request.dest = msg.addr;
    set_tag(request, msg);
    request.data = msg.data;
    request.flags = Kind::flag | flags::of_send(given, owner.selective_send());
    request.context = msg.context;
    return post_vector(owner, request, msg.msg_iov, msg.iov_count);
  }

  static ssize_t sendmsg(fid_ep *ep, const typename Kind::Message *msg, std::uint64_t given) {
    Endpoint &endpoint = EndpointHandle::from(ep).endpoint;
    return message(endpoint, *msg, given);
  }

  static ssize_t inject(fid_ep *ep, const void *buf, std::size_t len, fi_addr_t dest, Tag... tag) {
    EndpointHandle &handle = EndpointHandle::from(ep);
    return post_buffer(handle.endpoint, injection(handle, dest, tag...), one(buf, len));
  }

  static ssize_t senddata(fid_ep *ep, const void *buf, std::size_t len, void *, std::uint64_t data,
                          fi_addr_t dest, Tag... tag, void *context) {
    EndpointHandle &handle = EndpointHandle::from(ep);
    const auto plain = request(handle, dest, tag..., context);
    return post_buffer(handle.endpoint, with_data(plain, data), one(buf, len));
  }

  static ssize_t injectdata(fid_ep *ep, const void *buf, std::size_t len, std::uint64_t data,
                            fi_addr_t dest, Tag... tag) {
    EndpointHandle &handle = EndpointHandle::from(ep);
    const auto plain = injection(handle, dest, tag...);
    return post_buffer(handle.endpoint, with_data(plain, data), one(buf, len));
  }
};

// `Handle`: of an endpoint, or of a shared receive context.
template <class Handle, class Kind, class... Tag> struct Receives {
  static op::ReceiveRequest request(const Handle &handle, fi_addr_t src, Tag... tag,
                                    void *context) {
    op::ReceiveRequest request;
    request.src = handle.source(src);
    set_tag(request, tag...);
    request.flags = Kind::flag | Kind::recv_flags(handle);
    request.context = context;
    return request;
  }

  static ssize_t recv(fid_ep *ep, void *buf, std::size_t len, void *, fi_addr_t src, Tag... tag,
                      void *context) {
    Handle &handle = Handle::from(ep);
    return post_buffer(handle.endpoint, request(handle, src, tag..., context), one(buf, len));
  }

  static ssize_t recvv(fid_ep *ep, const iovec *iov, void **, std::size_t count, fi_addr_t src,
                       Tag... tag, void *context) {
    Handle &handle = Handle::from(ep);
    return post_pieces(handle.endpoint, request(handle, src, tag..., context), iov, count);
  }

  // `source`: to receive from.
  template <class Owner>
  static ssize_t message(Owner &owner, fi_addr_t source, const typename Kind::Message &msg,
                         std::uint64_t given) {
    if (const int rc = Kind::check_recvmsg(given))
      return rc;
    op::ReceiveRequest request;
    request.src = source;
    set_tag(request, msg);
    request.flags = Kind::flag | flags::of_receive(given, owner.selective_receive());
    request.context = msg.context;
    return post_pieces(owner, request, msg.msg_iov, msg.iov_count);
  }

  static ssize_t recvmsg(fid_ep *ep, const typename Kind::Message *msg, std::uint64_t given) {
    Handle &handle = Handle::from(ep);
    const fi_addr_t source = handle.source(msg->addr);
    if constexpr (std::is_same_v<Handle, SharedRxHandle>)
      if (given & FI_TRIGGER)
        return flags::refuse(FI_TRIGGER, flags::recvmsg & ~FI_TRIGGER);
    return message(handle.endpoint, source, *msg, given);
  }

  // Of a multi-receive in several buffers no completion could say where a message lies.
  template <class Owner, class Request>
  static ssize_t post_pieces(Owner &endpoint, Request &&request, const iovec *iov,
                             std::size_t count) {
    if ((request.flags & FI_MULTI_RECV) && count != 1) [[unlikely]] {
      FI_WARN(&provider, FI_LOG_EP_DATA, "FI_MULTI_RECV with %zu buffers; allowed: 1\n", count);
      return -FI_EINVAL;
    }
    return post_vector(endpoint, request, iov, count);
  }
};

// In the place of calls that an endpoint was opened without the capability for.
template <std::uint64_t Right> struct Without {
  template <class... Args> using Function = ssize_t (*)(Args...);

  template <class... Args> constexpr operator Function<Args...>() const {
    return [](Args...) {
      FI_WARN(&provider, FI_LOG_EP_DATA, "the endpoint was opened without %s\n",
              Right == FI_SEND ? "FI_SEND" : "FI_RECV");
      return ssize_t{-FI_EOPNOTSUPP};
    };
  }
};

template <class Ops> Ops without_sends(Ops t) {
  constexpr Without<FI_SEND> refused;
  t.send = refused;
  t.sendv = refused;
  t.sendmsg = refused;
  t.inject = refused;
  t.senddata = refused;
  t.injectdata = refused;
  return t;
}

template <class Ops> Ops without_receives(Ops t) {
  constexpr Without<FI_RECV> refused;
  t.recv = refused;
  t.recvv = refused;
  t.recvmsg = refused;
  return t;
}

// One each for those that send and receive, that only send, and that only receive.
template <class Ops> class Tables {
public:
  explicit Tables(const Ops &both)
      : both_(both), sends_(without_receives(both)), receives_(without_sends(both)) {}
  Ops *of(std::uint64_t caps) {
    return !(caps & FI_RECV) ? &sends_ : !(caps & FI_SEND) ? &receives_ : &both_;
  }

private:
  Ops both_, sends_, receives_;
};

template <class Ops, class Receiving> Ops receiving() {
  auto t = util_ext::all_missing<Ops>();
  t.recv = Receiving::recv;
  t.recvv = Receiving::recvv;
  t.recvmsg = Receiving::recvmsg;
  return t;
}

template <class Ops, class Sending, class Receiving> Ops table() {
  Ops t = receiving<Ops, Receiving>();
  t.send = Sending::send;
  t.sendv = Sending::sendv;
  t.sendmsg = Sending::sendmsg;
  t.inject = Sending::inject;
  t.senddata = Sending::senddata;
  t.injectdata = Sending::injectdata;
  return t;
}

using UntaggedSends = Sends<Untagged>;
using DatagramSends = Sends<Datagram>;
using TaggedSends = Sends<Tagged, std::uint64_t>;
using UntaggedReceives = Receives<EndpointHandle, Untagged>;
using TaggedReceives = Receives<EndpointHandle, Tagged, std::uint64_t, std::uint64_t>;

} // namespace

ssize_t make_send(WorkMaker &maker, const fi_msg &msg, std::uint64_t given) {
  return UntaggedSends::message(maker, msg, given);
}

ssize_t make_datagram(WorkMaker &maker, const fi_msg &msg, std::uint64_t given) {
  return DatagramSends::message(maker, msg, given);
}

ssize_t make_send(WorkMaker &maker, const fi_msg_tagged &msg, std::uint64_t given) {
  return TaggedSends::message(maker, msg, given);
}

ssize_t make_receive(WorkMaker &maker, const fi_msg &msg, std::uint64_t given) {
  return UntaggedReceives::message(maker, maker.source(msg.addr), msg, given);
}

ssize_t make_receive(WorkMaker &maker, const fi_msg_tagged &msg, std::uint64_t given) {
  return TaggedReceives::message(maker, maker.source(msg.addr), msg, given);
}

fi_ops_msg *msg_ops(std::uint64_t caps, bool datagrams) {
  static Tables reliable(table<fi_ops_msg, UntaggedSends, UntaggedReceives>());
  static Tables others(table<fi_ops_msg, DatagramSends, Receives<EndpointHandle, Datagram>>());
  return (datagrams ? others : reliable).of(caps);
}

fi_ops_tagged *tagged_ops(std::uint64_t caps) {
  static Tables tables(table<fi_ops_tagged, TaggedSends, TaggedReceives>());
  return tables.of(caps);
}

fi_ops_msg shared_msg_ops = receiving<fi_ops_msg, Receives<SharedRxHandle, Untagged>>();
fi_ops_tagged shared_tagged_ops =
    receiving<fi_ops_tagged, Receives<SharedRxHandle, Tagged, std::uint64_t, std::uint64_t>>();

} // namespace dpdkx
