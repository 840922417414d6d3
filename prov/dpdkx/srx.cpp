// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/srx.h"

#include "dpdkx/provider.h"
#include "util_ext/info.h"
#include "util_ext/ops.h"

#include <cstring>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_rma.h>

namespace dpdkx {

namespace {

int close_srx(struct fid *f) {
  return util_ext::guard([&] { return SharedRx::from(f).close(); });
}

int control_srx(struct fid *, int command, void *) {
  return command == FI_ENABLE ? 0 : -FI_ENOSYS; // it is ready as it is
}

ssize_t cancel_srx(fid_t f, void *context) {
  return util_ext::guard([&]() -> ssize_t { return SharedRx::from(f).cancel(context); });
}

int getopt(fid_t f, int level, int name, void *value, std::size_t *len) {
  if (level != FI_OPT_ENDPOINT)
    return -FI_ENOPROTOOPT;
  if (!value || !len)
    return -FI_EINVAL;
  return util_ext::guard([&] { return SharedRx::from(f).get_option(name, value, len); });
}

int setopt(fid_t f, int level, int name, const void *value, std::size_t len) {
  if (level != FI_OPT_ENDPOINT)
    return -FI_ENOPROTOOPT;
  if (!value)
    return -FI_EINVAL;
  return util_ext::guard([&] { return SharedRx::from(f).set_option(name, value, len); });
}

// Capabilities that an application left out are all.
std::uint64_t kinds(std::uint64_t caps) {
  return caps & (FI_MSG | FI_TAGGED) ? caps : caps | FI_MSG | FI_TAGGED;
}

int check_attr(const fi_rx_attr &attr) {
  if (attr.iov_limit > op::max_iov) {
    FI_WARN(&provider, FI_LOG_EP_CTRL, "shared receive context: iov_limit %zu; allowed: %zu\n",
            attr.iov_limit, op::max_iov);
    return -FI_EINVAL;
  }
  if (!(kinds(attr.caps) & (FI_MSG | FI_TAGGED)))
    return -FI_EINVAL;
  return flags::check(attr.op_flags, flags::rx_defaults & ~FI_TRIGGER);
}

} // namespace

SharedRx::SharedRx(Domain &domain, const fi_rx_attr &attr, void *context)
    : handle_(*this), domain_(domain), caps_(kinds(attr.caps)), op_flags_(attr.op_flags),
      lock_(!domain.one_thread()),
      receives_(attr.size ? attr.size : domain.settings().engine.rx_size) {
  static fi_ops fid_ops = [] {
    auto t = util_ext::all_missing<fi_ops>();
    t.close = close_srx;
    t.control = control_srx;
    return t;
  }();
  static fi_ops_ep srx_ops = [] {
    auto t = util_ext::all_missing<fi_ops_ep>();
    t.cancel = cancel_srx;
    t.getopt = getopt;
    t.setopt = setopt;
    return t;
  }();
  static fi_ops_cm no_cm = util_ext::all_missing<fi_ops_cm>();
  static fi_ops_msg no_msg = util_ext::all_missing<fi_ops_msg>();
  static fi_ops_tagged no_tagged = util_ext::all_missing<fi_ops_tagged>();
  static fi_ops_rma no_rma = util_ext::all_missing<fi_ops_rma>();
  static fi_ops_atomic no_atomic = util_ext::all_missing<fi_ops_atomic>();
  static fi_ops_collective no_collective = util_ext::all_missing<fi_ops_collective>();
  handle_.fid = {FI_CLASS_SRX_CTX, context, &fid_ops};
  handle_.ops = &srx_ops;
  handle_.cm = &no_cm;
  handle_.msg = caps_ & FI_MSG ? &shared_msg_ops : &no_msg;
  handle_.tagged = caps_ & FI_TAGGED ? &shared_tagged_ops : &no_tagged;
  handle_.rma = &no_rma;
  handle_.atomic = &no_atomic;
  handle_.collective = &no_collective;
  handle_.any_source = caps_ & FI_DIRECTED_RECV ? 0 : FI_ADDR_UNSPEC;
  handle_.recv_flags = flags::of_receive(op_flags_, false);
  handle_.trecv_flags = handle_.recv_flags & ~FI_MULTI_RECV;
  domain_.acquire();
}

SharedRx::~SharedRx() { domain_.release(); }

int SharedRx::open(Domain &domain, const fi_rx_attr *given, fid_ep **out, void *context) {
  if (!out)
    return -FI_EINVAL;
  const fi_rx_attr attr = given ? *given : fi_rx_attr{};
  if (const int rc = check_attr(attr))
    return rc;
  *out = &(new SharedRx(domain, attr, context))->handle_;
  return 0;
}

int SharedRx::close() {
  if (in_use()) {
    FI_WARN(&provider, FI_LOG_EP_CTRL,
            "fi_close: endpoints are bound to the shared receive context\n");
    return -FI_EBUSY;
  }
  delete this;
  return 0;
}

void SharedRx::join(engine::Endpoint &endpoint, bool selective) {
  const std::lock_guard lock(lock_);
  endpoints_.push_back(&endpoint);
  endpoint.share(receives_, lock_);
  selective_ |= selective;
  handle_.recv_flags = flags::of_receive(op_flags_, selective_);
  handle_.trecv_flags = handle_.recv_flags & ~FI_MULTI_RECV;
}

void SharedRx::leave(engine::Endpoint &endpoint) {
  const std::lock_guard lock(lock_);
  std::erase(endpoints_, &endpoint);
}

ssize_t SharedRx::receive(const op::ReceiveRequest &request) {
  const std::lock_guard lock(lock_);
  const ssize_t rc = receives_.receive(request);
  for (engine::Endpoint *endpoint : endpoints_)
    endpoint->receive_posted();
  return rc;
}

int SharedRx::cancel(const void *context) {
  const std::lock_guard lock(lock_);
  return receives_.cancel(context) ? 0 : -FI_ENOENT;
}

ssize_t SharedRx::refuse_vector(std::size_t count) const {
  FI_WARN(&provider, FI_LOG_EP_DATA,
          "a vector of %zu entries is null, too long, or of too many bytes; allowed: %zu entries\n",
          count, op::max_iov);
  return -FI_EINVAL;
}

int SharedRx::set_option(int name, const void *value, std::size_t len) {
  if (name != FI_OPT_MIN_MULTI_RECV)
    return -FI_ENOPROTOOPT;
  std::size_t bytes;
  if (len != sizeof(bytes))
    return -FI_EINVAL;
  std::memcpy(&bytes, value, sizeof(bytes));
  const std::lock_guard lock(lock_);
  receives_.min_multi_recv = bytes;
  return 0;
}

int SharedRx::get_option(int name, void *value, std::size_t *len) {
  if (name != FI_OPT_MIN_MULTI_RECV)
    return -FI_ENOPROTOOPT;
  const std::size_t room = *len;
  *len = sizeof(receives_.min_multi_recv);
  if (room < *len)
    return -FI_ETOOSMALL;
  const std::lock_guard lock(lock_);
  std::memcpy(value, &receives_.min_multi_recv, *len);
  return 0;
}

} // namespace dpdkx
