// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/ep.h"
#include "dpdkx/passive_endpoint.h"
#include "dpdkx/provider.h"
#include "util_ext/ops.h"

#include <cstring>

namespace dpdkx {

namespace {

template <class T> int give(const T &value, void *to, std::size_t *len) {
  const std::size_t room = *len;
  *len = sizeof(value);
  if (room < sizeof(value))
    return -FI_ETOOSMALL;
  std::memcpy(to, &value, sizeof(value));
  return 0;
}

ssize_t cancel(fid_t f, void *context) {
  return util_ext::guard(
      [&]() -> ssize_t { return EndpointHandle::from(f).endpoint.cancel(context); });
}

int getopt(fid_t f, int level, int name, void *value, std::size_t *len) {
  if (level != FI_OPT_ENDPOINT)
    return -FI_ENOPROTOOPT;
  if (!value || !len)
    return -FI_EINVAL;
  return util_ext::guard(
      [&] { return EndpointHandle::from(f).endpoint.get_option(name, value, len); });
}

int setopt(fid_t f, int level, int name, const void *value, std::size_t len) {
  if (level != FI_OPT_ENDPOINT)
    return -FI_ENOPROTOOPT;
  if (!value)
    return -FI_EINVAL;
  return util_ext::guard(
      [&] { return EndpointHandle::from(f).endpoint.set_option(name, value, len); });
}

} // namespace

fi_ops_ep ep_ops = [] {
  auto t = util_ext::all_missing<fi_ops_ep>();
  t.cancel = cancel;
  t.getopt = getopt;
  t.setopt = setopt;
  return t;
}();

int control(struct fid *f, int command, void *arg) {
  EndpointHandle &handle = EndpointHandle::from(f);
  Endpoint &endpoint = handle.endpoint;
  return util_ext::guard([&] {
    if (command == FI_ENABLE) {
      const int rc = endpoint.enable();
      handle.update_flags(); // the bindings are known now
      return rc;
    }
    if (command != FI_ALIAS && command != FI_SETOPSFLAG && command != FI_GETOPSFLAG)
      return -FI_ENOSYS;
    if (!arg)
      return -FI_EINVAL;
    switch (command) {
    case FI_ALIAS: {
      auto *alias = static_cast<struct fi_alias *>(arg); // fi_alias is a function, too
      return endpoint.alias(handle, alias->flags, alias->fid);
    }
    case FI_SETOPSFLAG:
      return endpoint.set_default_flags(handle, *static_cast<std::uint64_t *>(arg));
    default: {
      auto &flags = *static_cast<std::uint64_t *>(arg);
      const std::uint64_t direction = flags & (FI_TRANSMIT | FI_RECV);
      if (direction != FI_TRANSMIT && direction != FI_RECV)
        return -FI_EINVAL;
      flags = direction == FI_TRANSMIT ? handle.tx_defaults : handle.rx_defaults;
      return 0;
    }
    }
  });
}

int Endpoint::set_default_flags(EndpointHandle &handle, std::uint64_t given) {
  const std::uint64_t direction = given & (FI_TRANSMIT | FI_RECV);
  if (direction != FI_TRANSMIT && direction != FI_RECV) {
    FI_WARN(&provider, FI_LOG_EP_CTRL,
            "default flags; allowed: with one of FI_TRANSMIT, FI_RECV\n");
    return -FI_EINVAL;
  }
  given &= ~direction;
  const bool transmit = direction == FI_TRANSMIT;
  const std::uint64_t tx = type_ == FI_EP_DGRAM ? flags::dgram_tx_defaults : flags::tx_defaults;
  if (const int rc = flags::check(given, transmit ? tx : flags::rx_defaults))
    return rc;
  (transmit ? handle.tx_defaults : handle.rx_defaults) = given;
  handle.update_flags();
  return 0;
}

int Endpoint::alias(EndpointHandle &of, std::uint64_t flags, struct fid **out) {
  if (!out)
    return -FI_EINVAL;
  auto alias = std::make_unique<EndpointHandle>(*this, of.fid.context);
  alias->tx_defaults = of.tx_defaults;
  alias->rx_defaults = of.rx_defaults;
  if (const int rc = set_default_flags(*alias, flags)) {
    --handles_; // not of those that are closed
    return rc;
  }
  *out = &alias.release()->fid;
  return 0;
}

int Endpoint::set_option(int name, const void *value, std::size_t len) {
  switch (name) {
  case FI_OPT_MIN_MULTI_RECV: {
    std::size_t bytes;
    if (len != sizeof(bytes))
      return -FI_EINVAL;
    std::memcpy(&bytes, value, sizeof(bytes));
    min_multi_recv_ = bytes;
    if (engine_) {
      const std::lock_guard lock(engine_->mutex());
      engine_->set_min_multi_recv(bytes);
    }
    return 0;
  }
  case FI_OPT_FI_HMEM_P2P: {
    int mode;
    if (len != sizeof(mode))
      return -FI_EINVAL;
    std::memcpy(&mode, value, sizeof(mode));
    if (mode < FI_HMEM_P2P_ENABLED || mode > FI_HMEM_P2P_DISABLED)
      return -FI_EINVAL;
    if (mode == FI_HMEM_P2P_REQUIRED) // the others are content without
      return -FI_EOPNOTSUPP;
    peer_to_peer_ = mode;
    return 0;
  }
  default:
    return -FI_ENOPROTOOPT;
  }
}

int Endpoint::get_option(int name, void *value, std::size_t *len) {
  switch (name) {
  case FI_OPT_MIN_MULTI_RECV: {
    if (!engine_)
      return give(min_multi_recv_, value, len);
    const std::lock_guard lock(engine_->mutex());
    return give(engine_->min_multi_recv(), value, len);
  }
  case FI_OPT_CM_DATA_SIZE:
    return give(connection_ ? max_cm_data : 0, value, len);
  case FI_OPT_FI_HMEM_P2P:
    return give(peer_to_peer_, value, len);
  default:
    return -FI_ENOPROTOOPT;
  }
}

} // namespace dpdkx
