// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// The provider inside a test program: without being found and loaded by
// libfabric, but on its settings and log.
#pragma once

#include "dpdkx/base_info.h"
#include "dpdkx/provider.h"

#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_tagged.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace face {

using dpdkx::InfoPtr;

// Variables of the environment for as long as it lives.
class Environment {
public:
  Environment(std::initializer_list<std::pair<const char *, const char *>>);
  ~Environment();

private:
  std::vector<std::string> names_;
};

// What the provider looks for when a device is named, for as long as it lives:
// an empty file beside this program. Nobody may load it.
class EthdevModule {
public:
  EthdevModule();
  ~EthdevModule();
  EthdevModule(const EthdevModule &) = delete;

private:
  std::string path_;
};

// fi_allocinfo() with the provider's name.
InfoPtr named_hints();

// fi_getinfo of this provider alone; `rc` tells what it returned.
InfoPtr getinfo(const fi_info *hints, int &rc, const char *node = nullptr,
                const char *service = nullptr, std::uint64_t flags = 0,
                std::uint32_t api = FI_VERSION(1, 17));

struct Close {
  template <class F> void operator()(F *f) const { fi_close(&f->fid); }
};
template <class F> using Fid = std::unique_ptr<F, Close>;

// A fabric and a domain; the hints may have been changed before.
struct Opened {
  explicit Opened(const fi_info *hints = nullptr);
  InfoPtr info;
  Fid<fid_fabric> fabric;
  Fid<fid_domain> domain;

  Fid<fid_cq> cq(fi_cq_format = FI_CQ_FORMAT_TAGGED, fi_wait_obj = FI_WAIT_NONE);
  Fid<fid_av> av();
  Fid<fid_cntr> cntr();
  Fid<fid_ep> ep(); // neither bound nor enabled
};

// An endpoint with its own queue, address vector and counters, enabled.
struct Peer {
  Peer(Opened &, std::uint64_t cq_flags = 0, fi_wait_obj = FI_WAIT_NONE);
  Fid<fid_cq> cq;
  Fid<fid_cntr> sent, received;
  Fid<fid_av> av;
  Fid<fid_ep> ep;

  fi_addr_t knows(Peer &other);    // inserts its address
  fi_cq_tagged_entry completion(); // the next one; fails the test if none comes for long
  bool quiet();                    // none comes in a while
};

} // namespace face
