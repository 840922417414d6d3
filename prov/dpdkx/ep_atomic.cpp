// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// fi_atomic(3). Applications count in values, the engine in bytes.
#include "dpdkx/deferred_work.h"
#include "dpdkx/op/atomic.h"
#include "dpdkx/provider.h"

#include <rdma/fi_atomic.h>
#include <utility>

namespace dpdkx {

namespace {

using op::AtomicKind;

struct Operation {
  AtomicKind kind;
  fi_datatype datatype;
  fi_op op;
};

// A vector as the application gave it.
struct Values {
  const fi_ioc *at = nullptr;
  std::size_t count = 0;
};

struct Place {
  fi_addr_t dest;
  std::uint64_t addr, key;
};

fi_ioc one_of(const void *buf, std::size_t count) { return {const_cast<void *>(buf), count}; }

ssize_t refuse_operation(const Operation &o) {
  FI_WARN(&provider, FI_LOG_EP_DATA,
          "atomic operation %u on datatype %u by this call; allowed: what fi_atomicvalid() and its "
          "kin answer 0 for\n",
          util_ext::raw(o.op), util_ext::raw(o.datatype));
  return -FI_EOPNOTSUPP;
}

ssize_t refuse_values(std::size_t size) {
  FI_WARN(&provider, FI_LOG_EP_DATA, "more values than one call takes; allowed: %zu of %zu bytes\n",
          op::max_atomic / size, size);
  return -FI_EMSGSIZE;
}

// fi_atomic(3): a count is at least 1.
ssize_t refuse_nothing(std::size_t size) {
  FI_WARN(&provider, FI_LOG_EP_DATA, "an atomic of 0 values; allowed: 1 to %zu of %zu bytes\n",
          op::max_atomic / size, size);
  return -FI_EINVAL;
}

// A request whose vectors are in place. It is used where it was made. `Owner`: an endpoint, or a
// WorkMaker.
template <class Owner> class Request {
public:
  Request(Owner &owner, const Operation &operation)
      : owner_(owner), operation_(operation), size_(op::atomic_size(operation.datatype)) {
    request_.op = operation.op;
    request_.datatype = operation.datatype;
  }
  Request(const Request &) = delete;

  ssize_t post_at(const Place &place, Values operand, Values compare, Values result,
                  std::uint64_t flags, void *context) {
    if (const ssize_t rc = set(operand, compare, result)) [[unlikely]]
      return rc;
    targets_[0] = {place.addr, request_.len, place.key};
    if (!possible(targets_[0])) [[unlikely]]
      return owner_.refuse_targets(1);
    request_.target_count = 1;
    return post(place.dest, flags, context);
  }

  ssize_t post_message(const fi_msg_atomic &msg, Values compare, Values result,
                       std::uint64_t flags) {
    if (const ssize_t rc = set({msg.msg_iov, msg.iov_count}, compare, result)) [[unlikely]]
      return rc;
    if (const ssize_t rc = set_targets(msg.rma_iov, msg.rma_iov_count)) [[unlikely]]
      return rc;
    request_.data = msg.data;
    return post(msg.addr, flags, msg.context);
  }

private:
  // What the operation has no use for is not looked at.
  ssize_t set(Values operand, Values compare, Values result) {
    if (!op::atomic_defined(operation_.op, operation_.datatype, operation_.kind)) [[unlikely]]
      return refuse_operation(operation_);
    if (operation_.op != FI_ATOMIC_READ)
      if (const ssize_t rc = set(operand, operand_, request_.operand, request_.operand_count))
        return rc;
    if (operation_.kind == AtomicKind::compare)
      if (const ssize_t rc = set(compare, compare_, request_.compare, request_.compare_count))
        return rc;
    if (operation_.kind != AtomicKind::plain)
      if (const ssize_t rc = set(result, result_, request_.result, request_.result_count))
        return rc;
    if (request_.len == 0) [[unlikely]]
      return refuse_nothing(size_);
    return 0;
  }

  ssize_t set(Values values, iovec (&room)[op::max_iov], const iovec *&iov,
              std::size_t &iov_count) {
    if (values.count > op::max_iov || (values.count && !values.at)) [[unlikely]]
      return owner_.refuse_vector(values.count);
    std::size_t len = 0;
    for (std::size_t i = 0; i < values.count; ++i) {
      const fi_ioc &v = values.at[i];
      if (v.count > op::max_atomic / size_) [[unlikely]]
        return refuse_values(size_);
      room[i] = {v.addr, v.count * size_};
      len += room[i].iov_len;
    }
    if (!std::exchange(measured_, true))
      request_.len = len;
    else if (len != request_.len) [[unlikely]]
      return owner_.refuse_sums(len, request_.len);
    iov = room;
    iov_count = values.count;
    return 0;
  }

  ssize_t set_targets(const fi_rma_ioc *targets, std::size_t count) {
    if (count > op::max_targets || (count && !targets)) [[unlikely]]
      return owner_.refuse_targets(count);
    std::size_t len = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (targets[i].count > op::max_atomic / size_) [[unlikely]]
        return refuse_values(size_);
      targets_[i] = {targets[i].addr, targets[i].count * size_, targets[i].key};
      if (!possible(targets_[i])) [[unlikely]]
        return owner_.refuse_targets(count);
      len += targets_[i].len;
    }
    if (len != request_.len) [[unlikely]]
      return owner_.refuse_sums(request_.len, len);
    request_.target_count = count;
    return 0;
  }

