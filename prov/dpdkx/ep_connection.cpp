// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// fi_cm(3) of active endpoints.
#include "dpdkx/ep_connection.h"

#include "dpdkx/address_format.h"
#include "dpdkx/ep.h"
#include "dpdkx/passive_endpoint.h"
#include "dpdkx/provider.h"
#include "util_ext/ops.h"

#include <cstdint>

namespace dpdkx {

// ---- where it comes from

int EpConnection::open(Fabric &fabric, const fi_info &info, Origin &out) {
  std::unique_ptr<EpConnection> own(new EpConnection);
  if (info.dest_addr) {
    Address peer;
    if (read_address(info.addr_format, info.dest_addr, info.dest_addrlen, peer) != 0)
      return refuse_address("the peer's address (dest_addr, dest_addrlen)", info.addr_format);
    own->peer = peer;
  }
  if (info.handle) {
    own->request_ = fabric.requests.take(info.handle);
    PassiveEndpoint *const pep = own->request_ ? nullptr : fabric.find_passive(info.handle);
    if (own->request_) {
      own->request_->listener.hold();
      own->peer = own->request_->call.caller;
      own->own_name_ = own->request_->listener.self();
      out.place.self = *own->own_name_;
      out.place.self.port = 0; // one of its own it needs all the same
    } else if (pep) {
      if (const int rc = pep->give_place(out.place, out.placed))
        return rc;
    } else {
      FI_WARN(
          &provider, FI_LOG_EP_CTRL,
          "fi_info::handle: no passive endpoint, and no request for a connection that waits for "
          "an answer\n");
      return -FI_EINVAL;
    }
    out.any_place = false;
  }
  out.connection = std::move(own);
  return 0;
}

EpConnection::~EpConnection() {
  if (request_ && !accepted_)
    request_->listener.reject(*request_, {});
  settle();
}

void EpConnection::settle() {
  if (request_ && !std::exchange(settled_, true))
    request_->listener.release();
}

// ---- events

void EpConnection::report_to(util_ext::Eq &eq, const struct fid &subject) {
  eq_ = &eq;
  subject_ = &subject;
  context_ = subject.context;
}

void EpConnection::forget(const struct fid *closed) {
  if (subject_ == closed)
    subject_ = nullptr;
}

void EpConnection::connected(std::span<const std::byte> data) {
  settle();
  up_ = true;
  if (subject_)
    eq_->write_connection(FI_CONNECTED, const_cast<struct fid *>(subject_), nullptr, data);
}

void EpConnection::refused(int error, std::span<const std::byte> data) {
  settle();
  if (subject_)
    eq_->write_error({.fid = const_cast<struct fid *>(subject_),
                      .context = context_,
                      .err = error,
                      .prov_errno = error,
                      .err_data = data.data(),
                      .err_data_size = data.size()});
}

void EpConnection::ended() {
  up_ = false;
  if (subject_)
    eq_->write_connection(FI_SHUTDOWN, const_cast<struct fid *>(subject_), nullptr, {});
}

// ---- the calls

int Endpoint::prepare_connection(EndpointHandle &handle, const void *data, std::size_t len) {
  if (const int rc = check_cm_data(data, len))
    return rc;
  if (!eq_) {
    FI_WARN(&provider, FI_LOG_EP_CTRL, "connect, accept: no event queue is bound\n");
    return -FI_ENOEQ;
  }
  if (!engine_)
    if (const int rc = control(&handle.fid, FI_ENABLE, nullptr))
      return rc;
  return 0;
}

int Endpoint::connect(EndpointHandle &handle, const void *addr, const void *data, std::size_t len) {
  if (connection_->request()) {
    FI_WARN(&provider, FI_LOG_EP_CTRL, "connect: the endpoint is to accept a request\n");
    return -FI_EOPBADSTATE;
  }
  std::optional<Address> peer = connection_->peer;
  if (Address given; addr) {
    if (read_address(format_, addr, SIZE_MAX, given) != 0)
      return refuse_address("fi_connect: the address", format_);
    peer = given;
  }
  if (!peer || peer->is_any() || peer->port == 0) {
    FI_WARN(&provider, FI_LOG_EP_CTRL, "connect: to '%s'; allowed: an address and a port\n",
            peer ? to_string(*peer).c_str() : "");
    return -FI_EINVAL;
  }
  if (const int rc = prepare_connection(handle, data, len))
    return rc;
  int rc;
  {
    const std::lock_guard lock(engine_->mutex());
    if (connection_->subject())
      return -FI_EISCONN;
    connection_->report_to(*eq_, handle.fid);
    connection_->peer = peer;
    rc = engine_->connect(*peer, cm_data(data, len));
  }
  domain_.posted(*engine_);
  return rc;
}

int Endpoint::accept(EndpointHandle &handle, const void *data, std::size_t len) {
  ConnectionRequest *const request = connection_->request();
  if (!request) {
    FI_WARN(&provider, FI_LOG_EP_CTRL,
            "accept: the endpoint was not opened with the fi_info of a request\n");
    return -FI_EOPBADSTATE;
  }
  if (const int rc = prepare_connection(handle, data, len))
    return rc;
  int rc;
  {
    const std::lock_guard lock(engine_->mutex());
    if (connection_->subject())
      return -FI_EISCONN;
    request->listener.accepted(*request);
    connection_->accepted();
    connection_->report_to(*eq_, handle.fid);
    rc = engine_->accept(request->call, cm_data(data, len));
  }
  domain_.posted(*engine_);
  return rc;
}

int Endpoint::shutdown() {
  if (!engine_)
    return -FI_ENOTCONN;
  int rc;
  {
    const std::lock_guard lock(engine_->mutex());
    rc = engine_->shutdown();
  }
  domain_.posted(*engine_);
  return rc;
}

int Endpoint::get_peer(void *address, std::size_t *len) {
  if (!len || (*len && !address))
    return -FI_EINVAL;
  if (!engine_)
    return -FI_ENOTCONN;
  const std::lock_guard lock(engine_->mutex());
  return connection_->is_up() ? give_name(format_, *connection_->peer, address, len) : -FI_ENOTCONN;
}

} // namespace dpdkx
