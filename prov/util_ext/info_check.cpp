// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/info.h"

#include "util_ext/ops.h"

#include <rdma/fi_domain.h>
#include <rdma/providers/fi_log.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

namespace util_ext {

int refuse_hint(const fi_provider &prov, const char *name, std::uint64_t hint, const char *why,
                std::uint64_t offered) noexcept {
  const unsigned long long h = hint, o = offered;
  FI_INFO(&prov, FI_LOG_CORE, "hint %s %llu (%#llx): %s %llu (%#llx)\n", name, h, h, why, o, o);
  return -FI_ENODATA;
}

int refuse_hint(const fi_provider &prov, const char *name, const char *hint,
                const char *why) noexcept {
  FI_INFO(&prov, FI_LOG_CORE, "hint %s '%s': %s\n", name, hint, why);
  return -FI_ENODATA;
}

namespace detail {

namespace {

constexpr std::uint32_t v1_5 = FI_VERSION(1, 5);   // fi_domain_attr::cntr_cnt and on, auth keys
constexpr std::uint32_t v1_9 = FI_VERSION(1, 9);   // tclass
constexpr std::uint32_t v1_20 = FI_VERSION(1, 20); // fi_domain_attr::max_ep_auth_key

// Compares hints with an offer, one field a call, and remembers a refusal.
class Check {
public:
  Check(const fi_provider &prov, std::uint32_t api, const Offer &offer, const fi_info &hints)
      : prov_(prov), api_(api), offer_(offer), info_(*offer.info), hints_(hints) {}

  bool all() {
    if (hints_.ep_attr)
      ep_type(*hints_.ep_attr); // what tells most offers apart
    caps();
    modes("mode", hints_.mode, info_.mode);
    addr_format();
    mr_mode();
    if (fits_ && hints_.fabric_attr)
      fabric(*hints_.fabric_attr);
    if (fits_ && hints_.domain_attr)
      domain(*hints_.domain_attr, *info_.domain_attr);
    if (fits_ && hints_.ep_attr)
      ep(*hints_.ep_attr, *info_.ep_attr);
    if (fits_ && hints_.tx_attr)
      tx(*hints_.tx_attr, *info_.tx_attr);
    if (fits_ && hints_.rx_attr)
      rx(*hints_.rx_attr, *info_.rx_attr);
    return fits_;
  }

private:
  // ---- kinds of comparison; 0 in a hint leaves it open

  void at_most(const char *name, std::uint64_t hint, std::uint64_t limit) {
    if (hint > limit)
      refuse(name, hint, "at most", limit);
  }
  void within(const char *name, std::uint64_t hint, std::uint64_t offered) {
    if (hint & ~offered)
      refuse(name, hint, "only these can be had:", offered);
  }
  // Modes go the other way: what the provider needs, the application must do.
  void modes(const char *name, std::uint64_t hint, std::uint64_t needed) {
    if (needed & ~hint)
      refuse(name, hint, "the application must agree to", needed);
  }
  void one_of(const char *name, std::uint64_t hint, std::uint64_t last) {
    if (hint > last)
      refuse(name, hint, "not defined; the last is", last);
  }
  void same(const char *name, std::uint64_t hint, std::uint64_t offered) {
    if (hint && hint != offered)
      refuse(name, hint, "this one is", offered);
  }
  void same(const char *name, const char *hint, const char *offered) {
    if (hint && offered && std::strcmp(hint, offered) != 0 && fits_) {
      refuse_hint(prov_, name, hint, (std::string("this one is ") + offered).c_str());
      fits_ = false;
    }
  }

  // ---- the structures

  void ep_type(const fi_ep_attr &h) { same("ep_attr->type", raw(h.type), info_.ep_attr->type); }

  void caps() {
    within("caps", hints_.caps, info_.caps);
    if (hints_.caps & FI_SOURCE_ERR && !(hints_.caps & FI_SOURCE))
      refuse("caps", hints_.caps, "FI_SOURCE_ERR goes with FI_SOURCE", FI_SOURCE);
    constexpr std::uint64_t target = FI_REMOTE_READ | FI_REMOTE_WRITE;
    if (hints_.caps & FI_RMA_EVENT && !(with_modifiers(hints_.caps, target) & target))
      refuse("caps", hints_.caps, "FI_RMA_EVENT goes with what peers may do", target);
  }

  void addr_format() {
    const auto &formats = offer_.addr_formats;
    if (hints_.addr_format != FI_FORMAT_UNSPEC && hints_.addr_format != info_.addr_format &&
        std::find(formats.begin(), formats.end(), hints_.addr_format) == formats.end())
      refuse("addr_format", hints_.addr_format, "not this provider's, such as", info_.addr_format);
  }

