// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "collc/runtime/fabric.h"

#include "collc/runtime/error.h"

#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace collc::rt {

namespace {

constexpr std::uint32_t api_version = FI_VERSION(1, 17);

// The domain is locked by the group's own mutex.
info_ptr hints_for(const options &how, collc_rt_mode mode) {
  info_ptr hints(fi_allocinfo());
  if (!hints)
    fail(-FI_ENOMEM, "fi_allocinfo: no memory");
  hints->caps = mode == COLLC_RT_OFFLOAD ? FI_MSG | FI_RMA | FI_ATOMIC | FI_TRIGGER : FI_MSG;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  if (how.automatic) {
    hints->domain_attr->data_progress = FI_PROGRESS_AUTO;
    hints->domain_attr->control_progress = FI_PROGRESS_AUTO;
  }
  if (!how.provider.empty()) {
    hints->fabric_attr->prov_name = strdup(how.provider.c_str());
    if (hints->fabric_attr->prov_name == nullptr)
      fail(-FI_ENOMEM, "no memory");
  }
  return hints;
}

info_ptr find(const options &how, collc_rt_mode mode) {
  if (how.info)
    return info_ptr(fi_dupinfo(how.info.get()));
  const info_ptr hints = hints_for(how, mode);
  const char *const node = how.node.empty() ? nullptr : how.node.c_str();
  fi_info *list = nullptr;
  const int rc =
      fi_getinfo(api_version, node, nullptr, node != nullptr ? FI_SOURCE : 0, hints.get(), &list);
  if (rc != 0)
    fail(rc, fmt::format("no provider{}{} has {} at {}: fi_getinfo: {}",
                         how.provider.empty() ? "" : " named ", how.provider,
                         mode == COLLC_RT_OFFLOAD
                             ? "reliable datagrams with RMA, atomics and deferred work"
                             : "reliable datagrams with messages",
                         how.node.empty() ? "any address" : how.node, fi_strerror(-rc)));
  return info_ptr(list);
}

} // namespace

fabric::fabric(const options &how, collc_rt_mode mode, std::int64_t ranks) {
  const info_ptr list = find(how, mode);
  std::string first;
  for (const fi_info *i = list.get(); i != nullptr; i = i->next) {
    info_ptr one(fi_dupinfo(i));
    if (!one)
      fail(-FI_ENOMEM, "fi_dupinfo: no memory");
    try {
      open(std::move(one), mode, ranks);
      return;
    } catch (const failure &f) {
      if (i->next == nullptr && first.empty())
        throw;
      if (first.empty())
        first = f.text;
      if (i->next == nullptr)
        fail(f.code, first);
    }
  }
}

void fabric::open(info_ptr info, collc_rt_mode mode, std::int64_t ranks) {
  ep_.reset();
  cq_.reset();
  av_.reset();
  domain_.reset();
  fabric_.reset();
  info_ = std::move(info);

  fid_fabric *f = nullptr;
  check_call("fi_fabric", fi_fabric(info_->fabric_attr, &f, nullptr));
  fabric_.reset(f);
  fid_domain *d = nullptr;
  check_call("fi_domain", fi_domain(f, info_.get(), &d, nullptr));
  domain_.reset(d);
  if (mode == COLLC_RT_OFFLOAD) {
    void *ops = nullptr;
    const int rc = fi_open_ops(&d->fid, FI_DPDKX_OPS_CNTR, 0, &ops, nullptr);
    if (rc != 0)
      fail(-FI_ENOSYS,
           fmt::format("provider {} has no counters that peers add to, which offload needs ({})",
                       provider(), fi_strerror(-rc)));
    cntr_ops_ = static_cast<fi_dpdkx_ops_cntr *>(ops);
  }

  fi_av_attr av_attr{};
  av_attr.type = FI_AV_UNSPEC;
  av_attr.count = static_cast<std::size_t>(ranks);
  fid_av *av = nullptr;
  check_call("fi_av_open", fi_av_open(d, &av_attr, &av, nullptr));
  av_.reset(av);
  fi_cq_attr cq_attr{};
  cq_attr.format = FI_CQ_FORMAT_MSG;
  cq_attr.size = 1024;
  fid_cq *cq = nullptr;
  check_call("fi_cq_open", fi_cq_open(d, &cq_attr, &cq, nullptr));
  cq_.reset(cq);

  fid_ep *ep = nullptr;
  check_call("fi_endpoint", fi_endpoint(d, info_.get(), &ep, nullptr));
  ep_.reset(ep);
  check_call("fi_ep_bind", fi_ep_bind(ep, &av->fid, 0));
  check_call(
      "fi_ep_bind",
      fi_ep_bind(ep, &cq->fid,
                 FI_TRANSMIT | FI_RECV | (mode == COLLC_RT_OFFLOAD ? FI_SELECTIVE_COMPLETION : 0)));
  check_call("fi_enable", fi_enable(ep));
}

std::vector<std::byte> fabric::name() const {
  std::size_t size = 0;
  const int rc = fi_getname(&ep_->fid, nullptr, &size);
  if (rc != -FI_ETOOSMALL)
    check_call("fi_getname", rc == 0 ? -FI_EOTHER : rc);
  std::vector<std::byte> name(size);
  check_call("fi_getname", fi_getname(&ep_->fid, name.data(), &size));
  name.resize(size);
  return name;
}

void fabric::insert(std::span<const std::byte> name) {
  fi_addr_t address = FI_ADDR_NOTAVAIL;
  const int rc = fi_av_insert(av_.get(), name.data(), 1, &address, 0, nullptr);
  if (rc != 1)
    fail_call("fi_av_insert", rc < 0 ? rc : -FI_EINVAL);
  peers_.push_back(address);
}

owned<fid_mr> fabric::reg(void *start, std::size_t length, std::uint64_t access) {
  fid_mr *mr = nullptr;
  check_call("fi_mr_reg",
             fi_mr_reg(domain(), start, length, access, 0, next_key(), 0, &mr, nullptr));
  return owned<fid_mr>(mr);
}

} // namespace collc::rt
