// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/deferred_work.h"

#include "dpdkx/provider.h"
#include "util_ext/deferred.h"

namespace dpdkx {

namespace {

int refuse(const char *field, const char *allowed) {
  FI_WARN(&provider, FI_LOG_DOMAIN, "deferred work: %s: must be %s\n", field, allowed);
  return -FI_EINVAL;
}

// The endpoint of an operation, if it may have that kind of work.
int endpoint_of(const Domain &domain, fid_ep *ep, std::uint64_t cap, Endpoint *&endpoint) {
  if (!ep)
    return refuse("op.*.ep", "an endpoint of the domain");
  if (ep->fid.fclass != FI_CLASS_EP) {
    FI_WARN(&provider, FI_LOG_DOMAIN,
            "deferred work: op.*.ep: only works of endpoints are supported, not of contexts\n");
    return -FI_ENOSYS;
  }
  endpoint = &EndpointHandle::from(ep).endpoint;
  if (&endpoint->domain() != &domain)
    return refuse("op.*.ep", "an endpoint of the domain");
  if (!endpoint->may(cap)) {
    FI_WARN(&provider, FI_LOG_DOMAIN,
            "deferred work: the endpoint was opened without the operation's capability\n");
    return -FI_ENOSYS;
  }
  return 0;
}

// What would end more than once, or is a question.
int check_receive(std::uint64_t given) {
  constexpr std::uint64_t none = FI_MULTI_RECV | FI_PEEK | FI_CLAIM | FI_DISCARD;
  if (!(given & none))
    return 0;
  FI_WARN(&provider, FI_LOG_DOMAIN,
          "deferred work: FI_MULTI_RECV, FI_PEEK, FI_CLAIM and FI_DISCARD can't be deferred\n");
  return -FI_ENOSYS;
}

template <class Op, class Make>
int make_work_of(const Domain &domain, const Op *op, std::uint64_t cap, bool counted,
                 std::unique_ptr<util_ext::Work> &made, Make &&make) {
  if (!op)
    return refuse("op", "not null");
  if (op->flags & FI_TRIGGER) {
    FI_WARN(&provider, FI_LOG_DOMAIN, "deferred work: FI_TRIGGER: the work waits as it is\n");
    return -FI_EOPNOTSUPP;
  }
  Endpoint *endpoint = nullptr;
  if (const int rc = endpoint_of(domain, op->ep, cap, endpoint))
    return rc;
  WorkMaker maker(*endpoint, counted ? WorkMaker::Ends::as_counted : WorkMaker::Ends::as_work);
  if (const ssize_t rc = make(maker, *endpoint, *op))
    return static_cast<int>(rc);
  made = maker.take();
  return 0;
}

} // namespace

int Domain::make_work(const fi_deferred_work &work, std::unique_ptr<util_ext::Work> &made) {
  const auto with = [&](const auto *op, std::uint64_t cap, auto &&make) {
    return make_work_of(*this, op, cap, work.completion_cntr != nullptr, made, make);
  };
  const auto receive = [](WorkMaker &m, Endpoint &, const auto &o) -> ssize_t {
    const int rc = check_receive(o.flags);
    return rc ? rc : make_receive(m, o.msg, o.flags);
  };
  switch (util_ext::raw(work.op_type)) {
  case FI_OP_SEND:
    return with(work.op.msg, FI_MSG | FI_SEND, [](WorkMaker &m, Endpoint &e, const fi_op_msg &o) {
      return e.datagrams() ? make_datagram(m, o.msg, o.flags) : make_send(m, o.msg, o.flags);
    });
  case FI_OP_TSEND:
    return with(work.op.tagged, FI_TAGGED | FI_SEND, [](WorkMaker &m, Endpoint &, const auto &o) {
      return make_send(m, o.msg, o.flags);
    });
  case FI_OP_RECV:
    return with(work.op.msg, FI_MSG | FI_RECV, receive);
  case FI_OP_TRECV:
    return with(work.op.tagged, FI_TAGGED | FI_RECV, receive);
  case FI_OP_READ:
    return with(work.op.rma, FI_RMA | FI_READ, [](WorkMaker &m, Endpoint &, const auto &o) {
      return make_read(m, o.msg, o.flags);
    });
  case FI_OP_WRITE:
    return with(work.op.rma, FI_RMA | FI_WRITE, [](WorkMaker &m, Endpoint &, const auto &o) {
      return make_write(m, o.msg, o.flags);
    });
  case FI_OP_ATOMIC:
    return with(work.op.atomic, FI_ATOMIC | FI_WRITE, [](WorkMaker &m, Endpoint &, const auto &o) {
      return make_atomic(m, o.msg, o.flags);
    });
  case FI_OP_FETCH_ATOMIC:
    return with(work.op.fetch_atomic, FI_ATOMIC | FI_READ,
                [](WorkMaker &m, Endpoint &, const auto &o) {
                  return make_fetch_atomic(m, o.msg, o.fetch, o.flags);
                });
  case FI_OP_COMPARE_ATOMIC:
    return with(work.op.compare_atomic, FI_ATOMIC | FI_READ,
                [](WorkMaker &m, Endpoint &, const auto &o) {
                  return make_compare_atomic(m, o.msg, o.fetch, o.compare, o.flags);
                });
  case FI_OP_REMOTE_CNTR_ADD:
    return with(fi_dpdkx_get_remote_cntr_add(&work), FI_WRITE,
                [](WorkMaker &m, Endpoint &, const auto &o) { return make_remote_add(m, o); });
  default:
    FI_WARN(&dpdkx::provider, FI_LOG_DOMAIN, "deferred work: op_type %u: not supported\n",
            util_ext::raw(work.op_type));
    return -FI_ENOSYS;
  }
}

template <class Request> ssize_t queue_triggered(Endpoint &endpoint, const Request &request) {
  const auto *const context = static_cast<const fi_triggered_context *>(request.context);
  if (!context) {
    FI_WARN(&provider, FI_LOG_EP_DATA,
            "FI_TRIGGER: the context is null; allowed: an fi_triggered_context\n");
    return -FI_EINVAL;
  }
  if (const unsigned type = util_ext::raw(context->event_type); type != FI_TRIGGER_THRESHOLD) {
    FI_WARN(&provider, FI_LOG_EP_DATA,
            "FI_TRIGGER: event_type %u; allowed: FI_TRIGGER_THRESHOLD (%u)\n", type,
            unsigned{FI_TRIGGER_THRESHOLD});
    return -FI_ENOSYS;
  }
  Domain &domain = endpoint.domain();
  util_ext::Cntr *const cntr = util_ext::counter_of(domain, context->trigger.threshold.cntr);
  if (!cntr) {
    FI_WARN(&provider, FI_LOG_EP_DATA,
            "FI_TRIGGER: threshold.cntr must be a counter of the endpoint's domain\n");
    return -FI_EINVAL;
  }
  WorkMaker maker(endpoint, WorkMaker::Ends::as_always);
  Request then = request;
  then.flags &= ~FI_TRIGGER;
  if (const ssize_t rc = maker.make(then))
    return rc;
  return util_ext::queue_work(domain, {*cntr, context->trigger.threshold.threshold}, maker.take());
}

template ssize_t queue_triggered(Endpoint &, const op::SendRequest &);
template ssize_t queue_triggered(Endpoint &, const DatagramRequest &);
template ssize_t queue_triggered(Endpoint &, const op::RmaRequest &);
template ssize_t queue_triggered(Endpoint &, const op::AtomicRequest &);
template ssize_t queue_triggered(Endpoint &, const op::ReceiveRequest &);

} // namespace dpdkx
