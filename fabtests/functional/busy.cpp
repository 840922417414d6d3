// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What something else needs can't be closed: -FI_EBUSY, as often as one tries, until the other is
// closed. Every pair of objects of which one holds the other open.
#include "common/case.h"
#include "common/endpoint.h"

namespace fabtest {

namespace {

// One object of each kind, as far as a case opens them; they close in the opposite order.
struct objects {
  info_ptr info;
  owned_fid<fid_fabric> fabric;
  owned_fid<fid_eq> eq;
  owned_fid<fid_domain> domain;
  owned_fid<fid_av> av;
  owned_fid<fid_cq> cq, other_cq;
  owned_fid<fid_cntr> cntr;
  owned_fid<fid_mr> mr;
  owned_fid<fid_ep> ep;
  char memory[64] = {};

  objects() : info(find_info({})) { CHECK_OK(fi_fabric(info->fabric_attr, fabric.out(), nullptr)); }
  void open_eq() { CHECK_OK(fi_eq_open(fabric.get(), nullptr, eq.out(), nullptr)); }
  void open_domain() { CHECK_OK(fi_domain(fabric.get(), info.get(), domain.out(), nullptr)); }
  void open_av(std::uint64_t flags = 0) {
    fi_av_attr attr{};
    attr.type = FI_AV_TABLE;
    attr.flags = flags;
    CHECK_OK(fi_av_open(domain.get(), &attr, av.out(), nullptr));
  }
  void open_cq(owned_fid<fid_cq> &which) {
    fi_cq_attr attr{};
    attr.format = FI_CQ_FORMAT_CONTEXT;
    CHECK_OK(fi_cq_open(domain.get(), &attr, which.out(), nullptr));
  }
  void open_cntr() {
    fi_cntr_attr attr{};
    CHECK_OK(fi_cntr_open(domain.get(), &attr, cntr.out(), nullptr));
  }
  void open_mr() {
    CHECK_OK(fi_mr_reg(domain.get(), memory, sizeof memory, FI_SEND | FI_RECV, 0, 1, 0, mr.out(),
                       nullptr));
  }
  void open_ep() { CHECK_OK(fi_endpoint(domain.get(), info.get(), ep.out(), nullptr)); }
  void bind(fid_t to, std::uint64_t flags) { CHECK_OK(fi_ep_bind(ep.get(), to, flags)); }

