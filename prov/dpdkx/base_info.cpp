// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/base_info.h"

#include "dpdkx/ep.h"
#include "dpdkx/passive_endpoint.h"
#include "dpdkx/provider.h"
#include "util_ext/info.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace dpdkx {

namespace {

// Objects are made one by one; memory is what limits them.
constexpr std::size_t many = 1u << 20;

// What is no longer than one packet is done with in its turn; of longer ones the data come as they
// may. This is the most that every session has room for.
constexpr std::size_t ordered_bytes = op::max_atomic;

char *duplicate(const char *text) {
  char *copy = strdup(text); // fi_freeinfo() frees it
  if (!copy)
    throw std::bad_alloc();
  return copy;
}

std::uint64_t largest(const char *name) {
  for (const Setting &setting : all_settings())
    if (std::strcmp(setting.name, name) == 0)
      return setting.bounds.max;
  return 0;
}

void fill_tx(fi_tx_attr &tx, std::uint64_t caps) {
  tx.caps = caps & util_ext::detail::tx_caps;
  tx.op_flags = flags::tx_defaults;
  tx.msg_order = offered_order;
  tx.inject_size = largest("inject_size");
  tx.size = largest("tx_size");
  tx.iov_limit = op::max_iov;
  tx.rma_iov_limit = op::max_targets;
}

void fill_rx(fi_rx_attr &rx, std::uint64_t caps) {
  rx.caps = caps & util_ext::detail::rx_caps;
  rx.op_flags = flags::rx_defaults;
  rx.msg_order = offered_order;
  rx.size = largest("rx_size");
  rx.iov_limit = op::max_iov;
}

void fill_ep(fi_ep_attr &ep, fi_ep_type type) {
  ep.type = type;
  ep.protocol = wire_protocol;
  ep.protocol_version = wire::protocol_version;
  ep.max_msg_size = max_message;
  ep.max_order_raw_size = ordered_bytes;
  ep.max_order_war_size = ordered_bytes;
  ep.max_order_waw_size = ordered_bytes;
  ep.mem_tag_format = 0xaaaaaaaaaaaaaaaa; // fi_endpoint(3): fields of one bit, 64 in all
  ep.tx_ctx_cnt = 1;
  ep.rx_ctx_cnt = 1;
}

void fill_domain(fi_domain_attr &domain, const char *name) {
  domain.name = duplicate(name);
  domain.threading = FI_THREAD_SAFE;
  domain.control_progress = FI_PROGRESS_MANUAL;
  domain.data_progress = FI_PROGRESS_MANUAL;
  domain.resource_mgmt = FI_RM_ENABLED;
  domain.av_type = FI_AV_UNSPEC; // either
  domain.mr_mode = 0;
  domain.mr_key_size = sizeof(std::uint64_t);
  domain.cq_data_size = sizeof(std::uint64_t);
  domain.cq_cnt = many;
  domain.ep_cnt = many;
  domain.tx_ctx_cnt = many;
  domain.rx_ctx_cnt = many;
  domain.max_ep_tx_ctx = 1;
  domain.max_ep_rx_ctx = 1;
  domain.max_ep_srx_ctx = many;
  domain.cntr_cnt = many;
  domain.mr_iov_limit = op::max_iov;
  domain.mr_cnt = many;
  domain.caps = offered_caps & (FI_LOCAL_COMM | FI_REMOTE_COMM | FI_AV_USER_ID);
  domain.max_err_data = sizeof(util_ext::SockAddr); // FI_SOURCE_ERR: the sender's address
}

} // namespace

InfoPtr base_info(const char *domain, fi_ep_type type) {
  InfoPtr info(fi_allocinfo());
  if (!info)
    throw std::bad_alloc();
  info->caps = type == FI_EP_MSG ? connected_caps : offered_caps;
  info->addr_format = FI_SOCKADDR_IN;
  fill_tx(*info->tx_attr, info->caps);
  fill_rx(*info->rx_attr, info->caps);
  fill_ep(*info->ep_attr, type);
  fill_domain(*info->domain_attr, domain);
  if (type == FI_EP_MSG) // what fi_reject says
    info->domain_attr->max_err_data = std::max(info->domain_attr->max_err_data, max_cm_data);
  info->fabric_attr->name = duplicate(fabric_name);
  info->fabric_attr->prov_version = provider_version;
  return info;
}

InfoPtr datagram_info(const char *domain, std::size_t max_msg_size, bool multicast) {
  InfoPtr info = base_info(domain);
  info->caps = datagram_caps | (multicast ? FI_MULTICAST : 0);
  fi_tx_attr &tx = *info->tx_attr;
  tx.caps = info->caps & util_ext::detail::tx_caps;
  tx.op_flags = flags::dgram_tx_defaults | (multicast ? FI_MULTICAST : 0);
  tx.msg_order = 0;
  tx.inject_size = std::min(tx.inject_size, max_msg_size);
  tx.rma_iov_limit = 0;
  info->rx_attr->caps = datagram_caps & util_ext::detail::rx_caps;
  info->rx_attr->msg_order = 0;
  fi_ep_attr &ep = *info->ep_attr;
  ep.type = FI_EP_DGRAM;
  ep.max_msg_size = max_msg_size;
  ep.max_order_raw_size = ep.max_order_war_size = ep.max_order_waw_size = 0;
  ep.mem_tag_format = 0;
  return info;
}

void set_sizes(const Settings &settings, const fi_info *hints, fi_info &info) {
  const fi_tx_attr *tx = hints ? hints->tx_attr : nullptr;
  const fi_rx_attr *rx = hints ? hints->rx_attr : nullptr;
  info.tx_attr->size = tx && tx->size ? tx->size : settings.engine.tx_size;
  info.rx_attr->size = rx && rx->size ? rx->size : settings.engine.rx_size;
  info.tx_attr->inject_size = std::min(
      std::max(settings.engine.inject_size, tx ? tx->inject_size : 0), info.ep_attr->max_msg_size);
}

} // namespace dpdkx