  ssize_t post(fi_addr_t dest, std::uint64_t flags, void *context) {
    request_.targets = targets_;
    request_.dest = dest;
    request_.flags =
        FI_ATOMIC | (operation_.kind == AtomicKind::plain ? FI_WRITE : FI_READ) | flags;
    request_.context = context;
    return dpdkx::post(owner_, request_);
  }

  Owner &owner_;
  const Operation operation_;
  const std::size_t size_; // of a value; 0: there is no such datatype
  bool measured_ = false;  // request_.len is known
  op::AtomicRequest request_;
  iovec operand_[op::max_iov], compare_[op::max_iov], result_[op::max_iov];
  fi_rma_iov targets_[op::max_targets];
};

template <class Owner>
ssize_t plain_message(Owner &owner, const fi_msg_atomic &msg, std::uint64_t given) {
  if (const int rc = flags::check_atomic(given, flags::writemsg))
    return rc;
  return Request(owner, {AtomicKind::plain, msg.datatype, msg.op})
      .post_message(msg, {}, {}, flags::of_write(given, owner.selective_send()));
}

template <class Owner>
ssize_t fetch_message(Owner &owner, const fi_msg_atomic &msg, Values result, std::uint64_t given) {
  if (const int rc = flags::check_atomic(given, flags::fetchmsg))
    return rc;
  return Request(owner, {AtomicKind::fetch, msg.datatype, msg.op})
      .post_message(msg, {}, result, flags::of_fetch(given, owner.selective_send()));
}

template <class Owner>
ssize_t compare_message(Owner &owner, const fi_msg_atomic &msg, Values compare, Values result,
                        std::uint64_t given) {
  if (const int rc = flags::check_atomic(given, flags::fetchmsg))
    return rc;
  return Request(owner, {AtomicKind::compare, msg.datatype, msg.op})
      .post_message(msg, compare, result, flags::of_fetch(given, owner.selective_send()));
}

// ---- plain

ssize_t writev(fid_ep *ep, const fi_ioc *iov, void **, std::size_t count, fi_addr_t dest,
               std::uint64_t addr, std::uint64_t key, fi_datatype datatype, fi_op op,
               void *context) {
  EndpointHandle &handle = EndpointHandle::from(ep);
  return Request(handle.endpoint, {AtomicKind::plain, datatype, op})
      .post_at({dest, addr, key}, {iov, count}, {}, {}, handle.write_flags, context);
}

ssize_t write(fid_ep *ep, const void *buf, std::size_t count, void *, fi_addr_t dest,
              std::uint64_t addr, std::uint64_t key, fi_datatype datatype, fi_op op,
              void *context) {
  const fi_ioc operand = one_of(buf, count);
  return writev(ep, &operand, nullptr, 1, dest, addr, key, datatype, op, context);
}

ssize_t writemsg(fid_ep *ep, const fi_msg_atomic *msg, std::uint64_t given) {
  Endpoint &endpoint = EndpointHandle::from(ep).endpoint;
  return plain_message(endpoint, *msg, given);
}

ssize_t inject(fid_ep *ep, const void *buf, std::size_t count, fi_addr_t dest, std::uint64_t addr,
               std::uint64_t key, fi_datatype datatype, fi_op op) {
  const fi_ioc operand = one_of(buf, count);
  return Request(EndpointHandle::from(ep).endpoint, {AtomicKind::plain, datatype, op})
      .post_at({dest, addr, key}, {&operand, 1}, {}, {}, FI_INJECT, nullptr);
}

// ---- fetch

ssize_t readwritev(fid_ep *ep, const fi_ioc *iov, void **, std::size_t count, fi_ioc *resultv,
                   void **, std::size_t result_count, fi_addr_t dest, std::uint64_t addr,
                   std::uint64_t key, fi_datatype datatype, fi_op op, void *context) {
  EndpointHandle &handle = EndpointHandle::from(ep);
  return Request(handle.endpoint, {AtomicKind::fetch, datatype, op})
      .post_at({dest, addr, key}, {iov, count}, {}, {resultv, result_count}, handle.fetch_flags,
               context);
}

ssize_t readwrite(fid_ep *ep, const void *buf, std::size_t count, void *, void *result, void *,
                  fi_addr_t dest, std::uint64_t addr, std::uint64_t key, fi_datatype datatype,
                  fi_op op, void *context) {
  const fi_ioc operand = one_of(buf, count);
  fi_ioc former = one_of(result, count);
  return readwritev(ep, &operand, nullptr, 1, &former, nullptr, 1, dest, addr, key, datatype, op,
                    context);
}

ssize_t readwritemsg(fid_ep *ep, const fi_msg_atomic *msg, fi_ioc *resultv, void **,
                     std::size_t result_count, std::uint64_t given) {
  Endpoint &endpoint = EndpointHandle::from(ep).endpoint;
  const Values result{resultv, result_count};
  return fetch_message(endpoint, *msg, result, given);
}

// ---- compare

ssize_t compwritev(fid_ep *ep, const fi_ioc *iov, void **, std::size_t count,
                   const fi_ioc *comparev, void **, std::size_t compare_count, fi_ioc *resultv,
                   void **, std::size_t result_count, fi_addr_t dest, std::uint64_t addr,
                   std::uint64_t key, fi_datatype datatype, fi_op op, void *context) {
  EndpointHandle &handle = EndpointHandle::from(ep);
  return Request(handle.endpoint, {AtomicKind::compare, datatype, op})
      .post_at({dest, addr, key}, {iov, count}, {comparev, compare_count}, {resultv, result_count},
               handle.fetch_flags, context);
}

ssize_t compwrite(fid_ep *ep, const void *buf, std::size_t count, void *, const void *compare,
                  void *, void *result, void *, fi_addr_t dest, std::uint64_t addr,
                  std::uint64_t key, fi_datatype datatype, fi_op op, void *context) {
  const fi_ioc operand = one_of(buf, count), compared = one_of(compare, count);
  fi_ioc former = one_of(result, count);
  return compwritev(ep, &operand, nullptr, 1, &compared, nullptr, 1, &former, nullptr, 1, dest,
                    addr, key, datatype, op, context);
}

ssize_t compwritemsg(fid_ep *ep, const fi_msg_atomic *msg, const fi_ioc *comparev, void **,
                     std::size_t compare_count, fi_ioc *resultv, void **, std::size_t result_count,
                     std::uint64_t given) {
  Endpoint &endpoint = EndpointHandle::from(ep).endpoint;
  const Values compare{comparev, compare_count}, result{resultv, result_count};
  return compare_message(endpoint, *msg, compare, result, given);
}

// ---- what there is

template <AtomicKind Kind> int valid(fid_ep *, fi_datatype datatype, fi_op op, std::size_t *count) {
  if (!op::atomic_defined(op, datatype, Kind))
    return -FI_EOPNOTSUPP;
  if (count)
    *count = op::max_atomic / op::atomic_size(datatype);
  return 0;
}

} // namespace