  // FI_MR_BASIC and FI_MR_SCALABLE stand alone; until 1.5 there was nothing else.
  void mr_mode() {
    constexpr const char *name = "domain_attr->mr_mode";
    const int needed = info_.domain_attr->mr_mode;
    const int hint = hints_.domain_attr ? hints_.domain_attr->mr_mode : 0;
    constexpr int basic_means = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    constexpr std::uint64_t local_mr = 1ULL << 55; // FI_LOCAL_MR, the mode of old
    const bool has_local = hint & FI_MR_LOCAL || hints_.mode & local_mr;

    if (FI_VERSION_LT(api_, v1_5) || hint & (mr_basic | mr_scalable)) {
      if (hint & ~(mr_basic | mr_scalable) || hint == (mr_basic | mr_scalable))
        refuse(name, hint, "stands alone:", hint & (mr_basic | mr_scalable));
      const int given = (hint == mr_scalable ? 0 : basic_means) | (has_local ? FI_MR_LOCAL : 0);
      modes(name, given, needed);
      return;
    }
    // What is needed of regions only concerns those who can have some.
    const std::uint64_t target = FI_RMA | FI_ATOMIC;
    const bool regions = asked_caps() & target;
    modes(name, has_local ? hint | FI_MR_LOCAL : hint,
          regions ? needed : needed & (FI_MR_LOCAL | FI_MR_HMEM));
  }

  void fabric(const fi_fabric_attr &h) {
    const fi_fabric_attr &o = *info_.fabric_attr;
    same("fabric_attr->name", h.name, o.name);
    // The framework has matched it; it may name several, or layers upon this one.
    if (h.prov_name && o.prov_name && !strcasestr(h.prov_name, o.prov_name))
      same("fabric_attr->prov_name", h.prov_name, o.prov_name);
    at_most("fabric_attr->prov_version", h.prov_version, o.prov_version);
  }

  void domain(const fi_domain_attr &h, const fi_domain_attr &o) {
    same("domain_attr->name", h.name, o.name);
    one_of("domain_attr->threading", raw(h.threading), FI_THREAD_ENDPOINT);
    // One beyond manual: the application serialises control calls as well.
    one_of("domain_attr->control_progress", raw(h.control_progress), FI_PROGRESS_MANUAL + 1);
    one_of("domain_attr->data_progress", raw(h.data_progress), FI_PROGRESS_MANUAL);
    one_of("domain_attr->resource_mgmt", raw(h.resource_mgmt), FI_RM_ENABLED);
    one_of("domain_attr->av_type", raw(h.av_type), FI_AV_TABLE);
    at_most("domain_attr->mr_key_size", h.mr_key_size, o.mr_key_size);
    at_most("domain_attr->cq_data_size", h.cq_data_size, o.cq_data_size);
    at_most("domain_attr->cq_cnt", h.cq_cnt, o.cq_cnt);
    at_most("domain_attr->ep_cnt", h.ep_cnt, o.ep_cnt);
    at_most("domain_attr->tx_ctx_cnt", h.tx_ctx_cnt, o.tx_ctx_cnt);
    at_most("domain_attr->rx_ctx_cnt", h.rx_ctx_cnt, o.rx_ctx_cnt);
    at_most("domain_attr->max_ep_tx_ctx", h.max_ep_tx_ctx, o.max_ep_tx_ctx);
    at_most("domain_attr->max_ep_rx_ctx", h.max_ep_rx_ctx, o.max_ep_rx_ctx);
    at_most("domain_attr->max_ep_stx_ctx", h.max_ep_stx_ctx, o.max_ep_stx_ctx);
    at_most("domain_attr->max_ep_srx_ctx", h.max_ep_srx_ctx, o.max_ep_srx_ctx);
    if (FI_VERSION_LT(api_, v1_5))
      return;
    at_most("domain_attr->cntr_cnt", h.cntr_cnt, o.cntr_cnt);
    at_most("domain_attr->mr_iov_limit", h.mr_iov_limit, o.mr_iov_limit);
    within("domain_attr->caps", h.caps, o.caps);
    modes("domain_attr->mode", h.mode, o.mode);
    auth_key("domain_attr->auth_key_size", h.auth_key, h.auth_key_size);
    at_most("domain_attr->max_err_data", h.max_err_data, o.max_err_data);
    at_most("domain_attr->mr_cnt", h.mr_cnt, o.mr_cnt);
    if (FI_VERSION_GE(api_, v1_9))
      traffic_class("domain_attr->tclass", h.tclass);
    if (FI_VERSION_GE(api_, v1_20))
      newer_domain(h, o);
  }

  // Where the headers that this is built with know the fields.
  template <class Attr> void newer_domain(const Attr &h, const Attr &o) {
    if constexpr (requires { h.max_ep_auth_key; })
      at_most("domain_attr->max_ep_auth_key", h.max_ep_auth_key, o.max_ep_auth_key);
    if constexpr (requires { h.max_group_id; })
      if (FI_VERSION_GE(api_, FI_VERSION(2, 0)))
        at_most("domain_attr->max_group_id", h.max_group_id, o.max_group_id);
  }

