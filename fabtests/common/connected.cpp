// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "connected.h"

#include "settings.h"

#include <array>
#include <cstring>
#include <utility>

#include <sched.h>

namespace fabtest {

namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t most_data = 512; // with an event

} // namespace

info_ptr connected_info(const request &r) {
  const info_ptr hints = make_hints(r);
  hints->ep_attr->type = FI_EP_MSG;
  info_ptr list;
  const int rc = get_info(hints.get(), r.service, list);
  if (rc == -FI_ENODATA)
    skip("the provider lacks connected endpoints");
  check_ok("fi_getinfo", rc);
  return info_ptr(fi_dupinfo(list.get()));
}

cm_base::cm_base(const request &r, fi_wait_obj wait) : wanted_(r), info_(connected_info(r)) {
  CHECK_OK(fi_fabric(info_->fabric_attr, fabric_.out(), nullptr));
  fi_eq_attr attr{};
  attr.wait_obj = wait;
  CHECK_OK(fi_eq_open(fabric_.get(), &attr, eq_.out(), nullptr));
}

std::optional<cm_event> cm_base::poll(where at) {
  if (!kept_.empty()) {
    cm_event e = std::move(kept_.front());
    kept_.pop_front();
    return e;
  }
  alignas(fi_eq_cm_entry) std::array<std::byte, sizeof(fi_eq_cm_entry) + most_data> raw;
  cm_event e;
  const ssize_t rc = fi_eq_read(eq_.get(), &e.kind, raw.data(), raw.size(), 0);
  if (rc == -FI_EAGAIN)
    return std::nullopt;
  if (rc == -FI_EAVAIL) {
    fi_eq_err_entry error{};
    check_code("fi_eq_readerr", sizeof error, fi_eq_readerr(eq_.get(), &error, 0), at);
    e.kind = 0;
    e.fid = error.fid;
    e.err = error.err;
    e.context = error.context;
    const auto *data = static_cast<const std::byte *>(error.err_data);
    e.data.assign(data, data + error.err_data_size);
    return e;
  }
  fi_eq_cm_entry head{};
  if (rc < static_cast<ssize_t>(sizeof head))
    fail_call("fi_eq_read", rc, at);
  std::memcpy(&head, raw.data(), sizeof head);
  e.fid = head.fid;
  e.info.reset(head.info);
  e.data.assign(raw.begin() + sizeof head, raw.begin() + rc);
  return e;
}

cm_event cm_base::next(fid_t about, std::string_view what, std::chrono::milliseconds limit,
                       where at) {
  const auto end = clock::now() + limit;
  std::deque<cm_event> others;
  for (;;) {
    if (auto e = poll(at)) {
      if (e->fid == about) {
        kept_.insert(kept_.begin(), std::make_move_iterator(others.begin()),
                     std::make_move_iterator(others.end()));
        return std::move(*e);
      }
      others.push_back(std::move(*e));
      continue;
    }
    if (clock::now() > end)
      fail(fmt::format("no event of {} after {} ms", what, limit.count()), at);
    drive_progress(this);
    sched_yield();
  }
}

cm_event cm_base::expect(std::uint32_t kind, fid_t about, std::chrono::milliseconds limit,
                         where at) {
  cm_event e = next(about, fmt::format("kind {}", kind), limit, at);
  if (e.err != 0)
    fail(fmt::format("error {} instead of event {}", describe(-e.err), kind), at);
  check_equal("event", "expected", e.kind, kind, at);
  return e;
}

cm_event cm_base::expect_error(int err, fid_t about, std::chrono::milliseconds limit, where at) {
  cm_event e = next(about, fmt::format("error {}", describe(-err)), limit, at);
  check_equal("error", "expected", e.err, err, at);
  return e;
}

void cm_base::expect_no_event(where at) {
  for (int i = 0; i < 100; ++i) {
    if (const auto e = poll(at))
      fail(fmt::format("unexpected event {} or error {}", e->kind, describe(-e->err)), at);
    drive_progress(this);
  }
}

void cm_base::make_progress() {
  if (!kept_.empty())
    return;
  if (auto e = poll())
    kept_.push_back(std::move(*e));
}

