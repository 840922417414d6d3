// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "endpoint.h"

#include "settings.h"

#include <cstdlib>
#include <cstring>

#include <sched.h>

namespace fabtest {

namespace {

constexpr std::uint32_t api_version = FI_VERSION(1, 17);

} // namespace

info_ptr make_hints(const request &r) {
  info_ptr hints(fi_allocinfo());
  const auto &s = config();
  hints->caps = r.caps;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = r.type;
  hints->domain_attr->threading = r.threading;
  hints->domain_attr->control_progress = r.progress;
  hints->domain_attr->data_progress = r.progress;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  hints->domain_attr->av_type = r.av_type;
  hints->domain_attr->mr_mode = r.mr_mode;
  hints->tx_attr->msg_order = r.order;
  hints->rx_attr->msg_order = r.order;
  hints->tx_attr->op_flags = r.tx_op_flags;
  hints->rx_attr->op_flags = r.rx_op_flags;
  if (!s.provider.empty())
    hints->fabric_attr->prov_name = strdup(s.provider.c_str());
  if (!s.domain.empty())
    hints->domain_attr->name = strdup(s.domain.c_str());
  return hints;
}

int get_info(const fi_info *hints, const std::string &service, info_ptr &result) {
  const auto &s = config();
  const char *node = s.node.empty() ? nullptr : s.node.c_str();
  const char *port = service.empty() ? nullptr : service.c_str();
  fi_info *list = nullptr;
  const int rc = fi_getinfo(api_version, node, port, node || port ? FI_SOURCE : 0, hints, &list);
  result.reset(list);
  return rc;
}

info_ptr find_info(const request &r, std::string_view optional) {
  const info_ptr hints = make_hints(r);
  info_ptr list;
  const int rc = get_info(hints.get(), r.service, list);
  if (rc == -FI_ENODATA && !optional.empty())
    skip(fmt::format("the provider lacks {}", optional));
  check_ok("fi_getinfo", rc);
  return info_ptr(fi_dupinfo(list.get()));
}

fabric_and_domain::fabric_and_domain(info_ptr chosen) : info(std::move(chosen)) {
  CHECK_OK(fi_fabric(info->fabric_attr, fabric.out(), nullptr));
  CHECK_OK(fi_domain(fabric.get(), info.get(), domain.out(), nullptr));
}

fabric_and_domain::fabric_and_domain(fid_fabric *others, info_ptr chosen)
    : info(std::move(chosen)) {
  CHECK_OK(fi_domain(others, info.get(), domain.out(), nullptr));
}

bytes name_of(fid_ep *ep) {
  std::size_t size = 0;
  const int rc = fi_getname(&ep->fid, nullptr, &size);
  if (rc != -FI_ETOOSMALL)
    fail(fmt::format("fi_getname with no buffer returned {}", describe(rc)));
  bytes name(size);
  CHECK_OK(fi_getname(&ep->fid, name.data(), &size));
  name.resize(size);
  return name;
}

fi_addr_t insert(fid_av *av, const bytes &name, std::uint32_t format) {
  fi_addr_t address = FI_ADDR_NOTAVAIL;
  const void *what = name.data();
  const char *text = reinterpret_cast<const char *>(name.data());
  // fi_av(3): strings are passed as an array of pointers. shm takes the characters themselves.
  if (format == FI_ADDR_STR && std::strncmp(text, "fi_shm", 6) != 0)
    what = &text;
  const int rc = fi_av_insert(av, what, 1, &address, 0, nullptr);
  return rc == 1 ? address : FI_ADDR_NOTAVAIL;
}

endpoint::endpoint(const request &r, std::string_view optional)
    : base_(std::make_shared<fabric_and_domain>(find_info(r, optional))) {
  open(r);
}

endpoint::endpoint(std::shared_ptr<fabric_and_domain> base, const request &r)
    : base_(std::move(base)) {
  open(r);
}

void endpoint::open(const request &r) {
  fi_av_attr av_attr{};
  av_attr.type = r.av_type;
  CHECK_OK(fi_av_open(domain(), &av_attr, av_.out(), nullptr));

  fi_cq_attr cq_attr{};
  cq_attr.size = r.cq_size;
  cq_attr.format = r.format;
  cq_attr.wait_obj = r.wait;
  cq_attr.wait_set = r.wait_set;
  tx_ = std::make_unique<queue>(domain(), cq_attr);
  if (r.separate_queues)
    rx_ = std::make_unique<queue>(domain(), cq_attr);

  CHECK_OK(fi_endpoint(domain(), base_->info.get(), ep_.out(), this));
  CHECK_OK(fi_ep_bind(ep(), &av_->fid, 0));
  if (r.separate_queues) {
    CHECK_OK(fi_ep_bind(ep(), &tx_->get()->fid, FI_TRANSMIT | r.bind_flags));
    CHECK_OK(fi_ep_bind(ep(), &rx_->get()->fid, FI_RECV | r.bind_flags));
  } else {
    CHECK_OK(fi_ep_bind(ep(), &tx_->get()->fid, FI_TRANSMIT | FI_RECV | r.bind_flags));
  }
  if (r.counters) {
    fi_cntr_attr cntr_attr{};
    cntr_attr.wait_obj = r.wait_set ? FI_WAIT_SET : FI_WAIT_UNSPEC;
    cntr_attr.wait_set = r.wait_set;
    CHECK_OK(fi_cntr_open(domain(), &cntr_attr, sent_.out(), &sent_));
    CHECK_OK(fi_cntr_open(domain(), &cntr_attr, received_.out(), &received_));
    CHECK_OK(fi_ep_bind(ep(), &sent_->fid, FI_SEND));
    CHECK_OK(fi_ep_bind(ep(), &received_->fid, FI_RECV));
  }
  for (const std::uint64_t what : r.counted) {
    fi_cntr_attr cntr_attr{};
    cntr_attr.wait_obj = FI_WAIT_UNSPEC;
    CHECK_OK(fi_cntr_open(domain(), &cntr_attr, counted_.emplace_back().out(), nullptr));
    CHECK_OK(fi_ep_bind(ep(), &counted_.back()->fid, what));
  }
  if (r.enable)
    CHECK_OK(fi_enable(ep()));
}

void endpoint::meet(team &t) {
  names_ = t.allgather(name());
  for (const auto &name : names_)
    peers_.push_back(name.empty() ? FI_ADDR_NOTAVAIL : add(name));
}

fi_addr_t endpoint::add(const bytes &name) {
  const fi_addr_t address = insert(av(), name, info().addr_format);
  if (address == FI_ADDR_NOTAVAIL)
    fail("fi_av_insert of a peer's name failed");
  return address;
}

void endpoint::post_again(ssize_t rc, std::string_view call, const posting &attempt, where at) {
  const auto end = std::chrono::steady_clock::now() + default_wait();
  for (; rc != 0; rc = attempt()) {
    if (rc != -FI_EAGAIN)
      fail_call(call, rc, at);
    if (std::chrono::steady_clock::now() > end)
      fail(fmt::format("{} returned -FI_EAGAIN for {} ms", call, default_wait().count()), at);
    drive_progress();
    sched_yield();
  }
}

void endpoint::send(int to, std::span<const std::byte> data, op &o, where at) {
  post(
      "fi_send", [&] { return fi_send(ep(), data.data(), data.size(), nullptr, this->at(to), &o); },
      at);
}

void endpoint::recv(std::span<std::byte> into, op &o, fi_addr_t from, where at) {
  post(
      "fi_recv", [&] { return fi_recv(ep(), into.data(), into.size(), nullptr, from, &o); }, at);
}

void endpoint::tsend(int to, std::span<const std::byte> data, std::uint64_t tag, op &o, where at) {
  post(
      "fi_tsend",
      [&] { return fi_tsend(ep(), data.data(), data.size(), nullptr, this->at(to), tag, &o); }, at);
}

void endpoint::trecv(std::span<std::byte> into, std::uint64_t tag, op &o, std::uint64_t ignore,
                     fi_addr_t from, where at) {
  post(
      "fi_trecv",
      [&] { return fi_trecv(ep(), into.data(), into.size(), nullptr, from, tag, ignore, &o); }, at);
}

} // namespace fabtest