ssize_t make_atomic(WorkMaker &maker, const fi_msg_atomic &msg, std::uint64_t given) {
  return plain_message(maker, msg, given);
}

ssize_t make_fetch_atomic(WorkMaker &maker, const fi_msg_atomic &msg, const fi_msg_fetch &fetch,
                          std::uint64_t given) {
  return fetch_message(maker, msg, {fetch.msg_iov, fetch.iov_count}, given);
}

ssize_t make_compare_atomic(WorkMaker &maker, const fi_msg_atomic &msg, const fi_msg_fetch &fetch,
                            const fi_msg_compare &compare, std::uint64_t given) {
  return compare_message(maker, msg, {compare.msg_iov, compare.iov_count},
                         {fetch.msg_iov, fetch.iov_count}, given);
}

int query_atomic(fid_domain *, fi_datatype datatype, fi_op op, fi_atomic_attr *attr,
                 std::uint64_t flags) {
  if (!attr)
    return -FI_EINVAL;
  if (flags & FI_TAGGED)
    return -FI_EOPNOTSUPP;
  AtomicKind kind;
  switch (flags) {
  case 0:
    kind = AtomicKind::plain;
    break;
  case FI_FETCH_ATOMIC:
    kind = AtomicKind::fetch;
    break;
  case FI_COMPARE_ATOMIC:
    kind = AtomicKind::compare;
    break;
  default:
    return -FI_EINVAL;
  }
  if (!op::atomic_defined(op, datatype, kind))
    return -FI_EOPNOTSUPP;
  attr->size = op::atomic_size(datatype);
  attr->count = op::max_atomic / attr->size;
  return 0;
}

fi_ops_atomic atomic_ops = [] {
  auto t = util_ext::all_missing<fi_ops_atomic>();
  t.write = write;
  t.writev = writev;
  t.writemsg = writemsg;
  t.inject = inject;
  t.readwrite = readwrite;
  t.readwritev = readwritev;
  t.readwritemsg = readwritemsg;
  t.compwrite = compwrite;
  t.compwritev = compwritev;
  t.compwritemsg = compwritemsg;
  t.writevalid = valid<AtomicKind::plain>;
  t.readwritevalid = valid<AtomicKind::fetch>;
  t.compwritevalid = valid<AtomicKind::compare>;
  return t;
}();

} // namespace dpdkx
