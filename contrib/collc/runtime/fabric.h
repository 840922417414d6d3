// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// A group's own fabric, domain, endpoint and addresses.
#pragma once

#include "collc/runtime/fids.h"
#include "collc/runtime/options.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_ext_dpdkx.h>

namespace collc::rt {

class fabric {
public:
  // mode: COLLC_RT_OFFLOAD or COLLC_RT_FUNCTION. Throws where nothing serves it.
  fabric(const options &how, collc_rt_mode mode, std::int64_t ranks);

  [[nodiscard]] const fi_info &info() const { return *info_; }
  [[nodiscard]] fid_domain *domain() const { return domain_.get(); }
  [[nodiscard]] fid_cq *cq() const { return cq_.get(); }
  [[nodiscard]] fid_ep *ep() const { return ep_.get(); } // null once it is closed
  [[nodiscard]] const fi_dpdkx_ops_cntr &cntr_ops() const { return *cntr_ops_; } // of offload
  [[nodiscard]] const char *provider() const { return info_->fabric_attr->prov_name; }
  [[nodiscard]] bool needs(std::uint64_t mr_mode) const {
    return (static_cast<std::uint64_t>(info_->domain_attr->mr_mode) & mr_mode) != 0;
  }
  // For fi_mr_reg: unique in the domain, where the application chooses keys.
  std::uint64_t next_key() { return needs(FI_MR_PROV_KEY) ? 0 : ++last_key_; }
  owned<fid_mr> reg(void *start, std::size_t length, std::uint64_t access);

  [[nodiscard]] std::vector<std::byte> name() const;
  void insert(std::span<const std::byte> name); // of the next rank
  [[nodiscard]] fi_addr_t at(std::int64_t rank) const {
    return peers_[static_cast<std::size_t>(rank)];
  }

  // Nothing is under way any more then.
  void close_endpoint() { ep_.reset(); }

private:
  void open(info_ptr info, collc_rt_mode mode, std::int64_t ranks);

  info_ptr info_;
  owned<fid_fabric> fabric_;
  owned<fid_domain> domain_;
  owned<fid_av> av_;
  owned<fid_cq> cq_;
  owned<fid_ep> ep_; // closed first
  fi_dpdkx_ops_cntr *cntr_ops_ = nullptr;
  std::vector<fi_addr_t> peers_;
  std::uint64_t last_key_ = 0;
};

} // namespace collc::rt
