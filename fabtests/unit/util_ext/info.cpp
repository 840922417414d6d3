// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/info.h"

#include "fake.h"

#include <cstring>
#include <functional>
#include <iterator>
#include <memory>
#include <rdma/fi_domain.h>

#include "unit/unit.h"

using util_ext::choose;
using util_ext::Offer;

namespace {

constexpr std::uint32_t api = FI_VERSION(1, 17);
constexpr int basic = 1 << 0, scalable = 1 << 1; // FI_MR_BASIC, FI_MR_SCALABLE

struct FreeInfo {
  void operator()(fi_info *info) const { fi_freeinfo(info); }
};
using Info = std::unique_ptr<fi_info, FreeInfo>;

constexpr std::uint64_t all_caps = FI_MSG | FI_TAGGED | FI_SEND | FI_RECV | FI_DIRECTED_RECV |
                                   FI_SOURCE | FI_SOURCE_ERR | FI_MULTI_RECV | FI_FENCE |
                                   FI_LOCAL_COMM | FI_REMOTE_COMM;

Info make_offer() {
  Info info(fi_allocinfo());
  info->caps = all_caps;
  info->mode = FI_CONTEXT;
  info->addr_format = FI_SOCKADDR_IN;
  *info->tx_attr = {};
  info->tx_attr->caps = all_caps & util_ext::detail::tx_caps;
  info->tx_attr->mode = FI_CONTEXT;
  info->tx_attr->op_flags = FI_COMPLETION | FI_DELIVERY_COMPLETE;
  info->tx_attr->msg_order = FI_ORDER_SAS;
  info->tx_attr->inject_size = 4096;
  info->tx_attr->size = 1024;
  info->tx_attr->iov_limit = 8;
  *info->rx_attr = {};
  info->rx_attr->caps = all_caps & util_ext::detail::rx_caps;
  info->rx_attr->op_flags = FI_MULTI_RECV | FI_COMPLETION;
  info->rx_attr->msg_order = FI_ORDER_SAS;
  info->rx_attr->size = 1024;
  info->rx_attr->iov_limit = 8;
  fi_ep_attr &e = *info->ep_attr;
  e.type = FI_EP_RDM;
  e.protocol = FI_PROTO_UDP;
  e.protocol_version = 1;
  e.max_msg_size = 1ULL << 40;
  e.mem_tag_format = ~0ULL;
  e.tx_ctx_cnt = e.rx_ctx_cnt = 1;
  fi_domain_attr &d = *info->domain_attr;
  d.name = strdup("host");
  d.threading = FI_THREAD_SAFE;
  d.control_progress = d.data_progress = FI_PROGRESS_MANUAL;
  d.resource_mgmt = FI_RM_ENABLED;
  d.av_type = FI_AV_UNSPEC;
  d.mr_key_size = 8;
  d.cq_data_size = 8;
  d.cq_cnt = d.ep_cnt = d.tx_ctx_cnt = d.rx_ctx_cnt = 100;
  d.max_ep_tx_ctx = d.max_ep_rx_ctx = 1;
  d.cntr_cnt = 100;
  d.mr_iov_limit = 4;
  d.caps = FI_LOCAL_COMM | FI_REMOTE_COMM;
  d.max_err_data = 64;
  d.mr_cnt = 100;
  info->fabric_attr->name = strdup("fab");
  info->fabric_attr->prov_name = strdup("fake");
  info->fabric_attr->prov_version = FI_VERSION(1, 2);
  return info;
}

// Hints that fit; what a test changes in them shows.
class Getinfo {
public:
  Getinfo() : info_(make_offer()), hints(fi_allocinfo()) {
    offer.info = info_.get();
    offer.addr_formats = {FI_SOCKADDR, FI_SOCKADDR_IN, FI_ADDR_STR};
    offer.max_auth_key_size = 16;
    offer.traffic_classes = true;
    hints->mode = FI_CONTEXT;
    fake::take_log();
  }

