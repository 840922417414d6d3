// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "sim/common/node.h"

#include "sim/common/check.h"

#include <algorithm>
#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>
#include <utility>

namespace sim {

using namespace dpdkx;

namespace {

fid_cq *open_cq(util_ext::Domain &domain, std::size_t size) {
  fi_cq_attr attr{};
  attr.size = size;
  attr.format = FI_CQ_FORMAT_TAGGED;
  attr.wait_obj = FI_WAIT_NONE;
  fid_cq *cq = nullptr;
  CHECK_EQ(util_ext::Cq::open(domain, &attr, &cq, nullptr), 0);
  return cq;
}

fid_cntr *open_cntr(util_ext::Domain &domain) {
  fi_cntr_attr attr{};
  attr.events = FI_CNTR_EVENTS_COMP;
  attr.wait_obj = FI_WAIT_NONE;
  fid_cntr *cntr = nullptr;
  CHECK_EQ(util_ext::Cntr::open(domain, &attr, &cntr, nullptr), 0);
  return cntr;
}

} // namespace

class Node::Entered {
public:
  explicit Entered(Node &node) : lock_(node.endpoint_->mutex()), meter_(node.meter_) {
    if (meter_)
      meter_->enter();
  }
  ~Entered() {
    if (meter_)
      meter_->leave();
  }

private:
  const std::lock_guard<BurstLock> lock_;
  Meter *const meter_;
};

Node::Node(const Clock &clock, link::sim::Network &network, std::uint32_t index,
           const Address &address, const Setup &setup, const Book &book)
    : address_(address), index_(index), meter_(setup.meter), domain_(setup.threading),
      datagrams_(setup.config.datagrams) {
  tx_cq_ = open_cq(domain_, setup.cq_size);
  rx_cq_ = open_cq(domain_, setup.cq_size);
  completers_ = {.tx_cq = util_ext::Cq::from(&tx_cq_->fid),
                 .rx_cq = util_ext::Cq::from(&rx_cq_->fid),
                 .regions = &domain_.regions,
                 .exported = &domain_.exported,
                 .source = setup.source,
                 .source_err = setup.source_err};
  for (Counter &c : counters_) {
    c.cntr = open_cntr(domain_);
    completers_.*c.slot = util_ext::Cntr::from(&c.cntr->fid);
  }
  auto port = network.attach(address, setup.profile, index);
  if (!port)
    FAIL("{} is taken", to_string(address));
  if (setup.wrap)
    port = setup.wrap(std::move(port));
  engine::Links links;
  (setup.profile.lossless ? links.host : links.device) = std::move(port);
  if (setup.profile.lossless)
    links.is_own_address = [](const Address &) { return true; }; // all of one host
  endpoint_ = std::make_unique<engine::Endpoint>(setup.config, clock, address, std::move(links),
                                                 book, completers_);
  if (setup.role == Role::connection)
    CHECK_EQ(endpoint_->set_connection(connection_), 0);
  else if (setup.role == Role::listener)
    CHECK_EQ(endpoint_->set_listener(requests_, setup.backlog), 0);
}

Node::~Node() {
  endpoint_.reset();
  bool closed = true;
  for (const Counter &c : counters_)
    closed &= fi_close(&c.cntr->fid) == 0;
  for (fid_cntr *cntr : exported_)
    closed &= !cntr || fi_close(&cntr->fid) == 0;
  for (fid_cq *cq : {tx_cq_, rx_cq_})
    closed &= fi_close(&cq->fid) == 0;
  if (!closed)
    fail_later("a completion object can't be closed");
}

ssize_t Node::post(const op::SendRequest &r) {
  const Entered entered(*this);
  return datagrams_ ? endpoint_->send_datagram(r) : endpoint_->send(r);
}

ssize_t Node::post(const op::ReceiveRequest &r) {
  const Entered entered(*this);
  return endpoint_->receive(r);
}

ssize_t Node::post(const op::RmaRequest &r) {
  const Entered entered(*this);
  return endpoint_->rma(r);
}

ssize_t Node::post(const op::AtomicRequest &r) {
  const Entered entered(*this);
  return endpoint_->atomic(r);
}

ssize_t Node::post(const op::CounterRequest &r) {
  const Entered entered(*this);
  return endpoint_->count(r);
}

std::uint64_t Node::export_counter(std::uint64_t rights) {
  exported_.push_back(open_cntr(domain_));
  auto &cntr = *util_ext::Cntr::from(&exported_.back()->fid);
  CHECK_EQ(domain_.exported.insert(cntr, exported_.size(), rights), 0);
  return exported_.size();
}

void Node::revoke_counter(std::uint64_t key) {
  CHECK_EQ(domain_.exported.remove(cntr(key), key), 0);
}

void Node::close_counter(std::uint64_t key) {
  CHECK_EQ(fi_close(&std::exchange(exported_[key - 1], nullptr)->fid), 0);
}

std::uint64_t Node::counter(std::uint64_t key) const { return fi_cntr_read(exported_[key - 1]); }

Exposed &Node::expose(std::size_t size, std::uint64_t rights) {
  const std::uint64_t key = exposed_.size() + 1;
  return exposed_.emplace_back(domain_.regions, size, rights, key);
}

int Node::cancel(const void *context) {
  const Entered entered(*this);
  return endpoint_->cancel(context);
}

int Node::connect(const Address &listener, std::span<const std::byte> data) {
  const Entered entered(*this);
  return endpoint_->connect(listener, data);
}

int Node::accept(const engine::ListenerSink::Request &request, std::span<const std::byte> data) {
  const Entered entered(*this);
  return endpoint_->accept(request, data);
}

int Node::shutdown() {
  const Entered entered(*this);
  return endpoint_->shutdown();
}

void Node::reject(op::Backlog::Number number, std::span<const std::byte> data) {
  const Entered entered(*this);
  endpoint_->reject(number, data);
}

void Node::forget(op::Backlog::Number number) {
  const Entered entered(*this);
  endpoint_->forget(number);
}

unsigned Node::turn() {
  const Entered entered(*this);
  return endpoint_->turn();
}

bool Node::idle() {
  const Entered entered(*this);
  const bool quiet = endpoint_->arm();
  endpoint_->disarm();
  return quiet;
}

void Node::service() {
  const Entered entered(*this);
  endpoint_->service();
}

Time Node::deadline() {
  const Entered entered(*this);
  return endpoint_->deadline();
}

void Node::address_added(fi_addr_t addr, const Address &address) {
  const Entered entered(*this);
  endpoint_->address_added(addr, address);
}

bool Node::drained() {
  const Entered entered(*this);
  return endpoint_->drained();
}

void Node::close() {
  const Entered entered(*this);
  endpoint_->close();
}

bool Node::read(Done &done, void *&context) {
  return read(tx_cq_, done, context) || read(rx_cq_, done, context);
}

bool Node::read(fid_cq *cq, Done &done, void *&context) {
  fi_cq_tagged_entry entry;
  fi_addr_t src = FI_ADDR_NOTAVAIL;
  const ssize_t n = fi_cq_readfrom(cq, &entry, 1, &src);
  if (n == 1) {
    done = {.flags = entry.flags,
            .len = entry.len,
            .buf = static_cast<std::byte *>(entry.buf),
            .data = entry.data,
            .tag = entry.tag,
            .src = src};
    context = entry.op_context;
    return true;
  }
  if (n == -FI_EAGAIN)
    return false;
  CHECK_EQ(n, -FI_EAVAIL);
  std::byte address[64];
  fi_cq_err_entry error{};
  error.err_data = address;
  error.err_data_size = sizeof(address);
  CHECK_EQ(fi_cq_readerr(cq, &error, 0), 1);
  CHECK(error.err > 0);
  done = {.flags = error.flags,
          .len = error.len,
          .buf = static_cast<std::byte *>(error.buf),
          .data = error.data,
          .tag = error.tag,
          .err = error.err,
          .olen = error.olen};
  const auto *bytes = static_cast<const std::byte *>(error.err_data);
  if (error.err_data_size != 0)
    done.err_data.assign(bytes, bytes + error.err_data_size);
  context = error.op_context;
  return true;
}

Node::Counts Node::count(std::uint64_t what) {
  const auto c = std::ranges::find(counters_, what, &Counter::what);
  return {fi_cntr_read(c->cntr), fi_cntr_readerr(c->cntr)};
}

} // namespace sim
