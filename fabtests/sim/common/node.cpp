// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "sim/common/node.h"

#include "sim/common/check.h"

#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>

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
    : address_(address), index_(index), meter_(setup.meter), domain_(setup.threading) {
  tx_cq_ = open_cq(domain_, setup.cq_size);
  rx_cq_ = open_cq(domain_, setup.cq_size);
  tx_cntr_ = open_cntr(domain_);
  rx_cntr_ = open_cntr(domain_);
  completers_ = {.tx_cq = util_ext::Cq::from(&tx_cq_->fid),
                 .rx_cq = util_ext::Cq::from(&rx_cq_->fid),
                 .tx_cntr = util_ext::Cntr::from(&tx_cntr_->fid),
                 .rx_cntr = util_ext::Cntr::from(&rx_cntr_->fid),
                 .source = setup.source,
                 .source_err = setup.source_err};
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
}

Node::~Node() {
  endpoint_.reset();
  for (fid *f : {&tx_cq_->fid, &rx_cq_->fid, &tx_cntr_->fid, &rx_cntr_->fid})
    if (f && fi_close(f) != 0)
      fail_later("a completion object can't be closed");
}

ssize_t Node::post(const op::SendRequest &r) {
  const Entered entered(*this);
  return endpoint_->send(r);
}

ssize_t Node::post(const op::ReceiveRequest &r) {
  const Entered entered(*this);
  return endpoint_->receive(r);
}

int Node::cancel(const void *context) {
  const Entered entered(*this);
  return endpoint_->cancel(context);
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

void *Node::read(Done &done) {
  void *context = read(tx_cq_, done);
  return context ? context : read(rx_cq_, done);
}

void *Node::read(fid_cq *cq, Done &done) {
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
    return entry.op_context;
  }
  if (n == -FI_EAGAIN)
    return nullptr;
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
  return error.op_context;
}

Node::Counts Node::tx_count() { return {fi_cntr_read(tx_cntr_), fi_cntr_readerr(tx_cntr_)}; }
Node::Counts Node::rx_count() { return {fi_cntr_read(rx_cntr_), fi_cntr_readerr(rx_cntr_)}; }

} // namespace sim