cm_listener::cm_listener(cm_base &base, bool listen) : base_(base) {
  const info_ptr info(fi_dupinfo(&base.info()));
  CHECK_OK(fi_passive_ep(base.fabric(), info.get(), pep_.out(), nullptr));
  CHECK_OK(fi_pep_bind(pep_.get(), &base.eq()->fid, 0));
  if (listen)
    CHECK_OK(fi_listen(pep_.get()));
}

bytes cm_listener::name() const {
  bytes name(128);
  std::size_t len = name.size();
  CHECK_OK(fi_getname(&pep_.get()->fid, name.data(), &len));
  name.resize(len);
  return name;
}

cm_event cm_listener::request(where at) {
  cm_event e = base_.expect(FI_CONNREQ, &pep_.get()->fid, default_wait(), at);
  check_that("a request has an info with a handle", e.info && e.info->handle, at);
  return e;
}

cm_endpoint::cm_endpoint(cm_base &base, const fi_info *made_for, fid_ep *shared_rx,
                         std::shared_ptr<fabric_and_domain> in)
    : domain_(std::move(in)) {
  const info_ptr info(fi_dupinfo(made_for ? made_for : &base.info()));
  if (made_for)
    info->handle = made_for->handle;
  if (!domain_) {
    // In the fabric of the event queue.
    domain_ = std::make_shared<fabric_and_domain>(base.fabric(), info_ptr(fi_dupinfo(info.get())));
  }
  if (shared_rx)
    info->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
  fi_cq_attr attr{};
  attr.format = FI_CQ_FORMAT_TAGGED;
  attr.wait_obj = base.wanted().wait;
  cq_ = std::make_unique<queue>(domain(), attr);
  CHECK_OK(fi_endpoint(domain(), info.get(), ep_.out(), nullptr));
  CHECK_OK(fi_ep_bind(ep(), &base.eq()->fid, 0));
  CHECK_OK(fi_ep_bind(ep(), &cq_->get()->fid, FI_TRANSMIT | FI_RECV));
  if (shared_rx)
    CHECK_OK(fi_ep_bind(ep(), &shared_rx->fid, 0));
  CHECK_OK(fi_enable(ep()));
}

void cm_endpoint::connect(const bytes &to, std::span<const std::byte> data, where at) {
  check_ok("fi_connect", fi_connect(ep(), to.data(), data.data(), data.size()), at);
}

void cm_endpoint::accept(std::span<const std::byte> data, where at) {
  check_ok("fi_accept", fi_accept(ep(), data.data(), data.size()), at);
}

namespace {
void post(std::string_view call, const endpoint::posting &attempt, where at) {
  const auto end = clock::now() + default_wait();
  ssize_t rc;
  while ((rc = attempt()) == -FI_EAGAIN && clock::now() < end) {
    drive_progress();
    sched_yield();
  }
  check_ok(call, rc, at);
}
} // namespace

void cm_endpoint::send(std::span<const std::byte> data, op &o, where at) {
  post(
      "fi_send", [&] { return fi_send(ep(), data.data(), data.size(), nullptr, 0, &o); }, at);
}

void cm_endpoint::recv(std::span<std::byte> into, op &o, where at) {
  post(
      "fi_recv", [&] { return fi_recv(ep(), into.data(), into.size(), nullptr, 0, &o); }, at);
}

cm_pair::cm_pair(cm_base &base) : listener(base), caller(std::make_unique<cm_endpoint>(base)) {
  caller->connect(listener.name());
  const cm_event request = listener.request();
  answerer = std::make_unique<cm_endpoint>(base, request.info.get());
  answerer->accept();
  base.expect(FI_CONNECTED, caller->fid());
  base.expect(FI_CONNECTED, answerer->fid());
}

void cm_exchange(cm_endpoint &from, cm_endpoint &to, std::size_t size, std::uint64_t seed) {
  const auto content = payload(size, seed);
  std::vector<std::byte> into(size);
  op sent, received;
  to.recv(into, received);
  from.send(content, sent);
  to.cq().wait_ok(received, "receive");
  from.cq().wait_ok(sent, "send");
  verify(into, seed);
}

} // namespace fabtest