  void open_enabled_ep() {
    open_av();
    open_cq(cq);
    open_cq(other_cq);
    open_cntr();
    open_ep();
    bind(&av->fid, 0);
    bind(&cq->fid, FI_TRANSMIT);
    bind(&other_cq->fid, FI_RECV);
    bind(&cntr->fid, FI_SEND);
    CHECK_OK(fi_enable(ep.get()));
  }
};

// `held` stays open until `user` is closed, and closes then.
template <class H, class U> void expect_held(owned_fid<H> &held, owned_fid<U> &user) {
  CHECK_CODE(-FI_EBUSY, fi_close(held.as_fid()));
  CHECK_CODE(-FI_EBUSY, fi_close(held.as_fid()));
  CHECK_CODE(0, fi_close(&user.release()->fid));
  CHECK_CODE(0, fi_close(&held.release()->fid));
}

struct pair {
  const char *held, *user;
  void (*check)(objects &);
};

constexpr pair of_fabric[] = {
    {"fabric", "event queue", [](objects &o) { o.open_eq(), expect_held(o.fabric, o.eq); }},
    {"fabric", "domain", [](objects &o) { o.open_domain(), expect_held(o.fabric, o.domain); }},
};

constexpr pair of_domain[] = {
    {"domain", "address vector", [](objects &o) { o.open_av(), expect_held(o.domain, o.av); }},
    {"domain", "completion queue",
     [](objects &o) { o.open_cq(o.cq), expect_held(o.domain, o.cq); }},
    {"domain", "counter", [](objects &o) { o.open_cntr(), expect_held(o.domain, o.cntr); }},
    {"domain", "memory region", [](objects &o) { o.open_mr(), expect_held(o.domain, o.mr); }},
    {"domain", "endpoint", [](objects &o) { o.open_ep(), expect_held(o.domain, o.ep); }},
};

constexpr pair of_endpoint[] = {
    {"address vector", "bound endpoint",
     [](objects &o) {
       o.open_av(), o.open_ep(), o.bind(&o.av->fid, 0);
       expect_held(o.av, o.ep);
     }},
    {"completion queue", "endpoint bound to send",
     [](objects &o) {
       o.open_cq(o.cq), o.open_ep(), o.bind(&o.cq->fid, FI_TRANSMIT);
       expect_held(o.cq, o.ep);
     }},
    {"completion queue", "endpoint bound to receive",
     [](objects &o) {
       o.open_cq(o.cq), o.open_ep(), o.bind(&o.cq->fid, FI_RECV);
       expect_held(o.cq, o.ep);
     }},
    {"completion queue", "endpoint bound for both",
     [](objects &o) {
       o.open_cq(o.cq), o.open_ep(), o.bind(&o.cq->fid, FI_TRANSMIT | FI_RECV);
       expect_held(o.cq, o.ep);
     }},
    {"counter", "endpoint bound to send",
     [](objects &o) {
       o.open_cntr(), o.open_ep(), o.bind(&o.cntr->fid, FI_SEND);
       expect_held(o.cntr, o.ep);
     }},
    {"counter", "endpoint bound to receive",
     [](objects &o) {
       o.open_cntr(), o.open_ep(), o.bind(&o.cntr->fid, FI_RECV);
       expect_held(o.cntr, o.ep);
     }},
    {"event queue", "bound endpoint",
     [](objects &o) {
       o.open_eq(), o.open_ep(), o.bind(&o.eq->fid, 0);
       expect_held(o.eq, o.ep);
     }},
};

constexpr pair of_enabled_endpoint[] = {
    {"address vector", "enabled endpoint", [](objects &o) { expect_held(o.av, o.ep); }},
    {"completion queue", "enabled endpoint that sends",
     [](objects &o) { expect_held(o.cq, o.ep); }},
    {"completion queue", "enabled endpoint that receives",
     [](objects &o) { expect_held(o.other_cq, o.ep); }},
    {"counter", "enabled endpoint", [](objects &o) { expect_held(o.cntr, o.ep); }},
};

constexpr pair of_event_queue[] = {
    {"event queue", "bound address vector",
     [](objects &o) {
       o.open_av(FI_EVENT);
       CHECK_OK(fi_av_bind(o.av.get(), &o.eq->fid, 0));
       expect_held(o.eq, o.av);
     }},
    {"event queue", "bound domain",
     [](objects &o) {
       CHECK_OK(fi_domain_bind(o.domain.get(), &o.eq->fid, 0));
       expect_held(o.eq, o.domain);
     }},
};

void check_pairs(std::span<const pair> pairs, void (*prepare)(objects &)) {
  for (const pair &p : pairs) {
    objects o;
    prepare(o);
    try {
      p.check(o);
    } catch (const failure &f) {
      fail(fmt::format("{} held by {}: {}", p.held, p.user, f.what()));
    }
  }
}

} // namespace

CASE(fabric, .ranks = 1) {
  check_pairs(of_fabric, [](objects &) {});
}

CASE(domain, .ranks = 1) {
  check_pairs(of_domain, [](objects &o) { o.open_domain(); });
}

CASE(what_endpoints_are_bound_to, .ranks = 1) {
  check_pairs(of_endpoint, [](objects &o) { o.open_domain(); });
}

CASE(what_enabled_endpoints_are_bound_to, .ranks = 1) {
  check_pairs(of_enabled_endpoint, [](objects &o) {
    o.open_domain();
    o.open_enabled_ep();
  });
}

CASE(event_queue, .ranks = 1) {
  check_pairs(of_event_queue, [](objects &o) {
    o.open_eq();
    o.open_domain();
  });
}

// An alias keeps the endpoint, and all it is bound to, when the first handle has been closed.
CASE(alias, .ranks = 1) {
  objects o;
  o.open_domain();
  o.open_enabled_ep();
  owned_fid<fid_ep> alias;
  CHECK_OK(fi_ep_alias(o.ep.get(), alias.out(), FI_TRANSMIT));
  CHECK_CODE(0, fi_close(&o.ep.release()->fid));
  expect_held(o.cq, alias);
}

} // namespace fabtest
