// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// Every hint that can't be honoured is refused: fi_getinfo answers -FI_ENODATA, and dpdkx tells in
// one line of the log, at level info, which hint, what it said, and what may be had.
#include "common/address.h"
#include "common/case.h"
#include "common/endpoint.h"
#include "common/log_lines.h"
#include "common/payload.h"
#include "common/process_state.h"
#include "common/settings.h"

#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

namespace fabtest {

namespace {

constexpr std::uint64_t unknown_bit = std::uint64_t{1} << 62;
constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();

struct row {
  const char *hint;
  std::uint64_t value;
  void (*set)(fi_info &, std::uint64_t value);
};

template <class E> void put(E &place, std::uint64_t value) {
  const auto number = static_cast<unsigned>(value);
  static_assert(sizeof place == sizeof number);
  std::memcpy(&place, &number, sizeof number); // an enum may not hold any value
}

void put_key(std::uint8_t *&key, std::size_t &size, std::uint64_t value) {
  std::free(key);
  key = static_cast<std::uint8_t *>(std::calloc(1, value));
  size = value;
}

#define FIELD(name) [](fi_info &h, std::uint64_t v) { h.name = static_cast<decltype(h.name)>(v); }
#define ENUM(name) [](fi_info &h, std::uint64_t v) { put(h.name, v); }

// What no provider can have.
constexpr row impossible[] = {
    {"caps", unknown_bit, FIELD(caps)},
    {"addr_format", 9999, FIELD(addr_format)},
    {"ep_attr->type", FI_EP_SOCK_STREAM, ENUM(ep_attr->type)},
    {"ep_attr->type", 99, ENUM(ep_attr->type)},
    {"ep_attr->protocol", 9999, FIELD(ep_attr->protocol)},
    {"ep_attr->protocol_version", 0xffffffff, FIELD(ep_attr->protocol_version)},
    {"ep_attr->max_msg_size", most, FIELD(ep_attr->max_msg_size)},
    {"ep_attr->tx_ctx_cnt", 2, FIELD(ep_attr->tx_ctx_cnt)},
    {"ep_attr->tx_ctx_cnt", FI_SHARED_CONTEXT, FIELD(ep_attr->tx_ctx_cnt)},
    {"ep_attr->rx_ctx_cnt", 2, FIELD(ep_attr->rx_ctx_cnt)},
    {"ep_attr->auth_key_size", 1 << 20,
     [](fi_info &h, std::uint64_t v) {
       put_key(h.ep_attr->auth_key, h.ep_attr->auth_key_size, v);
     }},
    {"ep_attr->auth_key_size", 16, // without a key
     [](fi_info &h, std::uint64_t v) {
       std::free(std::exchange(h.ep_attr->auth_key, nullptr));
       h.ep_attr->auth_key_size = v;
     }},
    {"tx_attr->caps", FI_MSG | unknown_bit, FIELD(tx_attr->caps)},
    {"tx_attr->op_flags", unknown_bit, FIELD(tx_attr->op_flags)},
    {"tx_attr->op_flags", FI_COMMIT_COMPLETE, FIELD(tx_attr->op_flags)},
    {"tx_attr->msg_order", unknown_bit, FIELD(tx_attr->msg_order)},
    {"tx_attr->comp_order", unknown_bit, FIELD(tx_attr->comp_order)},
    {"tx_attr->inject_size", most, FIELD(tx_attr->inject_size)},
    {"tx_attr->size", most, FIELD(tx_attr->size)},
    {"tx_attr->iov_limit", most, FIELD(tx_attr->iov_limit)},
    {"tx_attr->rma_iov_limit", most, FIELD(tx_attr->rma_iov_limit)},
    {"tx_attr->tclass", 0xffff, FIELD(tx_attr->tclass)},
    {"tx_attr->tclass", FI_TC_DSCP | 64, FIELD(tx_attr->tclass)},
    {"rx_attr->caps", FI_MSG | unknown_bit, FIELD(rx_attr->caps)},
    {"rx_attr->op_flags", unknown_bit, FIELD(rx_attr->op_flags)},
    {"rx_attr->msg_order", unknown_bit, FIELD(rx_attr->msg_order)},
    {"rx_attr->comp_order", unknown_bit, FIELD(rx_attr->comp_order)},
    {"rx_attr->size", most, FIELD(rx_attr->size)},
    {"rx_attr->iov_limit", most, FIELD(rx_attr->iov_limit)},
    {"domain_attr->threading", 99, ENUM(domain_attr->threading)},
    {"domain_attr->control_progress", 99, ENUM(domain_attr->control_progress)},
    {"domain_attr->data_progress", 99, ENUM(domain_attr->data_progress)},
    {"domain_attr->resource_mgmt", 99, ENUM(domain_attr->resource_mgmt)},
    {"domain_attr->av_type", 99, ENUM(domain_attr->av_type)},
    {"domain_attr->mr_mode", FI_MR_BASIC | FI_MR_SCALABLE, FIELD(domain_attr->mr_mode)},
    {"domain_attr->mr_key_size", most, FIELD(domain_attr->mr_key_size)},
    {"domain_attr->cq_data_size", most, FIELD(domain_attr->cq_data_size)},
    {"domain_attr->cq_cnt", most, FIELD(domain_attr->cq_cnt)},
    {"domain_attr->ep_cnt", most, FIELD(domain_attr->ep_cnt)},
    {"domain_attr->tx_ctx_cnt", most, FIELD(domain_attr->tx_ctx_cnt)},
    {"domain_attr->rx_ctx_cnt", most, FIELD(domain_attr->rx_ctx_cnt)},
    {"domain_attr->max_ep_tx_ctx", most, FIELD(domain_attr->max_ep_tx_ctx)},
    {"domain_attr->max_ep_rx_ctx", most, FIELD(domain_attr->max_ep_rx_ctx)},
    {"domain_attr->max_ep_stx_ctx", most, FIELD(domain_attr->max_ep_stx_ctx)},
    {"domain_attr->max_ep_srx_ctx", most, FIELD(domain_attr->max_ep_srx_ctx)},
    {"domain_attr->cntr_cnt", most, FIELD(domain_attr->cntr_cnt)},
    {"domain_attr->mr_iov_limit", most, FIELD(domain_attr->mr_iov_limit)},
    {"domain_attr->caps", unknown_bit, FIELD(domain_attr->caps)},
    {"domain_attr->auth_key_size", 1 << 20,
     [](fi_info &h, std::uint64_t v) {
       put_key(h.domain_attr->auth_key, h.domain_attr->auth_key_size, v);
     }},
    {"domain_attr->max_err_data", most, FIELD(domain_attr->max_err_data)},
    {"domain_attr->mr_cnt", most, FIELD(domain_attr->mr_cnt)},
    {"domain_attr->tclass", 0xffff, FIELD(domain_attr->tclass)},
    {"fabric_attr->prov_version", 0xffffffff, FIELD(fabric_attr->prov_version)},
};

// Of these the value is text.
struct text_row {
  const char *hint;
  char *fi_domain_attr::*of_domain;
  char *fi_fabric_attr::*of_fabric;
};
constexpr text_row unknown_names[] = {
    {"domain_attr->name", &fi_domain_attr::name, nullptr},
    {"fabric_attr->name", nullptr, &fi_fabric_attr::name},
};

// Only that it is refused, and in one line that has all of `parts`, is right.
void expect_refusal(const fi_info &hints, std::string_view what,
                    std::initializer_list<std::string_view> parts) {
  captured_output output;
  info_ptr list;
  const int rc = get_info(&hints, {}, list);
  const std::string text = output.stop();
  if (rc != -FI_ENODATA || list)
    fail(fmt::format("{}: fi_getinfo returned {}, expected -FI_ENODATA", what, describe(rc)));
  if (config().provider != "dpdkx")
    return;
  const auto lines = provider_lines(text);
  if (lines.size() != 1)
    fail(fmt::format("{}: {} lines in the log, expected 1: {}", what, lines.size(),
                     fmt::join(lines, " | ")));
  for (const std::string_view part : parts)
    if (lines[0].find(part) == std::string::npos)
      fail(fmt::format("{}: '{}' is not in the log line: {}", what, part, lines[0]));
}

// The log starts with the first call.
void log_refusals() {
  setenv("FI_LOG_LEVEL", "info", 1);
  setenv("FI_LOG_PROV", "dpdkx", 1);
}

} // namespace

CASE(what_cannot_be_had_is_refused, .ranks = 1) {
  log_refusals();
  for (const row &r : impossible) {
    const info_ptr hints = make_hints({});
    r.set(*hints, r.value);
    const std::string value = fmt::format(" {} (", r.value);
    expect_refusal(*hints, fmt::format("{} = {}", r.hint, r.value),
                   {"<info>", fmt::format("hint {} ", r.hint), value, ": "});
  }
}

// However much is wrong, one line says why.
CASE(any_of_them_together, .ranks = 1) {
  log_refusals();
  random_source random(config().seed);
  for (int i = 0; i < 500; ++i) {
    const info_ptr hints = make_hints({});
    std::string what;
    for (std::size_t left = 1 + random.below(5); left > 0; --left) {
      const row &r = impossible[random.below(std::size(impossible))];
      r.set(*hints, r.value);
      what += fmt::format("{} = {}; ", r.hint, r.value);
    }
    expect_refusal(*hints, what, {"<info> hint "});
  }
}

CASE(unknown_names_are_refused, .ranks = 1) {
  log_refusals();
  for (const text_row &r : unknown_names) {
    const info_ptr hints = make_hints({});
    char *&name = r.of_domain ? hints->domain_attr->*r.of_domain : hints->fabric_attr->*r.of_fabric;
    std::free(name);
    name = strdup("nowhere");
    expect_refusal(*hints, r.hint, {"<info>", fmt::format("hint {} ", r.hint), "'nowhere'", ": "});
  }
}

CASE(addresses_that_cannot_be_had_are_refused, .ranks = 1) {
  log_refusals();
  const bytes other = socket_address("198.51.100.7", 4000); // of no host (RFC 5737)
  for (const bool too_short : {false, true}) {
    const info_ptr hints = make_hints({});
    hints->addr_format = FI_SOCKADDR_IN;
    hints->src_addr = std::malloc(other.size());
    hints->src_addrlen = too_short ? 3 : other.size();
    std::memcpy(hints->src_addr, other.data(), other.size());
    expect_refusal(*hints, too_short ? "a source address of 3 bytes" : "another's source address",
                   {"<info>", "src_addr", too_short ? "3" : "198.51.100.7"});
  }
}

} // namespace fabtest
