// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// fi_getinfo(3): every hint is honoured or the answer is -FI_ENODATA.
#include "common/case.h"
#include "common/endpoint.h"
#include "common/settings.h"

#include <cstdlib>
#include <cstring>
#include <functional>

namespace fabtest {

namespace {

constexpr std::uint32_t api = FI_VERSION(1, 17);

int ask(const fi_info *hints, info_ptr &list) { return get_info(hints, {}, list); }

// Asks with changed hints. Nothing: refused, with the one right code.
info_ptr ask_with(const std::function<void(fi_info &)> &change, where at = where::current()) {
  const info_ptr hints = make_hints({});
  change(*hints);
  info_ptr list;
  const int rc = ask(hints.get(), list);
  if (rc != 0 && rc != -FI_ENODATA)
    fail(fmt::format("fi_getinfo returned {}, expected success or -FI_ENODATA", describe(rc)), at);
  if ((rc == 0) != (list != nullptr))
    fail("the list doesn't go with the returned code", at);
  return list;
}

void for_each(const info_ptr &list, const std::function<void(const fi_info &)> &look) {
  for (const fi_info *i = list.get(); i; i = i->next)
    look(*i);
}

const std::uint64_t *provider_caps() {
  static const std::uint64_t all[] = {FI_MSG,
                                      FI_TAGGED,
                                      FI_MSG | FI_SEND,
                                      FI_MSG | FI_RECV,
                                      FI_RMA,
                                      FI_ATOMIC,
                                      FI_COLLECTIVE | FI_MSG,
                                      FI_MSG | FI_MULTI_RECV,
                                      FI_MSG | FI_SOURCE,
                                      FI_MSG | FI_SOURCE | FI_SOURCE_ERR,
                                      FI_MSG | FI_DIRECTED_RECV,
                                      FI_TAGGED | FI_DIRECTED_RECV,
                                      FI_MSG | FI_FENCE,
                                      FI_MSG | FI_LOCAL_COMM,
                                      FI_MSG | FI_REMOTE_COMM,
                                      FI_MSG | FI_LOCAL_COMM | FI_REMOTE_COMM,
                                      FI_MSG | FI_SHARED_AV,
                                      FI_MSG | FI_TRIGGER,
                                      FI_MSG | FI_NAMED_RX_CTX,
                                      FI_RMA | FI_RMA_EVENT,
                                      FI_MSG | FI_HMEM,
                                      FI_MSG | FI_MULTICAST,
                                      FI_MSG | FI_AV_USER_ID,
                                      0};
  return all;
}

} // namespace

// Without hints everything is shown: RDM first, all parts filled in.
CASE(without_hints, .ranks = 1) {
  const auto &name = config().provider;
  if (!name.empty())
    setenv("FI_PROVIDER", name.c_str(), 1);
  fi_info *list = nullptr;
  CHECK_OK(fi_getinfo(api, nullptr, nullptr, 0, nullptr, &list));
  const info_ptr owner(list);
  bool seen = false;
  for_each(owner, [&](const fi_info &i) {
    CHECK(i.tx_attr && i.rx_attr && i.ep_attr && i.domain_attr && i.fabric_attr);
    CHECK(i.fabric_attr->prov_name && i.fabric_attr->name && i.domain_attr->name);
    CHECK(i.caps != 0);
    CHECK(i.fabric_attr->prov_version != 0);
    CHECK((i.src_addr != nullptr) == (i.src_addrlen != 0));
    CHECK((i.dest_addr != nullptr) == (i.dest_addrlen != 0));
    CHECK(!i.nic || i.nic->fid.fclass == FI_CLASS_NIC);
    if (!seen && (name.empty() || name == i.fabric_attr->prov_name)) {
      seen = true;
      if (i.ep_attr->type == FI_EP_RDM)
        CHECK((i.caps & (FI_MSG | FI_TAGGED)) != 0);
    }
  });
  CHECK(seen);
}

CASE(capabilities, .ranks = 1) {
  for (const std::uint64_t *caps = provider_caps(); *caps; ++caps) {
    const auto list = ask_with([&](fi_info &h) { h.caps = *caps; });
    for_each(list, [&](const fi_info &i) {
      if ((i.caps & *caps) != *caps)
        fail(fmt::format("caps {:#x} asked for, {:#x} returned", *caps, i.caps));
    });
  }
}

// Bits that mean nothing, and capabilities of a context that the whole lacks.
CASE(nonsense_is_refused, .ranks = 1) {
  info_ptr list;
  const info_ptr hints = make_hints({});
  hints->caps |= std::uint64_t{1} << 62;
  CHECK(ask(hints.get(), list) != 0);
  hints->caps = FI_MSG;
  hints->tx_attr->caps = FI_MSG | std::uint64_t{1} << 62;
  CHECK(ask(hints.get(), list) != 0);
  hints->tx_attr->caps = 0;
  hints->tx_attr->msg_order = std::uint64_t{1} << 62;
  CHECK(ask(hints.get(), list) != 0);
}

CASE(endpoint_type, .ranks = 1) {
  for (const auto type : {FI_EP_RDM, FI_EP_MSG, FI_EP_DGRAM, FI_EP_SOCK_STREAM}) {
    const auto list = ask_with([&](fi_info &h) { h.ep_attr->type = type; });
    for_each(list, [&](const fi_info &i) { CHECK_EQ(i.ep_attr->type, type); });
    CHECK(type != FI_EP_RDM || list);
  }
}

// No mode that the application didn't offer.
CASE(modes, .ranks = 1) {
  for (const std::uint64_t offered : {std::uint64_t{0}, std::uint64_t{FI_CONTEXT},
                                      std::uint64_t{FI_CONTEXT | FI_CONTEXT2}, ~std::uint64_t{0}}) {
    const auto list = ask_with([&](fi_info &h) { h.mode = offered; });
    for_each(list, [&](const fi_info &i) {
      CHECK((i.mode & ~offered) == 0);
      CHECK((i.tx_attr->mode & ~offered) == 0);
      CHECK((i.rx_attr->mode & ~offered) == 0);
    });
  }
}

CASE(memory_registration_modes, .ranks = 1) {
  for (const int offered : {0, FI_MR_LOCAL, FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY,
                            FI_MR_LOCAL | FI_MR_ENDPOINT}) {
    const auto list = ask_with([&](fi_info &h) { h.domain_attr->mr_mode = offered; });
    for_each(list, [&](const fi_info &i) { CHECK((i.domain_attr->mr_mode & ~offered) == 0); });
  }
}

CASE(ordering, .ranks = 1) {
  for (const std::uint64_t order :
       {FI_ORDER_SAS, FI_ORDER_SAW, FI_ORDER_RAR, FI_ORDER_RAW, FI_ORDER_WAR, FI_ORDER_WAW,
        FI_ORDER_SAR, FI_ORDER_WAS, FI_ORDER_RAS}) {
    const auto list = ask_with([&](fi_info &h) {
      h.tx_attr->msg_order = order;
      h.rx_attr->msg_order = order;
    });
    for_each(list, [&](const fi_info &i) {
      CHECK((i.tx_attr->msg_order & order) == order);
      CHECK((i.rx_attr->msg_order & order) == order);
    });
  }
  const auto strict = ask_with([](fi_info &h) { h.tx_attr->comp_order = FI_ORDER_STRICT; });
  for_each(strict, [](const fi_info &i) {
    CHECK((i.tx_attr->comp_order & FI_ORDER_STRICT) == FI_ORDER_STRICT);
  });
}

// What is advertised can be asked for; what is returned is never less than what was asked for.
CASE(sizes, .ranks = 1) {
  struct field {
    const char *name;
    std::size_t *(*at)(fi_info &);
  };
  static constexpr field fields[] = {
      {"tx_attr->size", [](fi_info &i) { return &i.tx_attr->size; }},
      {"tx_attr->inject_size", [](fi_info &i) { return &i.tx_attr->inject_size; }},
      {"tx_attr->iov_limit", [](fi_info &i) { return &i.tx_attr->iov_limit; }},
      {"rx_attr->size", [](fi_info &i) { return &i.rx_attr->size; }},
      {"rx_attr->iov_limit", [](fi_info &i) { return &i.rx_attr->iov_limit; }},
      {"ep_attr->max_msg_size", [](fi_info &i) { return &i.ep_attr->max_msg_size; }},
      {"ep_attr->tx_ctx_cnt", [](fi_info &i) { return &i.ep_attr->tx_ctx_cnt; }},
      {"ep_attr->rx_ctx_cnt", [](fi_info &i) { return &i.ep_attr->rx_ctx_cnt; }},
      {"domain_attr->cq_data_size", [](fi_info &i) { return &i.domain_attr->cq_data_size; }},
      {"domain_attr->cq_cnt", [](fi_info &i) { return &i.domain_attr->cq_cnt; }},
      {"domain_attr->ep_cnt", [](fi_info &i) { return &i.domain_attr->ep_cnt; }},
      {"domain_attr->mr_key_size", [](fi_info &i) { return &i.domain_attr->mr_key_size; }},
  };
  const info_ptr defaults = find_info({});
  for (const auto &f : fields) {
    const std::size_t advertised = *f.at(*defaults);
    for (const std::size_t wanted : {advertised, advertised + 1, SIZE_MAX}) {
      if (wanted == 0)
        continue;
      const auto list = ask_with([&](fi_info &h) { *f.at(h) = wanted; });
      if (wanted == advertised && !list)
        fail(fmt::format("{} = {} is advertised and refused", f.name, advertised));
      for_each(list, [&](const fi_info &i) {
        const std::size_t got = *f.at(const_cast<fi_info &>(i));
        if (got < wanted)
          fail(fmt::format("{}: {} asked for, {} returned", f.name, wanted, got));
      });
    }
  }
}

// Applications (MPICH among them) check that they get the very level that they asked for.
CASE(threading, .ranks = 1) {
  for (const auto level : {FI_THREAD_SAFE, FI_THREAD_FID, FI_THREAD_DOMAIN, FI_THREAD_COMPLETION,
                           FI_THREAD_ENDPOINT}) {
    const auto list = ask_with([&](fi_info &h) { h.domain_attr->threading = level; });
    CHECK(list);
    for_each(list, [&](const fi_info &i) {
      const bool exact = level == FI_THREAD_SAFE || level == FI_THREAD_DOMAIN;
      CHECK(i.domain_attr->threading == level ||
            (!exact && i.domain_attr->threading == FI_THREAD_SAFE));
    });
  }
}

CASE(progress, .ranks = 1) {
  for (const auto model : {FI_PROGRESS_AUTO, FI_PROGRESS_MANUAL}) {
    const auto list = ask_with([&](fi_info &h) {
      h.domain_attr->control_progress = model;
      h.domain_attr->data_progress = model;
    });
    for_each(list, [&](const fi_info &i) {
      if (model == FI_PROGRESS_AUTO) // auto also serves who asked for manual
        CHECK_EQ(i.domain_attr->data_progress, model);
    });
    CHECK(model == FI_PROGRESS_AUTO || list);
  }
}

CASE(resource_management, .ranks = 1) {
  for (const auto how : {FI_RM_ENABLED, FI_RM_DISABLED}) {
    const auto list = ask_with([&](fi_info &h) { h.domain_attr->resource_mgmt = how; });
    for_each(list, [&](const fi_info &i) {
      if (how == FI_RM_ENABLED)
        CHECK_EQ(i.domain_attr->resource_mgmt, how);
    });
  }
}

CASE(av_type, .ranks = 1) {
  for (const auto type : {FI_AV_TABLE, FI_AV_MAP}) {
    const auto list = ask_with([&](fi_info &h) { h.domain_attr->av_type = type; });
    for_each(list, [&](const fi_info &i) {
      CHECK(i.domain_attr->av_type == type || i.domain_attr->av_type == FI_AV_UNSPEC);
    });
  }
}

CASE(traffic_class, .ranks = 1) {
  for (const std::uint32_t wanted :
       {fi_tc_dscp_set(0), fi_tc_dscp_set(46), fi_tc_dscp_set(63), std::uint32_t{FI_TC_BEST_EFFORT},
        std::uint32_t{FI_TC_LOW_LATENCY}, std::uint32_t{FI_TC_NETWORK_CTRL}}) {
    const auto of_endpoint = ask_with([&](fi_info &h) { h.tx_attr->tclass = wanted; });
    for_each(of_endpoint, [&](const fi_info &i) { CHECK_EQ(i.tx_attr->tclass, wanted); });
    const auto of_domain = ask_with([&](fi_info &h) { h.domain_attr->tclass = wanted; });
    for_each(of_domain, [&](const fi_info &i) { CHECK_EQ(i.domain_attr->tclass, wanted); });
  }
}

CASE(op_flags, .ranks = 1) {
  for (const std::uint64_t flag : {FI_COMPLETION, FI_INJECT_COMPLETE, FI_TRANSMIT_COMPLETE,
                                   FI_DELIVERY_COMPLETE, FI_MATCH_COMPLETE}) {
    const auto list = ask_with([&](fi_info &h) { h.tx_attr->op_flags = flag; });
    for_each(list, [&](const fi_info &i) { CHECK((i.tx_attr->op_flags & flag) == flag); });
  }
}

CASE(names, .ranks = 1) {
  const info_ptr known = find_info({});
  const auto set = [](char *&field, const char *value) {
    std::free(field);
    field = strdup(value);
  };
  CHECK(!ask_with([&](fi_info &h) { set(h.domain_attr->name, "no such domain"); }));
  CHECK(!ask_with([&](fi_info &h) { set(h.fabric_attr->name, "no such fabric"); }));
  CHECK(!ask_with([&](fi_info &h) { set(h.fabric_attr->prov_name, "no_such_provider"); }));
  const auto list = ask_with([&](fi_info &h) {
    set(h.domain_attr->name, known->domain_attr->name);
    set(h.fabric_attr->name, known->fabric_attr->name);
    set(h.fabric_attr->prov_name, known->fabric_attr->prov_name);
  });
  CHECK(list);
  for_each(list, [&](const fi_info &i) {
    CHECK(std::strcmp(i.domain_attr->name, known->domain_attr->name) == 0);
    CHECK(std::strcmp(i.fabric_attr->name, known->fabric_attr->name) == 0);
    CHECK(std::strcmp(i.fabric_attr->prov_name, known->fabric_attr->prov_name) == 0);
  });
}

// An answer serves as hints, and opens.
CASE(answer_as_hints, .ranks = 1) {
  const info_ptr first = find_info({});
  info_ptr again;
  CHECK_OK(ask(first.get(), again));
  fabric_and_domain base(info_ptr(fi_dupinfo(again.get())));
  owned_fid<fid_ep> ep;
  CHECK_OK(fi_endpoint(*base, base.info.get(), ep.out(), nullptr));
}

CASE(versions, .ranks = 1) {
  for (int minor = 0; minor <= 17; ++minor) {
    const info_ptr hints = make_hints({});
    fi_info *list = nullptr;
    const int rc = fi_getinfo(FI_VERSION(1, minor), nullptr, nullptr, 0, hints.get(), &list);
    CHECK(rc == 0 || rc == -FI_ENODATA || rc == -FI_ENOSYS);
    const info_ptr owner(list);
    for_each(owner, [&](const fi_info &i) {
      CHECK(i.fabric_attr->api_version == FI_VERSION(1, static_cast<unsigned>(minor)));
    });
  }
  fi_info *list = nullptr;
  CHECK(fi_getinfo(FI_VERSION(9, 0), nullptr, nullptr, 0, nullptr, &list) != 0);
}

CASE(names_of_providers_only, .ranks = 1) {
  const info_ptr hints = make_hints({});
  fi_info *list = nullptr;
  CHECK_OK(fi_getinfo(api, nullptr, nullptr, FI_PROV_ATTR_ONLY, hints.get(), &list));
  const info_ptr owner(list);
  for_each(owner, [](const fi_info &i) {
    CHECK(i.fabric_attr && i.fabric_attr->prov_name && i.fabric_attr->prov_version != 0);
  });
}

} // namespace fabtest