  void ep(const fi_ep_attr &h, const fi_ep_attr &o) {
    same("ep_attr->protocol", h.protocol, o.protocol);
    at_most("ep_attr->protocol_version", h.protocol_version, o.protocol_version);
    at_most("ep_attr->max_msg_size", h.max_msg_size, o.max_msg_size);
    contexts("ep_attr->tx_ctx_cnt", h.tx_ctx_cnt, info_.domain_attr->max_ep_tx_ctx,
             info_.domain_attr->max_ep_stx_ctx);
    contexts("ep_attr->rx_ctx_cnt", h.rx_ctx_cnt, info_.domain_attr->max_ep_rx_ctx,
             info_.domain_attr->max_ep_srx_ctx);
    if (asked_caps() & (FI_RMA | FI_ATOMIC)) {
      at_most("ep_attr->max_order_raw_size", h.max_order_raw_size, o.max_order_raw_size);
      at_most("ep_attr->max_order_war_size", h.max_order_war_size, o.max_order_war_size);
      at_most("ep_attr->max_order_waw_size", h.max_order_waw_size, o.max_order_waw_size);
    }
    if (asked_caps() & FI_TAGGED &&
        std::bit_width(h.mem_tag_format) > std::bit_width(o.mem_tag_format))
      refuse("ep_attr->mem_tag_format", h.mem_tag_format, "no more bits than", o.mem_tag_format);
    if (FI_VERSION_GE(api_, v1_5))
      auth_key("ep_attr->auth_key_size", h.auth_key, h.auth_key_size);
  }

  // Who asks for none gets all there are.
  std::uint64_t asked_caps() const { return hints_.caps ? hints_.caps : info_.caps; }

  void contexts(const char *name, std::size_t hint, std::size_t limit, std::size_t shared) {
    if (hint == FI_SHARED_CONTEXT ? shared == 0 : hint > limit)
      refuse(name, hint, "not shared ones, and at most", limit);
  }

  void auth_key(const char *name, const std::uint8_t *key, std::size_t size) {
    at_most(name, size, offer_.max_auth_key_size);
    if (size && !key)
      refuse(name, size, "but the key has size", 0);
  }

  // A DSCP, or one of the labels.
  void traffic_class(const char *name, std::uint32_t tclass) {
    const bool dscp = (tclass & ~0x3fU) == FI_TC_DSCP;
    const std::uint32_t last = FI_TC_NETWORK_CTRL;
    const bool label = tclass >= FI_TC_LABEL && tclass <= last;
    if (tclass != FI_TC_UNSPEC && !(offer_.traffic_classes && (dscp || label)))
      refuse(name, tclass, "only a DSCP or a label, if any; the last is", last);
  }

  void tx(const fi_tx_attr &h, const fi_tx_attr &o) {
    // Bits that belong to the other side are passed over, unknown ones are not.
    within("tx_attr->caps", h.caps & (tx_caps | ~offer_.info->caps), o.caps);
    modes("tx_attr->mode", h.mode ? h.mode : hints_.mode, o.mode);
    within("tx_attr->op_flags", h.op_flags, o.op_flags);
    within("tx_attr->msg_order", h.msg_order, o.msg_order);
    within("tx_attr->comp_order", h.comp_order, o.comp_order);
    at_most("tx_attr->inject_size", h.inject_size, o.inject_size);
    at_most("tx_attr->size", h.size, o.size);
    at_most("tx_attr->iov_limit", h.iov_limit, o.iov_limit);
    at_most("tx_attr->rma_iov_limit", h.rma_iov_limit, o.rma_iov_limit);
    if (FI_VERSION_GE(api_, v1_9))
      traffic_class("tx_attr->tclass", h.tclass);
  }

  // total_buffered_recv may be ignored, and is.
  void rx(const fi_rx_attr &h, const fi_rx_attr &o) {
    within("rx_attr->caps", h.caps & (rx_caps | ~offer_.info->caps), o.caps);
    modes("rx_attr->mode", h.mode ? h.mode : hints_.mode, o.mode);
    within("rx_attr->op_flags", h.op_flags, o.op_flags);
    within("rx_attr->msg_order", h.msg_order, o.msg_order);
    within("rx_attr->comp_order", h.comp_order, o.comp_order);
    at_most("rx_attr->size", h.size, o.size);
    at_most("rx_attr->iov_limit", h.iov_limit, o.iov_limit);
  }

  // The first refusal is told; one is enough.
  void refuse(const char *name, std::uint64_t hint, const char *why, std::uint64_t offered) {
    if (fits_)
      refuse_hint(prov_, name, hint, why, offered);
    fits_ = false;
  }

  const fi_provider &prov_;
  const std::uint32_t api_;
  const Offer &offer_;
  const fi_info &info_, &hints_;
  bool fits_ = true;
};

} // namespace

bool hints_fit(const fi_provider &prov, std::uint32_t api, const Offer &offer,
               const fi_info &hints) {
  return Check(prov, api, offer, hints).all();
}

} // namespace detail

} // namespace util_ext
