// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/info.h"

#include "util_ext/ops.h"

#include <rdma/fi_domain.h>

#include <cstdlib>
#include <cstring>

namespace util_ext {

using namespace detail;

std::uint64_t detail::with_modifiers(std::uint64_t caps, std::uint64_t offered) {
  if (caps & (FI_MSG | FI_TAGGED) && !(caps & msg_modifiers))
    caps |= offered & msg_modifiers;
  if (caps & (FI_RMA | FI_ATOMIC) && !(caps & rma_modifiers))
    caps |= offered & rma_modifiers;
  return caps;
}

namespace {

// What was asked for, and what comes unasked.
std::uint64_t granted(std::uint64_t asked, const Offer &offer) {
  const std::uint64_t offered = offer.info->caps;
  if (asked == 0)
    return offered;
  return with_modifiers(asked, offered) | (offered & secondary_caps & ~offer.on_request);
}

// Of a context: what was asked for it, or what the endpoint has; and no more.
std::uint64_t context_caps(std::uint64_t asked, std::uint64_t offered, std::uint64_t of_kind,
                           std::uint64_t endpoint) {
  asked &= of_kind;
  if (asked)
    asked = with_modifiers(asked, offered & of_kind) | (offered & secondary_caps);
  return (asked ? asked : offered) & of_kind & endpoint;
}

int chosen_mr_mode(int needed, const fi_info *hints, std::uint32_t api, std::uint64_t caps) {
  const int hint = hints && hints->domain_attr ? hints->domain_attr->mr_mode : 0;
  if (hint & (mr_basic | mr_scalable))
    return hint;
  if (FI_VERSION_LT(api, FI_VERSION(1, 5)))
    return needed ? mr_basic : mr_scalable;
  return caps & (FI_RMA | FI_ATOMIC) ? needed : needed & (FI_MR_LOCAL | FI_MR_HMEM);
}

// A copy for fi_freeinfo().
void copy_key(std::uint8_t *&to, std::size_t &to_size, const std::uint8_t *from, std::size_t size) {
  if (size == 0)
    return;
  auto *key = static_cast<std::uint8_t *>(std::malloc(size));
  if (!key)
    throw std::bad_alloc();
  std::memcpy(key, from, size);
  std::free(to);
  to = key;
  to_size = size;
}

template <class T> void take(T &value, T hint) {
  if (hint)
    value = hint;
}

void choose_domain(fi_domain_attr &d, const fi_domain_attr &h, std::uint32_t api) {
  take(d.threading, h.threading);
  take(d.control_progress, h.control_progress);
  take(d.data_progress, h.data_progress);
  take(d.av_type, h.av_type);
  // Resource management stays as it is: enabled serves who can do without.
  if (FI_VERSION_GE(api, FI_VERSION(1, 5)))
    copy_key(d.auth_key, d.auth_key_size, h.auth_key, h.auth_key_size);
  if (FI_VERSION_GE(api, FI_VERSION(1, 9)))
    take(d.tclass, h.tclass);
}

void choose_ep(fi_ep_attr &e, const fi_ep_attr &h, std::uint64_t caps, std::uint32_t api) {
  if (caps & (FI_RMA | FI_ATOMIC)) {
    take(e.max_order_raw_size, h.max_order_raw_size);
    take(e.max_order_war_size, h.max_order_war_size);
    take(e.max_order_waw_size, h.max_order_waw_size);
  }
  take(e.tx_ctx_cnt, h.tx_ctx_cnt);
  take(e.rx_ctx_cnt, h.rx_ctx_cnt);
  if (FI_VERSION_GE(api, FI_VERSION(1, 5)))
    copy_key(e.auth_key, e.auth_key_size, h.auth_key, h.auth_key_size);
}

// The rest of what may be chosen: where the hints say nothing, it stays the
// offer's; a limit stays the offer's even if less was asked for.
void apply(fi_info &info, const fi_info &h, std::uint32_t api) {
  take(info.addr_format, h.addr_format);
  info.handle = h.handle;
  if (h.domain_attr)
    choose_domain(*info.domain_attr, *h.domain_attr, api);
  if (h.ep_attr)
    choose_ep(*info.ep_attr, *h.ep_attr, info.caps, api);
  if (h.tx_attr) {
    info.tx_attr->op_flags = h.tx_attr->op_flags;
    take(info.tx_attr->size, h.tx_attr->size);
    if (FI_VERSION_GE(api, FI_VERSION(1, 9)))
      take(info.tx_attr->tclass, h.tx_attr->tclass);
  }
  if (h.rx_attr) {
    info.rx_attr->op_flags = h.rx_attr->op_flags;
    take(info.rx_attr->size, h.rx_attr->size);
  }
}

int choose_or_throw(std::uint32_t api, const Offer &offer, const fi_info *hints, fi_info &info) {
  const fi_info &o = *offer.info;
  const fi_tx_attr *tx = hints ? hints->tx_attr : nullptr;
  const fi_rx_attr *rx = hints ? hints->rx_attr : nullptr;
  info.caps = granted(hints ? hints->caps : 0, offer);
  info.tx_attr->caps = context_caps(tx ? tx->caps : 0, o.tx_attr->caps, tx_caps, info.caps);
  info.rx_attr->caps = context_caps(rx ? rx->caps : 0, o.rx_attr->caps, rx_caps, info.caps);
  info.domain_attr->mr_mode = chosen_mr_mode(o.domain_attr->mr_mode, hints, api, info.caps);
  info.fabric_attr->api_version = api;
  // In an offer: what may be asked for. In an info: what every operation does.
  info.tx_attr->op_flags = info.rx_attr->op_flags = 0;
  if (hints)
    apply(info, *hints, api);
  return 0;
}

} // namespace

int choose(const fi_provider &prov, std::uint32_t api, const Offer &offer, const fi_info *hints,
           fi_info **out) noexcept {
  return guard([&] {
    if (hints && !hints_fit(prov, api, offer, *hints))
      return -FI_ENODATA;
    fi_info *info = fi_dupinfo(offer.info);
    if (!info)
      return -FI_ENOMEM;
    const int rc = guard([&] { return choose_or_throw(api, offer, hints, *info); });
    if (rc != 0) {
      fi_freeinfo(info);
      return rc;
    }
    *out = info;
    return 0;
  });
}

} // namespace util_ext