  int ask(std::uint32_t version = api) {
    fi_info *out = nullptr;
    const int rc = choose(fake::provider, version, offer, hints.get(), &out);
    got.reset(out);
    return rc;
  }
  fi_info &offered() { return *info_; }

private:
  Info info_;

public:
  Offer offer;
  Info hints, got;
};

void choose__without_hints_shows_everything(void **) {
  Getinfo g;
  g.hints.reset();
  assert_int_equal(g.ask(), 0);
  assert_true(g.got->caps == all_caps);
  assert_true(g.got->mode == FI_CONTEXT);
  assert_true(g.got->tx_attr->msg_order == FI_ORDER_SAS);
  assert_int_equal(g.got->domain_attr->mr_mode, 0);
  assert_int_equal(g.got->fabric_attr->api_version, api);
  assert_true(g.got->tx_attr->op_flags == 0 && g.got->rx_attr->op_flags == 0);
  assert_true(g.got.get() != g.offer.info);
  assert_string_equal(g.got->domain_attr->name, "host");
}

void choose__with_open_hints_gives_the_defaults(void **) {
  Getinfo g;
  assert_int_equal(g.ask(), 0);
  const fi_domain_attr &d = *g.got->domain_attr;
  assert_int_equal(d.threading, FI_THREAD_SAFE);
  assert_int_equal(d.data_progress, FI_PROGRESS_MANUAL);
  assert_int_equal(d.resource_mgmt, FI_RM_ENABLED);
  assert_true(g.got->caps == all_caps);
  assert_int_equal(fake::take_log().size(), 0);
}

// ---- each hint, refused

struct Refusal {
  const char *name; // that the log must have
  std::function<void(fi_info &)> change;
};

const Refusal refusals[] = {
    {"caps", [](fi_info &h) { h.caps = FI_MSG | FI_RMA; }},
    {"caps", [](fi_info &h) { h.caps = FI_MSG | FI_SOURCE_ERR; }},
    {"mode", [](fi_info &h) { h.mode = FI_CONTEXT2; }},
    {"addr_format", [](fi_info &h) { h.addr_format = FI_SOCKADDR_IB; }},
    {"ep_attr->type", [](fi_info &h) { h.ep_attr->type = FI_EP_MSG; }},
    {"ep_attr->protocol", [](fi_info &h) { h.ep_attr->protocol = FI_PROTO_RXM; }},
    {"ep_attr->protocol_version", [](fi_info &h) { h.ep_attr->protocol_version = 2; }},
    {"ep_attr->max_msg_size", [](fi_info &h) { h.ep_attr->max_msg_size = (1ULL << 40) + 1; }},
    {"ep_attr->tx_ctx_cnt", [](fi_info &h) { h.ep_attr->tx_ctx_cnt = 2; }},
    {"ep_attr->rx_ctx_cnt", [](fi_info &h) { h.ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT; }},
    {"ep_attr->auth_key_size", [](fi_info &h) { h.ep_attr->auth_key_size = 17; }},
    {"ep_attr->auth_key_size", [](fi_info &h) { h.ep_attr->auth_key_size = 4; }}, // no key
    {"domain_attr->name", [](fi_info &h) { h.domain_attr->name = strdup("other"); }},
    {"domain_attr->threading", [](fi_info &h) { fake::put_raw(h.domain_attr->threading, 7); }},
    {"domain_attr->control_progress",
     [](fi_info &h) { fake::put_raw(h.domain_attr->control_progress, 4); }},
    {"domain_attr->data_progress",
     [](fi_info &h) { fake::put_raw(h.domain_attr->data_progress, 4); }},
    {"domain_attr->resource_mgmt",
     [](fi_info &h) { fake::put_raw(h.domain_attr->resource_mgmt, 4); }},
    {"domain_attr->av_type", [](fi_info &h) { fake::put_raw(h.domain_attr->av_type, 4); }},
    {"domain_attr->mr_mode", [](fi_info &h) { h.domain_attr->mr_mode = basic | FI_MR_LOCAL; }},
    {"domain_attr->mr_mode", [](fi_info &h) { h.domain_attr->mr_mode = basic | scalable; }},
    {"domain_attr->mr_key_size", [](fi_info &h) { h.domain_attr->mr_key_size = 9; }},
    {"domain_attr->cq_data_size", [](fi_info &h) { h.domain_attr->cq_data_size = 9; }},
    {"domain_attr->cq_cnt", [](fi_info &h) { h.domain_attr->cq_cnt = 101; }},
    {"domain_attr->ep_cnt", [](fi_info &h) { h.domain_attr->ep_cnt = 101; }},
    {"domain_attr->tx_ctx_cnt", [](fi_info &h) { h.domain_attr->tx_ctx_cnt = 101; }},
    {"domain_attr->rx_ctx_cnt", [](fi_info &h) { h.domain_attr->rx_ctx_cnt = 101; }},
    {"domain_attr->max_ep_tx_ctx", [](fi_info &h) { h.domain_attr->max_ep_tx_ctx = 2; }},
    {"domain_attr->max_ep_rx_ctx", [](fi_info &h) { h.domain_attr->max_ep_rx_ctx = 2; }},
    {"domain_attr->max_ep_stx_ctx", [](fi_info &h) { h.domain_attr->max_ep_stx_ctx = 1; }},
    {"domain_attr->max_ep_srx_ctx", [](fi_info &h) { h.domain_attr->max_ep_srx_ctx = 1; }},
    {"domain_attr->cntr_cnt", [](fi_info &h) { h.domain_attr->cntr_cnt = 101; }},
    {"domain_attr->mr_iov_limit", [](fi_info &h) { h.domain_attr->mr_iov_limit = 5; }},
    {"domain_attr->caps", [](fi_info &h) { h.domain_attr->caps = FI_SHARED_AV; }},
    {"domain_attr->auth_key_size", [](fi_info &h) { h.domain_attr->auth_key_size = 17; }},
    {"domain_attr->max_err_data", [](fi_info &h) { h.domain_attr->max_err_data = 65; }},
    {"domain_attr->mr_cnt", [](fi_info &h) { h.domain_attr->mr_cnt = 101; }},
    {"domain_attr->tclass", [](fi_info &h) { h.domain_attr->tclass = 0x280; }},
    {"fabric_attr->name", [](fi_info &h) { h.fabric_attr->name = strdup("other"); }},
    {"fabric_attr->prov_name", [](fi_info &h) { h.fabric_attr->prov_name = strdup("tcp"); }},
    {"fabric_attr->prov_version",
     [](fi_info &h) { h.fabric_attr->prov_version = FI_VERSION(1, 3); }},
    {"tx_attr->caps", [](fi_info &h) { h.tx_attr->caps = FI_MSG | FI_RMA; }},
    {"tx_attr->mode", [](fi_info &h) { h.tx_attr->mode = FI_CONTEXT2; }},
    {"tx_attr->op_flags", [](fi_info &h) { h.tx_attr->op_flags = FI_MATCH_COMPLETE; }},
    {"tx_attr->msg_order", [](fi_info &h) { h.tx_attr->msg_order = FI_ORDER_RAW; }},
    {"tx_attr->comp_order", [](fi_info &h) { h.tx_attr->comp_order = FI_ORDER_SAS; }},
    {"tx_attr->inject_size", [](fi_info &h) { h.tx_attr->inject_size = 4097; }},
    {"tx_attr->size", [](fi_info &h) { h.tx_attr->size = 1025; }},
    {"tx_attr->iov_limit", [](fi_info &h) { h.tx_attr->iov_limit = 9; }},
    {"tx_attr->rma_iov_limit", [](fi_info &h) { h.tx_attr->rma_iov_limit = 1; }},
    {"tx_attr->tclass", [](fi_info &h) { h.tx_attr->tclass = FI_TC_NETWORK_CTRL + 1; }},
    {"rx_attr->caps", [](fi_info &h) { h.rx_attr->caps = FI_MSG | FI_RMA_EVENT; }},
    {"rx_attr->op_flags", [](fi_info &h) { h.rx_attr->op_flags = FI_INJECT; }},
    {"rx_attr->msg_order", [](fi_info &h) { h.rx_attr->msg_order = FI_ORDER_RAW; }},
    {"rx_attr->comp_order", [](fi_info &h) { h.rx_attr->comp_order = FI_ORDER_SAS; }},
    {"rx_attr->size", [](fi_info &h) { h.rx_attr->size = 1025; }},
    {"rx_attr->iov_limit", [](fi_info &h) { h.rx_attr->iov_limit = 9; }},
};

void choose__refuses_what_is_not_offered_and_names_the_hint(void **) {
  for (const Refusal &r : refusals) {
    Getinfo g;
    r.change(*g.hints);
    const int rc = g.ask();
    const auto log = fake::take_log();
    if (rc != -FI_ENODATA || log.size() != 1 || !std::strstr(log[0].c_str(), r.name))
      print_error("%s: %d, %zu lines\n", r.name, rc, log.size());
    assert_int_equal(rc, -FI_ENODATA);
    assert_int_equal(log.size(), 1);
    assert_non_null(std::strstr(log[0].c_str(), (std::string("hint ") + r.name + " ").c_str()));
    assert_null(g.got.get());
  }
}

// ---- what may be chosen is echoed

void choose__echoes_what_the_application_chooses(void **) {
  Getinfo g;
  fi_domain_attr &d = *g.hints->domain_attr;
  d.threading = FI_THREAD_DOMAIN;
  d.control_progress = FI_PROGRESS_AUTO;
  d.data_progress = FI_PROGRESS_AUTO;
  d.av_type = FI_AV_TABLE;
  d.resource_mgmt = FI_RM_DISABLED;
  d.tclass = FI_TC_LOW_LATENCY;
  g.hints->addr_format = FI_ADDR_STR;
  g.hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
  g.hints->rx_attr->op_flags = FI_MULTI_RECV;
  g.hints->tx_attr->size = 16;
  g.hints->rx_attr->size = 17;
  g.hints->tx_attr->inject_size = 8;
  g.hints->tx_attr->tclass = fi_tc_dscp_set(46);
  g.hints->ep_attr->mem_tag_format = 0xff;
  struct fid handle {};
  g.hints->handle = &handle;
  assert_int_equal(g.ask(), 0);
  assert_int_equal(g.got->domain_attr->threading, FI_THREAD_DOMAIN);
  assert_int_equal(g.got->domain_attr->control_progress, FI_PROGRESS_AUTO);
  assert_int_equal(g.got->domain_attr->data_progress, FI_PROGRESS_AUTO);
  assert_int_equal(g.got->domain_attr->av_type, FI_AV_TABLE);
  assert_int_equal(g.got->domain_attr->resource_mgmt, FI_RM_ENABLED); // which serves both
  assert_int_equal(g.got->domain_attr->tclass, FI_TC_LOW_LATENCY);
  assert_int_equal(g.got->addr_format, FI_ADDR_STR);
  assert_true(g.got->tx_attr->op_flags == FI_DELIVERY_COMPLETE);
  assert_true(g.got->rx_attr->op_flags == FI_MULTI_RECV);
  assert_int_equal(g.got->tx_attr->size, 16);
  assert_int_equal(g.got->rx_attr->size, 17);
  assert_int_equal(g.got->tx_attr->inject_size, 4096); // no less than there is
  assert_int_equal(g.got->tx_attr->tclass, fi_tc_dscp_set(46));
  assert_true(g.got->ep_attr->mem_tag_format == ~0ULL);
  assert_ptr_equal(g.got->handle, &handle);
}

void choose__accepts_every_threading_level_and_progress_model(void **) {
  for (int t = FI_THREAD_UNSPEC; t <= FI_THREAD_ENDPOINT; ++t)
    for (int p = FI_PROGRESS_UNSPEC; p <= FI_PROGRESS_MANUAL; ++p) {
      Getinfo g;
      g.hints->domain_attr->threading = static_cast<fi_threading>(t);
      g.hints->domain_attr->data_progress = static_cast<fi_progress>(p);
      assert_int_equal(g.ask(), 0);
      assert_int_equal(g.got->domain_attr->threading, t ? t : FI_THREAD_SAFE);
      assert_int_equal(g.got->domain_attr->data_progress, p ? p : FI_PROGRESS_MANUAL);
    }
}

void choose__copies_authorization_keys(void **) {
  Getinfo g;
  const std::uint8_t key[4] = {1, 2, 3, 4};
  fi_ep_attr &e = *g.hints->ep_attr;
  e.auth_key = static_cast<std::uint8_t *>(malloc(4)); // fi_freeinfo's
  std::memcpy(e.auth_key, key, 4);
  e.auth_key_size = 4;
  assert_int_equal(g.ask(), 0);
  assert_int_equal(g.got->ep_attr->auth_key_size, 4);
  assert_memory_equal(g.got->ep_attr->auth_key, key, 4);
  assert_ptr_not_equal(g.got->ep_attr->auth_key, e.auth_key);
  assert_int_equal(g.got->domain_attr->auth_key_size, 0);
}

// ---- capabilities

std::uint64_t caps_for(std::uint64_t asked) {
  Getinfo g;
  g.hints->caps = asked;
  assert_int_equal(g.ask(), 0);
  assert_true((g.got->tx_attr->caps & ~g.got->caps) == 0);
  assert_true((g.got->rx_attr->caps & ~g.got->caps) == 0);
  return g.got->caps;
}

constexpr std::uint64_t unasked = FI_MULTI_RECV | FI_FENCE | FI_LOCAL_COMM | FI_REMOTE_COMM;

void caps__primary_ones_only_as_asked(void **) {
  assert_true(caps_for(FI_MSG) == (FI_MSG | FI_SEND | FI_RECV | unasked));
  assert_true(caps_for(FI_TAGGED) == (FI_TAGGED | FI_SEND | FI_RECV | unasked));
  assert_true(caps_for(FI_MSG | FI_DIRECTED_RECV) ==
              (FI_MSG | FI_DIRECTED_RECV | FI_SEND | FI_RECV | unasked));
}

void caps__modifiers_restrict(void **) {
  assert_true(caps_for(FI_MSG | FI_SEND) == (FI_MSG | FI_SEND | unasked));
  assert_true(caps_for(FI_TAGGED | FI_RECV) == (FI_TAGGED | FI_RECV | unasked));
}

void caps__source_only_on_request(void **) {
  assert_true(caps_for(FI_MSG | FI_SOURCE) == (FI_MSG | FI_SEND | FI_RECV | FI_SOURCE | unasked));
  assert_true(caps_for(FI_MSG | FI_SOURCE | FI_SOURCE_ERR) & FI_SOURCE_ERR);
}

void caps__of_contexts_are_of_their_kind(void **) {
  Getinfo g;
  g.hints->caps = FI_MSG | FI_TAGGED | FI_SOURCE;
  assert_int_equal(g.ask(), 0);
  assert_true(g.got->tx_attr->caps == (FI_MSG | FI_TAGGED | FI_SEND | FI_FENCE));
  assert_true(g.got->rx_attr->caps == (FI_MSG | FI_TAGGED | FI_RECV | FI_SOURCE | FI_MULTI_RECV));
  g.hints->tx_attr->caps = FI_MSG;
  g.hints->rx_attr->caps = FI_TAGGED | FI_SEND; // of the other kind: ignored
  assert_int_equal(g.ask(), 0);
  assert_true(g.got->tx_attr->caps == (FI_MSG | FI_SEND | FI_FENCE));
  assert_true(g.got->rx_attr->caps == (FI_TAGGED | FI_RECV | FI_SOURCE | FI_MULTI_RECV));
}

// ---- memory registration modes over the versions

void mr_mode__is_what_the_version_knows(void **) {
  const struct {
    std::uint32_t version;
    int hint, expected; // -1: refused
  } table[] = {
      {FI_VERSION(1, 4), 0, scalable},
      {FI_VERSION(1, 4), basic, basic},
      {FI_VERSION(1, 4), scalable, scalable},
      {FI_VERSION(1, 4), FI_MR_LOCAL, -1},
      {api, 0, 0},
      {api, basic, basic},
      {api, scalable, scalable},
      {api, ~(basic | scalable), 0},
      {api, FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY, 0},
  };
  for (const auto &row : table) {
    Getinfo g;
    g.hints->domain_attr->mr_mode = row.hint;
    const int rc = g.ask(row.version);
    assert_int_equal(rc, row.expected < 0 ? -FI_ENODATA : 0);
    if (rc == 0)
      assert_int_equal(g.got->domain_attr->mr_mode, row.expected);
  }
}

void mr_mode__that_is_needed_concerns_those_with_regions(void **) {
  Getinfo g;
  constexpr std::uint64_t rma = FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
  g.offered().caps |= rma;
  g.offered().domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_PROV_KEY;
  g.hints->caps = FI_MSG;
  assert_int_equal(g.ask(), 0);
  assert_int_equal(g.got->domain_attr->mr_mode, 0);
  g.hints->caps = FI_MSG | FI_RMA;
  assert_int_equal(g.ask(), -FI_ENODATA);
  g.hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_PROV_KEY | FI_MR_ALLOCATED;
  assert_int_equal(g.ask(), 0);
  assert_int_equal(g.got->domain_attr->mr_mode, FI_MR_VIRT_ADDR | FI_MR_PROV_KEY);
  assert_true((g.got->caps & rma) == rma);
  g.hints->domain_attr->mr_mode = basic;
  assert_int_equal(g.ask(), 0);
  g.hints->domain_attr->mr_mode = scalable;
  assert_int_equal(g.ask(), -FI_ENODATA);
  g.hints->caps = FI_RMA | FI_WRITE;
  g.hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_PROV_KEY;
  assert_int_equal(g.ask(), 0);
  assert_true((g.got->caps & rma) == (FI_RMA | FI_WRITE));
}

// Applications that agree to what isn't needed may still count on getting it from nobody.
void mr_mode__that_is_not_needed_is_cleared(void **) {
  constexpr int bits[] = {FI_MR_VIRT_ADDR, FI_MR_ALLOCATED, FI_MR_PROV_KEY,
                          FI_MR_LOCAL,     FI_MR_ENDPOINT,  FI_MR_RAW};
  Getinfo g;
  g.offered().caps |= FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
  g.hints->caps = FI_RMA;
  for (unsigned mix = 0; mix < 1u << std::size(bits); ++mix) {
    g.hints->domain_attr->mr_mode = 0;
    for (unsigned i = 0; i < std::size(bits); ++i)
      g.hints->domain_attr->mr_mode |= mix >> i & 1 ? bits[i] : 0;
    assert_int_equal(g.ask(), 0);
    assert_int_equal(g.got->domain_attr->mr_mode, 0);
  }
}

void caps__events_are_of_those_whom_peers_access(void **) {
  Getinfo g;
  g.offered().caps |= FI_RMA | FI_RMA_EVENT | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
  g.hints->caps = FI_MSG | FI_RMA;
  assert_int_equal(g.ask(), 0);
  assert_int_equal(g.got->caps & FI_RMA_EVENT, 0); // only on request
  for (const std::uint64_t caps :
       {FI_RMA, FI_RMA | FI_REMOTE_READ, FI_RMA | FI_READ | FI_REMOTE_WRITE}) {
    g.hints->caps = FI_RMA_EVENT | caps;
    assert_int_equal(g.ask(), 0);
    assert_true(g.got->caps & FI_RMA_EVENT);
  }
  for (const std::uint64_t caps : {FI_MSG, FI_RMA | FI_READ, FI_RMA | FI_READ | FI_WRITE}) {
    g.hints->caps = FI_RMA_EVENT | caps;
    assert_int_equal(g.ask(), -FI_ENODATA);
  }
}

void ordered_sizes__are_echoed_for_rma(void **) {
  Getinfo g;
  g.offered().caps |= FI_RMA;
  g.offered().ep_attr->max_order_raw_size = 100;
  g.hints->caps = FI_RMA;
  g.hints->ep_attr->max_order_raw_size = 99;
  assert_int_equal(g.ask(), 0);
  assert_int_equal(g.got->ep_attr->max_order_raw_size, 99);
  g.hints->ep_attr->max_order_raw_size = 101;
  assert_int_equal(g.ask(), -FI_ENODATA);
  g.hints->caps = 0; // all there are
  assert_int_equal(g.ask(), -FI_ENODATA);
}

void tag_format__has_no_more_bits_than_there_are(void **) {
  Getinfo g;
  g.offered().ep_attr->mem_tag_format = 0xffffffff;
  g.hints->caps = FI_TAGGED;
  g.hints->ep_attr->mem_tag_format = 0x30ff;
  assert_int_equal(g.ask(), 0);
  g.hints->ep_attr->mem_tag_format = 1ULL << 32;
  assert_int_equal(g.ask(), -FI_ENODATA);
  g.offered().caps |= FI_TAGGED;
  g.hints->caps = 0; // all there are
  assert_int_equal(g.ask(), -FI_ENODATA);
  g.hints->caps = FI_MSG; // where there are no tags it means nothing
  assert_int_equal(g.ask(), 0);
}

// Fields that came later than the application are not read.
void versions__limit_what_is_read(void **) {
  Getinfo g;
  fi_domain_attr &d = *g.hints->domain_attr;
  d.cntr_cnt = d.mr_iov_limit = d.max_err_data = d.mr_cnt = d.auth_key_size = 1'000'000;
  d.caps = d.mode = ~0ULL;
  d.tclass = 0xffff;
  g.hints->ep_attr->auth_key_size = 1'000'000;
  g.hints->tx_attr->tclass = 0xffff;
  assert_int_equal(g.ask(FI_VERSION(1, 4)), 0);
  assert_int_equal(g.got->domain_attr->tclass, 0);
  assert_int_equal(g.ask(FI_VERSION(1, 5)), -FI_ENODATA);
  d.cntr_cnt = d.mr_iov_limit = d.max_err_data = d.mr_cnt = d.auth_key_size = 0;
  d.caps = 0;
  g.hints->ep_attr->auth_key_size = 0;
  assert_int_equal(g.ask(FI_VERSION(1, 8)), 0);
  assert_int_equal(g.ask(FI_VERSION(1, 9)), -FI_ENODATA);
}

void prov_name__may_name_a_layer_too(void **) {
  Getinfo g;
  g.hints->fabric_attr->prov_name = strdup("FAKE;ofi_rxm");
  assert_int_equal(g.ask(), 0);
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(choose__without_hints_shows_everything),
    cmocka_unit_test(choose__with_open_hints_gives_the_defaults),
    cmocka_unit_test(choose__refuses_what_is_not_offered_and_names_the_hint),
    cmocka_unit_test(choose__echoes_what_the_application_chooses),
    cmocka_unit_test(choose__accepts_every_threading_level_and_progress_model),
    cmocka_unit_test(choose__copies_authorization_keys),
    cmocka_unit_test(caps__primary_ones_only_as_asked),
    cmocka_unit_test(caps__modifiers_restrict),
    cmocka_unit_test(caps__source_only_on_request),
    cmocka_unit_test(caps__of_contexts_are_of_their_kind),
    cmocka_unit_test(mr_mode__is_what_the_version_knows),
    cmocka_unit_test(mr_mode__that_is_needed_concerns_those_with_regions),
    cmocka_unit_test(mr_mode__that_is_not_needed_is_cleared),
    cmocka_unit_test(caps__events_are_of_those_whom_peers_access),
    cmocka_unit_test(ordered_sizes__are_echoed_for_rma),
    cmocka_unit_test(tag_format__has_no_more_bits_than_there_are),
    cmocka_unit_test(versions__limit_what_is_read),
    cmocka_unit_test(prov_name__may_name_a_layer_too),
};
static const unit::Group group{"info", cases};
